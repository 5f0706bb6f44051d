//! Latencies by I/O priority, from the operations that a worker logged.

use crate::spool::{Does, Operation, Operations};
use fathom_record::histogram::{BUCKETS, bucket_of};
use fathom_record::{Histogram, PriorityStat};
use std::collections::BTreeMap;

/// A histogram under construction.
struct Dense {
    counts: Vec<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

impl Dense {
    fn new() -> Self {
        Self { counts: vec![0; BUCKETS], sum: 0, min: u64::MAX, max: 0 }
    }

    fn add(&mut self, ns: u64) {
        if let Some(count) = self.counts.get_mut(bucket_of(ns)) {
            *count += 1;
        }
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    fn histogram(&self) -> Histogram {
        Histogram::from_dense(&self.counts, self.sum, self.min, self.max)
    }
}

/// Total and completion latencies of every direction and priority.
pub(crate) fn of(operations: &Operations) -> std::io::Result<Vec<PriorityStat>> {
    let mut found: BTreeMap<(bool, u16), [Dense; 2]> = BTreeMap::new();
    for operation in operations.read()? {
        let Operation { does, priority, latency_ns, submission_ns, .. } = operation?;
        let write = match does {
            Does::Read => false,
            Does::Write => true,
            // Executed synchronously, by a call without a priority.
            Does::Trim => continue,
        };
        let [whole, completion] =
            found.entry((write, priority)).or_insert_with(|| [Dense::new(), Dense::new()]);
        whole.add(latency_ns);
        completion.add(latency_ns.saturating_sub(submission_ns));
    }
    let stat = |((write, priority), [whole, completion]): ((bool, u16), [Dense; 2])| PriorityStat {
        worker: operations.worker,
        write,
        priority,
        latency: whole.histogram(),
        completion: completion.histogram(),
    };
    Ok(found.into_iter().map(stat).collect())
}
