//! A request queue smaller than the number of operations in flight.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::percent;
use fathom_record::Finding;

/// Minimum share of the busy time in which at most one request of the queue was free.
const NOTABLE: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let about = facts.described(&device.name)?;
    let most = about.get("nr_requests")?.as_u64()?;
    // Without a scheduler this is the driver's limit and cannot be raised.
    about.get("scheduler")?.as_str().filter(|scheduler| *scheduler != "none")?;
    let asked = facts.kept_in_flight();
    let deepest = device.in_device.iter().map(|d| u64::from(d.depth)).max()?;
    let full: u64 = device.in_device.iter().filter(|d| u64::from(d.depth) + 1 >= most).map(|d| d.ns).sum();
    let share = full as f64 / device.busy_ns.max(1) as f64;
    if !facts.phase.direct || most >= asked || deepest > most || share < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "The queue of {} has {most} requests (nr_requests), and the workload keeps {asked} operations in flight: for {} of its busy time nearly all requests were in use.",
            device.name,
            percent(share)
        ),
        &format!(
            "Writing a larger number to /sys/block/{}/queue/nr_requests lets more reach the device.",
            device.name
        ),
        vec![
            evidence("nr_requests", most as f64, "requests", "devices"),
            evidence("operations kept in flight", asked as f64, "operations", "the workload"),
            evidence("time with all requests or all but one in the device", full as f64, "ns", EVENTS),
        ],
    ))
}
