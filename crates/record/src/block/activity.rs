//! What a repetition's block events come to: the form that is stored, drawn and compared. Nothing here computes; the analysis that
//! makes it of events is a neighbour.
//!
//! Names follow blktrace: Q2D is the time a request spent above the driver (plugged, in the scheduler), D2C the time from the
//! driver's receipt to completion, Q2C both.

use super::event::DeviceNumber;
use crate::Histogram;
use serde::{Deserialize, Serialize};

/// Everything the block layer told about one repetition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockLayer {
    /// Where it comes from: "tracefs", "ebpf", "trace" (a file), "sim". Without events there is no such record, only counters.
    pub source: String,
    /// Events that were read.
    pub events: u64,
    /// Events that the kernel's ring had no room for, by its own counters. Above 0 no count below is a total.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub lost: u64,
    /// CPU time that watching cost us (the kernel's own part, in the path of each request, is not in it), ns.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub observer_cpu_ns: u64,
    /// Length of the watched time, ns: `started` to the end of the phase.
    pub watched_ns: u64,
    /// Every device that was watched, in the order of [`crate::Physical::devices`].
    pub devices: Vec<DeviceActivity>,
    /// iostat-style rows, device by device, each in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<BlockInterval>,
    /// What limits the figures, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What one device was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceActivity {
    /// Kernel name: "vda", "loop0".
    pub name: String,
    /// Its number.
    pub number: DeviceNumber,
    /// 0 for the devices the file system itself uses, 1 for what those are made of, and so on.
    #[serde(default)]
    pub level: u32,
    /// Whether the device has no requests (most of device mapper, md, zram): then bios are counted in their place.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub bio_based: bool,
    /// By what was asked: only classes that occurred.
    pub requests: Vec<RequestStats>,
    /// By who issued it, the most bytes first.
    pub issuers: Vec<Issuer>,
    /// How long so many requests were with the driver, ascending.
    pub in_device: Vec<DepthTime>,
    /// How long so many bios or requests waited above it; empty where queueing was not watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_queue: Vec<DepthTime>,
    /// Time with at least one request in the device, ns.
    pub busy_ns: u64,
    /// Issued and not completed when watching ended.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub unfinished: u64,
    /// Completed without having been issued while we watched.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub begun_before: u64,
    /// Requests given back by the driver.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub requeued: u64,
    /// Bios cut at a limit of the device; `None` where that was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splits: Option<u64>,
    /// Unplugs (lists of requests let go at once) and the requests in them; `None` where that was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unplugs: Option<(u64, u64)>,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestClass {
    /// Data is read.
    #[default]
    Read,
    /// Data is written.
    Write,
    /// The device's cache is flushed, nothing else.
    Flush,
    /// Blocks are given back.
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

/// What became of the requests of one class on one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestStats {
    /// Which.
    pub class: RequestClass,
    /// Given to the driver (a requeued one counts once).
    pub issued: u64,
    /// Bytes of those.
    pub issued_bytes: u64,
    /// Completed.
    pub completed: u64,
    /// Bytes of those.
    pub completed_bytes: u64,
    /// Completed with an error.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub errors: u64,
    /// Issued ones marked as read-ahead, as synchronous, as the file system's own data, as going past the device's cache.
    #[serde(default)]
    pub ahead: u64,
    /// See `ahead`.
    #[serde(default)]
    pub sync: u64,
    /// See `ahead`.
    #[serde(default)]
    pub meta: u64,
    /// See `ahead`.
    #[serde(default)]
    pub fua: u64,
    /// Bios that arrived; `None` where that was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bios: Option<u64>,
    /// Of those, put behind a waiting request, and before one, and requests joined to others; `None` likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_merges: Option<u64>,
    /// See `back_merges`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_merges: Option<u64>,
    /// See `back_merges`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_merges: Option<u64>,
    /// Sizes at issue, ascending.
    pub sizes: Vec<SizeCount>,
    /// Where each began, seen from the end of the one of its class before it.
    pub seeks: Seeks,
    /// Issue to completion, ns.
    pub d2c: Histogram,
    /// Arrival to issue, ns; empty where queueing was not watched.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub q2d: Histogram,
}

/// So many requests of exactly this size. Classes (2 KiB as in lquantize, powers of two) are made when it is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeCount {
    /// Size in bytes.
    pub bytes: u64,
    /// How many.
    pub count: u64,
}

/// How far requests lay apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeks {
    /// Began where the one before ended.
    pub sequential: u64,
    /// Began after it.
    pub forward: u64,
    /// Began before it.
    pub backward: u64,
    /// Distances in bytes of those that were not sequential, in powers of two: (exponent, count), ascending.
    pub distances: Vec<(u32, u64)>,
    /// Sum of those distances in bytes.
    pub total_bytes: u128,
}

/// How long a depth lasted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthTime {
    /// How many.
    pub depth: u32,
    /// How long, ns.
    pub ns: u64,
}

/// Who issued requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IssuerKind {
    /// Our own workers.
    Own,
    /// The kernel writing dirty pages back.
    Writeback,
    /// A file system's journal.
    Journal,
    /// Other threads of the kernel (a loop device's, device mapper's, those that issue on behalf of others).
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

/// What one issuer asked a device for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issuer {
    /// What kind of task.
    pub kind: IssuerKind,
    /// Its name; numbers at the end of kernel threads' names are cut.
    pub name: String,
    /// Requests that read.
    pub reads: u64,
    /// Bytes of those.
    pub read_bytes: u64,
    /// Requests that write.
    pub writes: u64,
    /// Bytes of those.
    pub write_bytes: u64,
    /// Flushes and the rest.
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
    /// Both.
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
    /// Position in [`BlockLayer::devices`] or, of counters, in [`crate::Physical::devices`].
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
    /// Bytes of those.
    pub read_bytes: u64,
    /// Reads merged.
    pub read_merges: u64,
    /// Sum of their times, ns: from arrival where that is known, else from issue.
    pub read_ns: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes of those.
    pub write_bytes: u64,
    /// Writes merged.
    pub write_merges: u64,
    /// Sum of their times, ns.
    pub write_ns: u64,
    /// Discards completed.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub discards: u64,
    /// Flushes completed.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub flushes: u64,
    /// Time with something in flight, ns.
    pub busy_ns: u64,
    /// Number in flight times the time it lasted, ns: divided by the width it is the mean queue depth.
    pub depth_ns: u64,
}

impl BlockLayer {
    /// What a device was asked for, by its number.
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
