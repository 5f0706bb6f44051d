//! One figure through the runs: its changes, the level and noise of each segment, outliers, and which environment changes
//! coincide with a change and which do not.

use super::{
    Apart, Change, Event, Given, HistoryOptions, HistoryPoint, Input, Restless, Segment, Series, words,
};
use crate::compared::{Difference, RunInfo, Word};
use fathom_compare::history::{Change as Found, History as Searched, changes, pelt};
use fathom_compare::outliers::{Fence, outliers};
use fathom_compare::summary::median;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Number of standard deviations, by the median absolute deviation, beyond which a run is named.
const FAR: f64 = 5.0;

/// What changed between the previous point and this one, by point index.
type Boundaries = BTreeMap<usize, Vec<Difference>>;

pub(super) fn judge(given: &Given, input: &Input, asked: &HistoryOptions) -> Series {
    let usable = |v: &&(usize, f64)| v.1.is_finite() && v.1 > 0.0;
    let kept: Vec<(usize, f64)> = given.values.iter().filter(usable).copied().collect();
    let values: Vec<f64> = kept.iter().map(|v| v.1).collect();
    let needed = asked.search.fewest_points().filter(|n| values.len() < *n);
    let nothing = Searched { changes: Vec::new(), drifts: false };
    // Values are positive and finite, so this cannot fail.
    let found = changes(&values, &asked.search, asked.threshold).unwrap_or(nothing);
    let (segments, far) = segments(&values, &found.changes);
    let boundaries = boundaries(&input.events, &kept);
    let restless = restless(&boundaries, values.len());
    let run_at = |point: usize| RunInfo::clone(&input.runs[kept[point].0]);
    let calm = Calm { boundaries: &boundaries, restless: &restless, run: &run_at };
    let changes: Vec<Change> =
        found.changes.iter().map(|c| change(c, given, &found.changes, &segments, &calm)).collect();
    let overview = asked.overview.then(|| {
        let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
        pelt::fit(&logs).map(|f| f.changes).unwrap_or_default()
    });
    let mut series = Series {
        cell: given.title(),
        metric: given.metric.clone(),
        unit: given.unit.clone(),
        higher_is_better: given.higher_is_better,
        points: Vec::new(),
        environment: calm.apart(&found.changes),
        restless,
        drifts: found.drifts,
        needed,
        without_ratio: given.values.len() - kept.len(),
        too_few_operations: given.too_few_operations,
        overview,
        sentence: String::new(),
        changes,
        segments,
    };
    series.points = kept
        .iter()
        .enumerate()
        .map(|(i, (run, value))| HistoryPoint {
            run: Arc::clone(&input.runs[*run]),
            value: *value,
            segment: series.segments.iter().rposition(|s| s.first <= i).unwrap_or(0),
            outlier: far.contains(&i),
        })
        .collect();
    series.sentence = words::sentence(&series, asked);
    series
}

/// The segments between changes, and the outliers of each.
fn segments(values: &[f64], changes: &[Found]) -> (Vec<Segment>, BTreeSet<usize>) {
    if values.is_empty() {
        return (Vec::new(), BTreeSet::new());
    }
    let firsts = std::iter::once(0).chain(changes.iter().map(|c| c.first_new));
    let bounds: Vec<usize> = firsts.chain([values.len()]).collect();
    let mut far = BTreeSet::new();
    let of_bounds = |b: &[usize]| {
        let mine = &values[b[0]..b[1]];
        let is_far = |o: &fathom_compare::outliers::Outlier| o.z.abs() > FAR || o.fence == Fence::Severe;
        // Outliers cannot be determined among fewer than four.
        let found = outliers(mine).unwrap_or_default();
        let of_mine: BTreeSet<usize> = found.iter().filter(|o| is_far(o)).map(|o| o.index).collect();
        let near: Vec<f64> = (0..mine.len()).filter(|i| !of_mine.contains(i)).map(|i| mine[i]).collect();
        far.extend(of_mine.iter().map(|i| b[0] + i));
        Segment {
            first: b[0],
            runs: mine.len(),
            median: median(mine).unwrap_or(f64::NAN),
            noise: noise(&near),
        }
    };
    (bounds.windows(2).map(of_bounds).collect(), far)
}

/// Standard deviation of the logarithms, which approximates the coefficient of variation for small scatter.
fn noise(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|l| (l - mean).powi(2)).sum();
    Some((squares / (logs.len() - 1) as f64).sqrt())
}

/// Events between two points, combined by name; a change that was reverted is dropped.
fn boundaries(events: &[Event], points: &[(usize, f64)]) -> Boundaries {
    let mut all = Boundaries::new();
    for event in events {
        let at = points.partition_point(|(run, _)| *run < event.run);
        if at == 0 || at == points.len() {
            continue;
        }
        let here = all.entry(at).or_default();
        match here.iter_mut().find(|d| d.name == event.name) {
            Some(earlier) => earlier.b.clone_from(&event.to),
            None => {
                here.push(Difference { name: event.name.clone(), a: event.from.clone(), b: event.to.clone() })
            }
        }
    }
    all.values_mut().for_each(|here| here.retain(|d| d.a != d.b));
    all.retain(|_, here| !here.is_empty());
    all
}

/// Facts with more than four changes, and more than the square root of the number of points.
fn restless(boundaries: &Boundaries, points: usize) -> Vec<Restless> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for difference in boundaries.values().flatten() {
        *counts.entry(&difference.name).or_default() += 1;
    }
    let often = |n: usize| n > 4 && n * n > points;
    let as_restless = |(name, changes): (&str, usize)| Restless { name: name.to_owned(), changes };
    counts.into_iter().filter(|(_, n)| often(*n)).map(as_restless).collect()
}

/// Environment changes, with the meaningful ones separated from frequent ones.
struct Calm<'a> {
    boundaries: &'a Boundaries,
    restless: &'a [Restless],
    run: &'a dyn Fn(usize) -> RunInfo,
}

impl Calm<'_> {
    fn is_restless(&self, difference: &Difference) -> bool {
        self.restless.iter().any(|r| r.name == difference.name)
    }

    /// All differences at a point, frequent facts last.
    fn across(&self, point: usize) -> Vec<Difference> {
        let mut all = self.boundaries.get(&point).cloned().unwrap_or_default();
        all.sort_by_key(|d| self.is_restless(d));
        all
    }

    /// Changes at a point, without frequent facts.
    fn at(&self, point: usize) -> Vec<Apart> {
        let here = self.boundaries.get(&point).into_iter().flatten().filter(|d| !self.is_restless(d));
        here.map(|d| Apart { first_new: point, run: (self.run)(point), what: d.clone() }).collect()
    }

    /// Environment changes that are not within one run of a found change.
    fn apart(&self, changes: &[Found]) -> Vec<Apart> {
        let near = |point: &usize| changes.iter().any(|c| c.first_new.abs_diff(*point) <= 1);
        self.boundaries.keys().filter(|p| !near(p)).flat_map(|p| self.at(*p)).collect()
    }
}

fn change(found: &Found, given: &Given, all: &[Found], segments: &[Segment], calm: &Calm<'_>) -> Change {
    let at = found.first_new;
    let verdict = match given.higher_is_better {
        None => Word::Differs,
        Some(higher) if (found.ratio > 1.0) == higher => Word::Better,
        Some(_) => Word::Worse,
    };
    let is_change = |point: usize| all.iter().any(|c| c.first_new == point);
    let neighbours = [at.wrapping_sub(1), at + 1].into_iter().filter(|p| !is_change(*p));
    let mut change = Change {
        first_new: at,
        ratio: found.ratio,
        low: found.low,
        high: found.high,
        confidence: found.confidence,
        p: found.p,
        permutations: found.permutations,
        verdict,
        doubtful: found.doubtful,
        last_old: (calm.run)(at - 1),
        first_new_run: (calm.run)(at),
        differs: calm.across(at),
        nearby: neighbours.flat_map(|p| calm.at(p)).collect(),
        sentence: String::new(),
    };
    let runs = |first: &dyn Fn(&Segment) -> bool| segments.iter().find(|s| first(s)).map_or(0, |s| s.runs);
    let (before, after) = (runs(&|s| s.first + s.runs == at), runs(&|s| s.first == at));
    change.sentence = words::change(&change, &given.unit, before, after);
    change
}
