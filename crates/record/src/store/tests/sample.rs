//! The sample run: small, with something in every field. Also used by the exports' tests.

use crate::store::block_tests::{sample_block, sample_findings};
use crate::*;
use std::collections::BTreeMap;

/// The sample run with only what every phase has.
pub(crate) fn plain_sample_run() -> Run {
    let mut run = Run { trust: Vec::new(), ..sample_run() };
    for r in run.phases.iter_mut().flat_map(|p| &mut p.repetitions) {
        for interval in &mut r.intervals {
            interval.moved.clear();
            interval.latencies.clear();
        }
        for w in &mut r.workers {
            *w = Worker { drained_ops: 0, ramp_ops: 0, settled_depth: None, behind_ns: 0, ..w.clone() };
            w.rows.clear();
            if let Ending::Failed(error) = &mut w.ending {
                error.compared = None;
            }
        }
        r.findings.clear();
        r.physical.machine_cpu_ns = None;
        (r.block, r.steady, r.jitter, r.extents) = (None, None, None, None);
        (r.ramp_ns, r.cache) = (0, Default::default());
    }
    run
}

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
                phases: vec![1],
                sentence: "The read never reached the device.".into(),
            },
            Doubt { code: "steal".into(), phases: Vec::new(), sentence: "3 % of the CPU was stolen.".into() },
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
        source: None,
        simulation: None,
    }
}

pub(super) fn write_phase() -> Phase {
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
        thread_counts: Some(ThreadCounts {
            switches: 12,
            major_faults: 0,
            minor_faults: 3,
            processor_wait_ns: Some(700),
        }),
        marks: Marks { last_op_ns: 253_300, fsync_ns: 2_253_300, close_ns: 2_254_000 },
        drained_ops: u64::from(index) * 2,
        ramp_ops: 1,
        settled_depth: (index == 1).then_some(16),
        behind_ns: u64::from(index) * 12_000,
        stats: stats.clone(),
        ending,
        passed: None,
        in_flight: Some(InFlight {
            depth: [1, 2, 1, 0, 0, 0, 0],
            submit: [0, 3, 0, 0, 0, 0, 0],
            complete: [0, 2, 0, 0, 0, 0, 0],
        }),
        op_log: Vec::new(),
        intervals: Vec::new(),
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
        write_ms: 3,
        queue_ms: 4,
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
            dirty_before_bytes: Some(8192),
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

/// Two processes of a flow, one of which found data that it had not written.
pub(super) fn flow_phase() -> Phase {
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
