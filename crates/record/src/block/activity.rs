//! The result of analysing a repetition's block events, as it is stored, drawn and compared. Nothing here computes; see the
//! `analysis` module.
//!
//! Names follow blktrace: Q2D is the time a request spent above the driver (plugged, in the scheduler), D2C the time from the
//! driver's receipt to completion, Q2C both.

use super::event::DeviceNumber;
use crate::Histogram;
use serde::{Deserialize, Serialize};

/// Everything the block layer reported about one repetition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockLayer {
    /// Source: "tracefs", "ebpf", "trace" (a file), "sim". Without events there is no such record, only counters.
    pub source: String,
    /// Number of events read.
    pub events: u64,
    /// Events lost because the kernel's ring was full, by its own counters. If above 0, no count below is a total.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub lost: u64,
    /// CPU time that watching cost us, ns; excludes the kernel's own part in the path of each request.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub observer_cpu_ns: u64,
    /// Length of the watched time, ns: from `started` to the end of the phase.
    pub watched_ns: u64,
    /// Every watched device, in the order of [`crate::Physical::devices`].
    pub devices: Vec<DeviceActivity>,
    /// iostat-style rows, device by device, each in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<BlockInterval>,
    /// What limits the figures, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The activity of one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceActivity {
    /// Kernel name: "vda", "loop0".
    pub name: String,
    /// Major and minor number.
    pub number: DeviceNumber,
    /// 0 for the devices the file system uses directly, 1 for their components, and so on.
    #[serde(default)]
    pub level: u32,
    /// Whether the device has no requests (most of device mapper, md, zram); then bios are counted instead.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub bio_based: bool,
    /// By request class; only classes that occurred.
    pub requests: Vec<RequestStats>,
    /// By issuer, the most bytes first.
    pub issuers: Vec<Issuer>,
    /// Time at each depth of requests in the driver, ascending.
    pub in_device: Vec<DepthTime>,
    /// Time at each depth of bios or requests waiting above it; empty if queueing was not watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_queue: Vec<DepthTime>,
    /// Time with at least one request in the device, ns.
    pub busy_ns: u64,
    /// Issued but not completed when watching ended.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub unfinished: u64,
    /// Completed without having been issued while we watched.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub begun_before: u64,
    /// Requests given back by the driver.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub requeued: u64,
    /// Bios split at a limit of the device; `None` if that was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splits: Option<u64>,
    /// Unplugs (batches of requests released at once) and the requests in them; `None` if that was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unplugs: Option<(u64, u64)>,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestClass {
    /// Reads data.
    #[default]
    Read,
    /// Writes data.
    Write,
    /// Flushes the device's cache, nothing else.
    Flush,
    /// Deallocates blocks.
    Discard,
    /// Zone and driver commands.
    Other,
}

impl RequestClass {
    /// Every class.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Flush, Self::Discard, Self::Other];

    /// The word in the store, in tables and exports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
            Self::Other => "other",
        }
    }
}

/// Statistics of the requests of one class on one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestStats {
    /// The class.
    pub class: RequestClass,
    /// Issued to the driver (a requeued one counts once).
    pub issued: u64,
    /// Bytes issued.
    pub issued_bytes: u64,
    /// Completed.
    pub completed: u64,
    /// Bytes completed.
    pub completed_bytes: u64,
    /// Completed with an error.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub errors: u64,
    /// Issued requests marked as read-ahead.
    #[serde(default)]
    pub ahead: u64,
    /// Issued requests marked as synchronous.
    #[serde(default)]
    pub sync: u64,
    /// Issued requests marked as file-system metadata.
    #[serde(default)]
    pub meta: u64,
    /// Issued requests that bypass the device's cache (FUA).
    #[serde(default)]
    pub fua: u64,
    /// Bios that arrived; `None` if that was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bios: Option<u64>,
    /// Bios appended to a waiting request; `None` if that was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_merges: Option<u64>,
    /// Bios prepended to a waiting request, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_merges: Option<u64>,
    /// Requests joined to others, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_merges: Option<u64>,
    /// Sizes at issue, ascending.
    pub sizes: Vec<SizeCount>,
    /// Where each began, relative to the end of the previous one of its class.
    pub seeks: Seeks,
    /// Issue to completion, ns.
    pub d2c: Histogram,
    /// Arrival to issue, ns; empty if queueing was not watched.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub q2d: Histogram,
}

/// Number of requests of exactly this size. Size classes (2 KiB as in lquantize, powers of two) are made when printing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeCount {
    /// Size in bytes.
    pub bytes: u64,
    /// Number of requests.
    pub count: u64,
}

/// How far apart consecutive requests were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeks {
    /// Began where the previous one ended.
    pub sequential: u64,
    /// Began after it.
    pub forward: u64,
    /// Began before it.
    pub backward: u64,
    /// Distances in bytes of the non-sequential ones, in powers of two: (exponent, count), ascending.
    pub distances: Vec<(u32, u64)>,
    /// Sum of those distances in bytes.
    pub total_bytes: u128,
}

/// Time spent at one queue depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthTime {
    /// The depth.
    pub depth: u32,
    /// Time at it, ns.
    pub ns: u64,
}

/// Kind of task that issued requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IssuerKind {
    /// Our own workers.
    Own,
    /// The kernel writing dirty pages back.
    Writeback,
    /// A file system's journal.
    Journal,
    /// Other kernel threads (a loop device's, device mapper's, those that issue on behalf of others).
    Kernel,
    /// Other programs.
    #[default]
    Other,
}

impl IssuerKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Own, Self::Writeback, Self::Journal, Self::Kernel, Self::Other];

    /// The words in tables and exports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Writeback => "writeback",
            Self::Journal => "journal",
            Self::Kernel => "kernel",
            Self::Other => "other",
        }
    }
}

/// The requests of one issuer to one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issuer {
    /// What kind of task.
    pub kind: IssuerKind,
    /// Its name; numbers at the end of kernel threads' names are removed.
    pub name: String,
    /// Requests that read.
    pub reads: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Requests that write.
    pub writes: u64,
    /// Bytes of the writes.
    pub write_bytes: u64,
    /// Flushes and other requests.
    #[serde(default)]
    pub others: u64,
}

/// Where an interval's figures come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeSource {
    /// Events.
    #[default]
    Events,
    /// The kernel's counters of the device.
    Counters,
}

impl TimeSource {
    /// Every source.
    pub const ALL: [Self; 2] = [Self::Events, Self::Counters];

    /// The word in the store and in exports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Counters => "counters",
        }
    }
}

/// One row as iostat -x prints it, before division: sums over an interval of one device. Requests count when they complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockInterval {
    /// Index into [`BlockLayer::devices`] or, for counters, [`crate::Physical::devices`].
    pub device: u32,
    /// From events or from counters.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub source: TimeSource,
    /// End, ns after watching began.
    pub end_ns: u64,
    /// Length, ns.
    pub width_ns: u64,
    /// Reads completed.
    pub reads: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Reads merged.
    pub read_merges: u64,
    /// Sum of the reads' durations, ns: from arrival if known, else from issue.
    pub read_ns: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes of the writes.
    pub write_bytes: u64,
    /// Writes merged.
    pub write_merges: u64,
    /// Sum of the writes' durations, ns, likewise.
    pub write_ns: u64,
    /// Discards completed.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub discards: u64,
    /// Flushes completed.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub flushes: u64,
    /// Time with something in flight, ns.
    pub busy_ns: u64,
    /// Number in flight integrated over time; divided by the width it is the mean queue depth.
    pub depth_ns: u64,
}

impl BlockLayer {
    /// The activity of the device with this number.
    #[must_use]
    pub fn device(&self, number: DeviceNumber) -> Option<&DeviceActivity> {
        self.devices.iter().find(|d| d.number == number)
    }
}

impl DeviceActivity {
    /// The requests of one class, if there were any.
    #[must_use]
    pub fn class(&self, class: RequestClass) -> Option<&RequestStats> {
        self.requests.iter().find(|r| r.class == class)
    }
}
