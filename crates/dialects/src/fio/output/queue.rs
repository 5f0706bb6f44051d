//! Queue depths and batch sizes of submission and completion calls, as fio reports them.

use crate::fio::plan::Job;
use fathom_record::{InFlight, Worker};
use fathom_workload::Backend;

/// Assumed counts of a worker that recorded none: full depth, and one operation per call. As in fio, only the unqueued null engine
/// submits nothing.
pub fn planned(job: &Job, worker: &Worker) -> InFlight {
    // Trims are done one at a time.
    let most = if job.stream.direction.trims() { 1 } else { job.stream.queue_depth };
    let depth = worker.settled_depth.unwrap_or(most) as usize;
    let mut one = InFlight::default();
    one.submitted(1, depth);
    one.completed(1);
    let queues = matches!(job.settings.number("iodepth"), Ok(Some(2..)));
    if job.stream.backend == Backend::Null && !queues {
        (one.submit, one.complete) = Default::default();
    }
    for counts in [&mut one.depth, &mut one.submit, &mut one.complete] {
        counts.iter_mut().for_each(|n| *n *= worker.ops);
    }
    one
}

/// Percentages; any nonzero count is at least 0.1.
pub fn shares(counts: [u64; 7]) -> [f64; 7] {
    let all: u64 = counts.iter().sum();
    counts.map(|n| if n == 0 { 0.0 } else { (n as f64 * 100.0 / all as f64).max(0.1) })
}
