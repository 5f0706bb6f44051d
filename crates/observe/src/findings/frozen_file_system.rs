//! Writers that wait because the file system is frozen.

use super::facts::Facts;
use super::{LOCKS, THREADS, evidence, finding};
use crate::words::percent;
use fathom_record::Finding;

/// Minimum share of the workers' time.
const NOTABLE: f64 = 0.1;
const LEAST_NS: u64 = 100_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let frozen = facts.repetition.lock_waits.as_ref()?.frozen_ns as f64;
    let whole = facts.workers_ns();
    let share = frozen / whole.max(1.0);
    if !facts.phase.writes || facts.repetition.elapsed_ns < LEAST_NS || share < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "For {} of their time the workers waited because the file system was frozen, which blocks all writes.",
            percent(share.min(1.0))
        ),
        "Find what freezes it: `fsfreeze`, or a program that makes snapshots or backups.",
        vec![
            evidence("time of waits for a frozen file system", frozen, "ns", LOCKS),
            evidence("time of the workers", whole, "ns", THREADS),
        ],
    ))
}
