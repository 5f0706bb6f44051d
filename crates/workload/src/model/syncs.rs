//! How written data are made durable while a stream runs: after every given number of writes, or for all files in a series.

use super::is_default;
use serde::{Deserialize, Serialize};

/// fsync inside a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncEvery {
    /// Writes between syncs.
    pub writes: u64,
    /// fdatasync instead of fsync.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data_only: bool,
    /// The sync is part of the write before it, and of its latency, instead of a separate operation. With `writes = 1`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inside: bool,
    /// No sync after the last write of the amount: only between writes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub between: bool,
    /// Start write-back with sync_file_range of what was written since the last time, instead of making it durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<SyncRange>,
}

/// Flags of sync_file_range, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyncRange {
    /// Wait for pages already under write-back.
    #[serde(skip_serializing_if = "is_default")]
    pub wait_before: bool,
    /// Start write-back of dirty pages.
    #[serde(skip_serializing_if = "is_default")]
    pub write: bool,
    /// Wait for all of it.
    #[serde(skip_serializing_if = "is_default")]
    pub wait_after: bool,
}

/// fsync of every file of a set, each a separate operation that goes to the next worker asking. No other operation is handed out until
/// the series is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyncSeries {
    /// Reads and writes between series, if something was written since the last one; 0: never.
    pub requests: u64,
    /// fdatasync instead of fsync.
    #[serde(skip_serializing_if = "is_default")]
    pub data_only: bool,
    /// One more series when the amount is done.
    #[serde(skip_serializing_if = "is_default")]
    pub at_end: bool,
    /// The syncs of a series count towards the amount.
    #[serde(skip_serializing_if = "is_default")]
    pub counted: bool,
}
