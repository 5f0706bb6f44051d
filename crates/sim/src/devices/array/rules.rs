//! Rules of a controller, as numbers and switches.

/// Rules of a controller. Fields for which 0 switches the rule off say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayRules {
    /// Maximum number of commands outstanding at once.
    pub depth: u32,
    /// Firmware time per command, ns.
    pub firmware_ns: u64,
    /// Limit of bus and XOR engine; 0: no limit.
    pub link_bytes_per_s: u64,
    /// Capacity for dirty data, bytes; 0: no write cache.
    pub write_cache_bytes: u64,
    /// Whether the cache is battery-backed. If not, a command must be on the disks before it is done.
    pub battery: bool,
    /// Writes of more bytes bypass the cache; 0: none do.
    pub bypass_above_bytes: u64,
    /// Writes with more scatter entries bypass the cache; 0: none do.
    pub bypass_above_segments: u16,
    /// Whether writes bypass the cache when the dirty and outstanding data exceed its capacity. If not, they wait for space.
    pub bypass_when_overfull: bool,
    /// Bypassing commands executed in parallel; 0: all.
    pub bypass_at_once: u32,
    /// Contiguous bypassing commands are joined up to this size; 0: never.
    pub coalesce_bytes: u64,
    /// Stripes of a bypassing command written in parallel; 0: all.
    pub stripes_at_once: u32,
    /// Whether a partial stripe write may read the rest of the stripe to compute parity.
    pub reconstruct: bool,
    /// How long a partial stripe waits in the cache for the rest, ns.
    pub merge_window_ns: u64,
    /// Full stripes written back in one access to each member; at least 1.
    pub destage_run: u32,
    /// Such runs in parallel; at least 1.
    pub destage_at_once: u32,
}
