//! Counters of a reader: pages requested, found and read ahead, and requests to the device with sizes, distances and times. Plain
//! numbers; a copy is a snapshot.

use fathom_iopath::Nanos;
use std::collections::BTreeMap;

/// Distances are counted in powers of two of 512-byte sectors: bucket 0 is no distance, bucket n starts at 2^(n-1).
pub const DISTANCES: usize = 42;

/// Counts since the reader was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Pages requested by calls.
    pub pages_asked: u64,
    /// Of these, found in the cache or already being read.
    pub pages_cached: u64,
    /// Pages read on demand.
    pub pages_read: u64,
    /// Pages read ahead.
    pub pages_ahead: u64,
    /// Pages read ahead and evicted before use.
    pub pages_unused: u64,
    /// Pages not read ahead because every page of the cache was in use.
    pub pages_no_room: u64,
    /// Pages that were partly unreadable.
    pub pages_failed: u64,
    /// Requests sent to the device.
    pub requests: u64,
    /// Bytes of those requests.
    pub bytes: u64,
    /// Pieces merged behind another one into a request.
    pub joined: u64,
    /// Pieces read again after their request failed.
    pub retries: u64,
    /// Requests by their size in bytes, rounded up to 2 KiB.
    pub sizes: BTreeMap<u64, u64>,
    /// Requests by the distance from the end of the previous one.
    pub distances: [u64; DISTANCES],
    /// Sum of the times that requests waited for the device.
    pub queued: Nanos,
    /// Longest wait for the device.
    pub queued_longest: Nanos,
    /// Sum of the device's service times.
    pub served: Nanos,
    /// Longest service time.
    pub served_longest: Nanos,
    /// Maximum number of requests in flight at the device.
    pub deepest: u32,
    /// Times that the elevator chose a request because its deadline had passed.
    pub expired: u64,
    /// Pieces delivered by another caller's read of the same blocks.
    pub attached: u64,
    /// Read-ahead requests that a caller began to wait for while they were queued.
    pub promoted: u64,
    /// Read-ahead pages cancelled before they went to the device.
    pub pages_withdrawn: u64,
    /// Gaps between two requests that were read, too.
    pub bridged: u64,
    /// Bytes of those gaps.
    pub bridged_bytes: u64,
    /// Pages of small files prefetched after earlier files of their directory.
    pub pages_small_files: u64,
    /// Reads of directories in advance. If the kernel caches content, they are separate requests; with our own cache they go through it,
    /// and the requests above include them.
    pub directory_reads: u64,
    /// Bytes of those reads.
    pub directory_bytes: u64,
    /// Directories parsed in advance.
    pub directories: u64,
    /// Pages freed after a time without reads.
    pub pages_given_back: u64,
    /// Bytes of the pages held now.
    pub cache_bytes: u64,
    /// Maximum number of bytes to hold.
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
    /// Counts a request sent to the device.
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

    /// Counts a completed request.
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
