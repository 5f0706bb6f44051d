//! A journal with too little room: writers wait until older transactions are written in place.

use super::facts::{Facts, size};
use super::{CALLS, evidence, finding};
use crate::words::{count, percent, time};
use fathom_record::{Finding, OpKind};

/// The function of jbd2 that waits until the journal has room again.
const WAITS_FOR_ROOM: &str = "__jbd2_log_wait_for_space";
/// Minimum share of the workers' time.
const NOTABLE: f64 = 0.1;
/// A quarter of a journal of 64 MiB, which mke2fs makes on file systems of up to 16 GiB.
const SMALL_BYTES: u64 = 16 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let transaction = facts.environment.pointer("/filesystem/journal_transaction_bytes")?.as_u64()?;
    let slow = facts.repetition.slow_calls.iter().filter(|s| s.op == OpKind::Write);
    let waited = |s: &fathom_record::SlowCalls| {
        let for_room =
            s.stacks.iter().filter(|stack| stack.frames.iter().any(|frame| frame == WAITS_FOR_ROOM));
        for_room.map(|stack| stack.total_ns).sum::<u64>()
    };
    let (ns, slowest) = slow.map(|s| (waited(s), s.slowest)).max()?;
    let share = ns as f64 / facts.workers_ns().max(1.0);
    if transaction > SMALL_BYTES || share < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "The journal has little room (a transaction takes at most {}): the slowest {} spent {} waiting for it, {} of the time.",
            size(transaction as f64),
            count(slowest, "write"),
            time(ns as f64),
            percent(share),
        ),
        "A larger journal has more. With the file system unmounted: `tune2fs -O ^has_journal DEVICE`, `e2fsck -f DEVICE`, `tune2fs -J size=1024 DEVICE` (MiB).",
        vec![
            evidence("largest transaction", transaction as f64, "bytes", "/proc/fs/jbd2"),
            evidence("waiting for room in the journal", ns as f64, "ns", CALLS),
        ],
    ))
}
