//! A yes or no for CI: is the latest level of some figure worse than the previous one by the threshold or more?

use super::words::threshold;
use super::{Change, History, Series};
use crate::compared::{Outcome, Word};
use crate::units::counted;
use serde::Serialize;

/// The gate's decision with its sentence.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryGate {
    /// The decision.
    pub outcome: Outcome,
    /// The decision in a sentence.
    pub sentence: String,
}

/// Result of the last change of a figure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastChange {
    Worse,
    NotWorse,
    /// It depends on doubtful changes.
    Doubtful,
}

impl HistoryGate {
    /// Decides by the last change of every figure. A history in which no figure has enough runs decides nothing, and neither
    /// does one that is only worse if a doubtful change is real.
    #[must_use]
    pub fn of(history: &History) -> Self {
        let has_enough = |s: &&Series| s.needed.is_none() && !s.points.is_empty();
        let judged: Vec<LastChange> = history.series.iter().filter(has_enough).map(latest).collect();
        let count = |which: LastChange| judged.iter().filter(|l| **l == which).count();
        let (worse, doubtful) = (count(LastChange::Worse), count(LastChange::Doubtful));
        let of = counted(judged.len(), "figure");
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
        } else if doubtful > 0 {
            (
                Outcome::NotEnoughData,
                format!(
                    "Not enough data: the latest level of {doubtful} of {of} may be worse than the one before by {by} or more; \
                     neighbouring runs resemble each other, and there are too few of them to tell a step from drift."
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

/// The result with and without the doubtful changes; if the two differ, it is doubtful itself.
fn latest(series: &Series) -> LastChange {
    let is_worse = |c: Option<&Change>| c.is_some_and(|c| c.verdict == Word::Worse);
    let with = is_worse(series.changes.last());
    let without = is_worse(series.changes.iter().rfind(|c| !c.doubtful));
    match (with, without) {
        (true, true) => LastChange::Worse,
        (false, false) => LastChange::NotWorse,
        _ => LastChange::Doubtful,
    }
}
