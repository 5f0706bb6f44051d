//! Latencies of arrivals by operation, from the scheduled time until all parts are done. A closed replay schedules no arrival before it
//! can be submitted, so none counts as late.

use fathom_iopath::Op;
use fathom_record::histogram::{BUCKETS, Histogram, bucket_of};
use fathom_record::{OpKind, OpStat};

/// Completed arrivals of one kind.
#[derive(Clone, Debug, Default)]
struct LatencyStats {
    /// Allocated on first use.
    buckets: Vec<u64>,
    count: u64,
    bytes: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl LatencyStats {
    #[inline]
    fn add(&mut self, bytes: u64, ns: u64) {
        if self.count == 0 {
            self.buckets = vec![0; BUCKETS];
            self.min_ns = u64::MAX;
        }
        self.count += 1;
        self.bytes += bytes;
        self.buckets[bucket_of(ns)] += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }
}

/// Completed arrivals by kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    reads: LatencyStats,
    writes: LatencyStats,
    flushes: LatencyStats,
}

impl Served {
    /// Adds a completed arrival.
    #[inline]
    pub fn add(&mut self, op: Op, bytes: u64, ns: u64) {
        match (op, bytes) {
            (Op::Read, _) => self.reads.add(bytes, ns),
            (_, 0) => self.flushes.add(0, ns),
            _ => self.writes.add(bytes, ns),
        }
    }

    /// Statistics of the kinds that occurred.
    pub fn stats(&self) -> Vec<OpStat> {
        [(OpKind::Read, &self.reads), (OpKind::Write, &self.writes), (OpKind::Sync, &self.flushes)]
            .into_iter()
            .filter(|(_, times)| times.count > 0)
            .map(|(op, t)| OpStat {
                op,
                ops: t.count,
                bytes: t.bytes,
                latency: Histogram::from_dense(&t.buckets, t.sum_ns, t.min_ns, t.max_ns),
            })
            .collect()
    }
}
