//! What a controller does, as numbers and switches.

/// A controller's rules. Where 0 switches a rule off, it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayRules {
    /// Commands it takes at once.
    pub depth: u32,
    /// Firmware's time for each, ns.
    pub firmware_ns: u64,
    /// What bus and XOR engine move; 0: no limit.
    pub link_bytes_per_s: u64,
    /// Bytes of dirty data the cache takes; 0: no write cache.
    pub write_cache_bytes: u64,
    /// Without it a command must be on the disks before it is done.
    pub battery: bool,
    /// Writes of more bytes go past the cache; 0: none do.
    pub bypass_above_bytes: u64,
    /// Writes of more scatter entries go past the cache; 0: none do.
    pub bypass_above_segments: u16,
    /// Whether writes go past the cache when it and all that is outstanding are more than it takes. If not, they wait for room.
    pub bypass_when_overfull: bool,
    /// Commands past the cache that are carried out at the same time; 0: all.
    pub past_at_once: u32,
    /// Commands past the cache that directly follow each other are joined up to this; 0: never.
    pub coalesce_bytes: u64,
    /// Stripes of a command past the cache that are written at the same time; 0: all.
    pub stripes_at_once: u32,
    /// Whether a part of a stripe may be written by reading the rest of it.
    pub reconstruct: bool,
    /// How long a part of a stripe waits in the cache for the rest, ns.
    pub merge_window_ns: u64,
    /// Whole stripes that leave the cache in one access to each member; at least 1.
    pub destage_run: u32,
    /// Such runs at the same time; at least 1.
    pub destage_at_once: u32,
}
