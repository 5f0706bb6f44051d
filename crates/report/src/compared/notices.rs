//! What a reader must know besides the verdicts: runs on two levels, outlying runs, drift, runs influenced by the one before,
//! sides with different sources, a first cell that alone read the disk, runs that did not end well. Nothing is excluded from a
//! comparison because of it.

use super::factors::Factors;
use super::layout::{Design, Layout};
use super::obstacles::early_ends;
use super::samples::{Sample, Taken};
use super::{MOST_SINGLES, Side};
use crate::units as form;
use fathom_compare::levels::two_levels;
use fathom_compare::order_effect::off_neighbours;
use fathom_compare::outliers::outliers;
use fathom_compare::quads::{self, carry_over::carry_over};
use fathom_compare::series::lag1;
use fathom_compare::summary::geometric_mean;
use fathom_compare::summary::median;
use fathom_compare::verdict::Rules;
use fathom_compare::wording::short as digits;
use fathom_record::imported::units;
use fathom_record::{Phase, Regime, Run, Status, figures};
use serde::Serialize;
use std::collections::BTreeMap;

/// From this difference in the device's share of the bytes on, the sides are served differently.
const UNEQUAL_SHARE: f64 = 0.1;

/// Something the reader must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Kind of notice: "few-quads", "geometric-mean", "two-levels", "outlier", "drift", "carry-over", "unequal-cache",
    /// "first-cell", "order", "status", "simulated", "model", "doubt".
    pub code: &'static str,
    /// The cell it concerns, if any.
    pub cell: Option<String>,
    /// The whole sentence.
    pub sentence: String,
}

/// Every notice, those about the whole comparison first.
pub(super) fn all(a: &Side<'_>, b: &Side<'_>, layout: &Layout, taken: &Taken, rules: &Rules) -> Vec<Notice> {
    let mut found: Vec<Notice> = order(layout).into_iter().chain(means(layout, taken)).collect();
    for (letter, side) in [("A", a), ("B", b)] {
        found.extend(side.runs.iter().filter_map(|run| ended_badly(letter, run, layout)));
        found.extend(simulated(letter, side));
        found.extend(contradictions(letter, side));
        found.extend(first_cells(letter, side));
    }
    let early = early_ends(a, b, layout);
    found.extend(early.map(|s| Notice { code: "status", cell: None, sentence: s.to_owned() }));
    for sample in taken.samples.iter().filter(|s| s.headline) {
        let mut add = |code, sentence: String| {
            found.push(Notice { code, cell: Some(sample.place.title()), sentence });
        };
        for (letter, which, side) in [("A", quads::Side::A, a), ("B", quads::Side::B, b)] {
            levels(letter, &sample.of_side(layout, which), &sample.unit, &mut add);
            far(letter, which, (sample, layout, side), rules, &mut add);
        }
        drift(sample, layout, rules, &mut add);
        if let Some(sentence) = unequal(a, b, sample, &taken.factors) {
            add("unequal-cache", sentence);
        }
    }
    found
}

type Add<'a> = &'a mut dyn FnMut(&'static str, String);

/// A value in its unit.
pub(crate) fn spelled(value: f64, unit: &str) -> String {
    match unit {
        units::BYTES_PER_S => form::rate(value),
        units::OPS_PER_S => form::ops_rate(value),
        units::NS => form::time_ns(value),
        units::BYTES if value >= 0.0 => form::bytes(value as u64),
        units::UNKNOWN => short(value),
        unit => format!("{} {unit}", short(value)),
    }
}

/// Four significant digits at most, without trailing zeros.
fn short(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (3 - value.abs().log10().floor() as i32).clamp(0, 9) };
    let text = format!("{value:.*}", digits as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Single runs of several cells: the geometric mean of their ratios, by figure. Cells that are controls of others are not a
/// sample of the same thing.
fn means(layout: &Layout, taken: &Taken) -> Vec<Notice> {
    let quoted: Vec<&Sample> = taken.samples.iter().filter(|s| s.headline).collect();
    let direct = quoted.iter().filter(|s| s.place.cell.direct).count();
    let controlled = direct > 0 && direct < quoted.len();
    if layout.design != Design::Single || controlled || quoted.len() > MOST_SINGLES {
        return Vec::new();
    }
    let mut figures: Vec<&str> = quoted.iter().map(|s| s.metric.as_str()).collect();
    figures.dedup();
    let mean = |figure: &&str| {
        let of = |s: &&&Sample| s.metric == **figure && s.of_side(layout, quads::Side::A).len() == 1;
        let ratio = |s: &&Sample| {
            let (a, b) = (s.of_side(layout, quads::Side::A), s.of_side(layout, quads::Side::B));
            Some(b.first()? / a.first()?)
        };
        let ratios: Vec<f64> = quoted.iter().filter(of).filter_map(ratio).collect();
        let mean = geometric_mean(&ratios).ok().filter(|_| ratios.len() > 1)?;
        let (low, high) = ratios.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
        let sentence = format!(
            "{figure}: the geometric mean of the {} ratios B/A is {} (range {} to {}). Cells are different systems, not \
             repeats: the mean summarises them and does not show the noise of a run",
            ratios.len(),
            digits(mean),
            digits(low),
            digits(high)
        );
        Some(Notice { code: "geometric-mean", cell: None, sentence })
    };
    figures.iter().filter_map(mean).collect()
}

/// Quads whose order was not drawn at random.
fn order(layout: &Layout) -> Option<Notice> {
    let Design::Quads { random: false, .. } = layout.design else { return None };
    let orders = layout.orders();
    let same = orders.len() > 1 && orders.iter().all(|o| *o == orders[0]);
    let sentence = if same {
        format!(
            "Every quad was run in the order {}: a disturbance with that rhythm would look like a change. `fathom sweep` and `fathom compare --run` draw the order at random",
            orders[0]
        )
    } else {
        "It is not known whether the order of the runs was drawn at random; the p-values hold if it was"
            .into()
    };
    Some(Notice { code: "order", cell: None, sentence: sentence + "." })
}

fn ended_badly(letter: &str, run: &Run, layout: &Layout) -> Option<Notice> {
    let what = match run.status {
        Status::Completed => return None,
        Status::Running => "is still running, or was killed",
        Status::Interrupted => "was interrupted",
        Status::Failed => "failed",
    };
    let then = if layout.leaves_out_incomplete {
        "it is left out"
    } else {
        "what it measured until then is compared"
    };
    let sentence = format!("{letter}: run {} {what}; {then}.", run.id);
    Some(Notice { code: "status", cell: None, sentence })
}

/// A side with simulated runs: their figures come from a model.
fn simulated(letter: &str, side: &Side<'_>) -> Option<Notice> {
    let of_runs = side.runs.iter().filter(|r| r.simulation.is_some()).count();
    let sentence = match of_runs {
        0 => return None,
        n if n == side.runs.len() => format!("{letter} is simulated: none of it was measured."),
        n => {
            format!("{letter}: {n} of {} runs are simulated: none of them was measured.", side.runs.len())
        }
    };
    Some(Notice { code: "simulated", cell: None, sentence })
}

/// What imported texts say against their own figures.
fn contradictions<'s>(letter: &'s str, side: &'s Side<'_>) -> impl Iterator<Item = Notice> + 's {
    let doubts = side.runs.iter().filter(|r| r.source.is_some()).flat_map(|r| &r.doubts);
    doubts.filter(|d| d.code != "single-run").map(move |d| Notice {
        code: "doubt",
        cell: None,
        sentence: format!("{letter}: {}", d.sentence),
    })
}

fn levels(letter: &str, values: &[f64], unit: &str, add: Add<'_>) {
    let Some(found) = two_levels(values).ok().flatten().filter(|l| l.flagged) else { return };
    let high = (found.high_share() * 100.0).round();
    add(
        "two-levels",
        format!(
            "{letter}'s runs show two levels or strong skew: {} ({:.0} % of runs) and {} ({high:.0} %); one figure describes neither.",
            spelled(found.low, unit),
            100.0 - high,
            spelled(found.high, unit)
        ),
    );
}

/// Outlying runs of a side: named, explained as far as the record can, and kept.
fn far(letter: &str, which: quads::Side, of: (&Sample, &Layout, &Side<'_>), rules: &Rules, add: Add<'_>) {
    let (sample, layout, side) = of;
    let mine: Vec<(usize, f64)> =
        sample.values.iter().copied().filter(|(u, _)| layout.units[*u].side == which).collect();
    let values: Vec<f64> = mine.iter().map(|v| v.1).collect();
    let Some(usual) = median(&values) else { return };
    for outlier in outliers(&values).unwrap_or_default() {
        // A fence alone means nothing in small samples: both rules must agree.
        if outlier.z.abs() <= 5.0 || outlier.fence == fathom_compare::outliers::Fence::Inside {
            continue;
        }
        let (unit, value) = mine[outlier.index];
        // If there is almost no scatter, any deviation lies far outside.
        if (value / usual - 1.0).abs() < rules.threshold {
            continue;
        }
        let run = layout.units[unit].runs.first().and_then(|r| side.runs.get(*r));
        let first = if unit == 0 { "; it was the first run of all" } else { "" };
        // A doubt that most runs share explains none of them.
        let common = |code: &str| {
            2 * side.runs.iter().filter(|r| r.doubts.iter().any(|d| d.code == code)).count() > side.runs.len()
        };
        let own = run.into_iter().flat_map(|r| &r.doubts).filter(|d| !common(&d.code)).take(2);
        let doubts: Vec<&str> = own.map(|d| d.sentence.as_str()).collect();
        let why = if doubts.is_empty() {
            String::new()
        } else {
            format!("; its record says: {}", doubts.join(" ").trim_end_matches('.'))
        };
        add(
            "outlier",
            format!(
                "{letter}: run {} has {}, where {} is usual{first}{why}. It is kept.",
                run.map_or("?", |r| r.id.as_str()),
                spelled(value, &sample.unit),
                spelled(usual, &sample.unit)
            ),
        );
    }
}

/// Neighbours in time that are alike, and runs influenced by the one before.
fn drift(sample: &Sample, layout: &Layout, rules: &Rules, add: Add<'_>) {
    let ordered = matches!(layout.design, Design::Quads { .. } | Design::Groups { mixed: true, .. });
    if !ordered || sample.values.iter().any(|v| v.1 <= 0.0) {
        return;
    }
    let centre = |side| median(&sample.of_side(layout, side)).map_or(0.0, f64::ln);
    let (a, b) = (centre(quads::Side::A), centre(quads::Side::B));
    let sides: Vec<quads::Side> = sample.values.iter().map(|(u, _)| layout.units[*u].side).collect();
    let rest: Vec<f64> = sample
        .values
        .iter()
        .zip(&sides)
        .map(|((_, v), side)| v.ln() - if *side == quads::Side::A { a } else { b })
        .collect();
    if rest.len() >= 8
        && let Some(found) = lag1(&rest).ok().filter(|l| l.r1 > l.bound)
    {
        let then = match layout.design {
            Design::Quads { .. } => "quads take that out",
            _ => "without quads it stays in the comparison",
        };
        add(
            "drift",
            format!(
                "Runs resemble the ones before them (correlation {:.2}, chance gives up to {:.2}): the machine drifts; {then}.",
                found.r1, found.bound
            ),
        );
    }
    let values: Vec<f64> = sample.values.iter().map(|v| v.1).collect();
    if values.len() >= 12
        && let Some(found) = carry_over(&values, &sides, rules.threshold).ok().filter(|c| c.flagged)
    {
        let percent = (found.after_b / found.after_a - 1.0) * 100.0;
        add(
            "carry-over",
            format!(
                "Runs after a run of B give {percent:+.1} % of what runs after one of A give: something is left over from run to run \
                 (dirty pages, a device still at work); let it settle longer."
            ),
        );
    }
}

/// What served the sides, if that differs.
fn unequal(a: &Side<'_>, b: &Side<'_>, sample: &Sample, factors: &Factors) -> Option<String> {
    let served = |side: &Side<'_>| {
        let phases = side.runs.iter().flat_map(|r| &r.phases);
        let origins: Vec<_> = phases
            .filter(|p| factors.without(figures::cell(p)) == sample.place.cell)
            .map(Phase::origin)
            .collect();
        let shares: Vec<f64> = origins.iter().filter_map(|o| o.device_share).collect();
        let regime = usual(origins.iter().map(|o| o.regime))?;
        Some((regime, median(&shares)))
    };
    let ((one, share_a), (two, share_b)) = (served(a)?, served(b)?);
    let apart =
        matches!((share_a, share_b), (Some(x), Some(y)) if (x.min(1.0) - y.min(1.0)).abs() > UNEQUAL_SHARE);
    if one == two && !apart {
        return None;
    }
    let served_words = |regime: Regime, share: Option<f64>| {
        let share =
            share.map_or(String::new(), |s| format!(", {:.0} % of the bytes at the device", s * 100.0));
        format!("{}{share}", regime.words())
    };
    Some(format!(
        "The sides were not served alike: A by {}; B by {}. Their ratio compares unlike things.",
        served_words(one, share_a),
        served_words(two, share_b)
    ))
}

/// The most frequent; of equals, the first.
fn usual(regimes: impl Iterator<Item = Regime>) -> Option<Regime> {
    let mut counts: Vec<(Regime, usize)> = Vec::new();
    for regime in regimes {
        match counts.iter_mut().find(|c| c.0 == regime) {
            Some(count) => count.1 += 1,
            None => counts.push((regime, 1)),
        }
    }
    counts.into_iter().rev().max_by_key(|c| c.1).map(|c| c.0)
}

/// Runs whose first cell of an operation is far off the next: it alone may have read the disk.
fn first_cells(letter: &str, side: &Side<'_>) -> Vec<Notice> {
    let mut found: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    // Imported texts say so themselves.
    for run in side.runs.iter().filter(|r| r.source.is_none()) {
        let mut operations: BTreeMap<(&str, bool, Option<u64>), Vec<f64>> = BTreeMap::new();
        for phase in run.phases.iter().filter(|p| p.axes.file_bytes.is_some() && !p.failed()) {
            let rate = phase.bytes_per_s().filter(|r| *r > 0.0);
            operations.entry((&phase.name, phase.direct, phase.axes.streams)).or_default().extend(rate);
        }
        for ((name, ..), rates) in operations {
            let first = off_neighbours(&rates).unwrap_or_default().into_iter().find(|o| o.index == 0);
            if let Some(off) = first.filter(|o| o.ratio > 1.0) {
                let seen = found.entry(name.to_owned()).or_insert((0, off.ratio));
                seen.0 += 1;
                seen.1 = seen.1.max(off.ratio);
            }
        }
    }
    let notice = |(name, (runs, ratio)): (String, (usize, f64))| Notice {
        code: "first-cell",
        cell: None,
        sentence: format!(
            "{letter}: in {runs} of {} runs the second cell of {name} is up to {ratio:.1} times as fast as the first, which alone may have read the disk.",
            side.runs.len()
        ),
    };
    found.into_iter().map(notice).collect()
}
