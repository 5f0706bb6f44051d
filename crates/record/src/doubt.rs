//! Reasons to doubt a result: a closed list, each with a sentence that carries its figures. A doubt never changes a number.

use serde::{Deserialize, Serialize};

/// Code of the doubt that is shown before any figure: a repetition stood still.
pub const STOOD_STILL: &str = "stood-still";

/// One reason to trust a run less.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// Stable word for machines: "page-cache", "foreign-io", "steal", "short-phase", "clock", "interrupted", "skew", "stood-still", ...
    pub code: String,
    /// The phases it concerns, by their `seq`; none if it concerns the whole run (in records from before store version 21 also if it
    /// concerns several).
    #[serde(default)]
    pub phases: Vec<u32>,
    /// For a person: what was seen, with figures, and what to do about it.
    pub sentence: String,
}
