//! The conclusions of a survey: findings with their evidence, a verdict for each use with its thresholds, and both as JSON. All
//! of it is derived from the record, so that every format agrees, even years later.

mod dense;
mod document;
pub(crate) mod facts;
pub(crate) mod findings;
pub mod lattice;
mod map;
pub(crate) mod verdicts;

pub use dense::dense;
pub use document::json;
pub use facts::{LADDER, is_survey};
pub use findings::of_run as findings;
pub use map::SurveyMap;
pub use verdicts::{
    Bounds, CRITERIA, Criterion, Grade, JudgedCriterion, Open, UseVerdict, of_run as verdicts,
};

#[cfg(test)]
mod tests;
