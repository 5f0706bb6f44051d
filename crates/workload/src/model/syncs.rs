//! What makes written data durable while a stream runs: after so many writes, or all files in a series.

use super::is_default;
use serde::{Deserialize, Serialize};

/// fsync inside a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncEvery {
    /// After so many writes.
    pub writes: u64,
    /// fdatasync instead of fsync.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data_only: bool,
    /// It is part of the write before it, and of that write's latency, instead of an operation of its own. With `writes = 1`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inside: bool,
    /// None after the last write of the amount: only between writes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub between: bool,
    /// Nothing is made durable: the kernel is only asked to write back what was written since the last time, by sync_file_range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<SyncRange>,
}

/// What sync_file_range does, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyncRange {
    /// Waits for what is on its way to the device.
    #[serde(skip_serializing_if = "is_default")]
    pub wait_before: bool,
    /// Begins to write what is dirty.
    #[serde(skip_serializing_if = "is_default")]
    pub write: bool,
    /// Waits for all of it.
    #[serde(skip_serializing_if = "is_default")]
    pub wait_after: bool,
}

/// fsync of every file of a set: each is an operation, handed out to whichever worker asks next. Nothing else is handed out until all
/// of a series are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyncSeries {
    /// After so many reads and writes, if something was written since the last series; 0: never.
    pub requests: u64,
    /// fdatasync instead of fsync.
    #[serde(skip_serializing_if = "is_default")]
    pub data_only: bool,
    /// Once more when the amount is done.
    #[serde(skip_serializing_if = "is_default")]
    pub at_end: bool,
    /// The syncs of a series count towards the amount.
    #[serde(skip_serializing_if = "is_default")]
    pub counted: bool,
}
