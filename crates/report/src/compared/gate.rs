//! A yes or no for a CI: is there a regression, is it shown that there is none, or do the data not tell?

use super::judge::{Row, Word};
use super::{Compared, MANY, Metric};
use crate::history::counted;
use fathom_compare::verdict::FEWEST_QUADS;
use serde::Serialize;

/// What the gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing is worse, and the data show it.
    Passed,
    /// Something is worse by the threshold or more.
    Regression,
    /// The data do not tell.
    NotEnoughData,
}

/// The decision, with the figures it stands on.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// The decision.
    pub outcome: Outcome,
    /// It in a sentence.
    pub sentence: String,
    /// Numbers of the rows that were looked at.
    pub rows: Vec<usize>,
}

impl Gate {
    /// Decides by the figures that cells are quoted by, or by the one that a comparison watched; if figures were chosen, by all of those.
    #[must_use]
    pub fn of(compared: &Compared, chosen: &[Metric]) -> Self {
        let counts = |row: &Row| match chosen {
            [] => is_quoted(compared, row),
            // Somebody who names a figure that stands on too few operations has to hear that; a word such as "p99" does not mean it.
            _ => chosen
                .iter()
                .filter(|m| m.takes(&row.metric))
                .any(|m| matches!(m, Metric::Named(_)) || !row.beside),
        };
        let rows: Vec<usize> = (0..compared.rows.len()).filter(|i| counts(&compared.rows[*i])).collect();
        let with = |word: Word| rows.iter().filter(|i| compared.rows[**i].verdict == word).count();
        let of = counted(rows.len(), "figure");
        let worse = with(Word::Worse);
        if worse > 0 {
            let sentence = format!("Regression: {worse} of {of} worse by {} or more.", threshold(compared));
            return Self { outcome: Outcome::Regression, sentence, rows };
        }
        let open = rows.iter().filter(|i| !settled(&compared.rows[**i], compared)).count();
        let missing = compared.undecided;
        let outcome =
            if rows.is_empty() || open > 0 || missing > 0 { Outcome::NotEnoughData } else { Outcome::Passed };
        let sentence = match outcome {
            Outcome::Passed => format!("No regression in {of}."),
            _ if rows.is_empty() => "Not enough data: the sides have no figure in common.".into(),
            _ if open > 0 => format!("Not enough data: {open} of {of} cannot be decided."),
            _ => format!("Not enough data: {} of A missing in B.", counted(missing, "figure")),
        };
        Self { outcome, sentence, rows }
    }
}

fn is_quoted(compared: &Compared, row: &Row) -> bool {
    compared.session.as_ref().map_or(row.headline, |s| s.plan.watches(row))
}

fn threshold(compared: &Compared) -> String {
    format!("{} %", (compared.threshold * 1e6).round() / 1e4)
}

/// Whether a figure is known not to be worse: by itself, or as one of many whose whole is the same and whose own test had a chance.
fn settled(row: &Row, compared: &Compared) -> bool {
    let by_family = || {
        let family = compared.families.iter().find(|f| f.metric == row.metric);
        family.is_some_and(|f| f.cells >= MANY && f.same) && row.quads >= FEWEST_QUADS
    };
    match row.verdict {
        Word::Better | Word::Same | Word::BelowThreshold | Word::Differs => true,
        Word::Inconclusive => by_family(),
        _ => false,
    }
}
