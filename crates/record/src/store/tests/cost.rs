//! Cost of storing a phase of many processes; for information, not a test of the machine.

use super::sample::{flow_phase, write_phase};
use super::*;
use std::io::Write as _;

#[test]
#[ignore = "prints a time: cargo test --release -p fathom-record -- --ignored --nocapture cost"]
fn the_cost_of_a_phase_of_many_processes() {
    let rows: usize = 3;
    // About two hundred buckets: three powers of two, and a tail.
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
        writeln!(std::io::stdout(), "{what}: {:?}", begun.elapsed()).expect("stdout is open");
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
