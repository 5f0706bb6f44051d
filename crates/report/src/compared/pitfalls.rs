//! What a comparison must not do, one test each: averages of percentiles and of rates, repeated values that are not replicates,
//! a zero that has no ratio, a p printed as zero.

use super::tests::{SAME, SLOWER, compared, sides_of};
use super::{Compared, ComparedRow, Word, text};
use fathom_record::{Histogram, OpKind, OpStat, Repetition, Run, Worker, figures};

fn row<'c>(found: &'c Compared, metric: &str) -> &'c ComparedRow {
    found
        .rows
        .iter()
        .find(|r| r.metric == metric)
        .unwrap_or_else(|| panic!("no {metric} in {:#?}", found.rows))
}

/// A worker that moved `mb` MB in `seconds` seconds.
fn worker(mb: f64, seconds: f64) -> Worker {
    let elapsed_ns = (seconds * 1e9) as u64;
    Worker { bytes: (mb * 1e6) as u64, ops: mb as u64, elapsed_ns, ..Worker::default() }
}

/// Megabytes per second overall: total work over total time.
fn together(workers: Vec<Worker>, seconds: f64) -> f64 {
    let one = Repetition { elapsed_ns: (seconds * 1e9) as u64, workers, ..Repetition::default() };
    one.parent_bytes_per_s().expect("a clock") / 1e6
}

#[test]
fn rates_of_unequal_work_are_total_work_over_total_time() {
    // 900 MB at 900 MB/s, then 100 MB at 25 MB/s: 200 MB/s overall; the mean of the rates would be 462.5.
    assert_eq!(together(vec![worker(900.0, 1.0), worker(100.0, 4.0)], 5.0), 200.0);
}

#[test]
fn rates_of_equal_work_have_a_harmonic_mean() {
    let harmonic = 2.0 / (1.0 / 100.0 + 1.0 / 25.0);
    assert_eq!(together(vec![worker(100.0, 1.0), worker(100.0, 4.0)], 5.0), harmonic);
}

#[test]
fn threads_are_no_replicates_and_their_rates_are_added_not_averaged() {
    let mut sides = sides_of(&SLOWER[..3], 1);
    for run in sides.iter_mut().flatten() {
        let one = run.phases[0].repetitions[0].workers[0].clone();
        run.phases[0].repetitions[0].workers = vec![one; 8];
    }
    let found = compared(&sides);
    let row = row(&found, "throughput");
    assert_eq!(
        (row.a.len(), row.b.len(), row.quads),
        (6, 6, 3),
        "a run is one value, whatever it consists of"
    );
    assert!((row.a[0] - 8.0 * 512.4e6).abs() < 1e3, "{:?}", row.a);
}

#[test]
fn percentiles_of_threads_and_repetitions_are_taken_of_all_operations_together() {
    // The specification's example: merged p90, p99, p99.9 are 100, 200, 10000 us; averages would be 5050, 5050, 5100.
    let of = |values: &[(u64, usize)]| {
        let all = values.iter().flat_map(|(us, n)| std::iter::repeat_n(us * 1000, *n));
        let latency = Histogram::from_values(all);
        let stat = OpStat { op: OpKind::Read, ops: latency.count(), bytes: 0, latency };
        Worker { stats: vec![stat], ..worker(1.0, 1.0) }
    };
    let workers = vec![of(&[(100, 9900), (200, 100)]), of(&[(100, 60), (10_000, 40)])];
    let mut run: Run = sides_of(&SAME[..1], 1)[0][0].clone();
    run.phases[0].repetitions = vec![Repetition { workers, ..Repetition::default() }];
    let found = figures::of(&run);
    let p99 = found.iter().find(|s| s.metric == "read p99").expect("a percentile").values[0].value;
    let p999 = found.iter().find(|s| s.metric == "read p99.9").expect("a percentile").values[0].value;
    // The histogram's buckets are exact to 1 %.
    assert!((p99 / 200e3 - 1.0).abs() < 0.01 && (p999 / 10_000e3 - 1.0).abs() < 0.01, "{p99} {p999}");
}

#[test]
fn a_figure_that_is_zero_is_compared_by_difference_and_that_is_said() {
    let mut sides = sides_of(&SAME[..3], 1);
    for run in &mut sides[0] {
        run.phases[0].repetitions[0].workers[0].bytes = 0;
    }
    let found = compared(&sides);
    let row = row(&found, "throughput");
    let effect = row.effect.expect("a difference");
    assert_eq!((effect.scale, row.ratio()), ("difference", None));
    assert!(!text(&found).contains("NaN") && !text(&found).contains("inf"), "{}", text(&found));
}

#[test]
fn no_p_is_printed_as_zero() {
    let many: Vec<(&str, [f64; 4])> = SLOWER.iter().chain(&SLOWER).copied().collect();
    let found = compared(&sides_of(&many, 1));
    let row = row(&found, "throughput");
    assert_eq!(row.verdict, Word::Worse);
    assert!(
        row.sentence.contains("exact p < 0.0001") && text(&found).contains("< 0.0001"),
        "{}",
        row.sentence
    );
}
