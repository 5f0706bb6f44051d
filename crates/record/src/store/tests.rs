//! The store's behaviour: a run comes back as it was written, a killed writer loses at most a phase, and every failure is a
//! sentence. Also the sample run and the generator of arbitrary runs, which the exports' tests use too.

use super::block_tests::{BLOCK_TABLES, any_block, any_findings, sample_block, sample_findings};
use super::*;
use crate::{
    Axes, CacheIntent, Clock, DeviceDelta, Doubt, Ending, Extents, Histogram, Interval, Jitter, Marks,
    OpError, OpKind, OpLogEntry, OpStat, Phase, Physical, Repetition, Residency, Row, RowClass, Run, Status,
    SteadyState, Trust, Verdict, Worker,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Write as _;

// ---- sample and generator

/// A small run with something in every field.
pub(crate) fn sample_run() -> Run {
    Run {
        id: "20261121T210531-1a2b3c".into(),
        label: "evening".into(),
        dialect: "survey".into(),
        started_at: "2026-11-21T21:05:31+00:00".into(),
        ended_at: "2026-11-21T21:06:02+00:00".into(),
        status: Status::Failed,
        version: "0.1.0".into(),
        argv: vec!["fathom".into(), "survey".into(), "/mnt/a disk".into()],
        directory: "/mnt/a disk".into(),
        seed: u64::MAX,
        workload: "name = \"survey\"\n".into(),
        environment: serde_json::json!({"kernel": "6.18.0", "cpu": {"online": 2, "governor": null}}),
        clock: Clock {
            source: "tsc".into(),
            hz: 2.5e9,
            cost_ns: 12.5,
            resolution_ns: 1.0,
            drift_ppm: Some(0.25),
        },
        phases: vec![write_phase(), read_phase(), flow_phase()],
        doubts: vec![
            Doubt {
                code: "page-cache".into(),
                phase: Some(1),
                sentence: "The read never reached the device.".into(),
            },
            Doubt { code: "steal".into(), phase: None, sentence: "3 % of the CPU was stolen.".into() },
        ],
        trust: vec![
            Trust {
                code: "cache".into(),
                verdict: Verdict::Doubtful,
                sentence: "The read never reached the device.".into(),
            },
            Trust {
                code: "latency".into(),
                verdict: Verdict::Good,
                sentence: "4 of 4 writes were timed; the slowest took 250 µs.".into(),
            },
            Trust {
                code: "machine".into(),
                verdict: Verdict::Unknown,
                sentence: "The kernel does not tell the CPU's governor.".into(),
            },
        ],
        error: Some("the disk is full".into()),
    }
}

fn write_phase() -> Phase {
    let stats = vec![
        OpStat {
            op: OpKind::Write,
            ops: 4,
            bytes: 262_144,
            latency: Histogram::from_values([900, 1100, 1300, 250_000]),
        },
        OpStat { op: OpKind::Sync, ops: 1, bytes: 0, latency: Histogram::from_values([2_000_000]) },
    ];
    let worker = |index: u32, ending: Ending| Worker {
        rows: Vec::new(),
        group: "writers".into(),
        index,
        start_ns: u64::from(index) * 700,
        elapsed_ns: 2_500_000,
        bytes: 262_144,
        ops: 4,
        uncounted_bytes: 65_536,
        cpu_user_ns: 1000,
        cpu_system_ns: 400_000,
        marks: Marks { last_op_ns: 253_300, fsync_ns: 2_253_300, close_ns: 2_254_000 },
        drained_ops: u64::from(index) * 2,
        ramp_ops: 1,
        settled_depth: (index == 1).then_some(16),
        behind_ns: u64::from(index) * 12_000,
        stats: stats.clone(),
        ending,
        op_log: Vec::new(),
    };
    let full = Ending::Failed(OpError {
        compared: None,
        call: "write".into(),
        path: "/mnt/a disk/f1".into(),
        offset: Some(262_144),
        after_ops: 4,
        errno: 28,
        message: "No space left on device.".into(),
    });
    let device = DeviceDelta {
        name: "vda".into(),
        kind: "disk".into(),
        write_ios: 3,
        write_bytes: 524_288,
        flush_ios: 2,
        busy_ms: 2,
        ..DeviceDelta::default()
    };
    let repetition = Repetition {
        n: 0,
        started_ns: 1_000_000,
        elapsed_ns: 2_600_000,
        start_skew_ns: 700,
        workers: vec![worker(0, Ending::Completed), worker(1, full)],
        intervals: vec![Interval {
            moved: Vec::new(),
            end_ns: 2_600_000,
            width_ns: 2_600_000,
            ops: 8,
            bytes: 524_288,
            latencies: vec![
                (OpKind::Write, Histogram::from_values([900, 900, 1100, 1100, 1300, 1300, 250_000, 250_000])),
                (OpKind::Sync, Histogram::from_values([2_000_000, 2_000_000])),
            ],
        }],
        ramp_ns: 500_000,
        steady: Some(SteadyState {
            reached: false,
            asked: true,
            figure: "bytes".into(),
            round_ns: 500_000,
            rounds: vec![1e8, 2e8, 2.5e8],
            window: 2,
            mean: 2.25e8,
            range_percent: 22.5,
            slope_percent: 22.5,
        }),
        jitter: Some(Jitter {
            gaps: Histogram::from_values([31, 32, 33, 40_000]),
            wakes: Histogram::from_values([52_000, 61_000]),
            watched_ns: 200_000,
        }),
        cache: CacheIntent::Cold,
        extents: Some(Extents {
            bytes: 524_288,
            hole_bytes: 4096,
            unwritten_bytes: 8192,
            filled_bytes: 12_288,
        }),
        physical: Physical {
            method: "diskstats".into(),
            devices: vec![device],
            own_write_bytes: Some(655_360),
            written_in_clock_bytes: Some(4096),
            dirty_after_bytes: Some(4096),
            machine_cpu_ns: Some(30_000_000),
            ..Physical::default()
        },
        resident_before: Some(Residency::default()),
        resident_after: Some(Residency {
            total_pages: 128,
            cached_pages: 128,
            dirty_pages: 1,
            writeback_pages: 0,
        }),
        block: Some(sample_block()),
        findings: sample_findings(),
        ..Repetition::default()
    };
    let tags = BTreeMap::from([("fsync".to_string(), "end".to_string())]);
    Phase {
        seq: 0,
        name: "write".into(),
        axes: Axes {
            file_bytes: Some(262_144),
            record_bytes: Some(65_536),
            streams: Some(2),
            queue_depth: None,
            tags,
        },
        reads: false,
        writes: true,
        sync_in_clock: true,
        direct: false,
        repetitions: vec![repetition],
    }
}

fn read_phase() -> Phase {
    let repetition = |n: u32| Repetition {
        n,
        started_ns: 5_000_000 + u64::from(n) * 1_000_000,
        elapsed_ns: 50_000,
        workers: vec![Worker {
            group: "readers".into(),
            elapsed_ns: 40_000,
            bytes: 8192,
            ops: 2,
            stats: vec![OpStat {
                op: OpKind::Read,
                ops: 2,
                bytes: 8192,
                latency: Histogram::from_values([15_000, 25_000]),
            }],
            ending: Ending::Stopped,
            op_log: vec![
                OpLogEntry { offset: 4096, bytes: 4096, latency_ns: 15_000, start_ns: 0 },
                OpLogEntry { offset: 0, bytes: 4096, latency_ns: 25_000, start_ns: 15_000 },
            ],
            ..Worker::default()
        }],
        physical: Physical {
            method: "none".into(),
            note: Some("tmpfs is memory".into()),
            ..Physical::default()
        },
        ..Repetition::default()
    };
    Phase {
        seq: 1,
        name: "random read".into(),
        axes: Axes { record_bytes: Some(4096), streams: Some(1), queue_depth: Some(1), ..Axes::default() },
        reads: true,
        writes: false,
        sync_in_clock: false,
        direct: true,
        repetitions: vec![repetition(0), repetition(1)],
    }
}

/// Two processes of a flow, one of which found what it had not written.
fn flow_phase() -> Phase {
    let row = |name: &str, class, kind, bytes, latencies: &[u64]| Row {
        name: name.into(),
        class,
        kind,
        ops: latencies.len() as u64,
        bytes,
        latency: Histogram::from_values(latencies.iter().copied()),
        cpu_ns: if class == RowClass::Io { 900 } else { 0 },
    };
    let worker = |index: u32, ending| Worker {
        group: "mailer".into(),
        index,
        elapsed_ns: 20_000_000 - u64::from(index) * 10_000_000,
        bytes: 16_384,
        ops: 3,
        stats: vec![
            OpStat {
                op: OpKind::Open,
                ops: 2,
                bytes: 0,
                latency: Histogram::from_values([4000, 5000 + u64::from(index)]),
            },
            OpStat { op: OpKind::Write, ops: 1, bytes: 16_384, latency: Histogram::from_values([9000]) },
        ],
        rows: vec![
            row("open1", RowClass::Io, Some(OpKind::Open), 0, &[4000, 5000 + u64::from(index)]),
            row("append1", RowClass::Io, Some(OpKind::Write), 16_384, &[9000]),
            row("wait1", RowClass::Sync, None, 0, &[]),
        ],
        ending,
        ..Worker::default()
    };
    let wrong = Ending::Failed(OpError {
        call: "verify".into(),
        path: "/mnt/a disk/mail/7".into(),
        offset: Some(8192),
        after_ops: 3,
        errno: 0,
        compared: Some((7, u64::MAX)),
        message: "The block at 8192 is not the one that was written.".into(),
    });
    let interval = |n: u64| Interval {
        end_ns: n * 10_000_000,
        width_ns: 10_000_000,
        ops: 3,
        bytes: 16_384,
        latencies: Vec::new(),
        moved: vec![(OpKind::Write, 12_288), (OpKind::Read, 4096 * (n - 1))],
    };
    let repetition = Repetition {
        elapsed_ns: 20_500_000,
        workers: vec![worker(0, Ending::Stopped), worker(1, wrong)],
        intervals: vec![interval(1), interval(2)],
        ..Repetition::default()
    };
    Phase {
        seq: 2,
        name: "mail".into(),
        axes: Axes { streams: Some(2), ..Axes::default() },
        reads: false,
        writes: true,
        sync_in_clock: true,
        direct: false,
        repetitions: vec![repetition],
    }
}

/// Counters of every size, the small ones more often.
pub(super) fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..1000, any::<u32>().prop_map(u64::from), any::<u64>(), Just(u64::MAX), Just(1 << 63)]
}

/// Numbers whose sums over a few workers stay below 2^64, as the sums of [`Repetition`] demand.
fn countable() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..1000, 0u64..1 << 60]
}

pub(super) fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{0,12}", any::<String>()]
}

fn any_stat() -> impl Strategy<Value = OpStat> {
    let values = prop::collection::vec(number(), 0..20);
    (prop::sample::select(OpKind::ALL.to_vec()), countable(), countable(), values).prop_map(
        |(op, ops, bytes, values)| OpStat { op, ops, bytes, latency: Histogram::from_values(values) },
    )
}

fn any_ending() -> impl Strategy<Value = Ending> {
    let compared = prop::option::of((number(), number()));
    let failed = (words(), words(), prop::option::of(number()), number(), any::<i32>(), compared, words())
        .prop_map(|(call, path, offset, after_ops, errno, compared, message)| {
            Ending::Failed(OpError { call, path, offset, after_ops, errno, compared, message })
        });
    prop_oneof![Just(Ending::Completed), Just(Ending::Stopped), Just(Ending::Interrupted), failed]
}

fn any_row() -> impl Strategy<Value = Row> {
    // Few names, so that some are the same.
    let name = prop_oneof!["[ab]", words()];
    let kind = prop::option::of(prop::sample::select(OpKind::ALL.to_vec()));
    let class = prop::sample::select(RowClass::ALL.to_vec());
    (name, class, kind, number(), number(), any_histogram(), number()).prop_map(
        |(name, class, kind, ops, bytes, latency, cpu_ns)| Row {
            name,
            class,
            kind,
            ops,
            bytes,
            latency,
            cpu_ns,
        },
    )
}

fn any_worker() -> BoxedStrategy<Worker> {
    let log = prop::collection::vec(
        (any::<u64>(), any::<u32>(), any::<u64>(), any::<u64>()).prop_map(
            |(offset, bytes, latency_ns, start_ns)| OpLogEntry { start_ns, offset, bytes, latency_ns },
        ),
        0..5,
    );
    let stats = prop::collection::vec(any_stat(), 0..3);
    let rows = prop::collection::vec(any_row(), 0..3);
    (
        (words(), any::<u32>(), any_ending(), stats, log, rows),
        (number(), number(), countable(), countable(), countable()),
        (number(), number(), number(), number(), number()),
        (number(), number(), prop::option::of(any::<u32>()), number()),
    )
        .prop_map(|((group, index, ending, stats, op_log, rows), a, b, c)| Worker {
            rows,
            group,
            index,
            start_ns: a.0,
            elapsed_ns: a.1,
            bytes: a.2,
            ops: a.3,
            uncounted_bytes: a.4,
            cpu_user_ns: b.0,
            cpu_system_ns: b.1,
            marks: Marks { last_op_ns: b.2, fsync_ns: b.3, close_ns: b.4 },
            drained_ops: c.0,
            ramp_ops: c.1,
            settled_depth: c.2,
            behind_ns: c.3,
            stats,
            ending,
            op_log,
        })
        .boxed()
}

fn any_device() -> impl Strategy<Value = DeviceDelta> {
    let kind = prop_oneof![words(), Just("loop".to_string()), Just("ram".to_string())];
    let level = prop_oneof![0u32..3, any::<u32>()];
    (words(), level, kind, prop::array::uniform9(countable())).prop_map(|(name, level, kind, c)| {
        DeviceDelta {
            name,
            level,
            kind,
            read_ios: c[0],
            read_bytes: c[1],
            read_merges: c[2],
            write_ios: c[3],
            write_bytes: c[4],
            write_merges: c[5],
            flush_ios: c[6],
            discard_ios: c[7],
            busy_ms: c[8],
        }
    })
}

fn any_physical() -> BoxedStrategy<Physical> {
    let maybe = || prop::option::of(number());
    let five = (maybe(), maybe(), maybe(), maybe(), maybe());
    (words(), prop::collection::vec(any_device(), 0..3), prop::option::of(words()), five)
        .prop_map(|(method, devices, note, five)| Physical {
            method,
            devices,
            note,
            own_read_bytes: five.0,
            own_write_bytes: five.1,
            written_in_clock_bytes: five.2,
            dirty_after_bytes: five.3,
            machine_cpu_ns: five.4,
            ..Physical::default()
        })
        .boxed()
}

fn any_residency() -> impl Strategy<Value = Option<Residency>> {
    prop::option::of(prop::array::uniform4(number()).prop_map(|n| Residency {
        total_pages: n[0],
        cached_pages: n[1],
        dirty_pages: n[2],
        writeback_pages: n[3],
    }))
}

pub(super) fn any_histogram() -> impl Strategy<Value = Histogram> {
    prop::collection::vec(number(), 0..8).prop_map(Histogram::from_values)
}

fn any_interval() -> BoxedStrategy<Interval> {
    let kind = prop::sample::select(OpKind::ALL.to_vec());
    let latencies = prop::collection::vec((kind.clone(), any_histogram()), 0..3);
    let moved = prop::collection::vec((kind, number()), 0..3);
    (prop::array::uniform4(number()), latencies, moved)
        .prop_map(|(n, latencies, moved)| Interval {
            end_ns: n[0],
            width_ns: n[1],
            ops: n[2],
            bytes: n[3],
            latencies,
            moved,
        })
        .boxed()
}

fn any_steady() -> impl Strategy<Value = SteadyState> {
    (
        any::<[bool; 2]>(),
        words(),
        number(),
        prop::collection::vec(figure(), 0..5),
        any::<u32>(),
        figure(),
        figure(),
        figure(),
    )
        .prop_map(|(flags, figure, round_ns, rounds, window, mean, range_percent, slope_percent)| {
            SteadyState {
                reached: flags[0],
                asked: flags[1],
                figure,
                round_ns,
                rounds,
                window,
                mean,
                range_percent,
                slope_percent,
            }
        })
}

fn any_jitter() -> impl Strategy<Value = Jitter> {
    (any_histogram(), any_histogram(), number()).prop_map(|(gaps, wakes, watched_ns)| Jitter {
        gaps,
        wakes,
        watched_ns,
    })
}

fn any_extents() -> impl Strategy<Value = Extents> {
    prop::array::uniform4(number()).prop_map(|n| Extents {
        bytes: n[0],
        hole_bytes: n[1],
        unwritten_bytes: n[2],
        filled_bytes: n[3],
    })
}

/// Boxed, as its larger parts: a tree of generators this deep fills a thread's stack.
fn any_repetition() -> BoxedStrategy<Repetition> {
    (
        (any::<u32>(), number(), number(), number(), number()),
        prop::collection::vec(any_worker(), 0..3),
        prop::collection::vec(any_interval(), 0..4),
        (prop::option::of(any_steady()), prop::option::of(any_jitter()), prop::option::of(any_extents())),
        prop::sample::select(CacheIntent::ALL.to_vec()),
        any_physical(),
        (any_residency(), any_residency()),
        (prop::option::weighted(0.3, any_block()), any_findings()),
    )
        .prop_map(|(n, workers, intervals, course, cache, physical, residency, (block, findings))| {
            Repetition {
                n: n.0,
                started_ns: n.1,
                elapsed_ns: n.2,
                start_skew_ns: n.3,
                workers,
                intervals,
                ramp_ns: n.4,
                steady: course.0,
                jitter: course.1,
                cache,
                extents: course.2,
                physical,
                block,
                findings,
                resident_before: residency.0,
                resident_after: residency.1,
                ..Repetition::default()
            }
        })
        .boxed()
}

fn any_phase() -> BoxedStrategy<Phase> {
    let maybe = || prop::option::of(number());
    let axes = (maybe(), maybe(), maybe(), maybe(), prop::collection::btree_map(words(), words(), 0..3))
        .prop_map(|(file_bytes, record_bytes, streams, queue_depth, tags)| Axes {
            file_bytes,
            record_bytes,
            streams,
            queue_depth,
            tags,
        });
    (any::<u32>(), words(), axes, any::<[bool; 4]>(), prop::collection::vec(any_repetition(), 0..3))
        .prop_map(|(seq, name, axes, flags, repetitions)| Phase {
            seq,
            name,
            axes,
            reads: flags[0],
            writes: flags[1],
            sync_in_clock: flags[2],
            direct: flags[3],
            repetitions,
        })
        .boxed()
}

/// Floating-point figures that decimal text holds exactly: tenths of whole numbers below 2^53.
pub(super) fn figure() -> impl Strategy<Value = f64> {
    (0u32..1 << 30).prop_map(|n| f64::from(n) / 8.0)
}

/// Any run at all.
pub(crate) fn any_run() -> impl Strategy<Value = Run> {
    let statuses = vec![Status::Running, Status::Completed, Status::Interrupted, Status::Failed];
    let doubt = (words(), prop::option::of(any::<u32>()), words())
        .prop_map(|(code, phase, sentence)| Doubt { code, phase, sentence });
    let verdict = prop::sample::select(Verdict::ALL.to_vec());
    let trust =
        (words(), verdict, words()).prop_map(|(code, verdict, sentence)| Trust { code, verdict, sentence });
    let clock = (words(), figure(), figure(), figure(), prop::option::of(figure())).prop_map(
        |(source, hz, cost_ns, resolution_ns, drift_ppm)| Clock {
            source,
            hz,
            cost_ns,
            resolution_ns,
            drift_ppm,
        },
    );
    let environment =
        (words(), any::<u64>()).prop_map(|(k, n)| serde_json::json!({"kernel": k, "n": [n, null, true]}));
    (
        ("[0-9]{4}-[a-f]{3}", words(), words(), words(), words(), words(), words()),
        (prop::sample::select(statuses), prop::collection::vec(words(), 0..4), any::<u64>(), words()),
        (environment, clock, prop::option::of(words())),
        prop::collection::vec(any_phase(), 0..3),
        prop::collection::vec(doubt, 0..3),
        prop::collection::vec(trust, 0..3),
    )
        .prop_map(
            |(t, (status, argv, seed, workload), (environment, clock, error), phases, doubts, trust)| Run {
                id: t.0,
                label: t.1,
                dialect: t.2,
                started_at: t.3,
                ended_at: t.4,
                status,
                version: t.5,
                argv,
                directory: t.6,
                seed,
                workload,
                environment,
                clock,
                phases,
                doubts,
                trust,
                error,
            },
        )
}

// ---- round trips

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("below/fathom.db");
    (dir, path)
}

fn run_named(id: &str) -> Run {
    Run { id: id.into(), ..sample_run() }
}

#[test]
fn a_saved_run_comes_back() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    store.save(&sample_run()).expect("saves");
    assert_eq!(store.load("last").expect("loads"), sample_run());
    store.close().expect("closes");
    assert_eq!(Store::open(&path).expect("opens again").load("2026").expect("loads"), sample_run());
}

#[test]
fn a_histogram_at_the_end_of_the_range_comes_back() {
    let (_dir, path) = scratch();
    let mut run = sample_run();
    let edges = [0, 1, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, u64::MAX, u64::MAX];
    run.phases[0].repetitions[0].workers[0].stats[0].latency = Histogram::from_values(edges);
    let mut store = Store::open(&path).expect("opens");
    store.save(&run).expect("saves");
    assert_eq!(store.load("last").expect("loads"), run);
}

#[test]
fn a_run_of_several_rounds_comes_back_to_its_phases() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path().join("s.db")).unwrap();
    let mut run = sample_run();
    store.begin(&run).unwrap();
    for phase in &mut run.phases {
        let first = phase.repetitions[0].clone();
        phase.repetitions = vec![Repetition { n: 0, ..first.clone() }];
        store.append_phase(&run.id, phase).unwrap();
        phase.repetitions.push(Repetition { n: 1, elapsed_ns: 77, ..first });
        store.append_phase(&run.id, phase).unwrap();
    }
    for doubt in &run.doubts {
        store.append_doubt(&run.id, doubt).unwrap();
    }
    for trust in &run.trust {
        store.append_trust(&run.id, trust).unwrap();
    }
    store.finish(&run).unwrap();
    assert_eq!(store.load("last").unwrap(), run);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_run_comes_back_from_the_store(run in any_run()) {
        let mut store = Store::open(":memory:").expect("opens");
        store.save(&run).expect("saves");
        prop_assert_eq!(store.load(&run.id).expect("loads"), run);
    }
}

// ---- a run as it happens

#[test]
fn a_run_written_step_by_step_equals_one_saved_whole() {
    let (_dir, path) = scratch();
    let run = sample_run();
    let mut store = Store::open(&path).expect("opens");
    let head = Run {
        status: Status::Running,
        ended_at: String::new(),
        error: None,
        clock: Clock { drift_ppm: None, ..run.clock.clone() },
        ..run.clone()
    };
    store.begin(&head).expect("begins");
    for phase in &run.phases {
        store.append_phase(&run.id, phase).expect("appends");
    }
    for doubt in &run.doubts {
        store.append_doubt(&run.id, doubt).expect("appends");
    }
    for trust in &run.trust {
        store.append_trust(&run.id, trust).expect("appends");
    }
    assert_eq!(store.load(&run.id).expect("loads"), head);
    store.finish(&run).expect("finishes");
    assert_eq!(store.load(&run.id).expect("loads"), run);
}

#[test]
fn what_a_killed_writer_stored_is_there_and_the_run_counts_as_killed() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    let run = Run { status: Status::Running, ended_at: String::new(), ..sample_run() };
    store.begin(&run).expect("begins");
    store.append_phase(&run.id, &run.phases[0]).expect("appends");
    // While the process lives the run is running, and nobody may remove it.
    assert_eq!(store.list(&Filter::default()).expect("lists")[0].status_word(), "running");
    assert!(matches!(store.remove(&run.id), Err(StoreError::StillRunning { .. })));
    // SIGKILL: no destructor runs, the log stays beside the file. A process number that is never given out stands for ours.
    store.connection().expect("open").execute("UPDATE run SET pid = 999999999", []).expect("changes");
    std::mem::forget(store);
    assert!(path.with_extension("db-wal").exists(), "the log is still there");
    let mut again = Store::open(&path).expect("opens");
    let listed = again.list(&Filter::default()).expect("lists");
    assert_eq!((listed[0].status_word(), listed[0].phases), ("killed", 1));
    assert_eq!(again.load("last").expect("loads").phases, run.phases[..1]);
    again.remove("last").expect("a killed run can be removed");
}

/// Names the store in the copy of the test program that is going to be killed.
const CHILD: &str = "FATHOM_TEST_STORE_OF_CHILD";

#[test]
fn sigkill_in_the_middle_of_a_write_loses_that_write_only() {
    if let Some(path) = std::env::var_os(CHILD) {
        write_until_killed(Path::new(&path));
        return;
    }
    let (_dir, path) = scratch();
    let mut child = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "store::tests::sigkill_in_the_middle_of_a_write_loses_that_write_only",
            "--nocapture",
        ])
        .env(CHILD, &path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    // The pipe stays open until the child is dead: it must die of the kill and of nothing else.
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("piped")));
    let stored: u32 = lines
        .by_ref()
        .map_while(Result::ok)
        .filter_map(|l| l.strip_prefix("stored ")?.parse().ok())
        .find(|&n| n >= 20)
        .expect("the child stores phases");
    child.kill().expect("kills");
    child.wait().expect("waits");
    drop(lines);
    let store = Store::open(&path).expect("opens after the kill");
    assert!(store.list(&Filter::default()).expect("lists")[0].killed);
    let run = store.load("last").expect("loads");
    assert!(run.phases.len() > stored as usize, "{} phases after number {stored}", run.phases.len());
    for (phase, n) in run.phases.iter().zip(0..) {
        assert_eq!(*phase, Phase { seq: n, ..write_phase() }, "every phase that is there is whole");
    }
}

fn write_until_killed(path: &Path) {
    let mut store = Store::open(path).expect("opens");
    let run = Run { status: Status::Running, ended_at: String::new(), ..sample_run() };
    store.begin(&run).expect("begins");
    // Bounded, so that a test that fails leaves no process behind for long.
    for n in 0..20_000 {
        store.append_phase(&run.id, &Phase { seq: n, ..write_phase() }).expect("appends");
        // To the test that started this process and reads along.
        writeln!(std::io::stdout(), "stored {n}").expect("the parent reads");
    }
}

#[test]
fn a_clean_close_leaves_one_file() {
    let (_dir, path) = scratch();
    let names = || {
        let mut names: Vec<_> = std::fs::read_dir(path.parent().expect("a parent"))
            .expect("reads")
            .map(|e| e.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        names.sort();
        names
    };
    let mut store = Store::open(&path).expect("opens");
    store.save(&sample_run()).expect("saves");
    assert!(names().contains(&"fathom.db-wal".to_string()), "{:?}", names());
    store.close().expect("closes");
    assert_eq!(names(), ["fathom.db"]);
    let mut dropped = Store::open(&path).expect("opens");
    dropped.save(&run_named("b")).expect("saves");
    drop(dropped);
    assert_eq!(names(), ["fathom.db"]);
}

#[test]
fn two_writers_take_turns() {
    let (_dir, path) = scratch();
    let mut a = Store::open(&path).expect("opens");
    let mut b = Store::open(&path).expect("opens");
    a.begin(&run_named("a")).expect("begins");
    b.begin(&run_named("b")).expect("begins");
    a.append_phase("a", &sample_run().phases[0]).expect("appends");
    b.append_phase("b", &sample_run().phases[1]).expect("appends");
    a.close().expect("closes while the other is there");
    assert_eq!(b.list(&Filter::default()).expect("lists").len(), 2);
    b.close().expect("closes");
}

// ---- finding, listing, removing

#[test]
fn runs_are_found_by_the_beginning_of_their_id() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    assert!(matches!(store.load("last"), Err(StoreError::Empty { .. })));
    for id in ["20261121T1-aaa", "20261121T2-bbb", "20261122T1-ccc", "20261122T1-ccc2"] {
        store.save(&run_named(id)).expect("saves");
    }
    assert_eq!(store.resolve("last").expect("finds"), "20261122T1-ccc2");
    assert_eq!(store.resolve("20261121T1").expect("finds"), "20261121T1-aaa");
    assert_eq!(store.resolve("20261122T1-ccc").expect("a whole id wins"), "20261122T1-ccc");
    let error = store.resolve("2026").expect_err("several").to_string();
    assert!(error.contains("20261121T1-aaa") && error.contains("give more"), "{error}");
    for nothing in ["x", "", "%", "20261121T_"] {
        assert!(matches!(store.resolve(nothing), Err(StoreError::NoSuchRun { .. })), "{nothing}");
    }
}

#[test]
fn the_list_can_be_narrowed() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    for (id, label) in [("a", "x"), ("b", "y"), ("c", "x")] {
        store.save(&Run { label: label.into(), ..run_named(id) }).expect("saves");
    }
    let ids = |filter: Filter| -> Vec<String> {
        store.list(&filter).expect("lists").into_iter().map(|s| s.id).collect()
    };
    assert_eq!(ids(Filter::default()), ["a", "b", "c"]);
    assert_eq!(ids(Filter { label: Some("x".into()), ..Filter::default() }), ["a", "c"]);
    assert_eq!(ids(Filter { limit: Some(2), ..Filter::default() }), ["b", "c"]);
    assert_eq!(ids(Filter { id_prefix: Some("b".into()), ..Filter::default() }), ["b"]);
    assert_eq!(ids(Filter { dialect: Some("fio".into()), ..Filter::default() }), [""; 0]);
}

#[test]
fn a_removed_run_leaves_nothing_behind() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    store.save(&run_named("a")).expect("saves");
    store.save(&run_named("b")).expect("saves");
    let rows = |store: &Store, table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        store.connection().expect("open").query_row(&sql, [], |r| r.get(0)).expect("counts")
    };
    assert_eq!(rows(&store, "environment"), 1, "equal environments are stored once");
    assert_eq!(store.remove("a").expect("removes"), "a");
    assert_eq!(store.load("b").expect("the other one stays"), run_named("b"));
    store.remove("b").expect("removes");
    let tables = [
        "run",
        "phase",
        "repetition",
        "worker",
        "op_stat",
        "op_total",
        "interval",
        "interval_latency",
        "interval_moved",
        "flow_op",
        "flow_op_total",
        "steady",
        "steady_round",
        "jitter",
        "trust",
        "device",
        "residency",
        "doubt",
        "artifact",
        "environment",
        "workload",
    ];
    for table in tables.into_iter().chain(BLOCK_TABLES) {
        assert_eq!(rows(&store, table), 0, "{table}");
    }
}

#[test]
fn the_view_has_one_row_per_repetition_and_operation() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    store.save(&sample_run()).expect("saves");
    let connection = store.connection().expect("open");
    let mut statement = connection
        .prepare("SELECT phase, repetition, op, mib_per_s, iops, p50_ns, max_ns, regime FROM result ORDER BY phase_seq, repetition, op")
        .expect("prepares");
    type Line = (String, u32, String, f64, f64, i64, i64, String);
    let lines: Vec<Line> = statement
        .query_map([], |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?, r.get(5)?, r.get(6)?, r.get(7)?))
        })
        .expect("asks")
        .collect::<Result<_, _>>()
        .expect("answers");
    assert_eq!(lines.len(), 6);
    assert_eq!((lines[0].0.as_str(), lines[0].2.as_str()), ("write", "sync"));
    // Two writers of 256 KiB in 2.5 ms each: 200 MiB/s together, 3200 writes a second.
    assert_eq!((lines[1].2.as_str(), lines[1].3, lines[1].4), ("write", 200.0, 3200.0));
    assert_eq!(lines[1].6, 250_000);
    assert_eq!(lines[2].7, "unknown");
}

// ---- failures

#[test]
fn a_newer_store_is_refused() {
    let (_dir, path) = scratch();
    let store = Store::open(&path).expect("opens");
    store.connection().expect("open").execute_batch("PRAGMA user_version=99").expect("changes");
    drop(store);
    let error = Store::open(&path).expect_err("refuses").to_string();
    assert!(error.contains("version 99") && error.contains("newer fathom"), "{error}");
}

/// A file as a fathom of schema version `version` left it: the steps up to there, and of the sample run what they have columns for.
fn store_of_version(version: usize, path: &Path) {
    let present = path.with_extension("present");
    Store::open(&present).expect("opens").save(&sample_run()).expect("saves");
    let old = Connection::open(path).expect("opens");
    for step in &schema::MIGRATIONS[..version] {
        old.execute_batch(step).expect("the steps of then");
    }
    old.execute("ATTACH ?1 AS present", [present.to_str().expect("UTF-8")]).expect("attaches");
    let list = |sql: &str| -> Vec<String> {
        let mut statement = old.prepare(sql).expect("prepares");
        statement.query_map([], |r| r.get(0)).expect("asks").map(|r| r.expect("answers")).collect()
    };
    for table in list("SELECT name FROM main.sqlite_schema WHERE type = 'table'") {
        let columns = list(&format!("SELECT name FROM pragma_table_info('{table}', 'main')")).join(", ");
        let copy = format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM present.{table}");
        old.execute(&copy, []).expect("copies");
    }
    let marks = format!("PRAGMA application_id={}; PRAGMA user_version={version}", schema::APPLICATION_ID);
    old.execute_batch(&marks).expect("marks");
}

/// The sample run without what came after schema version 5 (and it has nothing that came with that).
pub(crate) fn sample_of_fifth_version() -> Run {
    let mut run = sample_run();
    for r in run.phases.iter_mut().flat_map(|p| &mut p.repetitions) {
        r.block = None;
        r.findings.clear();
    }
    run
}

/// The sample run without what came after schema version 3.
pub(crate) fn sample_of_third_version() -> Run {
    let mut run = sample_of_fifth_version();
    for r in run.phases.iter_mut().flat_map(|p| &mut p.repetitions) {
        r.intervals.iter_mut().for_each(|i| i.moved.clear());
        r.physical.machine_cpu_ns = None;
        for w in &mut r.workers {
            w.rows.clear();
            if let Ending::Failed(error) = &mut w.ending {
                error.compared = None;
            }
        }
    }
    run
}

/// The sample run without what came after schema version 2.
pub(crate) fn sample_of_second_version() -> Run {
    let mut run = Run { trust: Vec::new(), ..sample_of_third_version() };
    for r in run.phases.iter_mut().flat_map(|p| &mut p.repetitions) {
        r.intervals.iter_mut().for_each(|i| i.latencies.clear());
        for w in &mut r.workers {
            *w = Worker { drained_ops: 0, ramp_ops: 0, settled_depth: None, behind_ns: 0, ..w.clone() };
        }
        let defaults = Repetition::default();
        r.ramp_ns = defaults.ramp_ns;
        r.steady = defaults.steady;
        r.jitter = defaults.jitter;
        r.cache = defaults.cache;
        r.extents = defaults.extents;
    }
    run
}

#[test]
fn stores_of_older_versions_are_brought_up_to_date() {
    let second = sample_of_second_version();
    let mut first = second.clone();
    first.phases[0].repetitions[0].physical.devices[0].kind.clear();
    for (version, wanted) in [
        (1, first),
        (2, second),
        (3, sample_of_third_version()),
        (4, sample_of_fifth_version()),
        (5, sample_of_fifth_version()),
    ] {
        let (_dir, path) = scratch();
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        store_of_version(version, &path);
        let mut store = Store::open(&path).expect("opens");
        assert_eq!(store.load(&wanted.id).expect("loads"), wanted, "version {version}");
        store.save(&run_named("later")).expect("saves");
        assert_eq!(store.load("later").expect("loads"), run_named("later"), "version {version}");
        store.remove(&wanted.id).expect("what is old can be removed");
        drop(store);
        let found: i64 = Connection::open(&path)
            .expect("opens")
            .query_row("PRAGMA user_version", [], |r| r.get(0))
            .expect("asks");
        assert_eq!(found, SCHEMA_VERSION);
    }
}

#[test]
fn nothing_is_written_for_what_was_not_watched() {
    let mut store = Store::open(":memory:").expect("opens");
    let mut run = sample_of_second_version();
    // Watched, and nothing seen: the column says so, and there is no row.
    run.phases[1].repetitions[0].jitter = Some(Jitter::default());
    store.save(&run).expect("saves");
    let tables = [
        "interval_latency",
        "interval_moved",
        "flow_op",
        "flow_op_total",
        "steady",
        "steady_round",
        "jitter",
        "trust",
    ];
    for table in tables {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows: i64 = store.connection().expect("open").query_row(&sql, [], |r| r.get(0)).expect("counts");
        assert_eq!(rows, 0, "{table}");
    }
    assert_eq!(store.load("last").expect("loads"), run);
}

#[test]
fn the_course_of_a_repetition_can_be_asked_for() {
    let mut store = Store::open(":memory:").expect("opens");
    store.save(&sample_run()).expect("saves");
    let ask = |sql: &str| -> String {
        store.connection().expect("open").query_row(sql, [], |r| r.get(0)).expect(sql)
    };
    assert_eq!(
        ask("SELECT group_concat(op || ' ' || timed || ' ' || max_ns, ', ') FROM interval_latency
             JOIN interval USING (repetition_id, position)"),
        "write 8 250000, sync 2 2000000"
    );
    assert_eq!(ask("SELECT what || ' ' || max_ns FROM jitter WHERE what = 'gap'"), "gap 40000");
    assert_eq!(
        ask("SELECT cache || ' ' || ramp_ns || ' ' || hole_bytes FROM repetition LIMIT 1"),
        "cold 500000 4096"
    );
    assert_eq!(
        ask(
            "SELECT figure || ' ' || reached || ' ' || count(*) FROM steady JOIN steady_round USING (repetition_id)"
        ),
        "bytes 0 3"
    );
    assert_eq!(
        ask("SELECT group_concat(seq || ' ' || verdict, ', ') FROM trust"),
        "0 doubtful, 1 good, 2 unknown"
    );
}

#[test]
fn the_operations_of_a_flow_can_be_asked_for() {
    let mut store = Store::open(":memory:").expect("opens");
    store.save(&sample_run()).expect("saves");
    let ask = |sql: &str| -> String {
        store.connection().expect("open").query_row(sql, [], |r| r.get(0)).expect(sql)
    };
    // Four opens and two appends of 16 KiB in the longer of the two clocks, 20 ms.
    assert_eq!(
        ask("SELECT group_concat(name || ' ' || class || ' ' || coalesce(op, '-') || ' ' || ops || ' ' || ops_per_s || ' ' ||
                 mib_per_s || ' ' || coalesce(p99_ns, '-'), ', ') FROM (SELECT * FROM flow_result ORDER BY position)"),
        "open1 io open 4 200.0 0.0 5001, append1 io write 2 100.0 1.5625 9000, wait1 sync - 0 0.0 0.0 -"
    );
    assert_eq!(ask("SELECT count(*) || ' ' || sum(cpu_ns) FROM flow_op"), "6 3600");
    assert_eq!(
        ask("SELECT group_concat(position || ' ' || m.op || ' ' || m.bytes, ', ') FROM interval_moved AS m
             JOIN interval USING (repetition_id, position)"),
        "0 write 12288, 0 read 0, 1 write 12288, 1 read 4096"
    );
    assert_eq!(
        ask("SELECT error_expected || ' ' || error_found FROM worker WHERE error_call = 'verify'"),
        "7 -1",
        "a number of 2^63 and more: 2^64 less"
    );
}

/// What storing a phase of many processes costs; a figure to look at, no test of the machine.
#[test]
#[ignore = "prints a time: cargo test --release -p fathom-record -- --ignored --nocapture cost"]
fn the_cost_of_a_phase_of_many_processes() {
    let rows: usize = 3;
    // Some two hundred buckets: three powers of two, and a tail.
    let latency = |n: u64| {
        let most = (0..2000u64).map(move |i| (i * i * (n + 3)) % 60_000 + 10_000);
        Histogram::from_values(most.chain((0..20).map(move |i| 100_000 + i * i * 9_000)))
    };
    let worker = |index: u32| Worker {
        group: format!("process {}", index / 100),
        index,
        elapsed_ns: 1_000_000_000,
        rows: (0..rows)
            .map(|n| Row {
                name: format!("operation {n}"),
                kind: Some(OpKind::Read),
                ops: 2000,
                latency: latency(u64::from(index) + n as u64),
                ..Row::default()
            })
            .collect(),
        stats: [OpKind::Read, OpKind::Write]
            .map(|op| OpStat { op, ops: 2000, bytes: 0, latency: latency(u64::from(index)) })
            .to_vec(),
        ..Worker::default()
    };
    let repetition = Repetition { workers: (0..211).map(worker).collect(), ..Repetition::default() };
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    let run = Run { phases: Vec::new(), ..sample_run() };
    store.begin(&run).expect("begins");
    let mut say = |what: &str, phase: &Phase| {
        let begun = std::time::Instant::now();
        store.append_phase(&run.id, phase).expect("appends");
        writeln!(std::io::stdout(), "{what}: {:?}", begun.elapsed()).expect("somebody reads");
    };
    say("first (statements are prepared)", &write_phase());
    let mut with = Phase { seq: 1, repetitions: vec![repetition], ..flow_phase() };
    say("211 workers x 3 rows, 2 kinds", &with);
    with.seq = 2;
    say("again", &with);
    with.seq = 3;
    with.repetitions[0].workers.iter_mut().for_each(|w| w.rows.clear());
    say("without the rows", &with);
}

#[test]
fn the_documented_queries_answer_for_flows_too() {
    let text = include_str!("../../../../docs/formats/store.md");
    let queries: Vec<&str> =
        text.split("```sql\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    let flows: Vec<&&str> =
        queries.iter().filter(|q| q.contains("flow_") || q.contains("interval_moved")).collect();
    assert_eq!(flows.len(), 3, "{queries:?}");
    let mut store = Store::open(":memory:").expect("opens");
    store.save(&Run { dialect: "filebench".into(), ..sample_run() }).expect("saves");
    for query in flows {
        let mut statement = store.connection().expect("open").prepare(query).expect(query);
        assert!(statement.exists([]).expect(query), "no row answers\n{query}");
    }
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let (dir, _) = scratch();
    let text = dir.path().join("notes.txt");
    std::fs::write(&text, "this is no database at all, but it is long enough to look at ".repeat(20))
        .expect("writes");
    assert!(matches!(Store::open(&text), Err(StoreError::NotADatabase { .. })));
    let other = dir.path().join("other.db");
    Connection::open(&other)
        .expect("opens")
        .execute_batch("CREATE TABLE bookmarks (url TEXT)")
        .expect("creates");
    assert!(matches!(Store::open(&other), Err(StoreError::Foreign { .. })));
}

#[test]
fn a_place_that_is_no_directory_is_named() {
    let (dir, _) = scratch();
    std::fs::write(dir.path().join("file"), "").expect("writes");
    let error = Store::open(dir.path().join("file/below/fathom.db")).expect_err("refuses").to_string();
    assert!(error.contains("file/below") && error.contains("FATHOM_STORE"), "{error}");
    let error = Store::open(dir.path()).expect_err("a directory is no file").to_string();
    assert!(error.contains("could not be opened"), "{error}");
}

#[test]
fn a_lock_is_reported_after_the_time_out() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    store.begin(&run_named("a")).expect("begins");
    let other = Connection::open(&path).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    store.connection().expect("open").busy_timeout(Duration::from_millis(1)).expect("sets");
    assert!(matches!(store.append_phase("a", &sample_run().phases[0]), Err(StoreError::Locked { .. })));
    other.execute_batch("ROLLBACK").expect("unlocks");
    store.append_phase("a", &sample_run().phases[0]).expect("goes on afterwards");
}

#[test]
fn a_full_disk_is_a_sentence_and_keeps_what_was_stored() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    store.begin(&run_named("a")).expect("begins");
    // SQLite's own page limit gives the same error as a disk without space.
    let pages: i64 =
        store.connection().expect("open").query_row("PRAGMA page_count", [], |r| r.get(0)).expect("asks");
    let limit = format!("PRAGMA max_page_count={}", pages + 1);
    store.connection().expect("open").query_row(&limit, [], |_| Ok(())).expect("sets");
    let mut phase = sample_run().phases[0].clone();
    phase.name = "x".repeat(1 << 20);
    let error = store.append_phase("a", &phase).expect_err("full").to_string();
    assert!(error.contains("full"), "{error}");
    assert_eq!(store.load("a").expect("loads").phases.len(), 0);
}

#[test]
fn a_changed_row_is_reported_and_not_guessed() {
    for (change, word) in [
        ("UPDATE op_stat SET timed = timed + 1", "timed"),
        ("UPDATE op_stat SET hdr = x'00'", "histogram"),
        ("UPDATE artifact SET body = x'00'", "operation log"),
        ("UPDATE phase SET tags = '['", "tags"),
        ("UPDATE run SET seed = 'x'", "seed"),
        ("UPDATE interval_latency SET timed = timed + 1", "timed"),
        ("UPDATE interval_latency SET op = 'think'", "think"),
        ("UPDATE interval_latency SET position = 7", "interval 7"),
        ("UPDATE jitter SET hdr = x'00'", "histogram"),
        ("UPDATE flow_op SET hdr = x'00'", "histogram"),
        ("UPDATE flow_op SET op = 'think'", "think"),
        ("UPDATE interval_moved SET position = 7 WHERE position = 1", "interval 7"),
    ] {
        let mut store = Store::open(":memory:").expect("opens");
        store.save(&run_named("a")).expect("saves");
        store.connection().expect("open").execute_batch(change).expect("changes");
        let error = store.load("a").expect_err(change).to_string();
        assert!(error.contains(word), "{change}: {error}");
    }
}

#[test]
fn a_run_is_begun_once_and_before_its_phases() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    let missing = store.append_phase("a", &sample_run().phases[0]);
    assert!(matches!(missing, Err(StoreError::NoSuchRun { .. })));
    let missing = store.append_trust("a", &sample_run().trust[0]);
    assert!(matches!(missing, Err(StoreError::NoSuchRun { .. })));
    store.begin(&run_named("a")).expect("begins");
    assert!(matches!(store.begin(&run_named("a")), Err(StoreError::Exists { .. })));
}
