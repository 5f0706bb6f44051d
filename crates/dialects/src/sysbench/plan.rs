//! Turns options into a workload: one phase, one group of threads, and one stream over all files, whose workers share one sequence.

use super::options::{Dialect, FileioCommand, IoMode, Mode, SysbenchOptions};
use fathom_workload::{
    Access, Action, Amount, Axes, Backend, Bytes, CacheState, Data, Direction, Duration, Existing, FileSet,
    Files, Gaps, Group, Isolation, MapFlush, Mix, Open, OpenSync, Pace, Phase, Pick, Pinning, Program, Rate,
    Scaled, Seed, Sequence, Sizing, Stop, Stream, SyncCall, SyncEvery, SyncSeries, Thread, Timed, Verify,
    Workload,
};

pub(super) const FILES: &str = "test_file";

/// The workload to run. For prepare and cleanup it only has the files.
pub(super) fn workload(o: &SysbenchOptions, clock_seed: u64) -> Workload {
    let seed = match o.dialect {
        Dialect::New if o.rand_seed != 0 => u64::from(o.rand_seed.unsigned_abs()),
        Dialect::Old if !o.init_rng => u64::from(o.seed_rng.unsigned_abs()),
        _ => clock_seed,
    };
    Workload {
        name: "sysbench fileio".into(),
        seed: Seed(seed),
        repetitions: 1,
        filesets: vec![files(o)],
        phases: if o.command == FileioCommand::Run { vec![phase(o)] } else { Vec::new() },
        ..Workload::default()
    }
}

fn files(o: &SysbenchOptions) -> FileSet {
    FileSet {
        name: FILES.into(),
        files: Files::Numbered { prefix: o.path.join("test_file."), count: o.files },
        size: Sizing::Fixed(Bytes(o.file_bytes())),
        existing: if o.replace { Existing::Replace } else { Existing::Refuse },
        may_modify: false,
        keep: true,
        mode: 0o600,
        data: data(o),
        preallocated_percent: 100,
        share: Default::default(),
        trust_sizes: false,
        leave_dirty: false,
        prepare_record: prepare_record(o),
        make_directories: false,
    }
}

/// Data written by prepare and by a run: zeros, as in SysBench, or self-verifying blocks.
pub(super) fn data(o: &SysbenchOptions) -> Data {
    if o.validate { Data::Checksummed { block: Bytes(o.block_bytes) } } else { Data::Zero }
}

/// SysBench prepares in its block size. With larger writes the page cache would use larger folios too, which would distort the
/// measurement: on ext4 of Linux 6.18 a write of 16 KiB into them takes 1.5 to 2.5 times as long.
pub(super) fn prepare_record(o: &SysbenchOptions) -> Bytes {
    // A run with larger blocks is refused, whatever the files contain.
    Bytes(o.block_bytes).min(FileSet::LARGEST_PREPARE_RECORD)
}

/// Standard term for what a mode measures.
pub(super) fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::SeqWrite => "write",
        Mode::SeqRewrite => "rewrite",
        Mode::SeqRead => "read",
        Mode::RandomRead => "random read",
        Mode::RandomWrite => "random write",
        Mode::RandomMix => "random mix",
    }
}

fn phase(o: &SysbenchOptions) -> Phase {
    let mut before = Vec::new();
    if o.mode == Mode::SeqWrite {
        before.push(Action::Recreate(FILES.into()));
    }
    Phase {
        name: name(o.mode).into(),
        axes: Axes {
            file: Some(Bytes(o.file_bytes())),
            record: Some(Bytes(o.request_bytes())),
            streams: Some(o.threads),
            ..Axes::default()
        },
        before,
        cache: if o.cold { CacheState::Cold } else { CacheState::AsFound },
        stop: Stop { time: limit(o).map(seconds), ..Stop::default() },
        interval: seconds(interval_s(o)),
        groups: vec![Group {
            name: "fileio".into(),
            instances: 1,
            isolation: Isolation::Thread,
            nice: 0,
            pinning: Pinning::Free,
            times: fathom_workload::Times::default(),
            threads: vec![Thread {
                name: String::new(),
                instances: o.threads,
                memory: Bytes(0),
                locked_memory: Bytes(0),
                run_as: fathom_workload::RunAs::default(),
                io_priority: None,
                io_class: None,
                io_hint: 0,
                program: Program::Stream(Box::new(stream(o))),
            }],
        }],
        ..Phase::default()
    }
}

/// Ten years: the model needs a limit for a run that lasts until it is interrupted.
const ENDLESS_S: u64 = 10 * 365 * 86400;

/// Time limit in seconds.
fn limit(o: &SysbenchOptions) -> Option<u64> {
    let one_pass = o.dialect == Dialect::Old && !o.mode.random();
    match o.time_s {
        0 if o.events == 0 && !one_pass => Some(ENDLESS_S),
        0 => None,
        s => Some(s.min(ENDLESS_S)),
    }
}

/// Interval of the series: a divisor of all report times, else a second.
pub(super) fn interval_s(o: &SysbenchOptions) -> u64 {
    let all = o.checkpoints_s.iter().copied().chain([o.report_interval_s]).filter(|&s| s > 0);
    all.reduce(gcd).unwrap_or(1).min(ENDLESS_S)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn seconds(s: u64) -> Duration {
    Duration(s.saturating_mul(1_000_000_000))
}

fn stream(o: &SysbenchOptions) -> Stream {
    let old = o.dialect == Dialect::Old;
    let direction = match o.mode {
        Mode::SeqRead | Mode::RandomRead => Direction::Read,
        Mode::SeqWrite | Mode::SeqRewrite | Mode::RandomWrite => Direction::Write,
        // 0.4 does 6000 reads and 4000 writes with any number of threads; 1.0 follows completed requests.
        Mode::RandomMix if old => Direction::Mix(Mix::ReadsPerWriteIssued(o.rw_ratio)),
        Mode::RandomMix => Direction::Mix(Mix::ReadsPerWrite(o.rw_ratio)),
    };
    let access = if o.mode.random() { Access::Scaled(scaled(o)) } else { Access::Sequential };
    let amount = match (old && !o.mode.random(), o.events) {
        (true, _) => Amount::Pass,
        (false, 0) => Amount::Endless,
        (false, n) => Amount::Operations(n),
    };
    let at_end = o.syncs_at_end();
    let series = SyncSeries {
        requests: o.sync_requests(),
        data_only: o.data_only,
        at_end: old && at_end,
        counted: !old,
    };
    let every = SyncEvery { writes: 1, data_only: o.data_only, inside: true, between: false, range: None };
    Stream {
        pick: Pick::All,
        sequence: Sequence::Common,
        access,
        amount,
        backend: match o.effective_io_mode() {
            IoMode::Sync => Backend::Psync(SyncCall::Positioned),
            IoMode::Async => Backend::Aio { batch: 0, atomic: false },
            IoMode::Mmap => Backend::Mmap {
                flush: MapFlush::No,
                flush_every: 1,
                populate: false,
                huge_pages: false,
                advice: None,
            },
        },
        queue_depth: if o.effective_io_mode() == IoMode::Async { o.backlog } else { 1 },
        open: Open {
            direct: o.flags.direct,
            // O_SYNC includes O_DSYNC.
            sync: if o.flags.sync {
                OpenSync::Sync
            } else if o.flags.dsync {
                OpenSync::Dsync
            } else {
                OpenSync::No
            },
            ..Open::default()
        },
        timed: Timed { fsync: !old && at_end, ..Timed::default() },
        sync_every: (o.fsync_all && o.mode.writes()).then_some(every),
        sync_series: (series.requests > 0 || at_end).then_some(series),
        exclusive: o.validate && o.mode.random(),
        data: data(o),
        verify: if o.validate { Verify::Full } else { Verify::No },
        pace: Pace {
            rate: (o.rate > 0).then(|| Rate {
                operations_per_s: f64::from(o.rate),
                arrivals: Gaps::Poisson,
                per: fathom_workload::Bytes(0),
                common: true,
            }),
            ..Pace::default()
        },
        ..Stream::new(FILES, direction, Bytes(o.request_bytes()))
    }
}

/// 1.0.20 draws from the C library's random() through xoroshiro128+, and once more for its histogram after each event. 0.4 had
/// another generator, of which only the formula is reproduced.
fn scaled(o: &SysbenchOptions) -> Scaled {
    if o.dialect == Dialect::Old {
        return Scaled::default();
    }
    Scaled {
        libc_seed: (o.rand_seed != 0).then(|| o.rand_seed.cast_unsigned()),
        dropped: u8::from(o.percentile > 0),
    }
}
