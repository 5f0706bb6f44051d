//! Non-mechanical parameters of a disk: interface, buffer, write cache, queue.

use super::write_cache::WriteCacheRules;

/// Non-mechanical parameters of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskRules {
    /// Overhead per command, ns.
    pub overhead_ns: u64,
    /// Interface rate.
    pub bus_bytes_per_s: u64,
    /// Segments of the read buffer; 0: no buffer.
    pub segments: usize,
    /// Segment size, bytes.
    pub segment_bytes: u64,
    /// Whether the drive reads ahead.
    pub look_ahead: bool,
    /// The write cache; 0 bytes: none.
    pub write_cache: WriteCacheRules,
    /// Maximum number of outstanding commands; with more than one, the nearest goes first.
    pub queue_depth: u32,
    /// A command that has waited longer than this goes first, ns.
    pub age_limit_ns: u64,
}
