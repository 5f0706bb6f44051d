//! A yes or no for a CI: is the latest level of some figure worse than the level before it by the threshold or more?

use super::words::{counted, threshold};
use super::{Change, History, Series};
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

/// What the last change of a figure says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Latest {
    Worse,
    NotWorse,
    /// That depends on changes which are in doubt.
    Doubtful,
}

impl Gate {
    /// Decides by the last change of every figure. A history of which no figure has enough runs decides nothing, and so does one that is worse
    /// only if a change is true which is in doubt.
    #[must_use]
    pub fn of(history: &History) -> Self {
        let has_enough = |s: &&Series| s.needed.is_none() && !s.points.is_empty();
        let judged: Vec<Latest> = history.series.iter().filter(has_enough).map(latest).collect();
        let count = |which: Latest| judged.iter().filter(|l| **l == which).count();
        let (worse, doubtful) = (count(Latest::Worse), count(Latest::Doubtful));
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

/// What is said with the changes that are in doubt and without them; if that is not the same, it is in doubt itself.
fn latest(series: &Series) -> Latest {
    let is_worse = |c: Option<&Change>| c.is_some_and(|c| c.verdict == Word::Worse);
    let with = is_worse(series.changes.last());
    let without = is_worse(series.changes.iter().rfind(|c| !c.doubtful));
    match (with, without) {
        (true, true) => Latest::Worse,
        (false, false) => Latest::NotWorse,
        _ => Latest::Doubtful,
    }
}
