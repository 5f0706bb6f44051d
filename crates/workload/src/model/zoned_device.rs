//! Streams on zoned block devices: a write goes to the write pointer of its zone, a full zone is reset before it is written again.

use super::is_default;
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// How a stream uses the zones of its file, a zoned block device or a file that is treated as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ZonedDevice {
    /// Zone size of a file that is no zoned device; 0: the device's zones are used.
    #[serde(skip_serializing_if = "is_default")]
    pub zone: Bytes,
    /// Writable part of such a zone; 0: all of it.
    #[serde(skip_serializing_if = "is_default")]
    pub capacity: Bytes,
    /// Maximum number of partly written zones, of all workers together; 0: the device's limit.
    #[serde(skip_serializing_if = "is_default")]
    pub max_open: u32,
    /// Maximum number of partly written zones of each worker; 0: no such limit.
    #[serde(skip_serializing_if = "is_default")]
    pub max_open_each: u32,
    /// Ignore the device's limit.
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_limit: bool,
    /// Reads may go beyond the write pointer; otherwise they are moved to what was written.
    #[serde(skip_serializing_if = "is_default")]
    pub read_beyond: bool,
    /// Reset zones before they are full, as garbage collection would.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collect: Option<CollectZones>,
}

/// Resets that simulate garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectZones {
    /// Once more than this percentage of the region is written.
    pub above_percent: f64,
    /// The zone of every this many writes is reset first.
    pub every: u64,
}
