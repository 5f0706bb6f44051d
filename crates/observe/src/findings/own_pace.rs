//! A workload that asks for no more than it gets: it has a rate or pauses, and keeps to them.

use super::facts::Facts;
use super::{CALLS, evidence, finding};
use crate::words::percent;
use fathom_record::{Finding, OpKind};

/// Maximum share of their time that the workers were in calls; with more, storage may be what holds them back.
const BUSY: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let workers = facts.repetition.workers.len();
    // With several operations in flight the calls' time says nothing of the workers' time.
    let queued = facts.phase.axes.queue_depth.is_some_and(|depth| depth > 1);
    if queued || workers == 0 || facts.repetition.elapsed_ns == 0 {
        return None;
    }
    let whole = workers as f64 * facts.repetition.elapsed_ns as f64;
    let kinds = [OpKind::Read, OpKind::Write, OpKind::Sync];
    let in_calls: f64 = kinds.iter().map(|op| facts.repetition.latency(*op).sum_ns() as f64).sum();
    if in_calls > BUSY * whole {
        return None;
    }
    Some(finding(
        format!(
            "The workload sets its own pace, by a rate or by pauses, and kept to it: its calls took {} of the time.",
            percent(in_calls / whole)
        ),
        "For what the storage can do, run it without the rate and the pauses.",
        vec![
            evidence("time in calls", in_calls, "ns", CALLS),
            evidence("time of the workers", whole, "ns", super::THREADS),
        ],
    ))
}
