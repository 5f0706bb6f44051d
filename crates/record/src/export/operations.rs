//! The operations of flows as tidy CSV: one row per run x phase x repetition x worker x operation. Streams have none. Rates use
//! the clock of the repetition instead of the worker's, so they may be added up over workers. Units are in the header.

use super::csv::{Table, latency_cells};
use super::maybe;
use crate::{Phase, Repetition, Row, Run, Worker};

const HEAD: [&str; 26] = [
    "run_id",
    "label",
    "phase_seq",
    "phase",
    "repetition",
    "clock_ns",
    "worker_group",
    "worker",
    "position",
    "name",
    "class",
    "op",
    "ops",
    "bytes",
    "ops_per_s",
    "bytes_per_s",
    "cpu_ns",
    "timed_ops",
    "latency_mean_ns",
    "latency_min_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p95_ns",
    "latency_p99_ns",
    "latency_p99.9_ns",
    "latency_max_ns",
];

/// The runs' flow operations as one table.
#[must_use]
pub fn operation_csv(runs: &[Run]) -> String {
    let mut table = Table::new();
    table.row(HEAD.map(String::from).into_iter());
    for run in runs {
        for phase in &run.phases {
            for repetition in &phase.repetitions {
                let clock_ns = repetition.clock_ns();
                for worker in &repetition.workers {
                    for (position, row) in worker.rows.iter().enumerate() {
                        let place = place_cells(run, phase, repetition, clock_ns, worker, position);
                        table.row(place.into_iter().chain(own_cells(row, clock_ns)));
                    }
                }
            }
        }
    }
    table.text()
}

fn place_cells(
    run: &Run,
    phase: &Phase,
    repetition: &Repetition,
    clock_ns: u64,
    worker: &Worker,
    position: usize,
) -> [String; 9] {
    [
        run.id.clone(),
        run.label.clone(),
        phase.seq.to_string(),
        phase.name.clone(),
        repetition.n.to_string(),
        clock_ns.to_string(),
        worker.group.clone(),
        worker.index.to_string(),
        position.to_string(),
    ]
}

fn own_cells(row: &Row, clock_ns: u64) -> impl Iterator<Item = String> {
    let counts = [
        row.name.clone(),
        row.class.word().into(),
        maybe(row.kind.map(|k| k.word())),
        row.ops.to_string(),
        row.bytes.to_string(),
        maybe(row.ops_per_s(clock_ns)),
        maybe(row.bytes_per_s(clock_ns)),
        row.cpu_ns.to_string(),
        row.latency.count().to_string(),
    ];
    let [mean, min, p50, p90, p99, p999, max] = latency_cells(&row.latency);
    let p95 = maybe(row.latency.percentile_ns(95.0));
    counts.into_iter().chain([mean, min, p50, p90, p95, p99, p999, max])
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_golden;
    use super::*;
    use crate::store::tests::{any_run, sample_run};
    use proptest::prelude::*;

    #[test]
    fn the_table_is_as_published() {
        assert_golden("operations.csv", &operation_csv(&[sample_run()]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_operation_has_its_row(run in any_run()) {
            let text = operation_csv(std::slice::from_ref(&run));
            let rows = csv::Reader::from_reader(text.as_bytes()).into_records().collect::<Result<Vec<_>, _>>().expect("well formed");
            let workers = run.phases.iter().flat_map(|p| &p.repetitions).flat_map(|r| &r.workers);
            prop_assert_eq!(rows.len(), workers.map(|w| w.rows.len()).sum::<usize>());
        }
    }
}
