//! A small journal: writers wait for room in it.

use super::facts::{Facts, size};
use super::{CALLS, evidence, finding};
use crate::words::{count, percent, time};
use fathom_record::{Finding, OpKind};

/// Functions of jbd2 that wait until the journal has room again.
const WAITING_FOR_ROOM: [&str; 4] = [
    "jbd2_log_do_checkpoint",
    "__jbd2_log_wait_for_space",
    "add_transaction_credits",
    "wait_transaction_locked",
];
/// Minimum share of the workers' time.
const NOTABLE: f64 = 0.1;
/// A journal of the default size takes larger transactions on all but the smallest file systems.
const SMALL_BYTES: u64 = 16 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let transaction = facts.environment.pointer("/filesystem/journal_transaction_bytes")?.as_u64()?;
    let slow = facts.repetition.slow_calls.iter().filter(|s| s.op == OpKind::Write);
    let waited = |s: &fathom_record::SlowCalls| {
        let for_room = s.stacks.iter().filter(|stack| WAITING_FOR_ROOM.contains(&stack.waits_in.as_str()));
        for_room.map(|stack| stack.total_ns).sum::<u64>()
    };
    let (ns, slowest) = slow.map(|s| (waited(s), s.slowest)).max()?;
    let all = facts.repetition.elapsed_ns as f64 * facts.repetition.workers.len() as f64;
    let share = ns as f64 / all.max(1.0);
    if transaction > SMALL_BYTES || share < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "The journal is small (a transaction takes at most {}): the slowest {} spent {} waiting for room in it, {} of the time.",
            size(transaction as f64),
            count(slowest, "write"),
            time(ns as f64),
            percent(share),
        ),
        "A larger one lets more writes go on: unmount, `tune2fs -O ^has_journal`, `e2fsck -f`, then `tune2fs -J size=` MiB.",
        vec![
            evidence("largest transaction", transaction as f64, "bytes", "/proc/fs/jbd2"),
            evidence("waiting for room in the journal", ns as f64, "ns", CALLS),
        ],
    ))
}
