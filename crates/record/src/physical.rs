//! What the kernel's own counters say about a phase: what the block device moved, what this program's I/O accounting says, what
//! lay in the page cache. Everything that could not be had is `None`, with the reason in words.

use crate::cache::Waiting;
use serde::{Deserialize, Serialize};

/// Block-layer and accounting figures over one repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Physical {
    /// Source: "diskstats", "memory" (there is no device below), "mountstats" (a server), or "none".
    pub method: String,
    /// The device the file system lives on (the one nearest to the file system comes first, then what it is made of).
    pub devices: Vec<DeviceDelta>,
    /// Why there is no device, or what limits the figures.
    pub note: Option<String>,
    /// Bytes our own processes caused to be read from storage (/proc/self/io read_bytes).
    pub own_read_bytes: Option<u64>,
    /// Bytes our own processes dirtied or wrote to storage (/proc/self/io write_bytes; buffered writes count when dirtied).
    pub own_write_bytes: Option<u64>,
    /// Bytes the file system's own device had written when the last worker's clock stopped, less what cannot have been ours
    /// because our data still waited in the page cache then. What it wrote later (an fsync or a close outside the clock) is not
    /// part of any rate. `None` if it was not read at that moment.
    pub written_in_clock_bytes: Option<u64>,
    /// What of our files waited in memory to be written at the three moments; `None` where the kernel does not tell, and where
    /// nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// How the file system compresses what is written ("zstd:3"), so that fewer bytes move than were asked for; `None` if it does
    /// not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<String>,
    /// Dirty plus writeback pages of the whole machine at the start, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_before_bytes: Option<u64>,
    /// The same at the end.
    pub dirty_after_bytes: Option<u64>,
    /// CPU time of all programs of the machine until the last worker's clock stopped, ns, in ticks of 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_cpu_ns: Option<u64>,
}

/// What one block device did between two readings of /proc/diskstats. Other programs' I/O is included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceDelta {
    /// Kernel name: "vda", "loop0", "nvme0n1p2".
    pub name: String,
    /// 0 for the devices the file system itself uses, 1 for what those are made of, and so on.
    #[serde(default)]
    pub level: u32,
    /// "disk", "partition", "device-mapper", "md", "loop", "ram" (zram, brd, a loop device whose file lies in memory), "journal"
    /// (whatever it is: only the file system's journal lies on it, or on what it carries) or "server" (no block device: what a network
    /// file system's server sent and took); empty where it is not known, and for a sum of unlike devices.
    #[serde(default)]
    pub kind: String,
    /// Completed reads.
    pub read_ios: u64,
    /// Bytes read (sectors x 512).
    pub read_bytes: u64,
    /// Reads merged into others while queued.
    pub read_merges: u64,
    /// Completed writes.
    pub write_ios: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Writes merged.
    pub write_merges: u64,
    /// Completed flushes.
    pub flush_ios: u64,
    /// Completed discards.
    pub discard_ios: u64,
    /// Milliseconds during which something was in flight.
    pub busy_ms: u64,
    /// Milliseconds that reads took, the sum of all.
    #[serde(default)]
    pub read_ms: u64,
    /// Likewise of writes.
    #[serde(default)]
    pub write_ms: u64,
    /// Milliseconds that requests of any kind were in flight, the sum of all.
    #[serde(default)]
    pub queue_ms: u64,
}

/// How much of the files lay in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residency {
    /// Pages of the files.
    pub total_pages: u64,
    /// Pages of them in the page cache.
    pub cached_pages: u64,
    /// Pages of those not yet written back.
    pub dirty_pages: u64,
    /// Pages under write-back.
    pub writeback_pages: u64,
}

impl Residency {
    /// Cached share, 0..=1; `None` for empty files.
    #[must_use]
    pub fn cached_share(&self) -> Option<f64> {
        (self.total_pages > 0).then(|| self.cached_pages as f64 / self.total_pages as f64)
    }
}

/// A file that serves as a disk: what it moves may never reach a disk.
pub(crate) const LOOP: &str = "loop";
/// Main memory that serves as a disk.
pub(crate) const RAM: &str = "ram";
/// Another machine that serves files; its "device" counters are of what went over the network.
pub(crate) const SERVER: &str = "server";
/// It holds the file system's journal and none of its files.
pub const JOURNAL: &str = "journal";

impl Physical {
    /// The devices of one level that hold files. What the file system itself uses is one entry, the first: where it uses several, that
    /// is their sum, and the parts are not counted again.
    #[must_use]
    pub fn level(&self, level: u32) -> Vec<&DeviceDelta> {
        if level == 0 {
            return self.devices.first().into_iter().collect();
        }
        self.devices.iter().filter(|d| d.level == level && d.kind != JOURNAL).collect()
    }

    /// The device that the file system keeps its journal on, if that is another than its files'.
    #[must_use]
    pub fn journal(&self) -> Option<&DeviceDelta> {
        self.devices.iter().skip(1).find(|d| d.level == 0 && d.kind == JOURNAL)
    }

    /// Whether no file lies on a device of this name, only a journal.
    #[must_use]
    pub fn is_journal(&self, name: &str) -> bool {
        self.devices.iter().any(|d| d.name == name && d.kind == JOURNAL)
    }

    /// Number of the lowest level there are counters of; 0 also where there are no devices.
    #[must_use]
    pub fn lowest_level(&self) -> u32 {
        self.devices.iter().filter(|d| d.kind != JOURNAL).map(|d| d.level).max().unwrap_or(0)
    }

    /// Whether what the file system stands on is main memory: its own device, or all that it is made of in the end.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        let all_ram = |level| {
            let devices = self.level(level);
            !devices.is_empty() && devices.iter().all(|d| d.kind == RAM)
        };
        self.method == "memory" || all_ram(0) || all_ram(self.lowest_level())
    }

    /// Bytes the file system's own device read; `None` if there is none.
    #[must_use]
    pub fn device_read_bytes(&self) -> Option<u64> {
        self.devices.first().map(|d| d.read_bytes)
    }

    /// Bytes the file system's own device wrote.
    #[must_use]
    pub fn device_write_bytes(&self) -> Option<u64> {
        self.devices.first().map(|d| d.write_bytes)
    }
}
