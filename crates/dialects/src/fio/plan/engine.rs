//! By which calls a job works, how many are in flight, and what makes writes durable.

use super::super::Wrong;
use super::super::settings::{Level, Settings};
use super::super::table;
use super::super::text::Setting;
use super::Notes;
use super::what::Direction;
use fathom_workload::{
    Advice, Backend, Buffers, MapFlush, OpenSync, Pages, Pvsync2, Stream, SyncCall, SyncEvery, Uring,
};

/// Engine, depth, flags and syncs.
pub fn apply(s: &Settings, stream: &mut Stream, rw: Direction, notes: &mut Notes) -> Result<(), Wrong> {
    let depth = s.count("iodepth", 1, 1)?;
    let batch = match s.count("iodepth_batch", 0, 1)? {
        0 => depth,
        n => n.min(depth),
    };
    let engine = s.word("ioengine").unwrap_or("psync").to_owned();
    known_to(s, &engine, notes)?;
    let (hipri, nowait, uncached) = (s.on("hipri", false), s.on("nowait", false), s.on("uncached", false));
    let (fixed, registered, polling) =
        (s.on("fixedbufs", false), s.on("registerfiles", false), s.on("sqthread_poll", false));
    stream.backend = match engine.as_str() {
        "psync" => Backend::Psync(SyncCall::Pread),
        "sync" => Backend::Psync(SyncCall::Read),
        "vsync" | "pvsync" => Backend::Pvsync2(Pvsync2::default()),
        "pvsync2" => {
            Backend::Pvsync2(Pvsync2 { high_priority: hipri, nowait, uncached, ..Pvsync2::default() })
        }
        "libaio" => Backend::Aio { batch },
        "io_uring" => Backend::Uring(Uring {
            batch,
            registered_file: registered,
            registered_buffers: fixed,
            deferred: !polling,
            submission_polling: polling,
            completion_polling: hipri,
        }),
        "mmap" => {
            let advice = match advice(s, rw) {
                Advice::Random => Some(1),
                Advice::Sequential => Some(2),
                _ => None,
            };
            Backend::Mmap { flush: MapFlush::No, flush_every: 1, populate: false, advice }
        }
        "null" => Backend::Null,
        other => {
            return Err(s
                .wrong("ioengine", format!("the engine {other} is not supported"))
                .hint(format!("instead: {}", nearest(other)))
                .fio(format!("fio: engine {other} not loadable\n")));
        }
    };
    if engine == "vsync" {
        if depth > 1 {
            return Err(s
                .wrong("iodepth", "vsync gathers neighbouring blocks into one call, which is not supported")
                .hint("instead: a larger block size with ioengine=psync"));
        }
        notes.say("ioengine=vsync: one preadv2 or pwritev2 for each block".into());
    }
    if engine != "pvsync2" && (nowait || uncached) {
        let name = if nowait { "nowait" } else { "uncached" };
        // Of an engine that has it not, it was found to be without effect.
        if table::engines_of(name).is_none_or(|engines| engines.contains(&engine.as_str())) {
            return Err(s
                .wrong(name, format!("{name} is done by pvsync2, not by {engine}"))
                .hint("instead: ioengine=pvsync2"));
        }
    }
    let asynchronous = matches!(engine.as_str(), "libaio" | "io_uring" | "null");
    if depth > 1 && !asynchronous {
        notes.say(format!("iodepth={depth}: {engine} does one operation after the other, as in fio"));
    }
    // The null engine completes at once: no two operations are ever in flight.
    stream.queue_depth = if asynchronous && engine != "null" { depth } else { 1 };
    let offload = s.word("io_submit_mode") == Some("offload");
    if offload {
        notes.say("io_submit_mode=offload: with a rate operations are due by the clock here in any case, and late ones are timed from then (response time); without one it changes nothing".into());
    }
    open(s, stream, rw);
    syncs(s, stream, rw)?;
    stream.buffers = match s.word("mem") {
        Some("mmaphuge" | "shmhuge") => Buffers { pages: Pages::Huge, ..Buffers::default() },
        Some("cudamalloc") => {
            return Err(s
                .wrong("mem", "memory of graphics cards is not supported")
                .hint("instead: mem=malloc"));
        }
        _ => Buffers::default(),
    };
    // Threads or processes make no difference to what is asked of the storage.
    let _ = (s.on("thread", false), s.on("disk_util", true));
    Ok(())
}

/// Options of an engine that the job does not use are none of the job; those that hold for several jobs are without effect for it.
fn known_to(s: &Settings, engine: &str, notes: &mut Notes) -> Result<(), Wrong> {
    for (level, setting) in s.all() {
        let name = setting.row.name;
        let Some(engines) = table::engines_of(name) else { continue };
        let of_level = |(l, of): &&(Level, Setting)| *l <= *level && of.row.name == "ioengine";
        let there =
            s.all().filter(of_level).last().and_then(|(_, of)| of.value.as_deref()).unwrap_or("psync");
        if !engines.contains(&there) {
            let text = setting.value.as_ref().map_or_else(|| name.into(), |value| format!("{name}={value}"));
            return Err(Wrong::at(
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

/// What the kernel is told of the order: fio tells it, unless it is told not to, and the kernel reads ahead accordingly.
fn advice(s: &Settings, rw: Direction) -> Advice {
    match s.word("fadvise_hint").unwrap_or("1") {
        "0" | "none" => Advice::No,
        "random" => Advice::Random,
        "sequential" => Advice::Sequential,
        "noreuse" => Advice::NoReuse,
        _ if rw.random => Advice::Random,
        _ => Advice::Sequential,
    }
}

fn open(s: &Settings, stream: &mut Stream, rw: Direction) {
    stream.open.advice = advice(s, rw);
    stream.open.direct = match s.last_of(&["direct", "buffered"]) {
        Some("direct") => s.on("direct", false),
        Some(_) => !s.on("buffered", true),
        None => false,
    };
    // A job that only reads opens for reading only, whatever is to be synced.
    stream.open.sync = match s.word("sync") {
        Some("sync" | "1") => OpenSync::Sync,
        Some("dsync") => OpenSync::Dsync,
        _ => OpenSync::No,
    };
    if stream.backend == Backend::Null {
        stream.open.sync = OpenSync::No;
        stream.open.direct = false;
        stream.open.advice = Advice::No;
    }
}

fn syncs(s: &Settings, stream: &mut Stream, rw: Direction) -> Result<(), Wrong> {
    let (full, data) = (s.number("fsync")?.unwrap_or(0), s.number("fdatasync")?.unwrap_or(0));
    let at_end = s.on("end_fsync", false) || s.on("fsync_on_close", false);
    let _ = s.on("fsync_on_close", false);
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
            Some(SyncEvery { writes: every, data_only: data > 0, inside: false, between: true });
    }
    stream.timed.fsync = at_end;
    Ok(())
}

/// The nearest engine that is supported.
fn nearest(engine: &str) -> &'static str {
    match engine {
        "posixaio" | "guasi" | "solarisaio" | "windowsaio" => "libaio or io_uring",
        "io_uring_cmd" | "xnvme" | "libblkio" | "sg" => "io_uring with direct=1",
        "splice" => "psync",
        "libpmem" | "dev-dax" | "pmemblk" => "mmap",
        "falloc" | "ftruncate" => "null, or write with fallocate=native",
        "filecreate" | "filestat" | "filedelete" | "dircreate" | "dirstat" | "dirdelete" => {
            "fathom filebench, which makes, finds and removes files"
        }
        "cpuio" | "exec" => "stress-ng, or any program, beside fathom",
        _ => "psync, io_uring or libaio on a file system",
    }
}

/// Niceness and I/O priority.
pub fn priority(s: &Settings) -> Result<(i32, Option<u8>), Wrong> {
    let nice = s.signed("nice")?.unwrap_or(0);
    if let Some(class) = s.number("prioclass")?
        && class != 2
        && class != 0
    {
        return Err(s
            .wrong("prioclass", format!("prioclass={class}: only 2 (best effort) is supported"))
            .hint("instead: ionice -c 1 fathom fio ..."));
    }
    let io = match s.number("prio")? {
        None => None,
        Some(n @ 0..=7) => Some(n as u8),
        Some(n) => return Err(s.wrong("prio", format!("prio={n}: 0 to 7 is expected"))),
    };
    Ok((nice, io))
}
