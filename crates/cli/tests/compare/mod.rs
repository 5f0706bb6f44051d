//! Comparing as a user sees it: sides by file, label, id and sweep, the gate's exit codes, files for a CI, and bad
//! input. The records are made here with the figures of the specification's examples.

mod documented;
mod gate;
pub mod json_schema;
mod refused;
mod run;
mod schema;
mod scripts;
mod sides;

use fathom_record::{Histogram, OpKind, OpStat, Phase, Repetition, Run, Status, Store, Worker, export};
use fathom_testkit::Fathom;

/// Throughput in MB/s of five quads, in run order: slower by 2.7 %.
pub const SLOWER: [(&str, [f64; 4]); 5] = [
    ("ABBA", [512.4, 498.1, 495.6, 508.9]),
    ("BAAB", [499.9, 515.2, 511.0, 497.2]),
    ("ABAB", [509.7, 470.3, 513.8, 498.8]),
    ("BBAA", [496.9, 494.2, 510.5, 507.6]),
    ("BABA", [500.3, 514.1, 497.7, 511.9]),
];
/// Throughput without a change.
pub const SAME: [(&str, [f64; 4]); 5] = [
    ("ABBA", [512.4, 509.1, 513.0, 508.9]),
    ("BAAB", [511.9, 515.2, 511.0, 508.4]),
    ("ABAB", [509.7, 507.3, 513.8, 512.8]),
    ("BBAA", [510.9, 508.2, 510.5, 507.6]),
    ("BABA", [513.3, 514.1, 509.7, 511.9]),
];
/// The verdict on the first.
pub const GOLDEN: &str = "B is 2.7 % slower than A (ratio 0.9726, 94.6 % interval 0.9681 to 0.9773; 10 + 10 runs in 5 random quads; \
                          exact p = 0.0003).";

fn phase(mb_per_s: f64) -> Phase {
    let stat = OpStat {
        op: OpKind::Read,
        ops: 2000,
        bytes: 0,
        latency: Histogram::from_values((0..2000).map(|n| 100_000 + n % 100)),
    };
    let worker = Worker {
        bytes: (mb_per_s * 1e6).round() as u64,
        ops: 2000,
        elapsed_ns: 1_000_000_000,
        stats: vec![stat],
        ..Worker::default()
    };
    Phase {
        seq: 0,
        name: "read".into(),
        axes: fathom_record::Axes::default(),
        reads: true,
        writes: false,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![Repetition { workers: vec![worker], ..Repetition::default() }],
    }
}

/// The runs of some quads in run order, labelled "before" and "after", and marked as a sweep's if `of_sweep`.
pub fn runs(quads: &[(&str, [f64; 4])], of_sweep: bool) -> Vec<Run> {
    let each = quads.iter().flat_map(|(order, rates)| order.chars().zip(rates));
    let made = each.enumerate().map(|(number, (side, rate))| {
        let setting = if side == 'A' { "none" } else { "bfq" };
        let mut run = Run {
            id: format!("20261122T1200{number:02}-000000"),
            label: if side == 'A' { "before".into() } else { "after".into() },
            dialect: "native".into(),
            started_at: "2026-11-22T12:00:00+00:00".into(),
            ended_at: "2026-11-22T12:00:01+00:00".into(),
            version: "0.1.0".into(),
            status: Status::Completed,
            environment: serde_json::json!({"kernel": "6.1"}),
            phases: vec![phase(*rate)],
            ..Run::default()
        };
        if of_sweep {
            run.label = format!("sweep 20261122T115959-000000: scheduler={setting}");
            run.environment["sweep"] = serde_json::json!({
                "id": "20261122T115959-000000", "run": number + 1, "block": number / 4 + 1,
                "settings": {"scheduler": setting},
                "factors": [{"name": "scheduler", "values": ["none", "bfq"]}],
            });
        }
        run
    });
    made.collect()
}

pub fn with(runs: &[Run]) -> Fathom {
    let fathom = Fathom::new();
    let mut store = Store::open(fathom.store()).expect("a store");
    for run in runs {
        store.save(run).expect("stored");
    }
    store.close().expect("closed");
    fathom
}

/// The runs of a label as a file of exported documents.
pub fn file(fathom: &Fathom, name: &str, runs: &[Run], label: &str) {
    let text: String = runs.iter().filter(|r| r.label == label).map(export::json).collect();
    std::fs::write(fathom.work().join(name), text).expect("a file");
}

/// The same runs as stored by a comparison that measured them, with the noise of A against itself.
pub fn marked(quads: &[(&str, [f64; 4])]) -> Vec<Run> {
    let mut all = runs(quads, false);
    for (number, run) in all.iter_mut().enumerate() {
        let (order, _) = quads[number / 4];
        let side = &order[number % 4..=number % 4];
        let values: Vec<f64> = SAME.iter().flat_map(|q| q.1).collect();
        run.label = format!("compare 20261122T115959-000000 {side}: made");
        run.environment["comparison"] = serde_json::json!({
            "id": "20261122T115959-000000", "part": "quads", "side": side, "run": number + 1, "quad": number / 4 + 1,
            "place": number % 4 + 1, "order": order, "seed": 7, "settings": {}, "read_back": null,
            "plan": {
                "sides": ["none", "bfq"], "figure": null, "effect": 0.03, "threshold": 0.01,
                "stopping": {"rule": "spending", "most_quads": 10, "early": 0.001, "last": 0.0095},
                "noise": {
                    "orders": SAME.map(|q| q.0), "most_quads": 10,
                    "figures": [{"cell": "read", "operation": "read", "metric": "throughput", "values": values}],
                },
            },
        });
    }
    all
}
