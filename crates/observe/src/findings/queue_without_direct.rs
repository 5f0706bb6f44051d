//! libaio without O_DIRECT: the kernel executes the operation inside io_submit, so only one is in flight.

use super::facts::Facts;
use super::{evidence, finding};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

const ENOUGH_REQUESTS: u64 = 50;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let depth = facts.phase.axes.queue_depth.filter(|depth| *depth > 1)?;
    let reads = facts.class_at_least(RequestClass::Read)?.issued;
    // Writes into the page cache do not wait, nor do reads served by the cache or by read-ahead.
    let waits = !facts.phase.writes && !facts.workload.in_order && reads >= facts.calls(OpKind::Read).0 / 4;
    if !facts.workload.aio || facts.phase.direct || !waits || reads < ENOUGH_REQUESTS {
        return None;
    }
    Some(finding(
        format!(
            "libaio without O_DIRECT does one operation of a stream at a time: each waits inside io_submit, and the queue depth of {depth} is never reached."
        ),
        "Use O_DIRECT (direct=1), or io_uring, which queues buffered operations, too.",
        vec![
            evidence("queue depth asked for", depth as f64, "operations", "the workload"),
            evidence("read requests at the device", reads as f64, "requests", super::EVENTS),
        ],
    ))
}
