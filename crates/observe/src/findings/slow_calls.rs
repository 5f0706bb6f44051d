//! Device activity during the slowest reads.

use super::facts::Facts;
use super::{JOIN, evidence, finding};
use crate::words::{count, percent, time};
use fathom_record::Finding;

/// The slowest reads must coincide with it this many times more often than all reads do, and in at least half of the cases.
const MORE_OFTEN: f64 = 3.0;
const AT_LEAST: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let slow = &facts.joined?.slow_reads;
    facts.block()?;
    let tells = |(slowest, all): (f64, f64)| slowest >= AT_LEAST && slowest >= MORE_OFTEN * all;
    let (what, (slowest, all)) = if tells(slow.flushing) {
        ("a flush of the device's cache", slow.flushing)
    } else if tells(slow.writing) {
        ("a write", slow.writing)
    } else {
        return None;
    };
    Some(finding(
        format!(
            "During {} of the slowest {} ({} or more) {what} was under way; during {} of all reads.",
            percent(slowest),
            count(slow.calls, "read"),
            time(slow.from_ns as f64),
            percent(all),
        ),
        "Concurrent writes cause the tail of the reads. A scheduler that prefers reads (mq-deadline, kyber, bfq), write-back in smaller portions (vm.dirty_bytes), or another device for the log helps.",
        vec![
            evidence("reads among the slowest hundredth", slow.calls as f64, "calls", JOIN),
            evidence("share of them", slowest, "ratio", JOIN),
            evidence("share of all reads", all, "ratio", JOIN),
        ],
    ))
}
