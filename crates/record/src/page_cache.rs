//! What happened to the page cache while a repetition ran, as the kernel's own events show it.

use serde::{Deserialize, Serialize};

/// Pages of the measured files, pauses of the measured threads, and syncs by other programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageCacheEvents {
    /// Pages that entered and left; `None` if this kernel has no such events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageMoves>,
    /// Pauses of the measured threads because much memory was dirty; `None` if this kernel has no such events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
    /// Other programs that called sync(2) or syncfs(2) for the file system, the most calls first; `None` if this kernel has no such events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncers: Option<Vec<Programs>>,
    /// Changes to the file system through its journal (ext4 only); `None` if there were none, or this kernel has no such events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalChanges>,
}

/// Changes to a file system through its journal, by programs. What the kernel writes back later is not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalChanges {
    /// Changes by the measured program.
    pub own: u64,
    /// Other programs, the most changes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Programs>,
}

impl JournalChanges {
    /// Changes by all other programs.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.others.iter().fold(0, |sum, changer| sum.saturating_add(changer.times))
    }
}

/// Programs of one name that did something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Programs {
    /// Their name.
    pub name: String,
    /// Their processes: a shell's `sync` is a new one each time.
    pub processes: Vec<u32>,
    /// How often they did it.
    pub times: u64,
}

/// Pages of the measured files that entered and left the page cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMoves {
    /// Bytes that calls of the measured threads brought in, read-ahead included.
    pub own_bytes: u64,
    /// Bytes that other programs brought in.
    pub others_bytes: u64,
    /// Bytes that left the page cache, for any reason.
    pub removed_bytes: u64,
    /// Programs that took pages out, the largest amount first. The rest of `removed_bytes` was deleted or truncated by the workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removers: Vec<Remover>,
    /// Number of pages and removing programs that the tables had no room for. If not 0, all figures are lower bounds.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub uncounted: u64,
}

/// A program that took pages of the measured files out of the page cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remover {
    /// Its name.
    pub name: String,
    /// Its process; 0 if it is outside of our PID namespace.
    pub process: u32,
    /// Bytes taken out although it needed no memory: `posix_fadvise`, `drop_caches`, a write with O_DIRECT, truncation.
    pub dropped_bytes: u64,
    /// Bytes taken out because it, or the machine, needed memory.
    pub reclaimed_bytes: u64,
}

/// Pauses of the measured threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// How many.
    pub count: u64,
    /// Sum of their durations, ns.
    pub total_ns: u64,
}

impl PageMoves {
    /// Bytes that other programs took out without needing memory.
    #[must_use]
    pub fn dropped_bytes(&self) -> u64 {
        self.removers.iter().fold(0, |sum, r| sum.saturating_add(r.dropped_bytes))
    }
}
