//! Turns options into a workload: the phases of a table or of throughput blocks in IOzone's order, with the steps between
//! them. Phases are named by [`super::pass`]; `axes.file`, `axes.record` and (in throughput mode) `axes.streams` are set, and
//! one tag: `mode` = "table" or "streams".

use super::options::{IozoneOptions, Sharing};
use super::pass::{self, Pass};
use super::sizes::{Combination, Grid};
use super::streams::{self, Lists, data};
use fathom_workload::{
    Action, Axes, Bytes, Direction, Duration, Existing, FileSet, Files, Group, Holes, Isolation, Phase,
    Pinning, Program, Raise, Seed, Sizing, Stonewall, Stop, Stream, Thread, WhenStopped, Workload,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

const TABLE_SET: &str = "file";
const TABLE_FILE: &str = "iozone.tmp";
/// Prefix of the default stream files, followed by the number.
const STREAM_FILES: &str = "iozone.DUMMY.";

pub(super) fn table(o: &IozoneOptions, grid: &Grid, lists: Lists<'_>) -> Workload {
    let mut workload = begin(o);
    let path = o.file.clone().unwrap_or_else(|| TABLE_FILE.into());
    let largest = grid.rows.iter().map(|&c| whole_records(c)).max().unwrap_or(0);
    let existing = existing(o, o.file.is_some(), pass::columns());
    workload.filesets.push(fileset(o, TABLE_SET, Files::List(vec![path]), largest, existing));
    for &combination in &grid.rows {
        let mut phases: Vec<Phase> = passes_of_row(o)
            .filter(|p| !(o.no_retest && p.retest))
            .map(|p| table_phase(o, p, combination, lists))
            .collect();
        if let Some(first) = phases.first_mut() {
            first.before.splice(0..0, [Action::Sync, Action::Sync]);
        }
        if let Some(last) = phases.last_mut() {
            last.after.push(Action::Remove(TABLE_SET.into()));
        }
        workload.phases.extend(phases);
    }
    workload
}

/// The passes of a table row, including retests.
pub(super) fn passes_of_row(o: &IozoneOptions) -> impl Iterator<Item = &'static Pass> + '_ {
    pass::columns().filter(|p| o.runs(p.test) && in_row(o, p))
}

/// Whether the row has a column for the pass.
pub(super) fn in_row(o: &IozoneOptions, pass: &Pass) -> bool {
    match pass.test {
        6 | 7 => !o.narrow() && !o.old_auto,
        9 | 10 => o.extended && !o.narrow() && !o.old_auto,
        n => !o.old_auto || n <= 1,
    }
}

/// Bytes of whole records in the file, the part that is written.
fn whole_records(c: Combination) -> u64 {
    let records = c.file_kb.checked_div(c.record_kb);
    records.map_or(c.file_kb, |n| n * c.record_kb) << 10
}

fn table_phase(o: &IozoneOptions, pass: &'static Pass, c: Combination, lists: Lists<'_>) -> Phase {
    let mut s = streams::stream(o, pass, TABLE_SET, c.file_kb, c.record_kb, lists);
    table_steps(o, pass, &mut s);
    let mut before = Vec::new();
    before.extend(o.remount.clone().map(Action::Remount));
    let new_file = pass.test == 0 && !pass.retest;
    if new_file && !o.no_recreate {
        before.push(Action::Recreate(TABLE_SET.into()));
    }
    Phase {
        name: pass.name.into(),
        axes: axes(c.file_kb, c.record_kb, None),
        before,
        after: pause(o),
        // IOzone reads existing data as is.
        holes: Holes::Leave,
        groups: vec![group(o, "file", 1, s)],
        ..Phase::default()
    }
}

/// Determines which steps of a pass are outside the clock, as observed with strace.
fn table_steps(o: &IozoneOptions, pass: &Pass, s: &mut Stream) {
    let first = !pass.retest;
    match pass.test {
        0 => {
            s.sync_before = true;
            s.open.read_write = true;
            s.open.create = first && o.no_recreate;
        }
        1 => {
            s.sync_before = true;
            // The list may not start at the beginning of the file; IOzone warms up nothing then.
            s.warm_first_record = !o.telemetry();
        }
        2 => {
            s.open.read_write = true;
            s.open.create = !pass.reads;
        }
        4 => {
            s.sync_before = true;
            s.open.read_write = true;
            s.open.create = true;
        }
        6 | 9 => {
            s.sync_before = true;
            s.open.read_write = true;
            s.open.create = first;
        }
        3 | 5 | 7 => s.sync_before = true,
        _ => {}
    }
}

/// File and record size of each stream in throughput mode.
pub(super) fn throughput_sizes(o: &IozoneOptions, streams: u32) -> (u64, u64) {
    let file_kb = o.file_kb.first().copied().unwrap_or(512);
    let file_kb = if o.total_size { (file_kb / u64::from(streams.max(1))).max(1) } else { file_kb };
    (file_kb, o.record_kb.first().copied().unwrap_or(4))
}

pub(super) fn throughput(o: &IozoneOptions, lists: Lists<'_>, list_kb: Option<u64>) -> Workload {
    let mut workload = begin(o);
    let existing = existing(o, !o.files.is_empty(), pass::blocks());
    for n in o.stream_counts() {
        let set = format!("files of {n}");
        if workload.fileset(&set).is_some() {
            continue;
        }
        let (file_kb, record_kb) = stream_sizes(o, n, list_kb);
        let bytes = whole_records(Combination { file_kb, record_kb });
        workload.filesets.push(fileset(o, &set, stream_files(o, n), bytes, existing));
    }
    for n in o.stream_counts() {
        let (file_kb, record_kb) = stream_sizes(o, n, list_kb);
        let set = format!("files of {n}");
        let mut phases: Vec<Phase> = passes_of_block(o)
            .filter(|p| !(o.no_retest && p.retest))
            .map(|p| block_phase(o, p, n, &set, Combination { file_kb, record_kb }, lists))
            .collect();
        if let Some(last) = phases.last_mut() {
            last.after.push(Action::Remove(set));
        }
        workload.phases.extend(phases);
    }
    workload
}

/// Sizes, taking a list into account.
pub(super) fn stream_sizes(o: &IozoneOptions, n: u32, list_kb: Option<u64>) -> (u64, u64) {
    list_kb.map_or_else(|| throughput_sizes(o, n), |kb| (kb, 0))
}

/// The passes of a throughput block, including retests.
pub(super) fn passes_of_block(o: &IozoneOptions) -> impl Iterator<Item = &'static Pass> + '_ {
    pass::blocks().filter(|p| o.runs(p.test))
}

fn block_phase(
    o: &IozoneOptions,
    pass: &'static Pass,
    n: u32,
    set: &str,
    c: Combination,
    lists: Lists<'_>,
) -> Phase {
    let groups = if pass.test == 8 {
        mixed_groups(o, n, set, c, lists)
    } else {
        let mut s = streams::stream(o, pass, set, c.file_kb, c.record_kb, lists);
        block_steps(pass, &mut s);
        share_burst(&mut s, n);
        vec![group(o, "children", n, s)]
    };
    let stonewalled = !o.no_stonewall && !matches!(pass.test, 6 | 7);
    let raise = if writes_to_the_end(pass) { Raise::AfterLastOp } else { Raise::AfterFinish };
    Phase {
        name: pass.name.into(),
        axes: axes(c.file_kb, c.record_kb, Some(n)),
        before: vec![Action::Sync],
        after: pause(o),
        stop: Stop { first_done: stonewalled.then_some(Stonewall { raise }), ..Stop::default() },
        stagger: Duration(o.release_gap_us.saturating_mul(1000)),
        holes: Holes::Leave,
        groups,
        ..Phase::default()
    }
}

/// Slower writers of new data complete their file untimed, because the next pass needs it whole.
fn writes_to_the_end(pass: &Pass) -> bool {
    matches!(pass.name, "write" | "random write" | "pwrite")
}

fn block_steps(pass: &Pass, s: &mut Stream) {
    let first = !pass.retest;
    if !pass.reads {
        s.open.read_write = true;
        s.open.create = first;
    }
    s.sync_before = matches!(pass.test, 6 | 7);
    s.when_stopped = match pass.test {
        6 | 7 => WhenStopped::Ignore,
        _ if writes_to_the_end(pass) => WhenStopped::FinishUncounted,
        _ => WhenStopped::Leave,
    };
}

/// In throughput mode, the streams share the burst size of -+b.
fn share_burst(s: &mut Stream, n: u32) {
    if let Some(burst) = &mut s.pace.burst {
        burst.bytes = Bytes((burst.bytes.0 / u64::from(n.max(1))).max(1));
    }
}

/// Readers first, then writers. Without -+p and -+K every other stream reads. The numbers match IOzone's, but readers and writers
/// are two consecutive groups instead of alternating.
fn mixed_groups(o: &IozoneOptions, n: u32, set: &str, c: Combination, lists: Lists<'_>) -> Vec<Group> {
    let readers = match (o.mix_read_percent, o.mix_readers) {
        (Some(percent), _) => (u64::from(n) * u64::from(percent) / 100) as u32,
        (None, Some(readers)) => readers.min(n),
        (None, None) => n.div_ceil(2),
    };
    let Some(pass) = pass::find("mixed") else { return Vec::new() };
    let mut s = streams::stream(o, pass, set, c.file_kb, c.record_kb, lists);
    s.when_stopped = WhenStopped::Leave;
    share_burst(&mut s, n);
    let mut writer = s.clone();
    writer.direction = Direction::Write;
    writer.verify = fathom_workload::Verify::No;
    // -o and -+D only affect writing and were omitted for the reader.
    writer.open.sync = streams::open_sync(o, &Pass { reads: false, ..*pass });
    writer.open.read_write = true;
    writer.open.create = true;
    writer.open.truncate = o.mix_truncate;
    let groups = [("readers", readers, s), ("writers", n - readers, writer)];
    groups.into_iter().filter(|g| g.1 > 0).map(|(name, n, s)| group(o, name, n, s)).collect()
}

fn begin(o: &IozoneOptions) -> Workload {
    Workload {
        name: "iozone".into(),
        seed: Seed(o.data_seed.unwrap_or(0)),
        repetitions: 1,
        ..Workload::default()
    }
}

/// Files to be created must not exist unless the user named them; files to be read first must exist.
fn existing(o: &IozoneOptions, named: bool, passes: impl Iterator<Item = &'static Pass>) -> Existing {
    let mut passes =
        passes.into_iter().filter(|p| o.runs(p.test) && (o.throughput() || in_row(o, p))).peekable();
    let first_reads = passes.peek().is_some_and(|p| p.reads);
    // The mixed test (8) has writers beside its readers.
    let any_writes = passes.any(|p| !p.reads || p.test == 8);
    match (named, first_reads, any_writes) {
        // The user designated the file for all tests.
        (true, _, true) => Existing::Replace,
        // A file kept by fathom earlier (-w) may be written; a foreign one is an error.
        (_, true, _) => Existing::Reuse,
        (false, false, _) | (true, false, false) => Existing::Refuse,
    }
}

fn fileset(o: &IozoneOptions, name: &str, files: Files, bytes: u64, existing: Existing) -> FileSet {
    FileSet {
        trust_sizes: false,
        leave_dirty: false,
        prepare_record: FileSet::PREPARE_RECORD,
        make_directories: false,
        may_modify: false,
        name: name.into(),
        files,
        size: Sizing::Fixed(Bytes(bytes)),
        existing,
        keep: o.keep || o.existing_only,
        mode: 0o640,
        data: data(o),
        preallocated_percent: 100,
        share: fathom_workload::Share::default(),
    }
}

fn stream_files(o: &IozoneOptions, n: u32) -> Files {
    let count = if o.sharing == Sharing::Shared { 1 } else { n };
    if o.files.is_empty() {
        return Files::Numbered { prefix: PathBuf::from(STREAM_FILES), count };
    }
    Files::List(o.files.iter().take(count as usize).cloned().collect())
}

fn group(o: &IozoneOptions, name: &str, instances: u32, s: Stream) -> Group {
    // Single tests need no process: a fork costs a short test more than its own calls.
    let processes = o.throughput() && !o.threads;
    Group {
        name: name.into(),
        instances,
        isolation: if processes { Isolation::Process } else { Isolation::Thread },
        nice: 0,
        pinning: o.first_cpu.map_or(Pinning::Free, Pinning::From),
        times: fathom_workload::Times::default(),
        threads: vec![Thread {
            io_priority: None,
            io_class: None,
            io_hint: 0,
            name: String::new(),
            instances: 1,
            memory: Bytes(0),
            locked_memory: Bytes(0),
            run_as: fathom_workload::RunAs::default(),
            program: Program::Stream(Box::new(s)),
        }],
    }
}

fn axes(file_kb: u64, record_kb: u64, streams: Option<u32>) -> Axes {
    let mode = if streams.is_some() { "streams" } else { "table" };
    Axes {
        file: Some(Bytes(file_kb << 10)),
        record: (record_kb > 0).then_some(Bytes(record_kb << 10)),
        streams: Some(streams.unwrap_or(1)),
        tags: BTreeMap::from([("mode".into(), mode.into())]),
    }
}

fn pause(o: &IozoneOptions) -> Vec<Action> {
    if o.delay_s == 0 {
        return Vec::new();
    }
    vec![Action::Sleep(Duration(o.delay_s.saturating_mul(1_000_000_000)))]
}
