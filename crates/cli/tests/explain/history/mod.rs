//! A workload's past as a user sees it: the list, the choice of a workload, a change with its causes, the gate, the
//! files. The runs are made here with figures at two levels, and stored through the product's own store and import.

mod choice;
mod imported;
mod kept;
mod options;
mod story;

use fathom_record::{Axes, Histogram, OpKind, OpStat, Phase, Repetition, Run, Status, Store, Worker};
use fathom_testkit::Fathom;

/// MiB/s of 24 nights: an outlier in the ninth, and a drop of 3 % from the thirteenth on.
pub const RATES: [f64; 24] = [
    512.4, 509.1, 513.0, 508.9, 511.9, 515.2, 511.0, 508.4, 430.0, 512.8, 510.9, 508.2, 497.2, 495.6, 499.9,
    494.2, 496.9, 498.8, 500.3, 497.7, 495.1, 498.1, 496.0, 499.2,
];

/// The workload of every night, in the form that a run stores.
const MODEL: &str = "name = \"cold read\"\nseed = \"0x0\"\n\n[[fileset]]\nname = \"data\"\n";

fn phase(mib_per_s: f64) -> Phase {
    let latency = Histogram::from_values((0..2000).map(|n| 100_000 + n % 100));
    let stat = OpStat { op: OpKind::Read, ops: 2000, bytes: 0, latency };
    let worker = Worker {
        bytes: (mib_per_s * 1_048_576.0).round() as u64,
        ops: 2000,
        elapsed_ns: 1_000_000_000,
        stats: vec![stat],
        ..Worker::default()
    };
    Phase {
        seq: 0,
        name: "read".into(),
        axes: Axes { record_bytes: Some(131_072), ..Axes::default() },
        reads: true,
        writes: false,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![Repetition { workers: vec![worker], ..Repetition::default() }],
    }
}

/// The run of a night; from the thirteenth on under another kernel, from the sixth on with another scheduler.
pub fn night(number: usize, mib_per_s: f64) -> Run {
    let day = number + 1;
    Run {
        id: format!("202610{day:02}T020000-0000{number:02}"),
        label: if number < 12 { "build 17".into() } else { "build 18".into() },
        dialect: "native".into(),
        started_at: format!("2026-10-{day:02}T02:00:00+00:00"),
        ended_at: format!("2026-10-{day:02}T02:00:01+00:00"),
        status: Status::Completed,
        version: "0.1.0".into(),
        argv: ["fathom", "run", "nightly.toml", "-o"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("{day}.html")])
            .collect(),
        directory: "/data".into(),
        workload: MODEL.replace("0x0", &format!("0x{number:x}")),
        environment: serde_json::json!({
            "captured_at": format!("2026-10-{day:02}T02:00:00+00:00"),
            "hostname": "db1",
            "kernel": if number < 12 { "6.1.0" } else { "6.2.0" },
            "uptime_s": 1000.0 * day as f64,
            "memory": {"free_bytes": 1_000_000 + number, "total_bytes": 8_000_000},
            "filesystem": {"type": "ext4", "mount_point": "/data", "options": "rw,relatime"},
            "devices": [{"name": "sda", "scheduler": if number < 5 { "none" } else { "mq-deadline" }, "nr_requests": 64}],
        }),
        phases: vec![phase(mib_per_s)],
        ..Run::default()
    }
}

/// All nights, and after them one that was interrupted and one that failed.
pub fn nights() -> Vec<Run> {
    let mut all: Vec<Run> = RATES.iter().enumerate().map(|(n, rate)| night(n, *rate)).collect();
    all.push(Run { status: Status::Interrupted, ..night(24, 100.0) });
    all.push(Run { status: Status::Failed, error: Some("no space".into()), ..night(25, 50.0) });
    all
}

/// The program with these runs in its store.
pub fn with(runs: &[Run]) -> Fathom {
    let fathom = Fathom::new();
    let mut store = Store::open(fathom.store()).expect("a store");
    for run in runs {
        store.save(run).expect("stored");
    }
    store.close().expect("closed");
    fathom
}
