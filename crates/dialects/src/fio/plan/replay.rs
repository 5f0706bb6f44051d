//! A job that replays a trace (`read_iolog`): the trace determines the files, operations, offsets and times; the job determines only
//! the calls. fio's own logs are read byte for byte; traces of block devices (blktrace and all others that fathom reads) are the
//! requests to the devices.

use super::super::general::General;
use super::super::iolog::{self, IologEntry, ParsedIolog};
use super::super::settings::Settings;
use super::super::{UsageError, World};
use super::direction::{Rw, Trims};
use super::job_files::{JobFiles, Make, Memory, Ready};
use super::merge_traces::{self, Merged};
use super::{FilePart, Notes, blocks, errors, files, names};
use fathom_workload::{Access, Amount, Bytes, Does, Duration, ListedOp, Mix, Pick, Stream};
use std::path::{Path, PathBuf};

pub(super) const TRACE: &str = "read_iolog";
/// Maximum number of operations of all clones together; their lists are kept in memory and stored with the workload.
const MOST: usize = 1 << 20;

/// A trace prepared for replay.
#[derive(Debug)]
pub struct Replay {
    files: Vec<PathBuf>,
    list: Vec<ListedOp>,
    /// Direction in fio's terms.
    pub rw: Rw,
    /// The end of the used range of each file.
    ends: Vec<u64>,
    amount: Amount,
    /// The file into which several traces are merged.
    pub merged: Option<Merged>,
}

struct ReplayOptions {
    redirect: Option<String>,
    stalls: bool,
    time_percent: u64,
    align: u64,
    scale: u64,
    skipped: Vec<String>,
}

/// Reads the trace of a job, if it replays one.
pub fn of(
    s: &Settings,
    clones: u32,
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<Option<Replay>, UsageError> {
    let options = options(s)?;
    let Some(named) = s.text(TRACE).map(str::to_owned) else {
        const MODIFIERS: [&str; 9] = [
            "merge_blktrace_file",
            "merge_blktrace_scalars",
            "merge_blktrace_iters",
            "replay_no_stall",
            "replay_time_scale",
            "replay_redirect",
            "replay_align",
            "replay_scale",
            "replay_skip",
        ];
        if let Some(name) = s.last_of(&MODIFIERS) {
            notes.say(format!("job {}: {name} has no effect without {TRACE}", s.job));
        }
        return Ok(None);
    };
    let traces = names::split(&named);
    let merged = merge_traces::of(s, &traces, world, notes)?;
    let single = merged.as_ref().map(|merged| merged.path.display().to_string());
    let single: Option<String> =
        single.or_else(|| if let [one] = traces.as_slice() { Some(one.clone()) } else { None });
    let Some(trace) = single else {
        return Err(s
            .wrong(TRACE, format!("{TRACE}={named}: one trace for a job is supported"))
            .hint("instead: a job for each trace, or merge_blktrace_file, which makes one of them"));
    };
    let most = MOST / clones.max(1) as usize;
    let bytes = merged.as_ref().map(|merged| merged.bytes.clone());
    let log = read(s, &options, (&trace, bytes, most), world, notes)?;
    let (files, entries) = changed(s, &options, log)?;
    refuse_others(s, notes)?;
    let list = list(s, &options, &entries)?;
    let passes = s.number("loops")?.unwrap_or(1).max(1);
    let all = (list.len() as u64).saturating_mul(passes);
    let amount = match errors::most(s)? {
        Some(n) => Amount::Operations(n.min(all)),
        None if s.on("time_based", false) && s.time("runtime")? > 0 => Amount::Endless,
        None if passes == 1 => Amount::Pass,
        None => Amount::Passes(passes),
    };
    let mut ends = vec![0; files.len()];
    for op in &list {
        if let Some(end) = ends.get_mut(op.file as usize) {
            *end = op.offset.saturating_add(op.bytes.into()).max(*end);
        }
    }
    Ok(Some(Replay { files, rw: direction(&list), ends, list, amount, merged }))
}

fn options(s: &Settings) -> Result<ReplayOptions, UsageError> {
    let time_percent = s.number("replay_time_scale")?.unwrap_or(100);
    if time_percent == 0 {
        return Err(s
            .wrong("replay_time_scale", "replay_time_scale=0: a percentage above 0 is expected")
            .hint("replay_no_stall=1 replays without waiting"));
    }
    let skipped: Vec<String> = s
        .text("replay_skip")
        .map(|text| text.split(',').map(|word| word.trim().to_owned()).collect())
        .unwrap_or_default();
    if let Some(word) = skipped.iter().find(|w| !["read", "write", "trim", "sync"].contains(&w.as_str())) {
        return Err(s.wrong("replay_skip", format!("replay_skip: {word:?} is not read, write, trim or sync")));
    }
    Ok(ReplayOptions {
        redirect: s.text("replay_redirect").map(str::to_owned),
        stalls: !s.on("replay_no_stall", false),
        time_percent,
        align: s.number("replay_align")?.unwrap_or(0),
        scale: s.number("replay_scale")?.unwrap_or(1).max(1),
        skipped,
    })
}

/// Reads a trace in any format. A merged trace is not on disk yet.
fn read(
    s: &Settings,
    options: &ReplayOptions,
    (trace, merged, most): (&str, Option<Vec<u8>>, usize),
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<ParsedIolog, UsageError> {
    let failed = |what: String| s.wrong(TRACE, format!("{TRACE}={trace}: {what}"));
    let bytes = match merged {
        Some(bytes) => bytes,
        None => (world.trace)(Path::new(trace)).map_err(|why| {
            failed(why).fio(format!("fio: open iolog: {trace}\nfio: unable to open iolog {trace}\n"))
        })?,
    };
    if iolog::recognise(&bytes) {
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".into()))?;
        let log = iolog::read(&text, most).map_err(failed)?;
        if log.version == 2 && log.timed {
            notes.say(format!(
                "job {}: waits in iologs of version 2 are taken as fio 3.33 takes them, in milliseconds from the beginning of the log (its manual says microseconds)",
                s.job
            ));
        }
        return Ok(log);
    }
    // Without I/O to the devices themselves, their identity does not matter.
    let named = options.redirect.is_none() && s.word("ioengine") != Some("null");
    blocks::read(s, (trace, bytes), (most, named), world, notes)
}

/// Files and operations after applying the options.
fn changed(
    s: &Settings,
    options: &ReplayOptions,
    log: ParsedIolog,
) -> Result<(Vec<PathBuf>, Vec<IologEntry>), UsageError> {
    let kind = |entry: &IologEntry| match entry.does {
        None | Some(Does::Trim) => "trim",
        Some(Does::Read) => "read",
        Some(Does::Write) => "write",
        Some(Does::Sync | Does::DataSync) => "sync",
    };
    let mut entries = log.entries;
    entries.retain(|entry| !options.skipped.iter().any(|word| word == kind(entry)));
    if !entries.iter().any(|entry| entry.bytes > 0) {
        return Err(s.wrong(TRACE, "the trace has no read, no write and no trim"));
    }
    for entry in &mut entries {
        // fio 3.33 scales first.
        entry.offset /= options.scale;
        if options.align > 0 {
            entry.offset -= entry.offset % options.align;
        }
    }
    if let Some(to) = &options.redirect {
        entries.iter_mut().for_each(|entry| entry.file = 0);
        return Ok((vec![to.into()], entries));
    }
    // Files that are named but not used are not created.
    let mut used: Vec<Option<u32>> = vec![None; log.files.len()];
    let mut files: Vec<PathBuf> = Vec::new();
    let directory = s.text("directory").and_then(|text| names::split(text).into_iter().next());
    let directory = directory.unwrap_or_default();
    for entry in &mut entries {
        let (Some(place), Some(name)) =
            (used.get_mut(entry.file as usize), log.files.get(entry.file as usize))
        else {
            continue;
        };
        entry.file = *place.get_or_insert_with(|| {
            files.push(names::below(&directory, name));
            files.len() as u32 - 1
        });
    }
    Ok((files, entries))
}

/// Ignores options that the trace overrides, and refuses those that would change its order or times.
fn refuse_others(s: &Settings, notes: &mut Notes) -> Result<(), UsageError> {
    const SAID: [&str; 14] = [
        "rw",
        "bs",
        "bsrange",
        "bssplit",
        "size",
        "io_size",
        "filesize",
        "offset",
        "offset_increment",
        "filename",
        "nrfiles",
        "rwmixread",
        "rwmixwrite",
        "write_iolog",
    ];
    let given: Vec<&str> = SAID.into_iter().filter(|name| s.last(name).is_some()).collect();
    if !given.is_empty() {
        notes.say(format!(
            "job {}: with {TRACE} the trace says what is done; without effect: {}",
            s.job,
            given.join(", ")
        ));
    }
    for name in ["rate", "rate_iops", "thinktime", "fsync", "fdatasync"] {
        let zero = |text: &str| text.split(',').all(|part| matches!(part.trim(), "0" | ""));
        if s.text(name).is_some_and(|text| !zero(text)) {
            return Err(s
                .wrong(name, format!("{name}: the trace already defines times and syncs"))
                .hint("leave it out; replay_time_scale makes a replay faster or slower"));
        }
    }
    if !matches!(super::verify_options::family(s), "0" | "null") {
        return Err(s.wrong("verify", "what a trace writes and reads is not checked").hint("leave it out"));
    }
    Ok(())
}

fn list(s: &Settings, options: &ReplayOptions, entries: &[IologEntry]) -> Result<Vec<ListedOp>, UsageError> {
    let timed = options.stalls && entries.last().is_some_and(|e| e.at_ns > 0);
    let one = |entry: &IologEntry| -> Result<ListedOp, UsageError> {
        let bytes = u32::try_from(entry.bytes).map_err(|_| {
            s.wrong(TRACE, format!("an operation of {} bytes; below 4 GiB is expected", entry.bytes))
        })?;
        // At 50 percent of the rate, times double.
        let at_ns = u128::from(entry.at_ns) * 100 / u128::from(options.time_percent);
        let due = timed.then(|| Duration(u64::try_from(at_ns).unwrap_or(u64::MAX)));
        Ok(ListedOp {
            offset: entry.offset,
            bytes,
            file: entry.file,
            does: entry.does,
            due,
            ..ListedOp::default()
        })
    };
    entries.iter().map(one).collect()
}

/// The direction of a list in fio's terms.
fn direction(list: &[ListedOp]) -> Rw {
    let count = |does| list.iter().filter(|op| op.does == Some(does)).count() as u64;
    let (reads, writes, trims) = (count(Does::Read), count(Does::Write), count(Does::Trim));
    // Trims modify the file like writes.
    let changes = writes + trims;
    let percent = reads * 100 / (reads + changes).max(1);
    let mixed = reads > 0 && changes > 0;
    let read_percent = if mixed { percent.clamp(1, 99) } else { percent };
    let trims = if trims > 0 && reads + writes == 0 { Trims::Only } else { Trims::No };
    Rw { read_percent: read_percent as u8, mixed, called_mix: mixed, random: false, trims }
}

impl Replay {
    /// The stream that replays the list.
    pub fn stream(&self) -> Stream {
        let direction = match (self.rw.mixed, self.rw.read_percent) {
            _ if self.rw.trims == Trims::Only => fathom_workload::Direction::Trim,
            (true, percent) => fathom_workload::Direction::Mix(Mix::ReadPercent(percent)),
            (false, 100) => fathom_workload::Direction::Read,
            (false, _) => fathom_workload::Direction::Write,
        };
        Stream {
            access: Access::Listed(self.list.clone()),
            pick: if self.files.len() > 1 { Pick::All } else { Pick::default() },
            amount: self.amount,
            ..Stream::new("", direction, Bytes(4096))
        }
    }

    /// Lays out the files, each as long as its used range.
    pub fn lay(
        &self,
        s: &Settings,
        stream: &Stream,
        clones: u32,
        general: &General,
        world: &World<'_>,
    ) -> Result<JobFiles, UsageError> {
        let null = !stream.backend.has_files();
        let may = |path: &PathBuf| {
            general.allow_write.iter().any(|allowed| names::same(allowed, path)) || (world.allowed)(path)
        };
        let device = |path: &&PathBuf| {
            (world.find)(path).is_some_and(|f| f.device)
                && !may(path)
                && !(world.blank)(path)
                && !general.is_only_read()
        };
        if let Some(path) = self.files.iter().find(device).filter(|_| !null && self.rw.writes()) {
            return Err(s
                .wrong(
                    TRACE,
                    format!("the trace writes the block device {}, which was not allowed", path.display()),
                )
                .hint("--allow-write=DEVICE on the command line allows it; replay_redirect=FILE replays it on a file; replay_skip=write leaves the writes out"));
        }
        let short = |(path, end): (&PathBuf, &u64)| (world.find)(path).is_none_or(|f| f.bytes < *end);
        let missing = !null && self.files.iter().zip(&self.ends).any(short);
        if missing && !s.on("allow_file_create", true) {
            return Err(s
                .wrong(
                    "allow_file_create",
                    "a file of the trace is missing or too short, and allow_file_create=0",
                )
                .hint("allow_file_create=1, or make it before"));
        }
        if general.read_only && missing {
            return Err(s
                .wrong(TRACE, "its files are missing or too short, and --readonly lays out nothing")
                .hint("make them before, or leave out --readonly"));
        }
        if general.read_only && s.on("unlink", false) {
            return Err(s.wrong("unlink", "--readonly removes nothing"));
        }
        let memory = match (s.on("pre_read", false), s.on("invalidate", true)) {
            _ if null || stream.open.direct => Memory::AsFound,
            (true, _) => Memory::Read,
            (false, true) => Memory::Dropped,
            (false, false) => Memory::AsFound,
        };
        let make = if general.read_only { Make::Nothing } else { files::make(s, self.rw, null)? };
        let ready = Ready { make, memory, keep: !s.on("unlink", false), foreign: self.files.iter().all(may) };
        let bytes = self.ends.iter().copied().max().unwrap_or(0);
        let part =
            FilePart { start: 0, length: bytes, file: bytes, real: bytes, size: bytes, amount: self.amount };
        let several = self.files.len() > 1;
        let sizes = vec![self.ends.clone(); if several { clones as usize } else { 0 }];
        Ok(JobFiles {
            files: vec![self.files.clone(); clones as usize],
            parts: vec![part; clones as usize],
            several,
            sizes,
            ready,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Access, Bytes, Direction, Does, ListedOp, Mix, Pick, Program, Sizing, Stream};
    use std::path::PathBuf;

    /// The stream of the first job on a command line.
    fn stream(args: &str) -> Stream {
        let plan = planned(args);
        match &plan.workload.phases[0].groups[0].threads[0].program {
            Program::Stream(stream) => (**stream).clone(),
            Program::Flow(_) => panic!("a replay is a stream"),
        }
    }

    fn list(args: &str) -> Vec<ListedOp> {
        match stream(args).access {
            Access::Listed(list) => list,
            other => panic!("{other:?}"),
        }
    }

    /// Operation, file, offset, length, and time in us.
    fn listed_ops(args: &str) -> Vec<(Does, u32, u64, u32, Option<u64>)> {
        let one =
            |op: &ListedOp| (op.does.unwrap(), op.file, op.offset, op.bytes, op.due.map(|due| due.0 / 1000));
        list(args).iter().map(one).collect()
    }

    #[test]
    fn a_log_is_replayed_with_its_files_and_times() {
        let found = listed_ops("--name=r --read_iolog=trace.log");
        let expected = [
            (Does::Write, 0, 0, 4096, Some(0)),
            (Does::Write, 1, 12288, 8192, Some(200)),
            (Does::DataSync, 1, 0, 0, Some(300)),
            (Does::Read, 0, 1536, 512, Some(500)),
        ];
        assert_eq!(found, expected);
        let stream = stream("--name=r --read_iolog=trace.log");
        assert_eq!((stream.pick, stream.direction), (Pick::All, Direction::Mix(Mix::ReadPercent(33))));
        let plan = planned("--name=r --read_iolog=trace.log --directory=d");
        let names: Vec<_> = plan.jobs[0].files[0].iter().map(|f| f.display().to_string()).collect();
        assert_eq!(names, ["d/f1", "d/f2"]);
        let plan = planned("--name=r --read_iolog=absolute.log --directory=d");
        assert_eq!(
            plan.jobs[0].files,
            [["d/etc/f"].map(PathBuf::from).to_vec()],
            "it does not lie elsewhere"
        );
    }

    #[test]
    fn every_file_is_as_long_as_it_is_touched() {
        let plan = planned("--name=r --read_iolog=trace.log");
        assert_eq!(plan.jobs[0].sizes, [vec![4096, 20480]]);
        assert_eq!(plan.workload.filesets[0].size, Sizing::Each(vec![Bytes(4096), Bytes(20480)]));
    }

    #[test]
    fn what_all_clones_replay_together_is_held() {
        let plan = planned("--name=r --read_iolog=long.log --numjobs=4");
        assert_eq!(plan.workload.phases[0].groups.len(), 4);
    }

    #[test]
    fn times_and_places_change_as_asked() {
        let due = |args: &str| -> Vec<Option<u64>> {
            listed_ops(&format!("--name=r --read_iolog=trace.log {args}")).iter().map(|op| op.4).collect()
        };
        assert_eq!(due("--replay_no_stall=1"), [None; 4]);
        assert_eq!(due("--replay_time_scale=50"), [Some(0), Some(400), Some(600), Some(1000)]);
        assert_eq!(due("--replay_time_scale=200"), [Some(0), Some(100), Some(150), Some(250)]);
        let one = "--name=r --read_iolog=trace.log --replay_redirect=x";
        let places: Vec<(u32, u64)> = listed_ops(&format!("{one} --replay_scale=2 --replay_align=4096"))
            .iter()
            .map(|op| (op.1, op.2))
            .collect();
        // As fio 3.33: scaled, then aligned.
        assert_eq!(places, [(0, 0), (0, 4096), (0, 0), (0, 0)]);
        assert_eq!(stream(one).pick, Pick::One(0));
        let kept: Vec<Does> =
            listed_ops(&format!("{one} --replay_skip=read,sync")).iter().map(|op| op.0).collect();
        assert_eq!(kept, [Does::Write, Does::Write]);
    }

    #[test]
    fn trims_are_replayed_and_change_their_file() {
        let found = listed_ops("--name=r --read_iolog=trims.log");
        assert_eq!(found, [(Does::Trim, 0, 0, 4096, Some(0)), (Does::Write, 0, 0, 4096, Some(1))]);
        assert_eq!(stream("--name=r --read_iolog=trims.log").direction, Direction::Write);
        let alone = stream("--name=r --read_iolog=trims.log --replay_skip=write");
        assert_eq!(alone.direction, Direction::Trim);
        let refused = refused("--readonly --name=r --read_iolog=trims.log");
        assert!(refused.contains("--readonly lays out nothing"), "{refused}");
    }

    #[test]
    fn invalid_replays_are_reported() {
        for (args, words) in [
            ("--read_iolog=missing.log", "unable to open iolog"),
            ("--read_iolog=trims.log --replay_skip=trim,write", "no read, no write and no trim"),
            ("--read_iolog=broken.log", "line 2"),
            ("--read_iolog=trace.log:trace.log", "a job for each trace"),
            ("--read_iolog=trace.log --rate_iops=5", "already defines times and syncs"),
            ("--read_iolog=trace.log --verify=md5", "not checked"),
            ("--read_iolog=trace.log --replay_redirect=/dev/disk", "replay_redirect=FILE"),
            ("--read_iolog=trace.log --replay_time_scale=0", "above 0"),
            ("--read_iolog=trace.log --replay_skip=everything", "is not read, write"),
            ("--read_iolog=trace.log --merge_blktrace_file=x", "expected a record of blktrace"),
            ("--read_iolog=trace.log --allow_file_create=0", "missing or too short"),
            ("--read_iolog=long.log --numjobs=4096", "more than 256 operations"),
        ] {
            let why = refused(&format!("--name=r {args}"));
            assert!(why.contains(words), "{args}: {why}");
        }
    }
}
