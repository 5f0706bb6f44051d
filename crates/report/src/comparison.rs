//! Compares two runs by the ratios of the second to the first. For each test and regime of the first run, it gives the ratios of
//! the cells that both runs have. For phases with a breakdown, it gives the ratios of operations of the same name.
//!
//! It gives no verdict: only repetitions show whether a difference exceeds noise. Single runs are marked as such.

use crate::{Breakdown, Kind, Mapped, Surface, section::stage};
use fathom_compare::Summary;
use fathom_record::{Phase, Run};

/// The note beside ratios of runs without repetitions.
pub const SINGLE_RUNS: &str = "These are single runs: no interval can be given and small differences may be noise. Repeat each at \
                               least three times for a verdict.";

/// One test in one regime.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRow {
    /// The test.
    pub title: String,
    /// What served it in the first run.
    pub kind: Kind,
    /// Ratios, second over first, over its cells.
    pub ratios: Summary,
    /// Number of cells with another source in the second run: their ratio compares unlike things.
    pub unlike: usize,
}

/// One operation of one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationRow {
    /// The phase.
    pub title: String,
    /// The operation.
    pub name: String,
    /// Executions per second, second over first.
    pub ops: f64,
    /// Median duration, second over first; `None` if either was not timed.
    pub p50: Option<f64>,
    /// 99th percentile, likewise.
    pub p99: Option<f64>,
}

/// The comparison of two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Rows in the order of the first run.
    pub rows: Vec<ComparisonRow>,
    /// Operations of both runs, in the order of the first.
    pub operations: Vec<OperationRow>,
    /// Whether one of the runs has no repetitions.
    pub single: bool,
}

impl Comparison {
    /// Divides `b` by `a`; `None` if they have no cell and no operation in common.
    #[must_use]
    pub fn of(a: &Run, b: &Run) -> Option<Self> {
        let after = Mapped::of_run(b);
        let mut rows = Vec::new();
        for before in Mapped::of_run(a) {
            let same = |m: &&Mapped| {
                m.surface.stage == before.surface.stage && m.surface.title == before.surface.title
            };
            let Some(other) = after.iter().find(same) else { continue };
            rows.extend(Kind::ALL.into_iter().filter_map(|kind| ComparisonRow::of(&before, other, kind)));
        }
        let single = [a, b].iter().any(|run| run.phases.iter().all(|p| p.repetitions.len() < 2));
        let operations = operations(a, b);
        (!rows.is_empty() || !operations.is_empty()).then_some(Self { rows, operations, single })
    }
}

/// Operations of the same name in phases of the same title.
fn operations(a: &Run, b: &Run) -> Vec<OperationRow> {
    let apart = |run: &Run| -> Vec<(Option<String>, Breakdown)> {
        let taken = |p: &Phase| Some((stage(p).map(String::from), Breakdown::of(p)?));
        run.phases.iter().filter_map(taken).collect()
    };
    let (before, mut after) = (apart(a), apart(b));
    let mut found = Vec::new();
    for (stage, one) in &before {
        // Phases of the same title are compared in order, each once.
        let same = |(s, other): &(Option<String>, Breakdown)| s == stage && other.title == one.title;
        let Some(at) = after.iter().position(same) else { continue };
        let (_, other) = after.remove(at);
        let rows = one.rows.iter().filter_map(|row| {
            let there = other.rows.iter().find(|r| r.name == row.name)?;
            OperationRow::of((one, row), (&other, there))
        });
        found.extend(rows);
    }
    found
}

impl OperationRow {
    /// `None` if the first run never did it, since nothing can be divided by 0.
    fn of(
        before: (&Breakdown, &fathom_record::Row),
        after: (&Breakdown, &fathom_record::Row),
    ) -> Option<Self> {
        let divided = |x: Option<f64>, y: Option<f64>| Some(y? / x.filter(|x| *x > 0.0)?);
        let rate = |(b, r): (&Breakdown, &fathom_record::Row)| b.ops_per_s(r);
        let at = |p: f64| {
            let ns = |r: &fathom_record::Row| r.latency.percentile_ns(p).map(|ns| ns as f64);
            divided(ns(before.1), ns(after.1))
        };
        Some(Self {
            title: before.0.title.clone(),
            name: before.1.name.clone(),
            ops: divided(rate(before), rate(after))?,
            p50: at(50.0),
            p99: at(99.0),
        })
    }
}

impl ComparisonRow {
    fn of(before: &Mapped, after: &Mapped, kind: Kind) -> Option<Self> {
        let surface: &Surface = &before.surface;
        let (mut ratios, mut unlike) = (Vec::new(), 0);
        for (i, cells) in surface.cells.iter().enumerate() {
            for (j, cell) in cells.iter().enumerate() {
                let there = after.surface.at(surface.file_bytes[i], surface.record_bytes[j]);
                let (Some(here), Some(there)) = (cell, there) else { continue };
                if before.kind_of(i, here) == kind {
                    ratios.push(there.value / here.value);
                    unlike += usize::from(here.origin != there.origin);
                }
            }
        }
        Some(Self { title: surface.title.clone(), kind, ratios: Summary::of(&ratios)?, unlike })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn faster_cached_writes_and_slower_device_reads_are_told_apart() {
        let found = Comparison::of(&samples::auto_run(), &samples::auto_run_changed()).expect("common cells");
        let median = |title: &str, kind| {
            let row = found.rows.iter().find(|r| r.title == title && r.kind == kind);
            row.map(|r| r.ratios.median).expect("a row")
        };
        assert!((median("write", Kind::PageCache) - 1.4).abs() < 0.05);
        assert!((median("read", Kind::Device) - 0.75).abs() < 0.05);
        assert!((median("read", Kind::PageCache) - 1.0).abs() < 0.05);
        assert!(found.single);
        assert!(found.rows.iter().all(|r| r.unlike == 0));
    }

    #[test]
    fn operations_of_one_name_are_divided() {
        let found = Comparison::of(&samples::filebench_run(), &samples::filebench_run_changed());
        let found = found.expect("operations");
        assert!(found.rows.is_empty());
        let row = |name: &str| found.operations.iter().find(|r| r.name == name);
        let read = row("read1").expect("both have it");
        assert!((read.ops - 1.25).abs() < 0.01, "{read:?}");
        assert!(read.p99.is_some_and(|r| (r - 0.8).abs() < 0.05), "{read:?}");
        assert_eq!(row("wait1"), None, "it is not in the second");
        assert_eq!(row("limit1").expect("both have it").p99, None, "it was not timed");
    }

    #[test]
    fn cells_of_unlike_origin_are_counted() {
        let (a, mut b) = (samples::auto_run(), samples::auto_run());
        for phase in b.phases.iter_mut().filter(|p| p.axes.file_bytes == Some(1 << 30)) {
            let physical = &mut phase.repetitions[0].physical;
            physical.devices[0].read_bytes = 0;
            physical.own_read_bytes = Some(0);
        }
        let found = Comparison::of(&a, &b).expect("common cells");
        let read = found.rows.iter().find(|r| r.title == "read" && r.kind == Kind::Device).expect("a row");
        assert_eq!(read.unlike, 9);
    }

    #[test]
    fn runs_without_common_cells_are_not_compared() {
        assert_eq!(Comparison::of(&samples::auto_run(), &samples::throughput_run()), None);
    }
}
