//! Synthetic runs as a real machine would produce them, with the same figures on every call. Used by unit tests, the golden
//! files and the example that writes sample pages. Not part of the library.
#![allow(dead_code, missing_docs)]

mod observed;

#[allow(unused_imports)]
pub use observed::*;

use fathom_record::{
    Axes, Clock, DeviceDelta, Doubt, Ending, Histogram, Interval, Jitter, Marks, OpError, OpKind, OpStat,
    Phase, Physical, Repetition, Residency, Row, RowClass, Run, Status, SteadyState, Trust, Verdict, Worker,
};
use serde_json::json;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: f64 = (1u64 << 30) as f64;

/// The thirteen tests of an auto run: name, reads, writes, speed relative to a plain read.
const TESTS: [(&str, bool, bool, f64); 13] = [
    ("write", false, true, 0.45),
    ("rewrite", false, true, 0.7),
    ("read", true, false, 1.0),
    ("reread", true, false, 1.05),
    ("random read", true, false, 0.9),
    ("random write", false, true, 0.6),
    ("backward read", true, false, 0.85),
    ("record rewrite", false, true, 1.1),
    ("stride read", true, false, 0.88),
    ("fwrite", false, true, 0.4),
    ("frewrite", false, true, 0.65),
    ("fread", true, false, 0.95),
    ("freread", true, false, 0.97),
];

/// A run without phases.
fn frame(label: &str, argv: &[&str]) -> Run {
    Run {
        id: "20261121T210531-1a2b3c".into(),
        label: label.into(),
        dialect: "iozone".into(),
        started_at: "2026-11-21T21:05:31+01:00".into(),
        ended_at: "2026-11-21T21:06:44+01:00".into(),
        status: Status::Completed,
        version: "0.1.0".into(),
        argv: argv.iter().map(|s| (*s).to_string()).collect(),
        directory: "/srv/data".into(),
        seed: 42,
        workload: "name = \"sample\"\n".into(),
        environment: json!({
            "host": "eirene",
            "kernel": "6.18.1",
            "cpu": {"model": "AMD EPYC 7B13", "online": 2, "caches": [
                {"level": 1, "kind": "Data", "size_bytes": 32 * KIB},
                {"level": 1, "kind": "Instruction", "size_bytes": 32 * KIB},
                {"level": 2, "kind": "Unified", "size_bytes": 512 * KIB},
                {"level": 3, "kind": "Unified", "size_bytes": 16 * MIB}]},
            "memory": {"total_bytes": 384 * MIB, "swap_bytes": 0},
            "filesystem": {"type": "ext4", "options": "rw,relatime", "device": "vda1"},
            "knobs": {"scheduler": "none", "read_ahead_kb": 128, "nr_requests": null}
        }),
        clock: Clock {
            source: "tsc".into(),
            hz: 2.45e9,
            cost_ns: 13.0,
            resolution_ns: 14.0,
            drift_ppm: Some(0.4),
        },
        ..Run::default()
    }
}

/// A few per cent of deterministic noise.
fn wobble(a: u64, b: u64, c: u64) -> f64 {
    let mut x = a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.wrapping_mul(0xC2B2_AE3D_27D4_EB4F) ^ (c << 17);
    x ^= x >> 29;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 32;
    1.0 + ((x % 1000) as f64 / 1000.0 - 0.5) * 0.08
}

/// Latencies around a median with a tail.
fn latencies(median_ns: f64, n: u64) -> Histogram {
    let n = n.clamp(1, 2000);
    Histogram::from_values((0..n).map(|i| {
        let q = (i as f64 + 0.5) / n as f64;
        (median_ns * (0.7 + 0.6 * q) * (1.0 + 0.02 / (1.0 - q))) as u64
    }))
}

fn residency(file_bytes: u64, share: f64) -> Option<Residency> {
    let total_pages = file_bytes.div_ceil(4096);
    let cached_pages = (total_pages as f64 * share) as u64;
    Some(Residency { total_pages, cached_pages, ..Residency::default() })
}

fn physical(reads: bool, asked: u64, share: f64) -> Physical {
    let moved = (asked as f64 * share) as u64;
    let device = DeviceDelta {
        name: "vda".into(),
        read_bytes: if reads { moved } else { 0 },
        write_bytes: if reads { 0 } else { moved },
        read_ios: if reads { moved / (128 * KIB) } else { 0 },
        write_ios: if reads { 0 } else { moved / (512 * KIB) },
        ..DeviceDelta::default()
    };
    Physical {
        method: "diskstats".into(),
        devices: vec![device],
        own_read_bytes: Some(if reads { moved } else { 0 }),
        ..Physical::default()
    }
}

/// One stream at a given rate.
fn worker(index: u32, bytes: u64, record: u64, rate: f64, op: OpKind) -> Worker {
    let elapsed_ns = (bytes as f64 / rate * 1e9).max(1.0) as u64;
    let ops = bytes.div_ceil(record.max(1));
    let latency = latencies(record as f64 / rate * 1e9, ops);
    Worker {
        group: "main".into(),
        index,
        elapsed_ns,
        bytes,
        ops,
        cpu_user_ns: elapsed_ns / 20,
        cpu_system_ns: elapsed_ns / 3,
        marks: Marks { last_op_ns: elapsed_ns, ..Marks::default() },
        stats: vec![OpStat { op, ops, bytes, latency }],
        ..Worker::default()
    }
}

/// Rate and device share of one cell: 16 MiB of CPU cache, 384 MiB of memory, a disk of 400 MiB/s.
fn cell(test: usize, file: u64, record: u64) -> (f64, f64) {
    let speed = TESTS[test].3;
    let call = 1.0 / (1.0 + 6.0 * KIB as f64 / record as f64);
    let (rate, share) = match file {
        f if f <= 16 * MIB => (11.0 * GIB * speed * call, 0.0),
        f if f <= 256 * MIB => (5.2 * GIB * speed * call, 0.0),
        _ => (0.4 * GIB * (0.6 + 0.4 * speed) * call.sqrt(), 0.99),
    };
    (rate * wobble(test as u64, file, record), share)
}

fn surface_phase(seq: u32, test: usize, file: u64, record: u64) -> Phase {
    let (name, reads, writes, _) = TESTS[test];
    let (rate, share) = cell(test, file, record);
    let op = if reads { OpKind::Read } else { OpKind::Write };
    let worker = worker(0, file, record, rate, op);
    let repetition = Repetition {
        elapsed_ns: worker.elapsed_ns + 20_000,
        workers: vec![worker],
        physical: physical(reads, file, share),
        resident_before: residency(file, if share > 0.5 { 0.3 } else { 1.0 }),
        resident_after: residency(file, if share > 0.5 { 0.35 } else { 1.0 }),
        ..Repetition::default()
    };
    Phase {
        seq,
        name: name.into(),
        axes: Axes { file_bytes: Some(file), record_bytes: Some(record), ..Axes::default() },
        reads,
        writes,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![repetition],
    }
}

/// `iozone -a -g 1g`: thirteen tests, files of 64 KiB to 1 GiB, records of 4 KiB to 16 MiB, no small records on large files.
pub fn auto_run() -> Run {
    let mut run = frame("iozone -a", &["iozone", "-Ra", "-g", "1g"]);
    for file in (0..15).map(|i| (64 * KIB) << i) {
        for record in (0..13).map(|i| (4 * KIB) << i).filter(|r| *r <= file) {
            if file > 16 * MIB && record < 64 * KIB {
                continue;
            }
            for test in 0..TESTS.len() {
                run.phases.push(surface_phase(run.phases.len() as u32, test, file, record));
            }
        }
    }
    run.doubts = vec![
        Doubt {
            code: "page-cache".into(),
            phases: Vec::new(),
            sentence: "1521 of 1755 figures were served from memory; use files larger than 384 MiB or -I to see the disk.".into(),
        },
        Doubt {
            code: "short-phase".into(),
            phases: vec![0],
            sentence: "The phase lasted 23 us; below 1 ms the clock and the scheduler weigh in. Use larger files.".into(),
        },
    ];
    run
}

/// The same machine after a change: buffered writes 40 % faster, device reads a quarter slower.
pub fn auto_run_changed() -> Run {
    let mut run = auto_run();
    run.id = "20261122T090000-9f8e7d".into();
    run.label = "iozone -a, patched kernel".into();
    run.started_at = "2026-11-22T09:00:00+01:00".into();
    run.ended_at = "2026-11-22T09:01:05+01:00".into();
    for phase in &mut run.phases {
        let device = phase.axes.file_bytes.unwrap_or(0) > 256 * MIB;
        let factor = match (phase.writes, device) {
            (true, false) => 1.4,
            (false, true) => 0.75,
            _ => 1.0,
        } * wobble(77, u64::from(phase.seq), 3);
        for worker in phase.repetitions.iter_mut().flat_map(|r| &mut r.workers) {
            worker.elapsed_ns = ((worker.elapsed_ns as f64 / factor) as u64).max(1);
        }
    }
    run
}

fn intervals(rate: f64, seconds: u64) -> Vec<Interval> {
    let width_ns = 500_000_000;
    (1..=seconds * 2)
        .map(|i| {
            let dip = if i % 7 == 0 { 0.3 } else { 1.0 };
            let bytes = (rate * 0.5 * dip * wobble(i, 5, 9)) as u64;
            Interval { end_ns: i * width_ns, width_ns, ops: bytes / MIB, bytes, ..Interval::default() }
        })
        .collect()
}

/// `iozone -t 1 -t 2 -t 3 -c -e -i 0 -i 1`: writers that straggle as in the log of 2008, then readers.
pub fn throughput_run() -> Run {
    let mut run = frame("three writers", &["iozone", "-t", "1", "-t", "2", "-t", "3", "-ce", "-r", "1m"]);
    for streams in 1..=3u64 {
        let file = 3000 * MIB / streams / MIB * MIB;
        for (name, reads, base) in [("write", false, 86.0), ("rewrite", false, 90.0), ("read", true, 120.0)] {
            let seq = run.phases.len() as u32;
            let total =
                base * MIB as f64 * if reads { 1.0 } else { 1.0 / (1.0 + 0.2 * (streams - 1) as f64) };
            run.phases.push(streams_phase(seq, name, reads, streams, file, total));
        }
    }
    run
}

fn streams_phase(seq: u32, name: &str, reads: bool, streams: u64, file: u64, total: f64) -> Phase {
    let op = if reads { OpKind::Read } else { OpKind::Write };
    let workers: Vec<Worker> = (0..streams)
        .map(|i| {
            let share = 1.0 + 0.3 * (i as f64 - (streams - 1) as f64 / 2.0) / streams as f64;
            let mut w = worker(
                i as u32,
                (file as f64 * share.min(1.0)) as u64,
                MIB,
                total / streams as f64 * share,
                op,
            );
            if i + 1 < streams {
                w.ending = Ending::Stopped;
            }
            w
        })
        .collect();
    let longest = workers.iter().map(|w| w.elapsed_ns).max().unwrap_or(1);
    let asked: u64 = workers.iter().map(|w| w.bytes).sum();
    let repetition = Repetition {
        elapsed_ns: longest + longest * (streams - 1) / 5,
        start_skew_ns: 40_000,
        physical: physical(reads, asked, if reads { 1.02 } else { 1.0 }),
        intervals: intervals(total, 20),
        resident_before: residency(file, 0.0),
        resident_after: residency(file, 0.1),
        workers,
        ..Repetition::default()
    };
    Phase {
        seq,
        name: name.into(),
        axes: Axes {
            file_bytes: Some(file),
            record_bytes: Some(MIB),
            streams: Some(streams),
            ..Axes::default()
        },
        reads,
        writes: !reads,
        sync_in_clock: !reads,
        direct: false,
        repetitions: vec![repetition],
    }
}

/// A signal arrived before the first phase finished.
pub fn interrupted_run() -> Run {
    let mut run = frame("survey", &["fathom", "survey", "/srv/data"]);
    run.status = Status::Interrupted;
    run.dialect = "survey".into();
    run.environment = serde_json::Value::Null;
    run.doubts = vec![Doubt {
        code: "interrupted".into(),
        phases: Vec::new(),
        sentence: "SIGINT ended the run before the first phase was done.".into(),
    }];
    run
}

/// Every name that a user can choose contains characters that break HTML, JSON in scripts, Markdown tables and terminals.
pub fn hostile_run() -> Run {
    let evil = "</script><b>\"'&<!-- | `x` \u{1b}[31m";
    let mut run = throughput_run();
    run.label = evil.into();
    run.directory = format!("/tmp/{evil}");
    run.argv = vec!["iozone".into(), evil.into()];
    run.environment = json!({"host": evil, evil: {"x": evil}});
    run.error = Some(format!("{evil} failed"));
    run.status = Status::Failed;
    run.doubts = vec![Doubt { code: evil.into(), phases: Vec::new(), sentence: format!("{evil} doubtful") }];
    let mut seq = run.phases.len() as u32;
    for phase in &mut run.phases {
        phase.name = format!("{} {evil}", phase.name);
    }
    for file in [64 * KIB, 128 * KIB, 256 * KIB] {
        for record in [4 * KIB, 8 * KIB] {
            let mut phase = surface_phase(seq, 2, file, record);
            phase.name = format!("surface {evil}");
            phase.axes.tags.insert("stage".into(), evil.into());
            phase.axes.tags.insert("stage_note".into(), evil.into());
            phase.repetitions[0].physical.devices[0].name = evil.into();
            run.phases.push(phase);
            seq += 1;
        }
    }
    let failed = OpError {
        compared: None,
        call: "write".into(),
        path: evil.into(),
        offset: Some(4096),
        after_ops: 1,
        errno: 28,
        message: format!("writing {evil} failed: no space left on device"),
    };
    run.phases[0].repetitions[0].workers[0].ending = Ending::Failed(failed);
    run
}

/// As produced by `fathom survey`: four stages, each with a note.
pub fn survey_run() -> Run {
    let mut run = frame("survey of /srv/data", &["fathom", "survey", "/srv/data"]);
    run.dialect = "survey".into();
    let notes = [
        ("latency", "Single 4 KiB operations, one at a time: what one request costs."),
        ("surface", "Throughput over file and record size."),
        ("scaling", "What more streams bring."),
        ("sync", "What it costs to be sure."),
    ];
    let mut add = |mut phase: Phase, stage: usize| {
        phase.seq = run.phases.len() as u32;
        phase.axes.tags.insert("stage".into(), notes[stage].0.into());
        phase.axes.tags.insert("stage_note".into(), notes[stage].1.into());
        run.phases.push(phase);
    };
    for (test, share) in [(4, 1.0), (5, 1.0)] {
        let mut phase = surface_phase(0, test, 512 * MIB, 4 * KIB);
        let op = if phase.reads { OpKind::Read } else { OpKind::Write };
        let rate = 45.0 * MIB as f64;
        phase.direct = true;
        phase.repetitions[0].workers = vec![worker(0, 64 * MIB, 4 * KIB, rate, op)];
        phase.repetitions[0].physical = physical(phase.reads, 64 * MIB, share);
        phase.repetitions[0].intervals = intervals(rate, 4);
        add(phase, 0);
    }
    for file in (0..8).map(|i| (256 * KIB) << (2 * i)).filter(|f| *f <= 1 << 30) {
        for record in (0..5).map(|i| (4 * KIB) << (2 * i)).filter(|r| *r <= file) {
            for test in [0, 2, 4] {
                add(surface_phase(0, test, file, record), 1);
            }
        }
    }
    for streams in [1u64, 2, 4] {
        let total = 400.0 * MIB as f64 * (streams as f64).powf(0.2);
        add(streams_phase(0, "write", false, streams, 256 * MIB, total), 2);
    }
    for (how, rate) in [("each", 3.0), ("end", 300.0)] {
        let mut phase = streams_phase(0, "write", false, 1, 64 * MIB, rate * MIB as f64);
        phase.axes.tags.insert("fsync".into(), how.into());
        let sync = OpStat { op: OpKind::Sync, ops: 500, bytes: 0, latency: latencies(1.1e6, 500) };
        phase.repetitions[0].workers[0].stats.push(sync);
        add(phase, 3);
    }
    run
}

/// One cell measured several times, and a second one to form a surface.
pub fn repeated_cell(rates: &[f64]) -> Run {
    let mut run = frame("repeats", &[]);
    for (i, rate) in rates.iter().enumerate() {
        let mut phase = surface_phase(i as u32, 0, MIB, 4 * KIB);
        let w = &mut phase.repetitions[0].workers[0];
        w.bytes = *rate as u64;
        w.elapsed_ns = 1_000_000_000;
        run.phases.push(phase);
    }
    run.phases.push(surface_phase(rates.len() as u32, 0, MIB, 8 * KIB));
    run
}

/// Makes a phase's first worker fail.
pub fn fail(phase: &mut Phase, message: &str) {
    phase.repetitions[0].workers[0].ending = Ending::Failed(OpError {
        compared: None,
        call: "read".into(),
        path: "x".into(),
        offset: None,
        after_ops: 7,
        errno: 5,
        message: message.into(),
    });
}

/// Three writes: one with an fsync outside the clock, one with none, one with O_SYNC.
pub fn synced_run() -> Run {
    let mut run = frame("three ways to write", &["fathom", "run", "writes.toml"]);
    for (seq, name) in ["write", "write without fsync", "O_SYNC write"].into_iter().enumerate() {
        let mut phase = streams_phase(seq as u32, name, false, 1, 64 * MIB, 128.0 * MIB as f64);
        phase.sync_in_clock = seq == 2;
        let repetition = &mut phase.repetitions[0];
        repetition.intervals.clear();
        let worker = &mut repetition.workers[0];
        let last_op_ns = worker.elapsed_ns;
        let fsync_ns = if seq == 0 { 2 * last_op_ns } else { 0 };
        worker.marks = Marks { last_op_ns, fsync_ns, close_ns: fsync_ns.max(last_op_ns) };
        repetition.physical = physical(false, 64 * MIB, if seq == 2 { 1.0 } else { 0.0 });
        run.phases.push(phase);
    }
    run
}

/// A read, and a phase that reads and writes, both from the device.
pub fn mixed_run() -> Run {
    let mut run = frame("mixed", &["fathom", "run", "mixed.toml"]);
    run.phases.push(streams_phase(0, "read", true, 1, 64 * MIB, 50.0 * MIB as f64));
    let mut both = streams_phase(1, "mixed", true, 1, 64 * MIB, 100.0 * MIB as f64);
    both.writes = true;
    let repetition = &mut both.repetitions[0];
    let stats = &mut repetition.workers[0].stats;
    let half = OpStat { bytes: 32 * MIB, ..stats[0].clone() };
    *stats = vec![half.clone(), OpStat { op: OpKind::Write, ..half }];
    let device = &mut repetition.physical.devices[0];
    (device.read_bytes, device.write_bytes) = (32 * MIB, 32 * MIB);
    run.phases.push(both);
    run
}

/// Checks of a run: a direct read that found its queue depth, and a cached one with a rate it could not keep.
pub fn trust_list() -> Vec<Trust> {
    use Verdict::{Doubtful, Good};
    [
        (Doubtful, "device", "paced read: 0 B of 640 MiB asked reached vda (0.0 %), in 163840 operations; random read: 640 MiB of 640 MiB asked reached vda (100 %), in 163840 I/Os for 163840 operations."),
        (Good, "cache", "random read: cold: 0.0 % cached before, 0.0 % after; paced read: warm: 100 % cached before, 100 % after."),
        (Good, "extents", "All 640 MiB hold data, 12 MiB of them filled by fathom just before."),
        (Good, "sync", "Nothing was written."),
        (Good, "latency", "paced read: response p50 420 ms, p99.9 1.79 s, max 1.80 s; service p50 1.00 us, p99.9 27.0 us, max 105 us; random read: service time p50 90.6 us, p99.9 2.44 ms, max 9.50 ms; closed loop, timed from the issue; submission and completion also apart."),
        (Good, "clock", "Source tsc: a reading costs 13 ns, resolves 10 ns; drift 0.4 ppm."),
        (Doubtful, "machine", "paced read: steal 0.1 %; p99.9 27.0 us beside stalls of 20.0 us (max 105 us beside 20.0 us); random read: steal 0.0 %; p99.9 2.44 ms beside stalls of 80.0 us (max 9.50 ms beside 80.0 us)."),
        (Good, "neighbours", "Others moved 1 MiB of the device's 641 MiB (0.2 %)."),
        (Good, "data", "Nothing was written."),
        (Doubtful, "steady", "paced read: no: range 54 % (limit 20 %), trend 12 % (limit 10 %); operations over 5 rounds of 2.00 s; the mean hides a change, look at its course over time; random read: yes: range 3.0 %, trend 0.9 %; operations over 5 rounds of 1.00 s; warm-up of 2.00 s left out."),
        (Good, "repeats", "5 repetitions, least to most 2.1 % of the median."),
        (Doubtful, "overload", "Overloaded: asked 20000/s, got 16384/s, behind for up to 1.80 s."),
        (Good, "start", "One worker at a time."),
    ]
    .map(|(verdict, code, sentence)| Trust { code: code.into(), verdict, sentence: sentence.into() })
    .to_vec()
}

/// Engine results beyond rates: a direct read with warm-up, a queue depth it found, a requested steady state, and submission
/// separate from completion; and a cached read with a rate it could not keep, whose tail is the machine's.
pub fn engine_run() -> Run {
    let mut run = frame("what the engine tells", &["fathom", "run", "engine.toml"]);
    run.phases.push(asynchronous_read());
    run.phases.push(paced_read());
    run.trust = trust_list();
    run
}

fn asynchronous_read() -> Phase {
    let rate = 80.0 * MIB as f64;
    let mut phase = streams_phase(0, "random read", true, 1, 640 * MIB, rate);
    phase.direct = true;
    let repetition = &mut phase.repetitions[0];
    repetition.ramp_ns = 2_000_000_000;
    let worker = &mut repetition.workers[0];
    (worker.ramp_ops, worker.drained_ops, worker.settled_depth) = (14_000, 32, Some(16));
    worker.stats =
        [(OpKind::Read, 90_600.0), (OpKind::ReadSubmission, 1_900.0), (OpKind::ReadCompletion, 88_700.0)]
            .map(|(op, median_ns)| OpStat { op, ops: 2000, bytes: 0, latency: latencies(median_ns, 2000) })
            .to_vec();
    repetition.steady = Some(SteadyState {
        reached: true,
        asked: true,
        figure: "operations".into(),
        round_ns: 1_000_000_000,
        rounds: vec![31_000.0, 27_000.0, 22_000.0, 20_300.0, 20_100.0, 20_400.0, 20_500.0, 19_900.0],
        window: 5,
        mean: 20_240.0,
        range_percent: 3.0,
        slope_percent: 0.9,
    });
    repetition.jitter = Some(Jitter {
        gaps: Histogram::from_values([20; 100]),
        wakes: Histogram::from_values((0..2000).map(|i| if i < 1900 { 55_000 } else { 80_000 })),
        watched_ns: 1_000_000,
    });
    with_latencies(repetition, 90_600.0);
    phase
}

fn paced_read() -> Phase {
    let mut phase = streams_phase(1, "paced read", true, 1, 640 * MIB, 64.0 * MIB as f64);
    let repetition = &mut phase.repetitions[0];
    repetition.physical = physical(true, 640 * MIB, 0.0);
    let worker = &mut repetition.workers[0];
    worker.behind_ns = 1_800_000_000;
    worker.stats = [(OpKind::Read, 1_000.0), (OpKind::Response, 420_000_000.0)]
        .map(|(op, median_ns)| OpStat { op, ops: 2000, bytes: 0, latency: latencies(median_ns, 2000) })
        .to_vec();
    repetition.steady = Some(SteadyState {
        figure: "operations".into(),
        round_ns: 2_000_000_000,
        rounds: vec![16_000.0, 12_000.0, 9_000.0, 16_500.0, 16_000.0],
        window: 5,
        mean: 13_900.0,
        range_percent: 54.0,
        slope_percent: 12.0,
        ..SteadyState::default()
    });
    repetition.jitter = Some(Jitter {
        gaps: Histogram::from_values((0..52_000).map(|i| if i < 50_000 { 20 } else { 20_000 })),
        wakes: Histogram::default(),
        watched_ns: 1_000_000_000,
    });
    with_latencies(repetition, 1_000.0);
    phase
}

/// Every seventh interval has a stall.
fn with_latencies(repetition: &mut Repetition, median_ns: f64) {
    for (i, interval) in repetition.intervals.iter_mut().enumerate() {
        let slow = if i % 7 == 6 { 12.0 } else { wobble(i as u64, 3, 1) };
        interval.latencies = vec![(OpKind::Read, latencies(median_ns * slow, 200))];
    }
}

/// An operation of a flow in one thread: name, class, kind, executions, bytes each, median duration (0: not timed).
type Op = (&'static str, RowClass, Option<OpKind>, u64, u64, f64);

fn row_of(&(name, class, kind, ops, each, median_ns): &Op) -> Row {
    Row {
        name: name.into(),
        class,
        kind,
        ops,
        bytes: ops * each,
        latency: if median_ns > 0.0 { latencies(median_ns, ops.min(500)) } else { Histogram::default() },
        cpu_ns: 0,
    }
}

/// The statistics by kind that match the rows of a flow.
fn stats_of(rows: &[Row]) -> Vec<OpStat> {
    let of = |op: OpKind| {
        let mut all = OpStat { op, ops: 0, bytes: 0, latency: Histogram::default() };
        for row in rows.iter().filter(|r| r.class.is_io() && r.kind == Some(op)) {
            all.ops += row.ops;
            all.bytes += row.bytes;
            all.latency.merge(&row.latency);
        }
        (all.ops > 0).then_some(all)
    };
    OpKind::ALL.into_iter().filter_map(of).collect()
}

/// Threads of a process that all do the same for ten seconds.
fn threads(group: &str, from: u32, n: u32, ops: &[Op]) -> Vec<Worker> {
    let rows: Vec<Row> = ops.iter().map(row_of).collect();
    let stats = stats_of(&rows);
    let one = |index: u32| Worker {
        group: group.into(),
        index,
        elapsed_ns: 10_000_000_000,
        bytes: stats.iter().map(|s| s.bytes).sum(),
        ops: stats.iter().map(|s| s.ops).sum(),
        stats: stats.clone(),
        ending: Ending::Stopped,
        rows: rows.clone(),
        ..Worker::default()
    };
    (from..from + n).map(one).collect()
}

fn flow_phase(seq: u32, name: &str, workers: Vec<Worker>) -> Phase {
    let has = |op: OpKind| workers.iter().flat_map(|w| &w.stats).any(|s| s.op == op);
    let (reads, writes, syncs) = (has(OpKind::Read), has(OpKind::Write), has(OpKind::Sync));
    let (ops, bytes): (u64, u64) = workers.iter().fold((0, 0), |(o, b), w| (o + w.ops, b + w.bytes));
    let interval = |i: u64| Interval {
        end_ns: i * 1_000_000_000,
        width_ns: 1_000_000_000,
        ops: (ops as f64 / 10.0 * wobble(i, 2, 8)) as u64,
        bytes: (bytes as f64 / 10.0 * wobble(i, 4, 8)) as u64,
        ..Interval::default()
    };
    let repetition = Repetition {
        elapsed_ns: 10_000_400_000,
        intervals: (1..=10).map(interval).collect(),
        physical: physical(reads, bytes, if reads { 0.01 } else { 0.0 }),
        workers,
        ..Repetition::default()
    };
    Phase {
        seq,
        name: name.into(),
        axes: Axes { streams: Some(repetition.workers.len() as u64), ..Axes::default() },
        reads,
        writes,
        sync_in_clock: syncs,
        direct: false,
        repetitions: vec![repetition],
    }
}

/// A mail server's threads beside one that wakes up now and then, and then files that are only created and deleted.
pub fn filebench_run() -> Run {
    use RowClass::{Io, Other, Sync};
    let mut run = frame("mail", &["fathom", "filebench", "-f", "mail.f"]);
    run.dialect = "filebench".into();
    let mail: [Op; 6] = [
        ("deletefile1", Io, Some(OpKind::Delete), 1000, 0, 61_000.0),
        ("createfile1", Io, Some(OpKind::Open), 1000, 0, 43_000.0),
        ("append1", Io, Some(OpKind::Write), 1000, 16 * KIB, 9_800.0),
        ("fsync1", Io, Some(OpKind::Sync), 1000, 0, 2_900_000.0),
        ("read1", Io, Some(OpKind::Read), 2000, 16 * KIB, 6_100.0),
        ("wait1", Sync, None, 10, 0, 95_000_000.0),
    ];
    let mut workers = threads("mailer", 0, 16, &mail);
    workers.extend(threads("ticker", 16, 1, &[("limit1", Other, None, 100, 0, 0.0)]));
    run.phases.push(flow_phase(0, "mail", workers));
    let metadata: [Op; 4] = [
        ("createfile2", Io, Some(OpKind::Open), 5000, 0, 39_000.0),
        ("closefile2", Io, Some(OpKind::Close), 5000, 0, 1_100.0),
        ("statfile2", Io, Some(OpKind::Stat), 7500, 0, 2_300.0),
        ("deletefile2", Io, Some(OpKind::Delete), 5000, 0, 51_000.0),
    ];
    run.phases.push(flow_phase(1, "create and delete", threads("maker", 0, 4, &metadata)));
    run
}

/// The same a quarter faster, without the waiting operation.
pub fn filebench_run_changed() -> Run {
    let mut run = filebench_run();
    run.id = "20261122T090000-9f8e7d".into();
    run.label = "mail, patched kernel".into();
    for worker in run.phases.iter_mut().flat_map(|p| &mut p.repetitions).flat_map(|r| &mut r.workers) {
        worker.elapsed_ns = 8_000_000_000;
        worker.rows.retain(|r| r.name != "wait1");
        for row in worker.rows.iter_mut().filter(|r| r.latency.count() > 0) {
            let faster: Vec<u64> = row
                .latency
                .buckets()
                .flat_map(|(low, width, n)| {
                    std::iter::repeat_n(((low + width / 2) as f64 * 0.8) as u64, n as usize)
                })
                .collect();
            row.latency = Histogram::from_values(faster);
        }
    }
    run
}

/// Sixteen threads that read, write and occasionally fsync, with intervals by kind.
pub fn sysbench_run() -> Run {
    let argv = ["sysbench", "fileio", "--threads=16", "--file-test-mode=rndrw", "run"];
    let mut run = frame("rndrw, 16 threads", &argv);
    run.dialect = "sysbench".into();
    let stat = |op, ops, bytes, median_ns| OpStat { op, ops, bytes, latency: latencies(median_ns, ops) };
    let thread = |index: u32| Worker {
        group: "threads".into(),
        index,
        elapsed_ns: 10_000_000_000,
        bytes: 10_000 * 16 * KIB,
        ops: 10_000 + 128,
        stats: vec![
            stat(OpKind::Read, 6000, 6000 * 16 * KIB, 7_900.0),
            stat(OpKind::Write, 4000, 4000 * 16 * KIB, 14_300.0 + 100.0 * f64::from(index)),
            stat(OpKind::Sync, 128, 0, 1_700_000.0),
        ],
        ending: Ending::Stopped,
        ..Worker::default()
    };
    let axes = Axes {
        file_bytes: Some(2 << 30),
        record_bytes: Some(16 * KIB),
        streams: Some(16),
        ..Axes::default()
    };
    let repetition = Repetition {
        elapsed_ns: 10_000_900_000,
        start_skew_ns: 120_000,
        workers: (0..16).map(thread).collect(),
        intervals: (1..=20).map(interval_by_kind).collect(),
        physical: physical(true, 16 * 10_000 * 16 * KIB, 0.0),
        ..Repetition::default()
    };
    run.phases.push(Phase {
        seq: 0,
        name: "random read and write".into(),
        axes,
        reads: true,
        writes: true,
        sync_in_clock: true,
        direct: false,
        repetitions: vec![repetition],
    });
    run
}

/// Half a second of reads and writes, two of three with fsyncs; the reads occasionally pause.
fn interval_by_kind(i: u64) -> Interval {
    let slow = if i % 6 == 5 { 0.3 } else { 1.0 };
    let read = (4800.0 * slow * wobble(i, 1, 1)) as u64 * 16 * KIB;
    let written = (3200.0 * wobble(i, 2, 1)) as u64 * 16 * KIB;
    let mut timed =
        vec![(OpKind::Read, latencies(7_900.0 / slow, 300)), (OpKind::Write, latencies(14_300.0, 300))];
    if !i.is_multiple_of(3) {
        timed.push((OpKind::Sync, latencies(1_700_000.0 / slow, 150 + 10 * i)));
    }
    Interval {
        end_ns: i * 500_000_000,
        width_ns: 500_000_000,
        ops: (read + written) / (16 * KIB),
        bytes: read + written,
        latencies: timed,
        moved: vec![(OpKind::Read, read), (OpKind::Write, written)],
    }
}

/// An imported run: a table of four cells and a summary with a latency.
pub fn imported_run() -> Run {
    use fathom_record::{Doubt, Figure, Source};
    let figure = |name: &str, value: f64, unit: &str, printed: &str, better: bool, line: u64| Figure {
        name: name.into(),
        value,
        unit: unit.into(),
        printed: printed.into(),
        higher_is_better: Some(better),
        line,
    };
    let phase = |seq: u32, name: &str, axes: Axes, figures: Vec<Figure>| Phase {
        seq,
        name: name.into(),
        axes,
        reads: false,
        writes: true,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![Repetition { figures, ..Repetition::default() }],
    };
    let mut phases = Vec::new();
    for (file, record, kb) in [
        (1u64 << 20, 4096u64, 51200.0),
        (1 << 20, 8192, 51300.0),
        (2 << 20, 4096, 52200.0),
        (2 << 20, 8192, 52300.0),
    ] {
        let axes =
            Axes { file_bytes: Some(file), record_bytes: Some(record), streams: Some(1), ..Axes::default() };
        let figures = vec![figure("throughput", kb * 1024.0, "bytes/s", &kb.to_string(), true, 5)];
        phases.push(phase(phases.len() as u32, "write", axes, figures));
    }
    let figures = vec![
        figure("operations per second", 14.8, "ops/s", "14.8 ops/s", true, 8),
        figure("latency avg", 2.5e6, "ns", "2.5 ms/op", false, 8),
    ];
    phases.push(phase(4, "all flowops", Axes::default(), figures));
    Run {
        id: "20261121T210531-1a2b3c".into(),
        label: "a |mail|".into(),
        dialect: "iozone".into(),
        status: Status::Completed,
        version: "0.1.0".into(),
        phases,
        doubts: vec![Doubt {
            code: "single-run".into(),
            phases: Vec::new(),
            sentence: "single runs, no interval possible; repeat >= 3 quads for a verdict".into(),
        }],
        source: Some(Source {
            file: "a|b.log".into(),
            program: "IOzone 3.283".into(),
            first_line: 3,
            last_line: 9,
            not_understood: Vec::new(),
        }),
        ..Run::default()
    }
}

/// A simulated run of one phase with its inner course.
pub fn simulated_run() -> Run {
    use fathom_record::course::{
        DepthCourse, DepthInterval, Dot, IdleWait, IdleWaits, PhaseCourse, ServiceTime, Thinned, Window,
    };
    use fathom_record::{Doubt, Histogram, Simulation, ValueSources};
    const MS: u64 = 1_000_000;
    let mut run = observed_run();
    run.phases.truncate(1);
    run.label = "random read, another disk".into();
    run.id = "20261122T100000-51a7ed".into();
    let dot =
        |n: u64| Dot { at_ns: n * MS, sector: 2_000_000 + n * 7919 % 500 * 8, write: n.is_multiple_of(7) };
    let simulation = Simulation {
        host: "today".into(),
        device: "sata-7200-ncq".into(),
        scheduler: "mq-deadline".into(),
        readahead: "modern".into(),
        stack: "full".into(),
        values: ValueSources { datasheet: 11, guessed: 6, ..ValueSources::default() },
        counts: vec![("events".into(), 4242)],
        phases: vec![PhaseCourse {
            phase: run.phases[0].seq,
            service: ServiceTime {
                busy_ns: 10 * MS,
                overhead_ns: MS,
                seek_ns: 4 * MS,
                rotation_ns: 4 * MS,
                transfer_ns: MS,
                destage_ns: 0,
                buffer_hits: 3,
                cached_writes: 0,
                members: 1,
            },
            served: Thinned { one_of: 1, kept: (0..200).map(dot).collect() },
            queued: Thinned { one_of: 2, kept: (0..100).map(|n| dot(2 * n)).collect() },
            windows: Thinned {
                one_of: 1,
                kept: (0..40).map(|n| Window { at_ns: n * 5 * MS, pages: 1 << (n % 6) }).collect(),
            },
            depths: DepthCourse {
                interval_ns: 10 * MS,
                end_ns: 195 * MS,
                intervals: (0..20)
                    .map(|n| DepthInterval {
                        busy_ns: if n < 19 { (5 + n % 6) * MS } else { 5 * MS },
                        held_ns: if n % 6 == 0 { 4 * MS } else { 0 },
                        in_device_ns: if n < 19 { (5 + n % 6) * MS } else { 5 * MS },
                        waiting_ns: if n < 19 { (2 + n % 8) * 10 * MS } else { 10 * MS },
                    })
                    .collect(),
            },
            idle_waits: IdleWaits {
                paid: Histogram::from_values([MS, 2 * MS, 3 * MS]),
                in_vain: Histogram::from_values([6 * MS]),
                kept: Thinned {
                    one_of: 1,
                    kept: (1..5)
                        .map(|n| IdleWait {
                            at_ns: n * 40 * MS,
                            ns: if n < 4 { n * MS } else { 6 * MS },
                            sector: 2_000_000 + n * 100,
                            paid: n < 4,
                        })
                        .collect(),
                },
                ..IdleWaits::default()
            },
        }],
        ..Simulation::default()
    };
    run.doubts.push(Doubt { code: "simulated".into(), phases: Vec::new(), sentence: simulation.sentence() });
    run.simulation = Some(simulation);
    run
}
