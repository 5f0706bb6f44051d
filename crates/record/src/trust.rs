//! Whether a result can be trusted: every check that fathom makes of every run, with its outcome. A check never changes a
//! number; a failed one has a [`Doubt`](crate::Doubt) of the same code, which says what to do.
//!
//! `observe` makes the list at the end of a run; it is stored with the run.

use serde::{Deserialize, Serialize};

/// One check of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// Stable word for machines: see docs/formats/record-json.md for the list.
    pub code: String,
    /// The outcome.
    pub verdict: Verdict,
    /// For a person: what was measured, with figures.
    pub sentence: String,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing speaks against the result.
    Good,
    /// A reason to trust it less, or to read it differently than expected.
    Doubtful,
    /// It could not be determined; the sentence says why.
    #[default]
    Unknown,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 3] = [Self::Good, Self::Doubtful, Self::Unknown];

    /// The word in the store, in lists and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Doubtful => "doubtful",
            Self::Unknown => "unknown",
        }
    }
}
