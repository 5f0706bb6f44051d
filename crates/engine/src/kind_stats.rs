//! Counters and histogram of each kind of operation of one worker, in memory that the parent reads while it runs.

use fathom_record::histogram::{BUCKETS, bucket_of};
use fathom_record::{Histogram, OpKind, OpStat};
use std::ops::Index;
use std::sync::atomic::{AtomicU64, Ordering};

/// The kinds that workers count here. Opens and other calls on names are counted in rows of flows.
pub(crate) const COUNTED: [OpKind; 10] = [
    OpKind::Read,
    OpKind::Write,
    OpKind::Sync,
    OpKind::Response,
    OpKind::ReadSubmission,
    OpKind::ReadCompletion,
    OpKind::WriteSubmission,
    OpKind::WriteCompletion,
    OpKind::FinalSync,
    OpKind::Trim,
];

/// The kinds whose operations and bytes add up to a stream's.
pub(crate) const DATA: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Trim];

/// One worker's statistics by kind. A kind that is never touched costs address space but no memory.
#[repr(transparent)]
pub(crate) struct KindStats([KindStat; OpKind::ALL.len()]);

impl Index<OpKind> for KindStats {
    type Output = KindStat;

    #[inline(always)]
    fn index(&self, kind: OpKind) -> &KindStat {
        &self.0[kind as usize]
    }
}

impl KindStats {
    pub fn counted(&self) -> impl Iterator<Item = (OpKind, &KindStat)> {
        COUNTED.into_iter().map(|kind| (kind, &self[kind]))
    }

    /// The kinds that happened, for the record.
    pub fn recorded(&self) -> Vec<OpStat> {
        self.counted()
            .filter(|(_, stat)| stat.ops() > 0)
            .map(|(op, s)| OpStat { op, ops: s.ops(), bytes: s.bytes(), latency: s.histogram() })
            .collect()
    }

    /// Clears what the warm-up recorded. Kinds that did not happen are left alone: writing to them would cost page faults.
    pub fn reset(&self) {
        self.counted().filter(|(_, stat)| stat.ops() > 0).for_each(|(_, stat)| stat.reset());
    }

    pub fn data_ops(&self) -> u64 {
        DATA.into_iter().map(|kind| self[kind].ops()).sum()
    }

    pub fn data_bytes(&self) -> u64 {
        DATA.into_iter().map(|kind| self[kind].bytes()).sum()
    }
}

/// Statistics of one kind of operation: written by one worker, read by the parent at any time. A sum may be one operation ahead
/// of a count, which is fine for the interval series.
#[repr(C, align(64))]
pub(crate) struct KindStat {
    ops: AtomicU64,
    bytes: AtomicU64,
    sum_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
    counts: [AtomicU64; BUCKETS],
}

/// Adds without a lock prefix, as there is one writer.
#[inline(always)]
pub(crate) fn add(to: &AtomicU64, value: u64) -> u64 {
    let sum = to.load(Ordering::Relaxed).wrapping_add(value);
    to.store(sum, Ordering::Relaxed);
    sum
}

impl KindStat {
    /// Records one operation. Straight-line code, about 2 ns.
    #[inline(always)]
    pub fn record(&self, ns: u64, bytes: u64) {
        self.record_alike(ns, bytes, 1);
    }

    /// Records `n` operations of equal duration; `bytes` is their total.
    #[inline(always)]
    pub fn record_alike(&self, ns: u64, bytes: u64, n: u64) {
        let ops = add(&self.ops, n);
        add(&self.bytes, bytes);
        add(&self.sum_ns, ns.wrapping_mul(n));
        // The mapping starts zeroed; `ops` distinguishes this from a recorded minimum of 0.
        let min = self.min_ns.load(Ordering::Relaxed);
        if ops == n || ns < min {
            self.min_ns.store(ns, Ordering::Relaxed);
        }
        if ns > self.max_ns.load(Ordering::Relaxed) {
            self.max_ns.store(ns, Ordering::Relaxed);
        }
        add(&self.counts[bucket_of(ns)], n);
    }

    pub fn ops(&self) -> u64 {
        self.ops.load(Ordering::Relaxed)
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn sum_ns(&self) -> u64 {
        self.sum_ns.load(Ordering::Relaxed)
    }

    /// Adds these counters to dense ones.
    pub fn add_counts_to(&self, dense: &mut [u64]) {
        for (sum, count) in dense.iter_mut().zip(&self.counts) {
            *sum += count.load(Ordering::Relaxed);
        }
    }

    /// The finished histogram.
    pub fn histogram(&self) -> Histogram {
        let mut dense = vec![0; BUCKETS];
        self.add_counts_to(&mut dense);
        let (min, max) = (self.min_ns.load(Ordering::Relaxed), self.max_ns.load(Ordering::Relaxed));
        Histogram::from_dense(&dense, u128::from(self.sum_ns()), min, max)
    }

    /// Called by the worker itself.
    pub fn reset(&self) {
        for figure in [&self.ops, &self.bytes, &self.sum_ns, &self.min_ns, &self.max_ns] {
            figure.store(0, Ordering::Relaxed);
        }
        for count in &self.counts {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// Touches every page, so that no page fault is measured.
    pub fn touch(&self) {
        for count in self.counts.iter().step_by(4096 / size_of::<AtomicU64>()) {
            count.store(0, Ordering::Relaxed);
        }
    }
}
