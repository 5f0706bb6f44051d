//! Workers that wait for locks that other workers hold.

use super::facts::Facts;
use super::{LOCKS, evidence, finding};
use crate::words::percent;
use fathom_record::Finding;

/// Minimum share of the workers' time.
const NOTABLE: f64 = 0.3;
const LEAST_NS: u64 = 100_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let waits = facts.repetition.lock_waits.as_ref()?;
    let workers = facts.repetition.workers.len();
    let whole = facts.workers_ns();
    let share = waits.own_ns as f64 / whole.max(1.0);
    if workers < 2 || facts.repetition.elapsed_ns < LEAST_NS || share < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "For {} of their time the {workers} workers waited for locks in the kernel that other workers held.",
            percent(share.min(1.0))
        ),
        "Fewer workers, or a file and a directory for each, wait less for each other. `fathom show RUN` says where the slowest calls waited.",
        vec![
            evidence("waits for locks that workers held", waits.own_ns as f64, "ns", LOCKS),
            evidence("time of the workers", whole, "ns", super::THREADS),
        ],
    ))
}
