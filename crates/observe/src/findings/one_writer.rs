//! Several workers that write one file, for which the file system serialises writes.

use super::facts::Facts;
use super::{CALLS, EVENTS, THREADS, evidence, finding};
use crate::words::percent;
use fathom_record::{Finding, OpKind};

/// Minimum share of their time that the workers spend in calls without any other known wait.
const NOTABLE: f64 = 0.4;
/// If the device is busy for a larger share of the time, they may wait for it instead.
const BUSY: f64 = 0.5;
const LEAST_NS: u64 = 300_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let waits_for_processor = facts.processor_wait_share()?;
    let workers = facts.repetition.workers.len();
    let elapsed_ns = facts.repetition.elapsed_ns;
    let several = facts.workload.one_file && workers > 1 && elapsed_ns >= LEAST_NS;
    // With several operations in flight it is unknown which of them waits.
    let queued = facts.phase.axes.queue_depth.is_some_and(|depth| depth > 1);
    if !several || queued || !facts.phase.writes || facts.phase.direct || facts.syncs_often() {
        return None;
    }
    let whole = workers as f64 * elapsed_ns as f64;
    let in_calls = [OpKind::Read, OpKind::Write].map(|op| facts.repetition.latency(op).sum_ns() as f64);
    let computes = facts.processors_used() / workers as f64;
    let waits = in_calls.iter().sum::<f64>() / whole - computes - waits_for_processor;
    let busy = device.busy_ns as f64 / elapsed_ns as f64;
    if waits < NOTABLE || busy > BUSY {
        return None;
    }
    Some(finding(
        format!(
            "{workers} workers write one file through the page cache and were blocked in calls for {} of their time, while {} was busy for {} of it: the file system admits one writer per file at a time.",
            percent(waits),
            device.name,
            percent(busy)
        ),
        "Give each writer a separate file.",
        vec![
            evidence("time in calls, neither on a processor nor waiting for one", waits, "ratio", CALLS),
            evidence("time waiting for a processor", waits_for_processor, "ratio", THREADS),
            evidence("time with a request in the device", device.busy_ns as f64, "ns", EVENTS),
        ],
    ))
}
