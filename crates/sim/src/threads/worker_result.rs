//! Results of one worker, accumulated during the run and converted to a worker of a record at the end.

use fathom_record::histogram::{BUCKETS, bucket_of};
use fathom_record::{Ending, Histogram, Marks, OpKind, OpLogEntry, OpStat, Row, Worker};
use std::collections::BTreeMap;

/// Latencies of one kind of operation.
pub(crate) struct LatencyTally {
    ops: u64,
    bytes: u64,
    counts: Vec<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for LatencyTally {
    fn default() -> Self {
        Self { ops: 0, bytes: 0, counts: vec![0; BUCKETS], sum: 0, min: u64::MAX, max: 0 }
    }
}

impl LatencyTally {
    /// Records one operation.
    pub fn record(&mut self, latency_ns: u64, bytes: u64) {
        self.ops += 1;
        self.bytes += bytes;
        self.counts[bucket_of(latency_ns)] += 1;
        self.sum += u128::from(latency_ns);
        self.min = self.min.min(latency_ns);
        self.max = self.max.max(latency_ns);
    }

    pub fn ops(&self) -> u64 {
        self.ops
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn histogram(&self) -> Histogram {
        Histogram::from_dense(&self.counts, self.sum, self.min, self.max)
    }
}

#[derive(Default)]
pub(crate) struct WorkerResult {
    pub group: String,
    pub index: u32,
    pub released_ns: u64,
    /// Time at which it began to count.
    pub start_ns: u64,
    pub last_ns: u64,
    pub elapsed_ns: u64,
    pub uncounted_bytes: u64,
    pub ramp_ops: u64,
    pub drained_ops: u64,
    pub behind_ns: u64,
    /// CPU time before it began to count, and at the end.
    pub cpu_before_ns: u64,
    pub cpu_ns: u64,
    pub fsync_ns: u64,
    pub close_ns: u64,
    pub ending: Ending,
    pub log: Vec<OpLogEntry>,
    /// For a flow: its rows, and statistics of the kinds that are counted there only.
    pub rows: Vec<Row>,
    pub more_stats: Vec<OpStat>,
    /// For a flow: I/O operations that neither read nor write data, and their nominal bytes.
    pub(super) other: (u64, u64),
    pub(super) stats: BTreeMap<OpKind, LatencyTally>,
}

impl WorkerResult {
    /// For a worker released at `released_ns`.
    pub fn of(group: String, index: usize, released_ns: u64) -> Self {
        Self { group, index: index as u32, released_ns, start_ns: released_ns, ..Self::default() }
    }

    /// Records an operation of this latency.
    pub fn record(&mut self, op: OpKind, latency_ns: u64, bytes: u64) {
        self.stats.entry(op).or_default().record(latency_ns, bytes);
    }

    /// Records an I/O operation that neither reads nor writes data.
    pub fn other_io(&mut self, bytes: u64) {
        self.other.0 += 1;
        self.other.1 += bytes;
    }

    /// Discards everything counted so far.
    pub fn forget(&mut self) {
        self.stats.clear();
        self.other = (0, 0);
    }

    /// Counted reads and writes.
    pub fn operations(&self) -> u64 {
        self.of_both(|s| s.ops)
    }

    fn of_both(&self, figure: impl Fn(&LatencyTally) -> u64) -> u64 {
        [OpKind::Read, OpKind::Write].iter().filter_map(|op| self.stats.get(op)).map(figure).sum()
    }

    /// Converts to a record's worker; times count from the release of the first worker.
    pub fn into_worker(self, first_ns: u64) -> Worker {
        let (ops, bytes) = (self.operations() + self.other.0, self.of_both(|s| s.bytes) + self.other.1);
        let stats = self.stats.iter().map(|(&op, s)| OpStat {
            op,
            ops: s.ops,
            bytes: s.bytes,
            latency: s.histogram(),
        });
        Worker {
            group: self.group.clone(),
            index: self.index,
            start_ns: self.start_ns.saturating_sub(first_ns),
            elapsed_ns: self.elapsed_ns,
            bytes,
            ops,
            uncounted_bytes: self.uncounted_bytes,
            cpu_user_ns: 0,
            cpu_system_ns: self.cpu_ns.saturating_sub(self.cpu_before_ns),
            thread_counts: None,
            marks: Marks {
                last_op_ns: self.last_ns.saturating_sub(self.start_ns),
                fsync_ns: self.fsync_ns,
                close_ns: self.close_ns,
            },
            drained_ops: self.drained_ops,
            ramp_ops: self.ramp_ops,
            settled_depth: None,
            behind_ns: self.behind_ns,
            stats: stats.chain(self.more_stats).collect(),
            rows: self.rows,
            ending: self.ending,
            passed: None,
            in_flight: None,
            op_log: self.log,
            intervals: Vec::new(),
        }
    }
}
