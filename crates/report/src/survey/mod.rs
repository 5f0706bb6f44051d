//! The conclusions of a survey: findings with their evidence, a verdict for each use with its thresholds, and both as JSON. All
//! of it is derived from the record, so that every format agrees, even years later.

mod answer;
mod dense;
mod document;
mod facts;
mod findings;
pub mod lattice;
mod map;
mod verdicts;

pub use answer::{Answer, AnswerRow, LIMITS, Tile, depths, storage, streams};
pub use dense::dense;
pub use document::json;
pub use facts::{LADDER, is_survey};
pub use findings::of_run as findings;
pub use map::SurveyMap;
pub use verdicts::{CRITERIA, Criterion, Grade, JudgedCriterion, UseVerdict, of_run as verdicts};

pub(crate) use answer::words as doubt_words;

#[cfg(test)]
mod tests;
