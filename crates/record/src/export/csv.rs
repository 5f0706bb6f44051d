//! Tidy CSV: one row per run x phase x repetition x worker x kind of operation, with the figures of every level repeated on it,
//! so that a data frame needs no join. Intervals and the operations of flows (`operations`) are other kinds of observation and
//! have their own tables. Units are in the header. A cell is empty if the value does not apply or was not measured.

use super::{maybe, truth};
use crate::{
    DeviceDelta, Ending, Histogram, Interval, Mark, OpKind, OpStat, Origin, Phase, Repetition, Run, Verdict,
    Worker, escape_controls,
};
use std::collections::BTreeSet;

/// The columns before those of the tags.
const HEAD: [&str; 20] = [
    "run_id",
    "label",
    "dialect",
    "version",
    "started_at",
    "status",
    "seed",
    "directory",
    "trust_checks",
    "trust_doubtful",
    "trust_unknown",
    "phase_seq",
    "phase",
    "direct",
    "sync_in_clock",
    "file_bytes",
    "record_bytes",
    "streams",
    "queue_depth",
    "repetition",
];

/// The columns after them; the last are [`truth::HEAD`].
const TAIL: [&str; 63] = [
    "phase_started_ns",
    "phase_elapsed_ns",
    "start_skew_ns",
    "ramp_ns",
    "cache",
    "extents_bytes",
    "hole_bytes",
    "unwritten_bytes",
    "filled_bytes",
    "steady",
    "steady_asked",
    "steady_figure",
    "steady_mean",
    "steady_range_percent",
    "steady_slope_percent",
    "jitter_watched_ns",
    "jitter_gap_p99.9_ns",
    "jitter_gap_max_ns",
    "jitter_wake_max_ns",
    "regime",
    "device_share",
    "device",
    "device_read_bytes",
    "device_write_bytes",
    "device_kind",
    "lowest_device",
    "lowest_read_bytes",
    "lowest_write_bytes",
    "cached_share_before",
    "cached_share_after",
    "worker_group",
    "worker",
    "ending",
    "worker_start_ns",
    "worker_elapsed_ns",
    "worker_bytes",
    "worker_ops",
    "worker_uncounted_bytes",
    "worker_drained_ops",
    "worker_ramp_ops",
    "worker_settled_depth",
    "worker_behind_ns",
    "cpu_user_ns",
    "cpu_system_ns",
    "last_op_ns",
    "fsync_ns",
    "close_ns",
    "to_last_op_bytes_per_s",
    "to_fsync_bytes_per_s",
    "to_close_bytes_per_s",
    "op",
    "ops",
    "bytes",
    "bytes_per_s",
    "ops_per_s",
    "latency_mean_ns",
    "latency_min_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p99.9_ns",
    "latency_max_ns",
    "timed_ops",
];

/// The runs as one table. Tags of the phases (`cache`, `fsync` ...) become columns `tag_cache`, `tag_fsync` ..., for all tags
/// that occur in any run. A worker without latencies has one row with an empty `op` and the worker's rate; so has an imported
/// repetition, which has no workers. Its other printed figures are in [`super::figure_csv`].
#[must_use]
pub fn csv(runs: &[Run]) -> String {
    let tags: BTreeSet<&str> =
        runs.iter().flat_map(|r| &r.phases).flat_map(|p| p.axes.tags.keys()).map(String::as_str).collect();
    let mut table = Table::new();
    let tag_columns = tags.iter().map(|t| format!("tag_{t}"));
    let tail = TAIL.into_iter().chain(truth::HEAD).map(String::from);
    table.row(HEAD.map(String::from).into_iter().chain(tag_columns).chain(tail));
    for run in runs {
        for phase in &run.phases {
            for repetition in &phase.repetitions {
                repetition_rows(&mut table, run, phase, repetition, &tags);
            }
        }
    }
    table.text()
}

/// The columns of [`interval_csv`].
const INTERVAL_HEAD: [&str; 23] = [
    "run_id",
    "label",
    "phase_seq",
    "phase",
    "repetition",
    "interval",
    "end_ns",
    "width_ns",
    "ops",
    "bytes",
    "ops_per_s",
    "bytes_per_s",
    "op",
    "timed_ops",
    "latency_mean_ns",
    "latency_min_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p99.9_ns",
    "latency_max_ns",
    "op_bytes",
    "op_bytes_per_s",
];

/// The runs' intervals as one table: one row per interval and kind of operation that was timed or moved data in it, and one with an
/// empty `op` for an interval without known kinds. The counts of the interval (`ops` to `bytes_per_s`) are repeated on each of its rows.
#[must_use]
pub fn interval_csv(runs: &[Run]) -> String {
    let mut table = Table::new();
    table.row(INTERVAL_HEAD.map(String::from).into_iter());
    for run in runs {
        for phase in &run.phases {
            for repetition in &phase.repetitions {
                for (n, interval) in repetition.intervals.iter().enumerate() {
                    let shared = interval_cells(run, phase, repetition, n, interval);
                    for own in kinds_of_interval(interval) {
                        table.row(shared.iter().cloned().chain(own));
                    }
                }
            }
        }
    }
    table.text()
}

/// The cells of each kind of operation in an interval; empty cells for latencies of a kind that only moved data, or data of a
/// kind that was only timed.
fn kinds_of_interval(interval: &Interval) -> Vec<Vec<String>> {
    let moved = |op: OpKind| {
        let bytes = interval.moved.iter().filter(|m| m.0 == op).map(|m| m.1).reduce(u64::saturating_add);
        let per_s = bytes.filter(|_| interval.width_ns > 0);
        [maybe(bytes), maybe(per_s.map(|b| b as f64 * 1e9 / interval.width_ns as f64))]
    };
    let mut all: Vec<Vec<String>> = Vec::new();
    for (op, latency) in &interval.latencies {
        let own = [op.word().to_string(), latency.count().to_string()];
        all.push(own.into_iter().chain(latency_cells(latency)).chain(moved(*op)).collect());
    }
    let timed = |op: OpKind| interval.latencies.iter().any(|l| l.0 == op);
    for (n, (op, _)) in interval.moved.iter().enumerate() {
        if !timed(*op) && !interval.moved[..n].iter().any(|m| m.0 == *op) {
            let own = std::iter::once(op.word().to_string()).chain((0..8).map(|_| String::new()));
            all.push(own.chain(moved(*op)).collect());
        }
    }
    if all.is_empty() {
        all.push(vec![String::new(); 11]);
    }
    all
}

fn interval_cells(run: &Run, phase: &Phase, repetition: &Repetition, n: usize, i: &Interval) -> Vec<String> {
    let rate = |count: u64| maybe((i.width_ns > 0).then(|| count as f64 * 1e9 / i.width_ns as f64));
    vec![
        run.id.clone(),
        run.label.clone(),
        phase.seq.to_string(),
        phase.name.clone(),
        repetition.n.to_string(),
        n.to_string(),
        i.end_ns.to_string(),
        i.width_ns.to_string(),
        i.ops.to_string(),
        i.bytes.to_string(),
        rate(i.ops),
        rate(i.bytes),
    ]
}

/// A CSV writer that cannot fail: all rows have the same length, and memory takes everything.
pub(super) struct Table {
    out: csv::Writer<Vec<u8>>,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { out: csv::Writer::from_writer(Vec::new()) }
    }

    pub(super) fn row(&mut self, cells: impl Iterator<Item = String>) {
        let cells = cells.map(|cell| safe(cell).into_bytes());
        self.out.write_record(cells).expect("rows of one length, written to memory");
    }

    pub(super) fn text(self) -> String {
        let bytes = self.out.into_inner().expect("memory");
        String::from_utf8(bytes).expect("made of strings")
    }
}

/// A cell that a spreadsheet reads as text: one that begins like a formula, but is not a number, is prefixed with an
/// apostrophe. Control characters are escaped.
fn safe(cell: String) -> String {
    let cell = match escape_controls(&cell) {
        std::borrow::Cow::Borrowed(_) => cell,
        std::borrow::Cow::Owned(escaped) => escaped,
    };
    let is_formula = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
    if is_formula { format!("'{cell}") } else { cell }
}

fn repetition_rows(
    table: &mut Table,
    run: &Run,
    phase: &Phase,
    repetition: &Repetition,
    tags: &BTreeSet<&str>,
) {
    let before = shared_cells(run, phase, repetition, tags);
    let measured = repetition_cells(phase, repetition);
    let truth = truth::cells(phase, repetition);
    if repetition.workers.is_empty() && !repetition.figures.is_empty() {
        let rates = TAIL[measured.len()..].iter().map(|column| match *column {
            "bytes_per_s" => maybe(repetition.bytes_per_s()),
            "ops_per_s" => maybe(repetition.ops_per_s()),
            _ => String::new(),
        });
        table.row(before.iter().chain(&measured).cloned().chain(rates).chain(truth.iter().cloned()));
    }
    for worker in &repetition.workers {
        let own = worker_cells(phase, worker);
        let mut emit = |op: Vec<String>| {
            table.row(before.iter().chain(&measured).chain(&own).chain(&op).chain(&truth).cloned());
        };
        if worker.stats.is_empty() {
            emit(bare_cells(worker));
        }
        for stat in &worker.stats {
            emit(op_cells(worker, stat));
        }
    }
}

fn shared_cells(run: &Run, phase: &Phase, repetition: &Repetition, tags: &BTreeSet<&str>) -> Vec<String> {
    let axes = &phase.axes;
    let mut cells = vec![
        run.id.clone(),
        run.label.clone(),
        run.dialect.clone(),
        run.version.clone(),
        run.started_at.clone(),
        run.status.word().into(),
        run.seed.to_string(),
        run.directory.clone(),
        run.trust.len().to_string(),
        checks(run, Verdict::Doubtful),
        checks(run, Verdict::Unknown),
        phase.seq.to_string(),
        phase.name.clone(),
        phase.direct.to_string(),
        phase.sync_in_clock.to_string(),
        maybe(axes.file_bytes),
        maybe(axes.record_bytes),
        maybe(axes.streams),
        maybe(axes.queue_depth),
        repetition.n.to_string(),
    ];
    cells.extend(tags.iter().map(|t| axes.tags.get(*t).cloned().unwrap_or_default()));
    cells
}

fn repetition_cells(phase: &Phase, repetition: &Repetition) -> Vec<String> {
    let origin = Origin::of(phase, repetition);
    let physical = &repetition.physical;
    // The lowest devices below the file system's own; empty if there are none below it.
    let lowest =
        if physical.lowest_level() > 0 { physical.level(physical.lowest_level()) } else { Vec::new() };
    let names: Vec<&str> = lowest.iter().map(|d| d.name.as_str()).collect();
    let sum = |figure: fn(&DeviceDelta) -> u64| lowest.iter().map(|d| figure(d)).reduce(u64::saturating_add);
    let mut cells = vec![
        repetition.started_ns.to_string(),
        repetition.elapsed_ns.to_string(),
        repetition.start_skew_ns.to_string(),
    ];
    cells.extend(condition_cells(repetition));
    cells.extend([
        origin.regime.words().into(),
        maybe(origin.device_share),
        physical.devices.first().map(|d| d.name.clone()).unwrap_or_default(),
        maybe(physical.device_read_bytes()),
        maybe(physical.device_write_bytes()),
        physical.devices.first().map(|d| d.kind.clone()).unwrap_or_default(),
        names.join("+"),
        maybe(sum(|d| d.read_bytes)),
        maybe(sum(|d| d.write_bytes)),
        maybe(repetition.resident_before.and_then(|r| r.cached_share())),
        maybe(repetition.resident_after.and_then(|r| r.cached_share())),
    ]);
    cells
}

/// The conditions of the repetition: warm-up, cache, extents, steadiness, jitter.
fn condition_cells(repetition: &Repetition) -> Vec<String> {
    let extents = repetition.extents.as_ref();
    let steady = repetition.steady.as_ref();
    let jitter = repetition.jitter.as_ref();
    let most = |h: &Histogram| (h.count() > 0).then(|| h.max_ns());
    vec![
        repetition.ramp_ns.to_string(),
        repetition.cache.word().into(),
        maybe(extents.map(|e| e.bytes)),
        maybe(extents.map(|e| e.hole_bytes)),
        maybe(extents.map(|e| e.unwritten_bytes)),
        maybe(extents.map(|e| e.filled_bytes)),
        maybe(steady.map(|s| s.reached)),
        maybe(steady.map(|s| s.asked)),
        maybe(steady.map(|s| s.figure.as_str())),
        maybe(steady.map(|s| s.mean)),
        maybe(steady.map(|s| s.range_percent)),
        maybe(steady.map(|s| s.slope_percent)),
        maybe(jitter.map(|j| j.watched_ns)),
        maybe(jitter.and_then(|j| j.gaps.percentile_ns(99.9))),
        maybe(jitter.and_then(|j| most(&j.gaps))),
        maybe(jitter.and_then(|j| most(&j.wakes))),
    ]
}

/// The codes of a run's checks with this verdict.
fn checks(run: &Run, verdict: Verdict) -> String {
    let codes: Vec<&str> =
        run.trust.iter().filter(|t| t.verdict == verdict).map(|t| t.code.as_str()).collect();
    codes.join("+")
}

fn worker_cells(phase: &Phase, worker: &Worker) -> Vec<String> {
    let only_writes = phase.writes && !phase.reads;
    let rate_to = |mark| maybe(worker.bytes_per_s_to(mark, phase.sync_in_clock).filter(|_| only_writes));
    let ending = match worker.ending {
        Ending::Completed => "completed",
        Ending::Stopped => "stopped",
        Ending::Interrupted => "interrupted",
        Ending::Failed(_) => "failed",
    };
    vec![
        worker.group.clone(),
        worker.index.to_string(),
        ending.into(),
        worker.start_ns.to_string(),
        worker.elapsed_ns.to_string(),
        worker.bytes.to_string(),
        worker.ops.to_string(),
        worker.uncounted_bytes.to_string(),
        worker.drained_ops.to_string(),
        worker.ramp_ops.to_string(),
        maybe(worker.settled_depth),
        worker.behind_ns.to_string(),
        worker.cpu_user_ns.to_string(),
        worker.cpu_system_ns.to_string(),
        worker.marks.last_op_ns.to_string(),
        worker.marks.fsync_ns.to_string(),
        worker.marks.close_ns.to_string(),
        rate_to(Mark::LastOp),
        rate_to(Mark::Fsync),
        rate_to(Mark::Close),
    ]
}

fn op_cells(worker: &Worker, stat: &OpStat) -> Vec<String> {
    let rate = |n: u64| (worker.elapsed_ns > 0).then(|| n as f64 * 1e9 / worker.elapsed_ns as f64);
    let mut cells = vec![
        stat.op.word().into(),
        stat.ops.to_string(),
        stat.bytes.to_string(),
        maybe(rate(stat.bytes)),
        maybe(rate(stat.ops)),
    ];
    cells.extend(latency_cells(&stat.latency));
    cells.push(stat.latency.count().to_string());
    cells
}

/// Mean, minimum, percentiles, maximum; empty cells if nothing was timed.
pub(super) fn latency_cells(latency: &Histogram) -> [String; 7] {
    let full = latency.count() > 0;
    [
        maybe(latency.mean_ns()),
        maybe(full.then(|| latency.min_ns())),
        maybe(latency.percentile_ns(50.0)),
        maybe(latency.percentile_ns(90.0)),
        maybe(latency.percentile_ns(99.0)),
        maybe(latency.percentile_ns(99.9)),
        maybe(full.then(|| latency.max_ns())),
    ]
}

/// The cells of a worker without recorded latencies.
fn bare_cells(worker: &Worker) -> Vec<String> {
    let mut cells = vec![
        String::new(),
        worker.ops.to_string(),
        worker.bytes.to_string(),
        maybe(worker.bytes_per_s()),
        maybe(worker.ops_per_s()),
    ];
    cells.resize(13, String::new());
    cells
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_golden;
    use super::*;
    use crate::store::tests::{any_run, sample_run};
    use proptest::prelude::*;

    #[test]
    fn the_table_is_as_published() {
        assert_golden("sample.csv", &csv(&[sample_run()]));
    }

    #[test]
    fn a_write_has_three_rates_and_a_read_none() {
        let mut run = sample_run();
        run.phases[0].repetitions[0].workers[1].marks.fsync_ns = 0;
        let text = csv(&[run]);
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        let heads = rows.headers().expect("heads").clone();
        let at = |name: &str| heads.iter().position(|h| h == name).unwrap_or_else(|| panic!("no {name}"));
        let columns = ["to_last_op_bytes_per_s", "to_fsync_bytes_per_s", "to_close_bytes_per_s"].map(at);
        let (name, worker) = (at("phase"), at("worker"));
        for row in rows.records().map(|r| r.expect("a row")) {
            let full = columns.map(|c| !row[c].is_empty());
            let wanted = match (&row[name], &row[worker]) {
                ("write", "0") => [true, true, true],
                ("write", _) => [true, false, true],
                _ => [false; 3],
            };
            assert_eq!(full, wanted, "{row:?}");
        }
    }

    #[test]
    fn the_table_of_intervals_is_as_published() {
        let mut run = sample_run();
        // The second repetition's intervals have no latencies, and one has no width.
        run.phases[1].repetitions[1].intervals = vec![
            Interval { end_ns: 25_000, width_ns: 25_000, ops: 1, bytes: 4096, ..Interval::default() },
            Interval { end_ns: 25_000, ..Interval::default() },
        ];
        assert_golden("intervals.csv", &interval_csv(&[run]));
    }

    #[test]
    fn no_runs_give_a_header() {
        assert_eq!(csv(&[]).lines().count(), 1);
        assert_eq!(interval_csv(&[]).lines().count(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_observation_has_its_row(run in any_run()) {
            let text = csv(std::slice::from_ref(&run));
            let rows = csv::Reader::from_reader(text.as_bytes()).into_records().collect::<Result<Vec<_>, _>>().expect("well formed");
            let repetitions = run.phases.iter().flat_map(|p| &p.repetitions);
            let workers = repetitions.clone().flat_map(|r| &r.workers).map(|w| w.stats.len().max(1));
            let imported = repetitions.filter(|r| r.workers.is_empty() && !r.figures.is_empty()).count();
            prop_assert_eq!(rows.len(), workers.sum::<usize>() + imported);
            let text = interval_csv(std::slice::from_ref(&run));
            let rows = csv::Reader::from_reader(text.as_bytes()).into_records().collect::<Result<Vec<_>, _>>().expect("well formed");
            let intervals = run.phases.iter().flat_map(|p| &p.repetitions).flat_map(|r| &r.intervals);
            let timed = |i: &Interval, op| i.latencies.iter().any(|l| l.0 == op);
            let untimed = |i: &Interval| i.moved.iter().map(|m| m.0).filter(|&op| !timed(i, op)).collect::<BTreeSet<_>>().len();
            prop_assert_eq!(rows.len(), intervals.map(|i| (i.latencies.len() + untimed(i)).max(1)).sum::<usize>());
        }
    }
}
