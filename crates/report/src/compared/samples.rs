//! Extracts one value of every figure of every cell from every run, as input of the statistics. A run with several values of a
//! figure gives one: a percentile of the merged latencies, or the median of rates and times. A percentile from too few
//! operations in any run is no sample.

use super::Side;
use super::factors::Factors;
use super::layout::{Layout, ValueSource};
use super::metric::{self, Metric};
use crate::section;
use fathom_compare::quads;
use fathom_compare::quantiles::needed_for;
use fathom_compare::summary::median;
use fathom_record::figures::{self, Cell, Series};
use fathom_record::imported::names;
use fathom_record::same_work::{base, work_only};
use fathom_record::{Histogram, Run};
use std::collections::{BTreeMap, BTreeSet};

/// A cell for comparison: the run's cell, the sweep settings it was measured under, and its number among the cells of the same
/// kind, from 1, because several stages of a script may measure the same cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CellPass {
    pub(super) cell: Cell,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) pass: usize,
}

impl CellPass {
    /// Such as "read, O_DIRECT, file 1 GiB, record 64 KiB; read_ahead_kb=128; pass 2".
    pub(super) fn title(&self) -> String {
        let mut title = section::cell_title(&self.cell);
        let settings: Vec<String> = self.settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
        if !settings.is_empty() {
            title = format!("{title}; {}", settings.join(", "));
        }
        if self.pass > 1 {
            title = format!("{title}; pass {}", self.pass);
        }
        title
    }

    /// Its coordinates without a field.
    pub(super) fn tags(&self) -> BTreeMap<String, String> {
        let pass = (self.pass > 1).then(|| ("pass".to_owned(), self.pass.to_string()));
        self.cell.axes.tags.clone().into_iter().chain(pass).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooFew {
    pub(super) needed: u64,
    /// Operations in the run with the fewest.
    pub(super) fewest: u64,
    /// Number of baseline runs with too few.
    pub(super) runs_of_a: usize,
}

/// A deciding figure that A has and B lacks, in some or all of its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) metric: String,
    /// Such as "read, record 8 KiB: throughput".
    pub(crate) words: String,
}

/// The values of one figure of one cell.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) place: CellPass,
    pub(super) metric: String,
    pub(super) unit: String,
    pub(super) higher_is_better: Option<bool>,
    /// Whether it is the figure that the cell is quoted by.
    pub(super) headline: bool,
    /// Values by unit index, in order.
    pub(super) values: Vec<(usize, f64)>,
    pub(super) too_few: Option<TooFew>,
}

impl Sample {
    /// The values of one side, in order of measurement.
    pub(super) fn of_side(&self, layout: &Layout, side: quads::Side) -> Vec<f64> {
        self.values.iter().filter(|(u, _)| layout.units[*u].side == side).map(|v| v.1).collect()
    }

    /// Whether it is a percentile for which most runs of the baseline have too few operations.
    pub(super) fn is_rare_in_a(&self, layout: &Layout) -> bool {
        self.too_few.is_some_and(|few| 2 * few.runs_of_a > self.of_side(layout, quads::Side::A).len())
    }

    /// Whether `metric` selects it. A word such as "p99" does not select operations that are rare in the baseline; the figure's
    /// name does.
    fn is_meant(&self, metric: &Metric, layout: &Layout) -> bool {
        metric.takes(&self.metric) && (matches!(metric, Metric::Named(_)) || !self.is_rare_in_a(layout))
    }

    /// The values that B lacks: all, or those of units that should have one. `work` is the work of each unit. Runs may hold one
    /// cell each: a unit of B may lack what no unit of A with the same work has. If A has no unit with that work, or has the
    /// figure in only some of them, B must have it as often.
    fn lost(&self, layout: &Layout, work: &[String]) -> Option<Lost> {
        let has: BTreeSet<usize> = self.values.iter().map(|v| v.0).collect();
        let of_side = |side| {
            let all = 0..layout.units.len();
            let its = move |u: &usize| {
                layout.units[*u].side == side && layout.units[*u].settings == self.place.settings
            };
            all.filter(its).partition::<Vec<usize>, _>(|u| has.contains(u))
        };
        let ((a, a_lacks), (b, b_lacks)) = (of_side(quads::Side::A), of_side(quads::Side::B));
        let did = |units: &[usize], u: &usize| units.iter().any(|v| work[*v] == work[*u]);
        let (certain, open): (Vec<usize>, Vec<usize>) = b_lacks
            .into_iter()
            .filter(|u| did(&a, u) || !did(&a_lacks, u))
            .partition(|u| did(&a, u) && !did(&a_lacks, u));
        let of_a = a.len() + a_lacks.iter().filter(|u| did(&a, u)).count();
        let of_b = b.len() + certain.len() + open.len();
        let rarer = b.len() < a.len() && b.len() * of_a < a.len() * of_b;
        let name = format!("{}: {}", self.place.title(), self.metric);
        let words = match b.len() {
            0 => name,
            n if !certain.is_empty() || rarer => {
                let repeated = layout.units.iter().any(|u| u.repetition.is_some());
                let units = if repeated { "repetitions" } else { "runs" };
                format!("{name}, which {n} of {of_b} {units} of B have")
            }
            _ => return None,
        };
        Some(Lost { metric: self.metric.clone(), words })
    }
}

/// The work of each unit, in order of units.
fn work(a: &Side<'_>, b: &Side<'_>, layout: &Layout) -> Vec<String> {
    let of_run = |run: &Run| match &run.source {
        None => format!("{}\n{}", run.dialect, work_only(&run.workload)),
        Some(_) => {
            format!("{}\n{}", run.dialect, run.argv.iter().map(|w| base(w)).collect::<Vec<_>>().join(" "))
        }
    };
    let of_unit = |unit: &ValueSource| {
        let side = if unit.side == quads::Side::A { a } else { b };
        unit.runs.iter().map(|r| of_run(side.runs[*r])).collect::<Vec<_>>().join("\n")
    };
    layout.units.iter().map(of_unit).collect()
}

pub(super) struct Taken {
    pub(super) samples: Vec<Sample>,
    pub(super) factors: Factors,
    pub(super) only_a: Vec<String>,
    pub(super) only_b: Vec<String>,
    /// Deciding figures that B lacks, in some or all of its runs: among the chosen figures, or those that a comparison watches,
    /// else among the headline figures.
    pub(super) lost: Vec<Lost>,
}

/// Extracts the figures of both sides, in the order of the first run that has each. `wanted` holds the chosen figures and the
/// one that is always extracted.
pub(super) fn take(
    a: &Side<'_>,
    b: &Side<'_>,
    layout: &Layout,
    wanted: (&[Metric], Option<&Metric>),
) -> Taken {
    let mut all: Vec<Sample> = Vec::new();
    let mut series: [Vec<Vec<Series>>; 2] = [a, b].map(|s| s.runs.iter().map(|r| figures::of(r)).collect());
    let factors = Factors::of(&series);
    for one in series.iter_mut().flatten().flatten() {
        one.cell = factors.without(one.cell.clone());
    }
    // A first, so that rows follow its order.
    for side in [quads::Side::A, quads::Side::B] {
        let (runs, of_runs) =
            if side == quads::Side::A { (&a.runs, &series[0]) } else { (&b.runs, &series[1]) };
        for (number, unit) in layout.units.iter().enumerate().filter(|(_, u)| u.side == side) {
            let mut passed: Vec<(&Cell, usize)> = Vec::new();
            for run in &unit.runs {
                let series = &of_runs[*run];
                let passes = passes(series, &passed);
                of_run((number, unit), (runs[*run], series), &passes, wanted, &mut all);
                passed.extend(series.iter().map(|s| &s.cell).zip(passes));
            }
        }
    }
    for sample in &mut all {
        sample.values.sort_by_key(|v| v.0);
    }
    let has = |sample: &Sample, side| sample.values.iter().any(|(u, _)| layout.units[*u].side == side);
    let both = |s: &Sample| has(s, quads::Side::A) && has(s, quads::Side::B);
    // A's headline figures must be in B too; they are marked again below, where only common figures qualify.
    let (mut of_a, of_b): (Vec<Sample>, Vec<Sample>) = all.into_iter().partition(|s| has(s, quads::Side::A));
    mark_headlines(&mut of_a);
    // Operations are extracted only if throughput is coarse; B has them if it has throughput.
    let with_throughput: Vec<CellPass> =
        of_a.iter().filter(|s| s.metric == names::THROUGHPUT && both(s)).map(|s| s.place.clone()).collect();
    let taken_alone = |s: &Sample| s.metric == names::OPERATIONS && with_throughput.contains(&s.place);
    let decides = |s: &Sample| match wanted {
        ([], None) => s.headline && (both(s) || !taken_alone(s)),
        ([], Some(watched)) => s.is_meant(watched, layout),
        (chosen, _) => chosen.iter().any(|m| s.is_meant(m, layout)),
    };
    let work = work(a, b, layout);
    let lost = of_a.iter().filter(|s| decides(s)).filter_map(|s| s.lost(layout, &work)).collect();
    let (mut samples, alone): (Vec<Sample>, Vec<Sample>) = of_a.into_iter().chain(of_b).partition(both);
    // If one side lacks the whole cell, the cell is reported instead of its figures.
    let only = |side| {
        let mut names: Vec<String> = Vec::new();
        for sample in alone.iter().filter(|s| has(s, side)) {
            let title = sample.place.title();
            let has_cell = samples.iter().any(|s| s.place == sample.place);
            // Extracted on one side only, because its throughput is coarse; the other side has it too.
            if taken_alone(sample) {
                continue;
            }
            let name = if has_cell { format!("{title}: {}", sample.metric) } else { title };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    let (only_a, only_b) = (only(quads::Side::A), only(quads::Side::B));
    mark_headlines(&mut samples);
    Taken { samples, factors, only_a, only_b, lost }
}

/// Pass number of each figure of a run among those of its kind. All figures of a cell share one, even if some run lacks one of
/// them: the passes of a cell continue those of earlier runs of the same unit, and a figure that a run has twice counts as two.
fn passes(series: &[Series], passed: &[(&Cell, usize)]) -> Vec<usize> {
    let of = |(i, s): (usize, &Series)| {
        let before = passed.iter().filter(|p| *p.0 == s.cell).map(|p| p.1).max().unwrap_or(0);
        let same = |x: &&Series| x.metric == s.metric && x.unit == s.unit && x.cell == s.cell;
        before + series[..=i].iter().filter(same).count()
    };
    series.iter().enumerate().map(of).collect()
}

fn of_run(
    (number, unit): (usize, &ValueSource),
    (run, series): (&Run, &[Series]),
    passes: &[usize],
    (metrics, also): (&[Metric], Option<&Metric>),
    all: &mut Vec<Sample>,
) {
    for (s, pass) in series.iter().zip(passes) {
        let wanted = if metrics.is_empty() {
            metric::is_usual(s, series)
        } else {
            metrics.iter().any(|m| m.takes(&s.metric))
        };
        if !wanted && !also.is_some_and(|m| m.takes(&s.metric)) {
            continue;
        }
        let Some((value, count)) = value(unit, run, s) else { continue };
        let place = CellPass { cell: s.cell.clone(), settings: unit.settings.clone(), pass: *pass };
        let same = |x: &&mut Sample| x.place == place && x.metric == s.metric && x.unit == s.unit;
        let at = match all.iter_mut().find(same) {
            Some(sample) => sample,
            None => {
                all.push(Sample {
                    place,
                    metric: s.metric.clone(),
                    unit: s.unit.clone(),
                    higher_is_better: s.higher_is_better,
                    headline: false,
                    values: Vec::new(),
                    too_few: None,
                });
                let last = all.len() - 1;
                &mut all[last]
            }
        };
        at.values.push((number, value));
        at.note_count(count, unit.side == quads::Side::A);
    }
}

impl Sample {
    fn note_count(&mut self, count: Option<u64>, of_a: bool) {
        let percentile = metric::percentile(&self.metric).and_then(|(_, p)| p[1..].parse::<f64>().ok());
        let (Some(p), Some(count)) = (percentile, count) else { return };
        let needed = needed_for(p / 100.0);
        if count < needed {
            let fewest = self.too_few.map_or(count, |t| t.fewest.min(count));
            let runs_of_a = self.too_few.map_or(0, |t| t.runs_of_a) + usize::from(of_a);
            self.too_few = Some(TooFew { needed, fewest, runs_of_a });
        }
    }
}

/// One value of a figure for one unit, and the number of operations behind a percentile.
fn value(unit: &ValueSource, run: &Run, series: &Series) -> Option<(f64, Option<u64>)> {
    let mine: Vec<&figures::Value> =
        series.values.iter().filter(|v| unit.repetition.is_none_or(|n| v.repetition == n)).collect();
    match mine.as_slice() {
        [] => None,
        [one] => Some((one.value, one.count)),
        // Percentiles are never averaged: the latencies of all repetitions are merged.
        several => match metric::kind_of(&series.metric).filter(|_| several[0].count.is_some()) {
            Some(_) => merged(run, &series.metric, several),
            None => median(&several.iter().map(|v| v.value).collect::<Vec<f64>>()).map(|m| (m, None)),
        },
    }
}

/// A percentile of the merged latencies of several repetitions, and the number of operations behind it.
pub(crate) fn merged(run: &Run, metric: &str, values: &[&figures::Value]) -> Option<(f64, Option<u64>)> {
    let op = metric::kind_of(metric)?;
    let p: f64 = metric::percentile(metric)?.1[1..].parse().ok()?;
    let mut all = Histogram::default();
    for value in values {
        let phase = run.phases.iter().find(|p| p.seq == value.phase)?;
        let repetition = phase.repetitions.iter().find(|r| r.n == value.repetition)?;
        all.merge(&repetition.latency(op));
    }
    Some((all.percentile_ns(p)? as f64, Some(all.count())))
}

/// Rank of the figure that a cell is quoted by if it has no other.
const LAST: u8 = 5;

/// Marks the best-ranked figure of each cell as its headline.
fn mark_headlines(samples: &mut [Sample]) {
    for i in 0..samples.len() {
        let coarse =
            |s: &Sample| s.metric == names::THROUGHPUT && metric::is_coarse(s.values.iter().map(|v| v.1));
        let rank = |s: &Sample| if coarse(s) { Some(LAST) } else { metric::quoted(&s.metric) };
        let of_cell: Vec<usize> =
            (0..samples.len()).filter(|j| samples[*j].place == samples[i].place).collect();
        let best = of_cell.into_iter().min_by_key(|j| (rank(&samples[*j]).unwrap_or(u8::MAX), *j));
        samples[i].headline = best == Some(i);
    }
}
