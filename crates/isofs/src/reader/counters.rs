//! What a reader counts: pages as they are asked for, found and read ahead, and requests as the device gets them, with sizes, distances
//! and times. Plain numbers; a copy is a snapshot.

use fathom_iopath::Nanos;
use std::collections::BTreeMap;

/// Distances are counted by powers of two of sectors of 512 bytes: 0 is none at all, n is 2^(n-1) and up to the next.
pub const DISTANCES: usize = 42;

/// Counts since the reader was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Pages that calls walked over.
    pub pages_asked: u64,
    /// Of these, found in the cache, or being read already.
    pub pages_cached: u64,
    /// Pages read because somebody waited.
    pub pages_read: u64,
    /// Pages read ahead.
    pub pages_ahead: u64,
    /// Pages read ahead and dropped before anybody wanted them.
    pub pages_unused: u64,
    /// Pages that could not be read ahead because every page of the cache was in use.
    pub pages_no_room: u64,
    /// Pages of which a part could not be read.
    pub pages_failed: u64,
    /// Requests that the device got.
    pub requests: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Pieces that went to the device together with another one in front of them.
    pub joined: u64,
    /// Pieces that were read again after the request that held them had failed.
    pub retries: u64,
    /// Requests by their size in bytes, rounded up to 2 KiB.
    pub sizes: BTreeMap<u64, u64>,
    /// Requests by the distance between the end of the one before and their start.
    pub distances: [u64; DISTANCES],
    /// Sum of the times that requests waited before the device got them.
    pub queued: Nanos,
    /// Longest of these.
    pub queued_longest: Nanos,
    /// Sum of the times that the device took.
    pub served: Nanos,
    /// Longest of these.
    pub served_longest: Nanos,
    /// Most requests with the device at once.
    pub deepest: u32,
    /// Times that the elevator went to a request because it was overdue.
    pub expired: u64,
    /// Pieces that were brought by somebody else's read of the same blocks.
    pub attached: u64,
    /// Requests that were read ahead and that somebody came to wait for while they were queued.
    pub promoted: u64,
    /// Pages read ahead that were no longer wanted before they went to the device.
    pub pages_withdrawn: u64,
    /// Holes between two requests that were read along.
    pub bridged: u64,
    /// Bytes of these.
    pub bridged_bytes: u64,
    /// Pages of small files, read because files before them in their directory were opened.
    pub pages_small_files: u64,
    /// Reads of directories in advance. Where the kernel keeps contents they are requests of their own; with a cache of our own they go
    /// through it, and what the device gets of them is among the requests above, too.
    pub directory_reads: u64,
    /// Bytes of these.
    pub directory_bytes: u64,
    /// Directories that were taken apart in advance.
    pub directories: u64,
    /// Pages dropped because nobody had read anything for a while.
    pub pages_given_back: u64,
    /// Bytes of the pages that are held now.
    pub cache_bytes: u64,
    /// Most bytes that are to be held.
    pub cache_limit: u64,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            pages_asked: 0,
            pages_cached: 0,
            pages_read: 0,
            pages_ahead: 0,
            pages_unused: 0,
            pages_no_room: 0,
            pages_failed: 0,
            requests: 0,
            bytes: 0,
            joined: 0,
            retries: 0,
            sizes: BTreeMap::new(),
            distances: [0; DISTANCES],
            queued: Nanos::ZERO,
            queued_longest: Nanos::ZERO,
            served: Nanos::ZERO,
            served_longest: Nanos::ZERO,
            deepest: 0,
            expired: 0,
            attached: 0,
            promoted: 0,
            pages_withdrawn: 0,
            bridged: 0,
            bridged_bytes: 0,
            pages_small_files: 0,
            directory_reads: 0,
            directory_bytes: 0,
            directories: 0,
            pages_given_back: 0,
            cache_bytes: 0,
            cache_limit: 0,
        }
    }
}

impl Counters {
    /// A request goes to the device.
    pub(super) fn issued(&mut self, bytes: u64, parts: usize, distance_sectors: u64, waited: Nanos) {
        self.requests += 1;
        self.bytes += bytes;
        self.joined += u64::try_from(parts).unwrap_or(u64::MAX).saturating_sub(1);
        *self.sizes.entry(bytes.next_multiple_of(2048)).or_default() += 1;
        let class = distance_sectors.checked_ilog2().map_or(0, |log| log + 1);
        self.distances[usize::try_from(class).unwrap_or(DISTANCES).min(DISTANCES - 1)] += 1;
        self.queued += waited;
        self.queued_longest = self.queued_longest.max(waited);
    }

    /// The device is done with one.
    pub(super) fn served(&mut self, took: Nanos) {
        self.served += took;
        self.served_longest = self.served_longest.max(took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_sorted_by_size_and_distance() {
        let mut counters = Counters::default();
        counters.issued(2048, 1, 0, Nanos(5));
        counters.issued(3000, 3, 1, Nanos(2));
        counters.issued(4096, 1, u64::MAX, Nanos(1));
        assert_eq!(counters.sizes, BTreeMap::from([(2048, 1), (4096, 2)]));
        assert_eq!(
            (counters.distances[0], counters.distances[1], counters.distances[DISTANCES - 1]),
            (1, 1, 1)
        );
        assert_eq!((counters.joined, counters.queued, counters.queued_longest), (2, Nanos(8), Nanos(5)));
    }
}
