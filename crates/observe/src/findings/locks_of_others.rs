//! Locks that another program holds while the workers wait for them.

use super::facts::Facts;
use super::{LOCKS, evidence, finding};
use crate::words::{count, percent, program};
use fathom_record::Finding;

/// Minimum share of the workers' time.
const NOTABLE: f64 = 0.15;
const LEAST_NS: u64 = 100_000_000;
/// Minimum share of these waits for the program that is named.
const MOST_OF_IT: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let waits = facts.repetition.lock_waits.as_ref()?;
    let others_ns = waits.others_ns();
    let whole = facts.workers_ns();
    let share = others_ns as f64 / whole.max(1.0);
    let first = waits.holders.first()?;
    if facts.repetition.elapsed_ns < LEAST_NS || share < NOTABLE {
        return None;
    }
    let named = first.waited_ns as f64 >= MOST_OF_IT * others_ns as f64;
    let who = program(&first.name, &[first.process]);
    let (whose, advice) = match (named, first.has_file) {
        (true, true) => (
            format!("{who} held; it has a file of this workload open"),
            "Run without that program, or give it and the workload separate files: most file systems admit one writer per file at a time.",
        ),
        (true, false) => (
            format!("{who} held"),
            "Run without that program. `--observe full` records where the slowest calls waited (`fathom show RUN`).",
        ),
        (false, _) => (
            format!("{} held", count(waits.holders.len() as u64, "other program")),
            "Run without other programs on this file system.",
        ),
    };
    Some(finding(
        format!(
            "For {} of their time the workers waited for locks in the kernel that {whose}.",
            percent(share.min(1.0))
        ),
        advice,
        vec![
            evidence("waits for locks that other programs held", others_ns as f64, "ns", LOCKS),
            evidence("time of the workers", whole, "ns", super::THREADS),
        ],
    ))
}
