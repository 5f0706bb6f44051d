//! The table of one phase: a summary for each cell, in one unit for all of them.

use super::identity::{self, Identity};
use super::{Sweep, SweepFigure};
use fathom_compare::Summary;

/// The figures of one phase by cell.
#[derive(Clone, Debug)]
pub struct SweepTable {
    /// Title of the phase.
    pub phase: String,
    /// Unit of all its numbers.
    pub unit: &'static str,
    /// Whether lower is better.
    pub lower_is_better: bool,
    /// For each cell of the sweep, its runs' values in order, in the unit.
    pub samples: Vec<Vec<f64>>,
    /// For each cell of the sweep, its summary, in the unit; `None` if nothing was measured.
    pub cells: Vec<Option<Summary>>,
    /// For each cell of the sweep, what served it ("page cache", "device"); several if its runs differ.
    pub served_by: Vec<String>,
    /// Index of the cell with the best median.
    pub best: Option<usize>,
}

/// A table for each phase, in order of first appearance.
#[must_use]
pub fn tables(sweep: &Sweep) -> Vec<SweepTable> {
    identity::phases(sweep).into_iter().map(|phase| table(sweep, phase)).collect()
}

fn table(sweep: &Sweep, phase: Identity) -> SweepTable {
    let mut samples: Vec<Vec<f64>> = vec![Vec::new(); sweep.cells.len()];
    let mut in_ops = sweep.figure == SweepFigure::Ops;
    let mut served_by: Vec<Vec<String>> = vec![Vec::new(); sweep.cells.len()];
    for (run, at) in phase.places {
        let run = &sweep.runs[run];
        let figures = &run.phases[at];
        in_ops |= figures.quoted_in_ops && sweep.figure == SweepFigure::Rate;
        if let (Some(value), Some(cell)) = (figures.get(sweep.figure), samples.get_mut(run.cell)) {
            cell.push(value);
        }
        if let Some(words) = served_by.get_mut(run.cell)
            && !figures.served_by.is_empty()
            && !words.contains(&figures.served_by)
        {
            words.push(figures.served_by.clone());
        }
    }
    // The runs of a cell come in random order; sort their sources.
    served_by.iter_mut().for_each(|words| words.sort());
    let served_by = served_by.into_iter().map(|words| words.join("; ")).collect();
    let medians: Vec<f64> = samples.iter().filter_map(|s| Summary::of(s)).map(|s| s.median).collect();
    let typical = fathom_compare::summary::median(&medians).unwrap_or(0.0);
    let (divisor, unit) = scale(sweep.figure, in_ops, typical);
    samples.iter_mut().flatten().for_each(|v| *v /= divisor);
    let cells: Vec<Option<Summary>> = samples.iter().map(|s| Summary::of(s)).collect();
    let lower_is_better = sweep.figure.lower_is_better();
    let measured = cells.iter().enumerate().filter_map(|(i, s)| Some((i, s.as_ref()?.median)));
    let better = |a: &(usize, f64), b: &(usize, f64)| {
        let order = a.1.total_cmp(&b.1);
        if lower_is_better { order } else { order.reverse() }
    };
    let best = measured.min_by(better).map(|b| b.0).filter(|_| medians.len() > 1);
    SweepTable { phase: phase.title, served_by, unit, lower_is_better, samples, cells, best }
}

/// Divisor and unit of the values: chosen by the typical cell, the same for all.
fn scale(figure: SweepFigure, in_ops: bool, typical: f64) -> (f64, &'static str) {
    let largest = |steps: &[(f64, &'static str)]| {
        steps.iter().rev().find(|s| typical >= s.0).or(steps.first()).copied().unwrap_or((1.0, ""))
    };
    match figure {
        SweepFigure::Time => (1.0, "s"),
        _ if in_ops => largest(&[(1.0, "operations/s"), (1e4, "1000 operations/s")]).into_thousands(),
        SweepFigure::Rate | SweepFigure::Ops => {
            largest(&[(1024.0, "KiB/s"), (1_048_576.0, "MiB/s"), (4.0 * 1_073_741_824.0, "GiB/s")])
                .into_binary()
        }
        _ => largest(&[(1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")]),
    }
}

/// The threshold for a unit is not always the unit itself.
trait AxisUnit {
    fn into_thousands(self) -> Self;
    fn into_binary(self) -> Self;
}

impl AxisUnit for (f64, &'static str) {
    fn into_thousands(self) -> Self {
        if self.1 == "1000 operations/s" { (1e3, self.1) } else { self }
    }

    fn into_binary(self) -> Self {
        if self.1 == "GiB/s" { (1_073_741_824.0, self.1) } else { self }
    }
}

impl SweepTable {
    /// Formats as "12.3", with at most four digits, as many as the range makes meaningful.
    #[must_use]
    pub fn number(value: f64) -> String {
        match value.abs() {
            v if v >= 999.5 => format!("{value:.0}"),
            v if v >= 99.95 => format!("{value:.1}"),
            v if v >= 9.995 => format!("{value:.2}"),
            _ => format!("{value:.3}"),
        }
    }

    /// The median and the range of a cell: "94.0 (93.0..95.0)".
    #[must_use]
    pub fn words(&self, cell: usize) -> Option<String> {
        let s = self.cells.get(cell)?.as_ref()?;
        let median = Self::number(s.median);
        if s.n == 1 {
            return Some(median);
        }
        Some(format!("{median} ({}..{})", Self::number(s.min), Self::number(s.max)))
    }

    /// A warning if the cells have different sources, so that their figures are not comparable.
    #[must_use]
    pub fn unlike(&self) -> Option<String> {
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for words in self.served_by.iter().filter(|w| !w.is_empty()) {
            match kinds.iter_mut().find(|k| k.0 == words) {
                Some(kind) => kind.1 += 1,
                None => kinds.push((words, 1)),
            }
        }
        let counts: Vec<String> = kinds
            .iter()
            .map(|(words, n)| format!("{n} {} by {words}", if *n == 1 { "cell" } else { "cells" }))
            .collect();
        (counts.len() > 1).then(|| {
            format!(
                "The cells were not served by the same ({}): they measure unlike things.",
                counts.join(", ")
            )
        })
    }

    /// The number of runs per measured cell, if the same for all.
    #[must_use]
    pub fn common_count(&self) -> Option<usize> {
        let mut counts = self.cells.iter().flatten().map(|s| s.n);
        let first = counts.next()?;
        counts.all(|n| n == first).then_some(first)
    }

    /// A cell compared with another: the ratio of the medians, and the relation of the ranges.
    #[must_use]
    pub fn against(&self, cell: usize, baseline: usize) -> Option<(f64, String)> {
        let (here, there) = (self.cells.get(cell)?.as_ref()?, self.cells.get(baseline)?.as_ref()?);
        if there.median == 0.0 {
            return None;
        }
        let ranges = if here.n < 2 || there.n < 2 {
            "single run".to_string()
        } else if here.min > there.max {
            format!("all {} runs above the other's {}", here.n, there.n)
        } else if here.max < there.min {
            format!("all {} runs below the other's {}", here.n, there.n)
        } else {
            "the ranges overlap".to_string()
        };
        Some((here.median / there.median, ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SweepFigure, samples::sweep};
    use super::*;

    #[test]
    fn the_best_is_the_least_time_and_the_highest_rate() {
        let mut sweep = sweep();
        let by_time = &tables(&sweep)[0];
        assert_eq!((by_time.best, by_time.unit, by_time.lower_is_better), (Some(3), "s", true));
        assert_eq!(by_time.words(1).as_deref(), Some("94.00 (93.00..95.00)"));
        assert_eq!(by_time.common_count(), Some(3));
        sweep.figure = SweepFigure::Rate;
        let by_rate = &tables(&sweep)[0];
        assert_eq!((by_rate.best, by_rate.unit), (Some(3), "MiB/s"));
    }

    #[test]
    fn ranges_are_described_and_not_judged() {
        let mut sweep = sweep();
        let (ratio, ranges) = tables(&sweep)[0].against(3, 1).expect("both measured");
        assert!((ratio - 86.5 / 94.0).abs() < 1e-9);
        assert_eq!(ranges, "all 3 runs below the other's 3");
        sweep.runs[0].phases[0].seconds = Some(94.5);
        assert_eq!(tables(&sweep)[0].against(2, 1).expect("both").1, "the ranges overlap");
        sweep.runs.truncate(4);
        assert_eq!(tables(&sweep)[0].against(2, 1).expect("both").1, "single run");
    }

    #[test]
    fn memory_beside_disk_is_warned_of() {
        let mut sweep = sweep();
        assert_eq!(tables(&sweep)[0].unlike(), None, "nothing is known");
        for run in &mut sweep.runs {
            run.phases[0].served_by = "device".into();
        }
        assert_eq!(tables(&sweep)[0].unlike(), None);
        let third = sweep.runs.iter_mut().find(|r| r.cell == 3).expect("it ran");
        third.phases[0].served_by = "page cache".into();
        let table = &tables(&sweep)[0];
        assert_eq!(table.served_by, ["device", "device", "device", "device; page cache"]);
        assert_eq!(
            table.unlike().as_deref(),
            Some(
                "The cells were not served by the same (3 cells by device, 1 cell by device; page cache): they measure unlike things."
            )
        );
    }

    #[test]
    fn units_fit_the_typical_cell() {
        assert_eq!(scale(SweepFigure::Rate, false, 5e6), (1_048_576.0, "MiB/s"));
        assert_eq!(scale(SweepFigure::Rate, false, 3e9), (1_048_576.0, "MiB/s"), "not yet 4 GiB/s");
        assert_eq!(scale(SweepFigure::Rate, false, 1.0), (1024.0, "KiB/s"));
        assert_eq!(scale(SweepFigure::Rate, true, 2e5), (1e3, "1000 operations/s"));
        assert_eq!(scale(SweepFigure::P99, false, 2e6), (1e6, "ms"));
        assert_eq!(SweepTable::number(1234.5), "1234");
    }
}
