//! Many cells at once. First all cells together, which reveals a small change everywhere. Then cell by cell, where some look changed by
//! chance: with enough quads, the first three screen and the others confirm; otherwise p is adjusted for the number of cells, and a cell
//! that does not survive that is a suspect, to be run again. If no single cell could survive, that is reported.

use super::judge::{ComparedRow, Effect, Method, Word, effect_of, quads_of};
use super::layout::Layout;
use super::notices::Notice;
use super::samples::Sample;
use fathom_compare::matrix::{CONFIRM_QUADS, SCREEN_QUADS, Suspect, confirm, global_test, screen};
use fathom_compare::multiple::{benjamini_hochberg, too_coarse};
use fathom_compare::quads::Quad;
use fathom_compare::quads::critical::smallest_p;
use fathom_compare::quads::effect::effect;
use fathom_compare::verdict::Rules;
use fathom_compare::wording;
use serde::Serialize;

/// From this many cells of one figure on, a cell's own test is not enough: with five or fewer, a level of 1 % each keeps the
/// combined false alarms below 5 %.
pub const MANY: usize = 6;
/// Fewer quads of many cells get a notice, as the specification requires, even where a lone change could just survive.
const ADVISED_QUADS: usize = 5;
/// Level of p below which a cell is a suspect.
const SUSPECT: f64 = 0.05;

/// The cells of one figure.
#[derive(Clone, Debug, Serialize)]
pub struct Family {
    /// Name of the figure.
    pub metric: String,
    /// Number of cells.
    pub cells: usize,
    /// Quads over all cells; 0 if there are none.
    pub quads: usize,
    /// p of "no change anywhere", from all quads together.
    pub p: Option<f64>,
    /// The change over all cells.
    pub effect: Option<Effect>,
    /// Whether it is within twice the threshold of "no change".
    pub same: bool,
    /// Whether cells were decided by quads that did not take part in selecting them.
    pub confirmed_by_fresh: bool,
    /// Cells that only fresh runs can decide on.
    pub suspects: Vec<String>,
    /// The result of all cells together, in a sentence.
    pub sentence: String,
}

/// Examines the cells of each headline or chosen figure, and corrects the verdicts of large families.
pub(super) fn look(
    rows: &mut [ComparedRow],
    samples: &[Sample],
    layout: &Layout,
    rules: &Rules,
) -> Vec<Family> {
    let mut metrics: Vec<String> = Vec::new();
    for row in rows.iter() {
        if !metrics.contains(&row.metric) {
            metrics.push(row.metric.clone());
        }
    }
    metrics.iter().filter_map(|m| one(m, rows, samples, layout, rules)).collect()
}

fn one(
    metric: &str,
    rows: &mut [ComparedRow],
    samples: &[Sample],
    layout: &Layout,
    rules: &Rules,
) -> Option<Family> {
    let judged = |i: &usize| rows[*i].metric == metric && rows[*i].p.is_some();
    let cells: Vec<usize> = (0..rows.len()).filter(judged).collect();
    if cells.len() < 2 {
        return None;
    }
    let rules = Rules { higher_is_better: rows[cells[0]].higher_is_better.unwrap_or(true), ..*rules };
    let adjusted = benjamini_hochberg(&cells.iter().filter_map(|i| rows[*i].p).collect::<Vec<f64>>());
    for (i, p) in cells.iter().zip(&adjusted) {
        rows[*i].adjusted_p = Some(*p);
    }
    let quads: Vec<Vec<Quad>> = cells.iter().map(|i| quads_of(&samples[*i], layout)).collect();
    let by_quads = cells.iter().all(|i| rows[*i].method == Method::Quads);
    let fresh = by_quads && quads.iter().all(|q| q.len() >= SCREEN_QUADS + CONFIRM_QUADS);
    if cells.len() >= MANY {
        if fresh {
            screen_and_confirm(rows, &cells, &quads, &rules);
        } else {
            adjust(rows, &cells, &rules);
        }
    }
    let all: Vec<Quad> = quads.concat();
    let whole = if by_quads { effect(&all, rules.confidence) } else { None };
    let p = by_quads.then(|| global_test(&quads).p);
    let margin = 1.0 + 2.0 * rules.threshold;
    let whole = whole.map(|e| effect_of(&e));
    let inside = |e: &Effect| {
        e.scale == "ratio" && e.low.is_some_and(|l| l >= 1.0 / margin) && e.high.is_some_and(|h| h <= margin)
    };
    let same = whole.as_ref().is_some_and(inside);
    let suspects: Vec<String> =
        cells.iter().filter(|i| rows[**i].verdict == Word::Suspect).map(|i| rows[*i].cell.clone()).collect();
    let sentence = sentence(&rules, cells.len(), p, whole.as_ref(), same);
    Some(Family {
        metric: metric.into(),
        cells: cells.len(),
        quads: if by_quads { all.len() } else { 0 },
        p,
        effect: whole,
        same,
        confirmed_by_fresh: fresh && cells.len() >= MANY,
        suspects,
        sentence,
    })
}

/// The first three quads of each cell select suspects, its others decide.
fn screen_and_confirm(rows: &mut [ComparedRow], cells: &[usize], quads: &[Vec<Quad>], rules: &Rules) {
    let first: Vec<Vec<Quad>> = quads.iter().map(|q| q[..SCREEN_QUADS].to_vec()).collect();
    let Ok(suspects) = screen(&first, rules) else { return };
    for (n, i) in cells.iter().enumerate() {
        if withheld(&rows[*i], rules) {
            rows[*i].verdict = Word::Suspect;
        }
        if !is_change(rows[*i].verdict) {
            continue;
        }
        let suspect = suspects.iter().find(|s| s.cell == n);
        let decided = |s: &Suspect| confirm(s, &quads[n][SCREEN_QUADS..], rules).is_ok_and(|c| c.confirmed);
        if !suspect.is_some_and(decided) {
            suspected(&mut rows[*i], "the first three quads and the others do not agree");
        }
    }
}

/// For too few quads: p must survive the adjustment for the number of cells at the level of one cell's test. An unchanged matrix then
/// raises no more alarms than a single cell; the usual 5 % false discovery rate would raise two or three times as many.
fn adjust(rows: &mut [ComparedRow], cells: &[usize], rules: &Rules) {
    for i in cells {
        let row = &mut rows[*i];
        if withheld(row, rules) {
            row.verdict = Word::Suspect;
            continue;
        }
        let stands = row.adjusted_p.is_some_and(|p| p <= rules.alpha);
        let moved = row.ratio().is_none_or(|r| r.ln().abs() >= rules.threshold.ln_1p());
        let open = row.verdict == Word::Inconclusive && moved && row.p.is_some_and(|p| p <= SUSPECT);
        if (is_change(row.verdict) && !stands) || open {
            suspected(row, "with this many cells, one looks like this by chance");
        }
    }
}

/// Whether a cell looks changed but its verdict is withheld because of noise found beforehand: a suspect, whatever the others say.
fn withheld(row: &ComparedRow, rules: &Rules) -> bool {
    row.withheld && row.p.is_some_and(|p| p <= rules.alpha)
}

/// Notices about headline families with too few quads for a change of one cell to survive the adjustment.
pub(super) fn warnings(families: &[Family], rows: &[ComparedRow], level: f64) -> Vec<Notice> {
    let warning = |family: &Family| {
        let of: Vec<&ComparedRow> =
            rows.iter().filter(|r| r.metric == family.metric && r.quads > 0).collect();
        let quads = of.iter().map(|r| r.quads).min()?;
        let corrected = family.cells >= MANY && !family.confirmed_by_fresh && family.quads > 0;
        if !corrected || !of.iter().any(|r| r.headline) {
            return None;
        }
        let (cells, metric) = (family.cells, &family.metric);
        let sentence = if too_coarse(quads, cells, level) {
            format!(
                "{metric}: {} of {cells} cells each are too few to find a change of one cell alone: the smallest p they can give is {}, and one cell \
                 among {cells} needs {}. A change of one cell alone can only be a suspect here; with {} quads the first {SCREEN_QUADS} screen and the \
                 others decide.",
                if quads == 1 { "1 quad".into() } else { format!("{quads} quads") },
                wording::short(smallest_p(quads)),
                wording::short(level / cells as f64),
                SCREEN_QUADS + CONFIRM_QUADS,
            )
        } else if quads < ADVISED_QUADS {
            format!(
                "{metric}: {quads} quads of {cells} cells each are few: a change of one cell alone counts only if all \
                 its runs agree. {ADVISED_QUADS} or more are advised."
            )
        } else {
            return None;
        };
        Some(Notice { code: "few-quads", cell: None, sentence })
    };
    families.iter().filter_map(warning).collect()
}

fn is_change(word: Word) -> bool {
    matches!(word, Word::Better | Word::Worse | Word::Differs)
}

fn suspected(row: &mut ComparedRow, why: &str) {
    row.verdict = Word::Suspect;
    let figures = match (row.ratio(), row.p) {
        (Some(ratio), Some(p)) => format!("ratio {ratio:.4}, {}", wording::p_value(p)),
        _ => row.p.map_or(String::new(), wording::p_value),
    };
    row.sentence = format!("Suspect ({figures}): {why}; {CONFIRM_QUADS} fresh quads of this cell decide.");
}

fn sentence(rules: &Rules, cells: usize, p: Option<f64>, whole: Option<&Effect>, same: bool) -> String {
    let (Some(p), Some(e)) = (p, whole) else {
        return format!("{cells} cells; there are no quads by which to judge them together.");
    };
    let interval = match (e.low, e.high, e.confidence) {
        (Some(low), Some(high), Some(c)) => {
            format!(", {:.1} % interval {low:.4} to {high:.4}", c * 100.0)
        }
        _ => String::new(),
    };
    let figures = format!("({} {:.4}{interval}; {})", e.scale, e.estimate, wording::p_value(p));
    let up = if e.scale == "ratio" { e.estimate > 1.0 } else { e.estimate > 0.0 };
    if p <= rules.alpha {
        let way = if up { "up" } else { "down" };
        format!("All {cells} cells together went {way} {figures}.")
    } else if same {
        format!("All {cells} cells together: no change seen {figures}.")
    } else {
        format!("All {cells} cells together: inconclusive {figures}.")
    }
}

#[cfg(test)]
#[path = "family_tests.rs"]
mod tests;
