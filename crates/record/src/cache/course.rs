//! How much written data waited in memory over the time of a phase.

use serde::{Deserialize, Serialize};

/// A series of samples, and their source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheCourse {
    /// Scope of `own_dirty_bytes` and `own_writeback_bytes`: "bdi 254:0" (the device), "cgroup /user.slice" (the control group
    /// that fathom runs in), or "" if neither can be read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub own: String,
    /// In order of time; the first is taken when the clocks start, the last when they have stopped.
    pub samples: Vec<CacheSample>,
    /// Total time of taking the samples, ns, spent on the parent's CPU, beside the workers.
    pub cost_ns: u64,
}

/// One sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSample {
    /// Time of the sample, ns after the clocks started.
    pub at_ns: u64,
    /// Dirty data of the whole machine.
    pub dirty_bytes: u64,
    /// Data of the whole machine under write-back.
    pub writeback_bytes: u64,
    /// The page cache of the whole machine.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cached_bytes: u64,
    /// Dirty data within the scope of [`CacheCourse::own`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_dirty_bytes: Option<u64>,
    /// Data under write-back within the scope of [`CacheCourse::own`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_writeback_bytes: Option<u64>,
}

impl CacheCourse {}
