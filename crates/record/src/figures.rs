//! Every figure of a run as one flat list, measured or imported: the input of a comparison. A series is one figure of one cell
//! and holds one value per repetition. Nothing is judged here; the reader decides how many samples a percentile needs and what
//! a difference means.
//!
//! Cells that a run measured several times, as separate phases, form one series. Repetitions in which an operation failed are
//! left out, because they did not do the cell's work.

use crate::imported::{names, units};
use crate::{Axes, OpKind, Phase, Repetition, Run};

/// Percentiles given for every kind of operation.
pub const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// Tags that describe a phase without distinguishing it from others.
const REMARKS: [&str; 1] = ["stage_note"];

/// What a figure belongs to: the operation and its coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The phase's name: "write", "random read".
    pub operation: String,
    /// Sizes, streams, depth and further coordinates.
    pub axes: Axes,
    /// Whether O_DIRECT was requested.
    pub direct: bool,
}

/// One value of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// Sequence number of its phase.
    pub phase: u32,
    /// Number of the repetition within that phase.
    pub repetition: u32,
    /// The value, in the unit of the series.
    pub value: f64,
    /// Number of operations behind it, for a percentile; `None` if unknown or meaningless.
    pub count: Option<u64>,
}

/// One figure of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The cell it belongs to.
    pub cell: Cell,
    /// Name of the figure: "throughput", "operations per second", "read p99".
    pub metric: String,
    /// One of [`units`].
    pub unit: String,
    /// Whether higher is better; `None` if it is neither good nor bad.
    pub higher_is_better: Option<bool>,
    /// In the order of phases and repetitions.
    pub values: Vec<Value>,
}

/// All figures of a run, in order of first appearance.
#[must_use]
pub fn of(run: &Run) -> Vec<Series> {
    let mut all = Vec::new();
    for phase in &run.phases {
        let cell = cell(phase);
        for r in phase.repetitions.iter().filter(|r| r.error().is_none()) {
            let mut add = |metric: &str, unit: &str, better, value, count| {
                let value = Value { phase: phase.seq, repetition: r.n, value, count };
                add_to(&mut all, &cell, metric, unit, better, value);
            };
            if r.figures.is_empty() {
                measured(phase, r, &mut add);
            }
            for f in &r.figures {
                add(&f.name, &f.unit, f.higher_is_better, f.value, None);
            }
        }
    }
    all
}

/// The cell a phase belongs to.
#[must_use]
pub fn cell(phase: &Phase) -> Cell {
    Cell { operation: phase.name.clone(), axes: without_remarks(phase.axes.clone()), direct: phase.direct }
}

/// Removes the tags that are no coordinates.
pub(crate) fn without_remarks(mut axes: Axes) -> Axes {
    axes.tags.retain(|key, _| !REMARKS.contains(&key.as_str()));
    axes
}

type Add<'a> = &'a mut dyn FnMut(&str, &str, Option<bool>, f64, Option<u64>);

fn measured(phase: &Phase, r: &Repetition, add: Add) {
    if let Some(rate) = r.bytes_per_s().filter(|_| !phase.is_metadata_only()) {
        add(names::THROUGHPUT, units::BYTES_PER_S, Some(true), rate, None);
    }
    if let Some(rate) = r.ops_per_s() {
        add(names::OPERATIONS, units::OPS_PER_S, Some(true), rate, None);
    }
    for op in OpKind::ALL {
        let latency = r.latency(op);
        for p in PERCENTILES {
            if let Some(ns) = latency.percentile_ns(p) {
                let metric = format!("{} p{p}", op.word());
                add(&metric, units::NS, Some(false), ns as f64, Some(latency.count()));
            }
        }
    }
}

/// Adds a value to the series of its cell and figure.
pub(crate) fn add_to(
    all: &mut Vec<Series>,
    cell: &Cell,
    metric: &str,
    unit: &str,
    better: Option<bool>,
    value: Value,
) {
    // A figure that a program printed twice in one repetition makes two series.
    let taken = |s: &Series| {
        s.values.last().is_some_and(|v| (v.phase, v.repetition) == (value.phase, value.repetition))
    };
    let same = |s: &&mut Series| s.metric == metric && s.unit == unit && s.cell == *cell && !taken(s);
    match all.iter_mut().find(same) {
        Some(series) => series.values.push(value),
        None => all.push(Series {
            cell: cell.clone(),
            metric: metric.into(),
            unit: unit.into(),
            higher_is_better: better,
            values: vec![value],
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::sample_run;
    use crate::{Ending, Figure, OpError};

    /// The sample without its failed repetitions.
    fn whole_run() -> Run {
        let mut run = sample_run();
        for w in run.phases.iter_mut().flat_map(|p| &mut p.repetitions).flat_map(|r| &mut r.workers) {
            w.ending = Ending::Completed;
        }
        run
    }

    #[test]
    fn a_measured_run_has_rates_and_percentiles_with_their_counts() {
        let all = of(&whole_run());
        let find = |operation: &str, metric: &str| {
            all.iter().find(|s| s.cell.operation == operation && s.metric == metric).expect(metric)
        };
        let rate = find("write", names::THROUGHPUT);
        assert_eq!((rate.unit.as_str(), rate.higher_is_better), ("bytes/s", Some(true)));
        assert_eq!(rate.values[0].value, 200.0 * 1048576.0);
        assert_eq!(rate.values[0].count, None);
        let p99 = find("write", "write p99.9");
        assert_eq!((p99.unit.as_str(), p99.higher_is_better), ("ns", Some(false)));
        assert_eq!(p99.values[0].count, Some(8));
    }

    #[test]
    fn phases_of_one_cell_are_one_series_and_failed_ones_none() {
        let mut run = whole_run();
        run.phases.truncate(1);
        let mut again = run.phases[0].clone();
        again.seq = 9;
        again.axes.tags.insert("stage_note".into(), "a remark".into());
        run.phases.push(again);
        let all = of(&run);
        let phases: Vec<u32> = all[0].values.iter().map(|v| v.phase).collect();
        assert!(phases.contains(&run.phases[0].seq) && phases.contains(&9), "{phases:?}");
        for w in run.phases[1].repetitions.iter_mut().flat_map(|r| &mut r.workers) {
            w.ending = Ending::Failed(OpError::default());
        }
        assert!(of(&run)[0].values.iter().all(|v| v.phase != 9));
    }

    #[test]
    fn an_imported_run_has_what_was_printed() {
        let figure =
            |name: &str, value| Figure { name: name.into(), value, unit: "s".into(), ..Figure::default() };
        let mut run = sample_run();
        run.phases.truncate(1);
        let figures = vec![figure("time", 7.0), figure("time", 8.0), figure("user", 1.0)];
        run.phases[0].repetitions = vec![Repetition { figures, ..Repetition::default() }];
        let all = of(&run);
        let told: Vec<(&str, f64)> = all.iter().map(|s| (s.metric.as_str(), s.values[0].value)).collect();
        assert_eq!(told, [("time", 7.0), ("time", 8.0), ("user", 1.0)]);
    }
}
