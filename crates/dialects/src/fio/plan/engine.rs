//! The engine and its calls, queue depth, and durability of writes.

use super::super::UsageError;
use super::super::settings::{Level, Settings};
use super::super::table;
use super::super::text::Setting;
use super::direction::Rw;
use super::{Notes, calls, ranges};
use fathom_workload::{
    Advice, Backend, Buffers, IoClass, MapFlush, OpenSync, Pages, Pvsync2, RunAs, Stream, SyncCall,
    SyncEvery, Uring,
};

/// CPU of the submission thread, if there is one.
fn polling_cpu(s: &Settings, polling: bool, notes: &mut Notes) -> Result<Option<u32>, UsageError> {
    const NAME: &str = "sqthread_poll_cpu";
    if s.last(NAME).is_none() {
        return Ok(None);
    }
    let cpu = s.count(NAME, 0, 0)?;
    if !polling {
        notes.say(format!("{NAME} changes nothing without sqthread_poll, as in fio"));
    }
    Ok(polling.then_some(cpu))
}

/// When completions are reaped in a job with a known pace. fio reaps one when it needs a slot. Reaping several at once, draining the
/// queue first, or counting pauses by completions changes the workload.
pub fn takes(s: &Settings, stream: &mut Stream) -> Result<(), UsageError> {
    let most = s.count("iodepth_batch_complete_max", 0, 0)?.min(stream.queue_depth).max(stream.wait_for);
    let counts = stream.pace.think.is_some_and(|think| !think.by_issue && think.every > 1);
    let lazily = most > 1 || stream.refill_at.is_some() || counts;
    stream.take_at_most = Some(most).filter(|_| stream.queue_depth > 1 && lazily);
    Ok(())
}

/// Applies engine, depth, flags and syncs.
pub fn apply(s: &Settings, stream: &mut Stream, rw: Rw, notes: &mut Notes) -> Result<(), UsageError> {
    let asked_depth = s.count("iodepth", 1, 1)?;
    let least = s.count("iodepth_batch_complete_min", 0, 1)?;
    let most = s.count("iodepth_batch_complete_max", 0, 0)?;
    // Measured in fio 3.33 and 3.42 with each queued engine.
    let depth = if least == 0 && most == 0 { 1 } else { asked_depth };
    if depth < asked_depth {
        notes.say(format!(
            "job {}: iodepth_batch_complete_min=0 without iodepth_batch_complete_max: one operation is in flight at a time, as in fio, whatever iodepth says",
            s.report_name()
        ));
    }
    let batch = match s.count("iodepth_batch", 0, 1)? {
        0 => depth,
        n => n.min(depth),
    };
    let wait_for = least.clamp(1, depth.max(1));
    let low = s.count("iodepth_low", 0, 0)?;
    let engine = s.word("ioengine").unwrap_or("psync").to_owned();
    known_to(s, &engine, notes)?;
    let (hipri, nowait, uncached) = (s.on("hipri", false), s.on("nowait", false), s.on("uncached", false));
    let hipri_percent = match s.number("hipri_percentage")?.unwrap_or(100) {
        n @ 0..=100 => n as u8,
        n => return Err(out_of_range(s, "hipri_percentage", n, 100)),
    };
    let thp = s.number("thp")?.unwrap_or(0) > 0;
    let atomic = atomic(s, &engine, rw)?;
    let (fixed, registered, polling) =
        (s.on("fixedbufs", false), s.on("registerfiles", false), s.on("sqthread_poll", false));
    stream.backend = match engine.as_str() {
        "psync" => Backend::Psync(SyncCall::Positioned),
        "sync" => Backend::Psync(SyncCall::Streamed),
        "vsync" | "pvsync" => Backend::Pvsync2(Pvsync2::default()),
        "pvsync2" => Backend::Pvsync2(Pvsync2 {
            high_priority: hipri && hipri_percent > 0,
            high_priority_percent: Some(hipri_percent).filter(|n| hipri && (1..100).contains(n)),
            nowait,
            uncached,
            atomic,
            ..Pvsync2::default()
        }),
        "libaio" => Backend::Aio { batch, atomic },
        "io_uring" | "io_uring_cmd" => {
            let ring = Uring {
                batch,
                registered_file: registered,
                registered_buffers: Some(fixed),
                deferred: !polling,
                submission_polling: polling,
                submission_cpu: polling_cpu(s, polling, notes)?,
                async_every: s.count("force_async", 0, 0)?,
                completion_polling: hipri,
                atomic,
            };
            // "nvme", the only kind.
            let _ = s.word("cmd_type");
            if engine == "io_uring" { Backend::Uring(ring) } else { Backend::Nvme(ring) }
        }
        "mmap" => {
            let advice = match advice(s, rw) {
                Advice::Random => Some(1),
                Advice::Sequential => Some(2),
                _ => None,
            };
            let huge_pages = huge_pages(s, thp, rw)?;
            Backend::Mmap { flush: MapFlush::No, flush_every: 1, populate: false, huge_pages, advice }
        }
        "null" => Backend::Null,
        "posixaio" => Backend::Posix,
        "splice" => Backend::Splice,
        "falloc" | "ftruncate" | "filecreate" | "filestat" | "filedelete" | "dircreate" | "dirstat"
        | "dirdelete" | "e4defrag" | "cpuio" => calls::backend(s, &engine, rw)?,
        "exec" => {
            stream.beside = Some(calls::beside(s)?);
            Backend::Beside
        }
        other => {
            return Err(s
                .wrong("ioengine", format!("the engine {other} is not supported"))
                .hint(format!("instead: {}", nearest(other)))
                .fio(format!("fio: engine {other} not loadable\n")));
        }
    };
    if engine == "vsync" {
        // Random blocks are not adjacent, and without a batch each is submitted at once.
        if depth > 1 && batch > 1 && !rw.random {
            return Err(s
                .wrong(
                    "iodepth_batch",
                    "vsync gathers the neighbouring blocks of a batch into one call, which is not supported",
                )
                .hint("instead: a larger block size with ioengine=psync"));
        }
        notes.say("ioengine=vsync: one preadv2 or pwritev2 for each block".into());
    }
    if engine != "pvsync2" && (nowait || uncached) {
        let name = if nowait { "nowait" } else { "uncached" };
        // Found to have no effect in engines without it.
        if table::engines_of(name).is_none_or(|engines| engines.contains(&engine.as_str())) {
            return Err(s
                .wrong(name, format!("{name} is done by pvsync2, not by {engine}"))
                .hint("instead: ioengine=pvsync2"));
        }
    }
    let asynchronous =
        matches!(engine.as_str(), "libaio" | "io_uring" | "io_uring_cmd" | "posixaio" | "null");
    if depth > 1 && !asynchronous {
        notes.say(format!("iodepth={depth}: {engine} does one operation after the other, as in fio"));
    }
    // The null engine completes at once, so there is never more than one in flight.
    stream.queue_depth = if asynchronous && engine != "null" { depth } else { 1 };
    if stream.queue_depth > 1 {
        stream.wait_for = wait_for;
        stream.sync_in_queue = true;
        stream.refill_at = (low > 0 && low < depth).then_some(low);
    }
    let offload = s.word("io_submit_mode") == Some("offload");
    if offload {
        notes.say("io_submit_mode=offload: with a rate operations are due by the clock here in any case, and late ones are timed from then (response time); without one it changes nothing".into());
    }
    apart(s, stream, offload && engine != "null")?;
    open(s, stream, rw);
    syncs(s, stream, rw, notes)?;
    stream.buffers = match s.word("mem") {
        Some("mmaphuge" | "shmhuge") => Buffers { pages: Pages::Huge, ..Buffers::default() },
        Some("cudamalloc") => {
            return Err(s
                .wrong("mem", "memory of graphics cards is not supported")
                .hint("instead: mem=malloc"));
        }
        _ => Buffers::default(),
    };
    // Threads or processes: the I/O is the same.
    let _ = (s.on("thread", false), s.on("disk_util", true));
    Ok(())
}

/// `serialize_overlap`. With `offload`, fio serializes overlaps across all jobs.
fn apart(s: &Settings, stream: &mut Stream, offload: bool) -> Result<(), UsageError> {
    if !s.on("serialize_overlap", false) {
        return Ok(());
    }
    if offload {
        return Err(s
            .wrong(
                "serialize_overlap",
                "serialize_overlap with io_submit_mode=offload keeps apart what several jobs have in flight: that is not supported",
            )
            .hint("instead: io_submit_mode=inline, which keeps the operations of each job apart; or a separate file for each job"));
    }
    // One at a time, operations cannot overlap.
    stream.no_overlap = stream.queue_depth > 1;
    Ok(())
}

/// Refuses options of engines that the job does not use; inherited global ones have no effect on it.
fn known_to(s: &Settings, engine: &str, notes: &mut Notes) -> Result<(), UsageError> {
    for (level, setting) in s.all() {
        let name = setting.row.name;
        let Some(engines) = table::engines_of(name) else { continue };
        let of_level = |(l, of): &&(Level, Setting)| *l <= *level && of.row.name == "ioengine";
        let there =
            s.all().filter(of_level).last().and_then(|(_, of)| of.value.as_deref()).unwrap_or("psync");
        if !engines.contains(&there) {
            let text = setting.value.as_ref().map_or_else(|| name.into(), |value| format!("{name}={value}"));
            return Err(UsageError::at(
                &setting.spot,
                format!(
                    "job {}: {name} is an option of {}, and the engine is {there}",
                    s.job,
                    engines.join(" and ")
                ),
            )
            .fio(format!("Bad option <{text}>\nfio: job {} dropped\n", s.job))
            .hint(format!("leave it out, or take ioengine={}", engines[0])));
        }
        if !engines.contains(&engine) {
            notes.say(format!(
                "job {}: {name} is an option of {there}; the job's engine is {engine}, and has none such",
                s.job
            ));
        }
    }
    Ok(())
}

/// Whether writes are atomic; for a read-only job, only whether its engine supports it.
fn atomic(s: &Settings, engine: &str, rw: Rw) -> Result<bool, UsageError> {
    if !s.on("atomic", false) {
        return Ok(false);
    }
    if !matches!(engine, "pvsync2" | "libaio" | "io_uring") {
        return Err(s
            .wrong("atomic", format!("the engine {engine} has no atomic writes"))
            .hint("instead: ioengine=pvsync2, libaio or io_uring")
            .fio("fio: engine does not support atomic writes\n"));
    }
    if rw.writes() && !direct(s) {
        return Err(s
            .wrong("atomic", "the kernel refuses atomic writes through the page cache")
            .hint("add direct=1"));
    }
    Ok(rw.writes())
}

/// Huge pages for a mapped file, requested by any number except 0.
fn huge_pages(s: &Settings, asked: bool, rw: Rw) -> Result<bool, UsageError> {
    if asked && rw.writes() {
        return Err(s
            .wrong(
                "thp",
                "a job that writes: with thp=1 fio writes to private memory, and nothing to the file",
            )
            .hint("instead: thp=0, or rw=read"));
    }
    Ok(asked)
}

/// Access-pattern advice to the kernel, which controls read-ahead. fio gives it unless told not to.
fn advice(s: &Settings, rw: Rw) -> Advice {
    match s.word("fadvise_hint").unwrap_or("1") {
        "0" | "none" => Advice::No,
        "random" => Advice::Random,
        "sequential" => Advice::Sequential,
        "noreuse" => Advice::NoReuse,
        _ if rw.random => Advice::Random,
        _ => Advice::Sequential,
    }
}

fn direct(s: &Settings) -> bool {
    match s.last_of(&["direct", "buffered"]) {
        Some("direct") => s.on("direct", false),
        Some(_) => !s.on("buffered", true),
        None => false,
    }
}

fn open(s: &Settings, stream: &mut Stream, rw: Rw) {
    stream.open.advice = advice(s, rw);
    stream.open.direct = direct(s);
    // A read-only job opens its files read-only, whatever the sync options.
    stream.open.sync = match s.word("sync") {
        Some("sync" | "1") => OpenSync::Sync,
        Some("dsync") => OpenSync::Dsync,
        _ => OpenSync::No,
    };
    if !stream.backend.has_files() {
        stream.open.direct = false;
    }
    if matches!(stream.backend, Backend::Nvme(_)) {
        // The commands bypass all that these flags are for, whatever the job says.
        stream.open.direct = true;
        stream.open.sync = OpenSync::No;
        stream.open.advice = Advice::No;
    }
    if !stream.backend.has_files() || stream.backend.is_by_name() {
        stream.open.sync = OpenSync::No;
        stream.open.advice = Advice::No;
    }
}

fn syncs(s: &Settings, stream: &mut Stream, rw: Rw, notes: &mut Notes) -> Result<(), UsageError> {
    let (full, data) = (s.number("fsync")?.unwrap_or(0), s.number("fdatasync")?.unwrap_or(0));
    let at_end = s.on("end_fsync", false) || s.on("fsync_on_close", false);
    let (_, whole) = (s.on("fsync_on_close", false), s.on("end_syncfs", false));
    if !rw.writes() {
        return Ok(());
    }
    if full > 0 && data > 0 {
        return Err(s
            .wrong("fdatasync", "fsync and fdatasync in one job are not supported")
            .hint("instead: one of them"));
    }
    let every = full.max(data);
    if every > 0 {
        stream.sync_every =
            Some(SyncEvery { writes: every, data_only: data > 0, inside: false, between: true, range: None });
    }
    ranges::apply(s, stream, notes)?;
    if whole && s.text("write_iolog").is_some() {
        return Err(s
            .wrong("end_syncfs", "end_syncfs with write_iolog is not supported")
            .hint("instead: end_fsync, which a log can hold"));
    }
    (stream.timed.fsync, stream.timed.syncfs) = (at_end || whole, whole);
    Ok(())
}

fn nearest(engine: &str) -> &'static str {
    match engine {
        "guasi" | "solarisaio" | "windowsaio" => "posixaio, libaio or io_uring",
        "xnvme" => "io_uring_cmd",
        "libblkio" | "sg" => "io_uring with direct=1",
        "libpmem" | "dev-dax" | "pmemblk" => "mmap",
        _ => "psync, io_uring or libaio on a file system",
    }
}

/// Niceness, and class, level and hint of the I/O priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Priority {
    /// Niceness.
    pub nice: i32,
    /// Level; `None` if not given.
    pub level: Option<u8>,
    /// Class; `None` if not given.
    pub class: Option<IoClass>,
    /// Hint to the device.
    pub hint: u16,
}

/// Niceness and I/O priority. As in fio, a class alone implies level 0, and a level alone implies best effort.
pub fn priority(s: &Settings) -> Result<Priority, UsageError> {
    let class = match s.number("prioclass")? {
        None | Some(0) => None,
        Some(1) => Some(IoClass::RealTime),
        Some(2) => Some(IoClass::BestEffort),
        Some(3) => Some(IoClass::Idle),
        Some(n) => return Err(out_of_range(s, "prioclass", n, 3)),
    };
    let level = match s.number("prio")? {
        None => None,
        Some(n @ 0..=7) => Some(n as u8),
        Some(n) => return Err(out_of_range(s, "prio", n, 7)),
    };
    let hint = match s.number("priohint")? {
        None => None,
        Some(n @ 0..=1023) => Some(n as u16),
        Some(n) => return Err(out_of_range(s, "priohint", n, 1023)),
    };
    // A hint alone, even 0, implies best effort, as in fio.
    let class = class.or((hint.is_some() && level.is_none()).then_some(IoClass::BestEffort));
    Ok(Priority { nice: s.signed("nice")?.unwrap_or(0), level, class, hint: hint.unwrap_or(0) })
}

/// User and group. The highest number means no change, as in fio.
pub fn run_as(s: &Settings) -> Result<RunAs, UsageError> {
    let id = |name| s.count(name, 0, u32::MAX).map(|id| (id != u32::MAX).then_some(id));
    let whom = RunAs { user: id("uid")?, group: id("gid")? };
    let name = if whom.user.is_some() { "uid" } else { "gid" };
    for beside in ["exec_prerun", "exec_postrun"] {
        if whom != RunAs::default() && s.text(beside).is_some() {
            return Err(s
                .wrong(beside, format!("{beside}: with {name} fio runs the command as that user; here it would run as the user who runs fathom"))
                .hint(format!("leave {name} out, or run the command before")));
        }
    }
    if whom != RunAs::default() && s.on("create_on_open", false) {
        return Err(s
            .wrong("create_on_open", format!("create_on_open: with {name} fio makes the files as that user; here they are made by the user who runs fathom"))
            .hint(format!("leave {name} or create_on_open out")));
    }
    Ok(whom)
}

/// Error for a number above fio's maximum.
pub fn out_of_range(s: &Settings, name: &'static str, given: u64, most: u64) -> UsageError {
    s.wrong(name, format!("{name}={given}: 0 to {most} is expected")).fio(format!(
        "{name}: max value out of range: {given} ({most} max)\nfio: failed parsing {name}={given}\n"
    ))
}

impl Priority {
    /// Class, hint and level in the kernel's encoding; 0 if none is set.
    #[must_use]
    pub fn number(self) -> u16 {
        match (self.class, self.level) {
            (None, None) => 0,
            (class, level) => class.unwrap_or(IoClass::BestEffort).with_hint(level.unwrap_or(0), self.hint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::Backend;

    #[test]
    fn a_ring_has_workers_and_the_cpu_of_its_poller() {
        let ring = |args: &str| {
            let plan = planned(&format!("--name=a --size=1m --ioengine=io_uring {args}"));
            let Backend::Uring(ring) = plan.jobs[0].stream.backend else { panic!() };
            (ring.async_every, ring.submission_cpu, plan.notes.len())
        };
        assert_eq!(ring("--force_async=4"), (4, None, 0));
        assert_eq!(ring("--sqthread_poll --sqthread_poll_cpu=1"), (0, Some(1), 0));
        // Without the thread there is nothing to pin, as in fio.
        assert_eq!(ring("--sqthread_poll_cpu=1"), (0, None, 1));
        assert!(refused("--name=a --size=1m --ioengine=libaio --force_async=4").contains("io_uring"));
    }

    #[test]
    fn nvme_commands_go_to_a_namespace_by_either_name() {
        for name in ["/dev/ng0n1", "/dev/nvme0n1"] {
            let plan = planned(&format!(
                "--name=a --filename={name} --ioengine=io_uring_cmd --cmd_type=nvme --size=1m --iodepth=8 --fixedbufs --sync=1"
            ));
            let job = &plan.jobs[0];
            let Backend::Nvme(ring) = job.stream.backend else { panic!("{:?}", job.stream.backend) };
            assert_eq!((ring.registered_buffers, job.stream.queue_depth), (Some(true), 8));
            assert!(job.stream.open.direct && job.stream.open.sync == super::OpenSync::No);
            assert_eq!(job.files[0], [std::path::Path::new("/dev/nvme0n1")]);
        }
        // Other engines mean the character device itself.
        let plan = planned("--name=a --filename=/dev/ng0n1 --size=1m");
        assert_eq!(plan.jobs[0].files[0], [std::path::Path::new("/dev/ng0n1")]);
        let job = "--name=a --filename=/dev/ng0n1 --size=1m";
        for (options, word) in [
            ("--cmd_type=nvme", "io_uring_cmd"),
            ("--ioengine=io_uring_cmd --cmd_type=scsi", "nvme"),
            ("--ioengine=io_uring_cmd --md_per_io_size=8", "metadata"),
            ("--ioengine=io_uring_cmd --writefua=1", "force unit access"),
            ("--ioengine=io_uring_cmd --nowait=1", "nowait"),
            ("--ioengine=io_uring_cmd --cmdprio_percentage=10", "only libaio and io_uring"),
        ] {
            let why = refused(&format!("{job} {options}"));
            assert!(why.contains(word), "{options}: {why}");
        }
    }

    #[test]
    fn a_share_of_the_calls_polls() {
        let polls = |args: &str| {
            let plan = planned(&format!("--name=a --size=1m --direct=1 --ioengine=pvsync2 {args}"));
            let Backend::Pvsync2(o) = plan.jobs[0].stream.backend else { panic!("{args}") };
            (o.high_priority, o.high_priority_percent)
        };
        assert_eq!(polls("--hipri --hipri_percentage=30"), (true, Some(30)));
        assert_eq!(polls("--hipri --hipri_percentage=100"), (true, None));
        assert_eq!(polls("--hipri --hipri_percentage=0"), (false, None));
        // Without hipri the percentage has no effect, as in fio.
        assert_eq!(polls("--hipri_percentage=30"), (false, None));
        let more = "--name=a --size=1m --ioengine=pvsync2 --hipri --hipri_percentage=101";
        assert!(refused(more).contains("0 to 100 is expected"));
    }

    #[test]
    fn atomic_writes_are_for_engines_that_have_them_and_past_the_page_cache() {
        let atomic = |args: &str| match planned(&format!("--name=a --size=1m {args}")).jobs[0].stream.backend
        {
            Backend::Pvsync2(o) => o.atomic,
            Backend::Aio { atomic, .. } => atomic,
            Backend::Uring(o) => o.atomic,
            _ => false,
        };
        for engine in ["pvsync2", "libaio", "io_uring"] {
            let job = format!("--ioengine={engine} --direct=1 --atomic");
            assert!(atomic(&format!("{job}=1 --rw=randrw")), "{engine}");
            assert!(!atomic(&format!("{job}=0 --rw=write")) && !atomic(&format!("{job}=1 --rw=read")));
            let buffered = format!("--name=a --size=1m --ioengine={engine} --atomic=1 --rw=write");
            assert!(refused(&buffered).contains("page cache"), "{engine}");
        }
        let psync = refused("--name=a --size=1m --atomic=1 --rw=read");
        assert!(psync.starts_with("fio: engine does not support atomic writes\n"), "{psync}");
    }

    #[test]
    fn huge_pages_are_for_mapped_files_that_are_read() {
        let mapped = |args: &str| {
            let plan = planned(&format!("--name=a --size=1m --ioengine=mmap {args}"));
            let Backend::Mmap { huge_pages, advice, .. } = plan.jobs[0].stream.backend else {
                panic!("{args}")
            };
            (huge_pages, advice)
        };
        assert_eq!(mapped("--thp=1"), (true, Some(2)));
        assert_eq!(mapped("--thp=7 --fadvise_hint=0"), (true, None));
        assert_eq!(mapped("--thp=0 --rw=randwrite"), (false, Some(1)));
        for rw in ["write", "randrw"] {
            let line = format!("--name=a --size=1m --ioengine=mmap --thp=1 --rw={rw}");
            assert!(refused(&line).contains("nothing to the file"), "{rw}");
        }
        assert!(refused("--name=a --size=1m --thp=1").contains("thp is an option of mmap"));
    }

    #[test]
    fn a_whole_job_has_its_class_and_level() {
        // From logs of fio 3.33 with log_prio.
        for (args, number) in [
            ("", 0),
            ("--prio=3", 0x4003),
            ("--prioclass=3 --prio=5", 0x6005),
            ("--prioclass=3", 0x6000),
            ("--prioclass=1", 0x2000),
            ("--prioclass=2 --prio=7", 0x4007),
            // 3.42.
            ("--priohint=3", 0x4018),
            ("--priohint=0", 0x4000),
            ("--prio=3 --priohint=5", 0x402b),
            ("--prioclass=2 --priohint=1023", 0x5ff8),
            ("--prioclass=3 --prio=1 --priohint=1", 0x6009),
        ] {
            let plan = planned(&format!("--name=a --size=1m --numjobs=2 {args}"));
            assert_eq!(plan.jobs[0].priority.number(), number, "{args}");
            for group in &plan.workload.phases[0].groups {
                assert_eq!(group.threads[0].io_priority_number().unwrap_or(0), number, "{args}");
            }
        }
        assert!(refused("--name=a --size=1m --prioclass=4").contains("0 to 3 is expected"));
        assert!(refused("--name=a --size=1m --priohint=1024").contains("0 to 1023 is expected"));
        assert!(refused("--name=a --size=1m --prio=8").contains("0 to 7 is expected"));
    }
}
