//! How much of what was written waited in memory, over the time of a phase.

use serde::{Deserialize, Serialize};

/// A series of samples, and where they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheCourse {
    /// Whose dirty data `own_dirty_bytes` and `own_writeback_bytes` are: "bdi 254:0" (of the device), "cgroup /user.slice" (of the
    /// control group that fathom runs in), or "" where neither can be read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub own: String,
    /// In the order of time; the first is taken when the clocks start, the last when they have stopped.
    pub samples: Vec<CacheSample>,
    /// Time that taking all samples took, ns: it ran on the parent's CPU, beside the workers.
    pub cost_ns: u64,
}

/// One sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSample {
    /// When, ns after the clocks started.
    pub at_ns: u64,
    /// Dirty data of the whole machine.
    pub dirty_bytes: u64,
    /// Data of the whole machine that was being written.
    pub writeback_bytes: u64,
    /// The page cache of the whole machine.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cached_bytes: u64,
    /// The same as `dirty_bytes` of what [`CacheCourse::own`] names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_dirty_bytes: Option<u64>,
    /// The same as `writeback_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_writeback_bytes: Option<u64>,
}

impl CacheCourse {
    /// The most that waited (dirty and being written) at any sample, bytes.
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        self.samples.iter().map(|s| s.dirty_bytes.saturating_add(s.writeback_bytes)).max().unwrap_or(0)
    }
}
