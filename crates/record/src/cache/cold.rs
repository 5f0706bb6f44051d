//! What was done to drop files from memory before a phase, and the proof of the result.

use serde::{Deserialize, Serialize};

/// How files were made cold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cold {
    /// Number of files to drop.
    pub files: u64,
    /// Every step in order; the last one's figures are the proof.
    pub steps: Vec<ColdStep>,
    /// All of it in one sentence for the user.
    pub sentence: String,
}

/// One step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColdStep {
    /// The step: "found" (nothing done yet), "fadvise", "drop_caches", "remount".
    pub how: String,
    /// Pages of the files in memory afterwards; `None` if the kernel does not report it.
    pub cached_pages: Option<u64>,
    /// All pages of the files.
    pub total_pages: u64,
    /// Why it was skipped or failed, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Cold {
    /// Whether it is proved that no page of the files was left in memory.
    #[must_use]
    pub fn proved(&self) -> bool {
        self.steps.iter().rev().find_map(|s| s.cached_pages) == Some(0)
    }
}
