//! What makes a result doubtful: a closed list, each with a sentence that carries its figures. A doubt never changes a number.

use serde::{Deserialize, Serialize};

/// One reason to trust a run less.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// Stable word for machines: "page-cache", "foreign-io", "steal", "short-phase", "clock", "interrupted", "skew", ...
    pub code: String,
    /// The phase it concerns; `None` for the whole run.
    pub phase: Option<u32>,
    /// For a person: what was seen, with figures, and what to do about it.
    pub sentence: String,
}
