//! Counters of the requests of one class on one device, in plain arrays while events pass.

use super::super::activity::{RequestClass, RequestStats, Seeks};
use super::super::event::{RequestFlags, SECTOR_BYTES};
use super::sizes::Sizes;
use crate::Histogram;
use crate::histogram::{BUCKETS, bucket_of};

/// The class of a request. The kernel shows an empty flush-only request as a write of nothing; a write preceded by a flush is a
/// write.
#[inline]
pub(super) fn class_of(flags: RequestFlags, sectors: u32) -> RequestClass {
    if flags.has(RequestFlags::READ) {
        RequestClass::Read
    } else if flags.has(RequestFlags::DISCARD) {
        RequestClass::Discard
    } else if flags.has(RequestFlags::WRITE) && (sectors > 0 || !flags.has(RequestFlags::PREFLUSH)) {
        RequestClass::Write
    } else if flags.has(RequestFlags::PREFLUSH) {
        RequestClass::Flush
    } else {
        RequestClass::Other
    }
}

#[inline]
pub(super) fn bytes_of(sectors: u32) -> u64 {
    u64::from(sectors) * SECTOR_BYTES
}

#[derive(Default)]
pub(super) struct ClassTally {
    pub(super) issued: u64,
    pub(super) issued_bytes: u64,
    pub(super) completed: u64,
    pub(super) completed_bytes: u64,
    pub(super) errors: u64,
    ahead: u64,
    sync: u64,
    meta: u64,
    fua: u64,
    pub(super) bios: u64,
    pub(super) back_merges: u64,
    pub(super) front_merges: u64,
    pub(super) request_merges: u64,
    pub(super) sizes: Sizes,
    seeks: SeekTally,
    pub(super) d2c: Times,
    pub(super) q2d: Times,
}

impl ClassTally {
    #[inline]
    pub(super) fn issue(&mut self, flags: RequestFlags, sector: u64, sectors: u32) {
        self.issued += 1;
        self.ahead += u64::from(flags.has(RequestFlags::AHEAD));
        self.sync += u64::from(flags.has(RequestFlags::SYNC));
        self.meta += u64::from(flags.has(RequestFlags::META));
        self.fua += u64::from(flags.has(RequestFlags::FUA));
        if sectors > 0 {
            self.issued_bytes = self.issued_bytes.saturating_add(bytes_of(sectors));
            self.sizes.add(sectors);
            self.seeks.add(sector, sectors);
        }
    }

    /// The stored form; includes merges and waiting times only if queueing was watched.
    pub(super) fn stats(&self, class: RequestClass, queueing: bool) -> RequestStats {
        let watched = |n: u64| queueing.then_some(n);
        RequestStats {
            class,
            issued: self.issued,
            issued_bytes: self.issued_bytes,
            completed: self.completed,
            completed_bytes: self.completed_bytes,
            errors: self.errors,
            ahead: self.ahead,
            sync: self.sync,
            meta: self.meta,
            fua: self.fua,
            bios: watched(self.bios),
            back_merges: watched(self.back_merges),
            front_merges: watched(self.front_merges),
            request_merges: watched(self.request_merges),
            sizes: self.sizes.counts(),
            seeks: self.seeks.seeks(),
            d2c: self.d2c.histogram(),
            q2d: self.q2d.histogram(),
        }
    }

    pub(super) fn occurred(&self) -> bool {
        self.issued + self.completed + self.bios + self.back_merges + self.front_merges + self.request_merges
            > 0
    }
}

/// Highest power of two for distances in bytes: 2^64 sectors.
const POWERS: usize = 73;

/// Where requests began, relative to the end of the previous one.
struct SeekTally {
    end: Option<u64>,
    sequential: u64,
    forward: u64,
    backward: u64,
    distances: [u64; POWERS],
    total_sectors: u128,
}

impl Default for SeekTally {
    fn default() -> Self {
        Self { end: None, sequential: 0, forward: 0, backward: 0, distances: [0; POWERS], total_sectors: 0 }
    }
}

impl SeekTally {
    #[inline]
    fn add(&mut self, sector: u64, sectors: u32) {
        let end = self.end.replace(sector.saturating_add(u64::from(sectors)));
        let Some(end) = end else { return };
        if sector == end {
            self.sequential += 1;
            return;
        }
        if sector > end {
            self.forward += 1;
        } else {
            self.backward += 1;
        }
        let distance = sector.abs_diff(end);
        self.distances[(distance.ilog2() + SECTOR_BYTES.ilog2()) as usize] += 1;
        self.total_sectors += u128::from(distance);
    }

    fn seeks(&self) -> Seeks {
        let distances = (0..).zip(self.distances).filter(|&(_, n)| n > 0).collect();
        Seeks {
            sequential: self.sequential,
            forward: self.forward,
            backward: self.backward,
            distances,
            total_bytes: self.total_sectors * u128::from(SECTOR_BYTES),
        }
    }
}

/// Durations in a dense histogram, allocated at the first one.
#[derive(Default)]
pub(super) struct Times {
    counts: Vec<u64>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Times {
    #[inline]
    pub(super) fn add(&mut self, ns: u64) {
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKETS];
            self.min_ns = u64::MAX;
        }
        self.counts[bucket_of(ns)] += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    fn histogram(&self) -> Histogram {
        Histogram::from_dense(&self.counts, self.sum_ns, self.min_ns, self.max_ns)
    }
}
