//! libaio without O_DIRECT: the kernel does the operation inside of io_submit, so that one is in flight and not many.

use super::facts::Facts;
use super::{evidence, finding};
use fathom_record::Finding;

const ENOUGH_REQUESTS: u64 = 50;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let depth = facts.phase.axes.queue_depth.filter(|depth| *depth > 1)?;
    // Where the cache answers, nothing waits.
    let requests: u64 = facts.device()?.requests.iter().map(|r| r.issued).sum();
    if !facts.asked.aio || facts.phase.direct || requests < ENOUGH_REQUESTS {
        return None;
    }
    Some(finding(
        format!(
            "libaio without O_DIRECT does one operation at a time: each waits inside of io_submit, and the queue depth of {depth} is never reached."
        ),
        "Use O_DIRECT (direct=1), or io_uring, which queues buffered operations, too.",
        vec![
            evidence("queue depth asked for", depth as f64, "operations", "the workload"),
            evidence("requests at the device", requests as f64, "requests", super::EVENTS),
        ],
    ))
}
