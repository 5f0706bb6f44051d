//! A yes or no for a CI: is the latest level of some figure worse than the level before it by the threshold or more?

use super::words::threshold;
use super::{History, Series};
use crate::compared::{Outcome, Word};
use serde::Serialize;

/// What the gate says.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// The decision.
    pub outcome: Outcome,
    /// It in a sentence.
    pub sentence: String,
}

impl Gate {
    /// Decides by the last change of every figure. A history of which no figure has enough runs decides nothing.
    #[must_use]
    pub fn of(history: &History) -> Self {
        let judged: Vec<&Series> =
            history.series.iter().filter(|s| s.needed.is_none() && !s.points.is_empty()).collect();
        let is_worse = |s: &&&Series| s.changes.last().is_some_and(|c| c.verdict == Word::Worse);
        let worse = judged.iter().filter(is_worse).count();
        let of = format!("{} figure{}", judged.len(), if judged.len() == 1 { "" } else { "s" });
        let by = threshold(history.threshold);
        let (outcome, sentence) = if judged.is_empty() {
            (Outcome::NotEnoughData, "Not enough data: no figure has runs enough.".to_owned())
        } else if worse > 0 {
            (
                Outcome::Regression,
                format!(
                    "Regression: the latest level of {worse} of {of} is worse than the one before by {by} or more."
                ),
            )
        } else {
            (
                Outcome::Passed,
                format!(
                    "No regression: the latest level of {of} is not found to be worse by {by} or more than the one before."
                ),
            )
        };
        Self { outcome, sentence }
    }
}
