//! A yes or no for CI: is there a regression, is its absence shown, or is the data insufficient?

use super::judge::{ComparedRow, Word};
use super::{Compared, MANY, Metric};
use crate::units::counted;
use fathom_compare::verdict::FEWEST_QUADS;
use serde::Serialize;

/// The gate's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing is worse, and the data shows it.
    Passed,
    /// Something is worse by the threshold or more.
    Regression,
    /// The data is insufficient.
    NotEnoughData,
}

/// The decision with its basis.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// The decision.
    pub outcome: Outcome,
    /// The decision in a sentence.
    pub sentence: String,
    /// Indices of the rows considered.
    pub rows: Vec<usize>,
    /// Those among them that are neither worse nor shown not to be.
    #[serde(skip)]
    pub(super) open: Vec<usize>,
}

impl Gate {
    /// Decides by the headline figures, or by the one that a comparison watched; if figures were chosen, by all of those.
    #[must_use]
    pub fn of(compared: &Compared, chosen: &[Metric]) -> Self {
        let counts = |row: &ComparedRow| match chosen {
            [] => is_quoted(compared, row),
            // A user who names a figure with too few operations must see an error; a word such as "p99" does not mean it.
            _ => chosen
                .iter()
                .filter(|m| m.takes(&row.metric))
                .any(|m| matches!(m, Metric::Named(_)) || !row.beside),
        };
        let rows: Vec<usize> = (0..compared.rows.len()).filter(|i| counts(&compared.rows[*i])).collect();
        let worse = rows.iter().filter(|i| compared.rows[**i].verdict == Word::Worse).count();
        let is_open = |i: &usize| {
            let row = &compared.rows[*i];
            row.verdict != Word::Worse && !settled(row, compared, chosen)
        };
        let open: Vec<usize> = rows.iter().copied().filter(is_open).collect();
        let of = counted(rows.len(), "figure");
        let (outcome, sentence) = if worse > 0 {
            let sentence = format!("Regression: {worse} of {of} worse by {} or more.", threshold(compared));
            (Outcome::Regression, sentence)
        } else if let Some(why) = why_not(compared, chosen, rows.len(), open.len()) {
            (Outcome::NotEnoughData, format!("Not enough data: {why}."))
        } else {
            (Outcome::Passed, format!("No regression in {of}."))
        };
        Self { outcome, sentence, rows, open }
    }
}

/// Lost figures listed by name; further ones are only counted.
const MOST_NAMED: usize = 3;

/// Why the absence of a regression cannot be shown.
fn why_not(compared: &Compared, chosen: &[Metric], rows: usize, open: usize) -> Option<String> {
    let mut why = Vec::new();
    if rows == 0 && compared.lost.is_empty() {
        why.push("the sides have no figure in common".into());
    }
    if open > 0 {
        why.push(format!("{open} of {} cannot be decided", counted(rows, "figure")));
    }
    if !compared.lost.is_empty() {
        let named = compared.lost.iter().take(MOST_NAMED).map(|l| l.words.as_str()).collect::<Vec<_>>();
        let more = compared.lost.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let lost = counted(compared.lost.len(), "figure");
        why.push(format!("{lost} of A missing in B ({}{more})", named.join("; ")));
    }
    let nowhere = chosen.iter().filter(|m| !compared.has(m)).map(Metric::word).collect::<Vec<_>>();
    if rows > 0 && !nowhere.is_empty() {
        why.push(format!("no cell of both sides has {}", nowhere.join(", ")));
    }
    why.extend(compared.obstacles.iter().cloned());
    (!why.is_empty()).then(|| why.join("; "))
}

fn is_quoted(compared: &Compared, row: &ComparedRow) -> bool {
    compared.session.as_ref().map_or(row.headline, |s| s.plan.watches(row))
}

fn threshold(compared: &Compared) -> String {
    format!("{} %", (compared.threshold * 1e6).round() / 1e4)
}

/// Whether a figure is shown not to be worse: by itself, or as one of many whose whole is unchanged and whose own test had a chance.
fn settled(row: &ComparedRow, compared: &Compared, chosen: &[Metric]) -> bool {
    let by_family = || {
        let family = compared.families.iter().find(|f| f.metric == row.metric);
        family.is_some_and(|f| f.cells >= MANY && f.same) && row.quads >= FEWEST_QUADS
    };
    match row.verdict {
        Word::Better | Word::Same | Word::BelowThreshold => true,
        // For a figure without a better direction: a user who names it wants to know that it changed.
        Word::Differs => !chosen.iter().any(|m| matches!(m, Metric::Named(n) if *n == row.metric)),
        Word::Inconclusive => !row.withheld && by_family(),
        _ => false,
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
