//! What was done to drop files from memory before a phase, and the proof of what it came to.

use serde::{Deserialize, Serialize};

/// How files were made cold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cold {
    /// Files that were there to be dropped.
    pub files: u64,
    /// Every step in the order it was taken; the last one's figures are the proof.
    pub steps: Vec<ColdStep>,
    /// All of it in one sentence for a person.
    pub sentence: String,
}

/// One step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColdStep {
    /// What was done: "found" (nothing yet), "fadvise", "drop_caches", "remount".
    pub how: String,
    /// Pages of the files in memory after it; `None` where the kernel does not tell.
    pub cached_pages: Option<u64>,
    /// All pages of the files.
    pub total_pages: u64,
    /// Why it was not done or did not work, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Cold {
    /// Whether it is proved that nothing of the files was left in memory.
    #[must_use]
    pub fn proved(&self) -> bool {
        self.steps.iter().rev().find_map(|s| s.cached_pages) == Some(0)
    }
}
