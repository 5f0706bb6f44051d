//! The interval series of each worker, beside that of all workers: its progress per interval, by kind of operation.

use crate::kind_stats::COUNTED;
use crate::shared::Shared;
use fathom_record::{Interval, OpTotal, Worker, WorkerInterval};

/// Operations, bytes and sum of latencies of one kind.
type Sums = (u64, u64, u64);

pub(super) struct ByWorker {
    before: Vec<[Sums; COUNTED.len()]>,
    series: Vec<Vec<WorkerInterval>>,
    /// End of the last interval.
    end_ns: u64,
}

impl ByWorker {
    pub fn new(count: usize) -> Self {
        Self { before: vec![[(0, 0, 0); COUNTED.len()]; count], series: vec![Vec::new(); count], end_ns: 0 }
    }

    /// Follows the common series, whose last interval is new, extended or unchanged.
    pub fn follow(&mut self, shared: &Shared, counting: impl Iterator<Item = usize>, last: &Interval) {
        let begins_ns = last.end_ns.saturating_sub(last.width_ns);
        if begins_ns >= self.end_ns {
            self.begin(shared, counting, last.end_ns, last.width_ns);
        } else if last.end_ns > self.end_ns {
            self.extend(shared, counting, last.end_ns, last.end_ns - self.end_ns);
        }
        self.end_ns = last.end_ns;
    }

    fn begin(&mut self, shared: &Shared, counting: impl Iterator<Item = usize>, end_ns: u64, width_ns: u64) {
        debug_assert!(end_ns > self.end_ns, "an interval ends after the one before it");
        for worker in counting {
            let moved = self.gained(shared, worker);
            self.series[worker].push(WorkerInterval { end_ns, width_ns, moved });
        }
    }

    /// The remainder at the end is too short for a separate interval: it is added to the previous one.
    fn extend(&mut self, shared: &Shared, counting: impl Iterator<Item = usize>, end_ns: u64, more_ns: u64) {
        for worker in counting {
            let gained = self.gained(shared, worker);
            let Some(last) = self.series[worker].last_mut() else { continue };
            last.end_ns = end_ns;
            last.width_ns += more_ns;
            for moved in gained {
                match last.moved.iter_mut().find(|m| m.op == moved.op) {
                    Some(all) => {
                        all.ops += moved.ops;
                        all.bytes += moved.bytes;
                        all.sum_ns += moved.sum_ns;
                    }
                    None => last.moved.push(moved),
                }
            }
        }
    }

    /// Moves each series to its worker.
    pub fn record(self, workers: &mut [Worker]) {
        for (worker, series) in workers.iter_mut().zip(self.series) {
            worker.intervals = series;
        }
    }

    fn gained(&mut self, shared: &Shared, worker: usize) -> Vec<OpTotal> {
        let mut gained = Vec::new();
        for ((op, stat), before) in shared.stats(worker).counted().zip(&mut self.before[worker]) {
            let now = (stat.ops(), stat.bytes(), stat.sum_ns());
            let then = std::mem::replace(before, now);
            let ops = now.0.saturating_sub(then.0);
            if ops > 0 {
                let (bytes, sum_ns) = (now.1.saturating_sub(then.1), now.2.saturating_sub(then.2));
                gained.push(OpTotal { op, ops, bytes, sum_ns });
            }
        }
        gained
    }
}
