//! Requests that wait above an idle device.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::percent;
use fathom_record::Finding;

/// Minimum share of the time in which requests waited while the device was idle (a lower bound).
const NOTABLE: f64 = 0.2;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let scheduler = facts.described(&device.name)?.get("scheduler")?.as_str().filter(|s| *s != "none")?;
    let watched = facts.block()?.watched_ns.max(1) as f64;
    let waiting: u64 = device.in_queue.iter().filter(|d| d.depth > 0).map(|d| d.ns).sum();
    // Waiting time that does not fit into the busy time must lie outside of it.
    let held = waiting.saturating_sub(device.busy_ns) as f64 / watched;
    if held < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "For {} of the time requests waited above {} while it was idle: the I/O scheduler {scheduler}, or a control group's I/O control (io.cost, io.latency), held them back.",
            percent(held),
            device.name
        ),
        "Try the scheduler none. If the wait disappears, the scheduler caused it: tuning it (queue/iosched) may be enough.",
        vec![
            evidence("time with requests waiting", waiting as f64, "ns", EVENTS),
            evidence("time with a request in the device", device.busy_ns as f64, "ns", EVENTS),
        ],
    ))
}
