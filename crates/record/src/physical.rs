//! What the kernel's own counters say about a phase: what the block device moved, what this program's I/O accounting says, what
//! was in the page cache. Anything unavailable is `None`, with the reason in words.

use crate::cache::UnwrittenData;
use serde::{Deserialize, Serialize};

/// Block-layer and accounting figures over one repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Physical {
    /// Source: "diskstats", "memory" (no device below), "mountstats" (a server), "fuse-server" (what the program behind a FUSE
    /// file system reads), "nvme" (commands that the kernel does not count), "no-io" (no operation made a call), or "none".
    pub method: String,
    /// The devices below the file system: the one nearest to it first, then what it is made of.
    pub devices: Vec<DeviceDelta>,
    /// Why there is no device, or what limits the figures.
    pub note: Option<String>,
    /// Bytes our own processes, or the program that serves our files, caused to be read from storage (/proc/PID/io read_bytes).
    pub own_read_bytes: Option<u64>,
    /// Bytes our own processes dirtied or wrote to storage (/proc/self/io write_bytes; buffered writes count when dirtied).
    pub own_write_bytes: Option<u64>,
    /// Bytes the file system's own device had written when the last worker's clock stopped, less what cannot have been ours
    /// because our data was still dirty then. Later writes (an fsync or close outside the timed interval) are not part of any
    /// rate. `None` if the counter was not read at that time.
    pub written_in_clock_bytes: Option<u64>,
    /// How much of our files waited in memory to be written at the three points in time; `None` if the kernel does not report
    /// it or nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<UnwrittenData>,
    /// How the file system compresses what is written ("zstd:3"), so that fewer bytes move than were requested; `None` if it
    /// does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<String>,
    /// Dirty plus write-back pages of the whole machine at the start, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_before_bytes: Option<u64>,
    /// The same at the end.
    pub dirty_after_bytes: Option<u64>,
    /// CPU time of all programs on the machine until the last worker's clock stopped, ns, in ticks of 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_cpu_ns: Option<u64>,
    /// Bytes that the image files of the file system's own loop devices gained in the page cache while the clock ran: the disks
    /// below read no more than that for us. `None` without such devices, with direct I/O, in a phase that writes, and if much
    /// left the machine's page cache meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_cached_bytes: Option<u64>,
}

/// Activity of one block device between two readings of /proc/diskstats. Other programs' I/O is included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceDelta {
    /// Kernel name: "vda", "loop0", "nvme0n1p2".
    pub name: String,
    /// 0 for the devices the file system uses directly, 1 for their components, and so on.
    #[serde(default)]
    pub level: u32,
    /// "disk", "partition", "device-mapper", "md", "multipath" (an NVMe namespace above its paths), "loop", "ram" (zram, brd, a
    /// loop device whose file is in memory, and what stands on nothing else), "journal" (any device that holds only the file system's journal, or carries one that does),
    /// "server" (no block device: traffic with a network file system's server), or "served" (what the program behind a FUSE
    /// file system reads from storage); empty if unknown, and for a sum of different kinds.
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
    /// Writes merged into others while queued.
    pub write_merges: u64,
    /// Completed flushes.
    pub flush_ios: u64,
    /// Completed discards.
    pub discard_ios: u64,
    /// Milliseconds with something in flight.
    pub busy_ms: u64,
    /// Sum of all reads' durations, ms.
    #[serde(default)]
    pub read_ms: u64,
    /// Sum of all writes' durations, ms.
    #[serde(default)]
    pub write_ms: u64,
    /// Sum of the in-flight times of requests of any kind, ms.
    #[serde(default)]
    pub queue_ms: u64,
}

/// How much of the files was in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residency {
    /// Pages of the files.
    pub total_pages: u64,
    /// Pages of the files in the page cache.
    pub cached_pages: u64,
    /// Dirty pages among those.
    pub dirty_pages: u64,
    /// Pages among those under write-back.
    pub writeback_pages: u64,
}

impl Residency {
    /// Cached share, 0..=1; `None` for empty files.
    #[must_use]
    pub fn cached_share(&self) -> Option<f64> {
        (self.total_pages > 0).then(|| self.cached_pages as f64 / self.total_pages as f64)
    }
}

/// A level of a stack at which some devices are main memory and others are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartMemory<'a> {
    /// Those that are.
    pub memory: Vec<&'a DeviceDelta>,
    /// Those that are not.
    pub storage: Vec<&'a DeviceDelta>,
}

/// A file used as a disk. Its I/O may never reach a real disk.
pub(crate) const LOOP: &str = "loop";
/// Main memory used as a disk.
pub(crate) const RAM: &str = "ram";
/// A file server; its "device" counters are network traffic.
pub(crate) const SERVER: &str = "server";
/// Maximum depth of a stack, as in `observe`. A search through the levels of a record ends here.
pub(crate) const DEEPEST: u32 = 64;
/// A device that holds only the file system's journal.
pub const JOURNAL: &str = "journal";
/// Method: NVMe commands, which the kernel does not count.
pub const PASSTHROUGH: &str = "nvme";
/// Method: no operation made a call.
pub const NO_IO: &str = "no-io";

impl Physical {
    /// The devices of one level that hold files. The file system's own device is one entry, the first; if it uses several, that
    /// entry is their sum and the parts are not listed again.
    #[must_use]
    pub fn level(&self, level: u32) -> Vec<&DeviceDelta> {
        if level == 0 {
            return self.devices.first().into_iter().collect();
        }
        self.devices.iter().filter(|d| d.level == level && d.kind != JOURNAL).collect()
    }

    /// The device of the file system's journal, if it differs from that of the files.
    #[must_use]
    pub fn journal(&self) -> Option<&DeviceDelta> {
        self.devices.iter().skip(1).find(|d| d.level == 0 && d.kind == JOURNAL)
    }

    /// Whether the device of this name holds only a journal, no files.
    #[must_use]
    pub fn is_journal(&self, name: &str) -> bool {
        self.devices.iter().any(|d| d.name == name && d.kind == JOURNAL)
    }

    /// The lowest level with counters; 0 also if there are no devices.
    #[must_use]
    pub fn lowest_level(&self) -> u32 {
        self.devices.iter().filter(|d| d.kind != JOURNAL).map(|d| d.level).max().unwrap_or(0)
    }

    /// Like [`Physical::level`], but if the file system uses several devices, it lists each of them and not their sum.
    #[must_use]
    pub fn parts(&self, level: u32) -> Vec<&DeviceDelta> {
        match self.devices.first() {
            Some(sum) if level == 0 && sum.name.contains('+') => {
                self.devices.iter().skip(1).filter(|d| d.level == 0 && d.kind != JOURNAL).collect()
            }
            _ => self.level(level),
        }
    }

    /// Whether the file system lives in main memory: its own devices, or everything at the bottom of the stack.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        let all_ram = |level| {
            let devices = self.level(level);
            !devices.is_empty() && devices.iter().all(|d| d.kind == RAM)
        };
        // The lowest level may lie below only one of several devices. RAM there does not put the whole file system in memory.
        self.method == "memory"
            || all_ram(0)
            || all_ram(self.lowest_level()) && self.first_in_part().is_none()
    }

    /// Where part of the stack is main memory, and the rest is not; `None` if all or nothing is.
    #[must_use]
    pub fn part_memory(&self) -> Option<PartMemory<'_>> {
        self.first_in_part().filter(|_| !self.is_memory())
    }

    /// The highest level that has both RAM and other devices.
    fn first_in_part(&self) -> Option<PartMemory<'_>> {
        (0..=self.lowest_level().min(DEEPEST)).find_map(|level| {
            let (memory, storage): (Vec<_>, Vec<_>) =
                self.parts(level).into_iter().partition(|d| d.kind == RAM);
            (!memory.is_empty() && !storage.is_empty()).then_some(PartMemory { memory, storage })
        })
    }

    /// Whether the figures are what a program in user space read for us: its pages may lie in memory whatever we ask for, and it may
    /// read for others.
    #[must_use]
    pub fn is_served(&self) -> bool {
        self.method == "fuse-server"
    }

    /// Whether operations were NVMe commands, which bypass the page cache and which the kernel does not count.
    #[must_use]
    pub fn is_passthrough(&self) -> bool {
        self.method == PASSTHROUGH
    }

    /// Whether no operation made a call (the back-end null).
    #[must_use]
    pub fn no_io(&self) -> bool {
        self.method == NO_IO
    }

    /// Bytes read by the file system's own device; `None` if there is none.
    #[must_use]
    pub fn device_read_bytes(&self) -> Option<u64> {
        self.devices.first().map(|d| d.read_bytes)
    }

    /// Bytes written by the file system's own device; `None` if there is none.
    #[must_use]
    pub fn device_write_bytes(&self) -> Option<u64> {
        self.devices.first().map(|d| d.write_bytes)
    }
}
