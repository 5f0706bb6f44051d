//! The numbers of a disk that are not mechanical: interface, buffer, write cache, queue.

use super::write_cache::WriteCacheRules;

/// What is not mechanical of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskRules {
    /// Before each command, ns.
    pub overhead_ns: u64,
    /// Of the interface.
    pub bus_bytes_per_s: u64,
    /// Segments of the read buffer.
    pub segments: usize,
    /// Bytes of one.
    pub segment_bytes: u64,
    /// Whether it goes on reading.
    pub look_ahead: bool,
    /// The write cache; 0 bytes is none.
    pub write_cache: WriteCacheRules,
    /// Commands at once; with more than one what is reached soonest goes first.
    pub queue_depth: u32,
    /// A command that waited for longer goes first whatever its place, ns.
    pub age_limit_ns: u64,
}
