//! Compares the device's actual queue depth with the requested one.

use super::facts::{Facts, mean};
use super::{EVENTS, evidence, finding, growing_file};
use fathom_record::Finding;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let (asked, busy) = facts.depth_below_asked()?;
    let most = facts.device()?.in_device.iter().map(|d| d.depth).max().unwrap_or(0);
    if growing_file::by_direct_writes(facts).is_some() {
        return None;
    }
    Some(finding(
        format!(
            "{asked} operations were kept in flight, but the device, while busy, had {} at once on average and never more than {most}.",
            mean(busy)
        ),
        "Something above the device holds requests back: nr_requests of its queue, the tags of its hardware queues, a lock of the file system (writes to one file), or too little CPU.",
        vec![
            evidence("operations kept in flight", asked as f64, "operations", "the workload"),
            evidence("requests in the device while busy, mean", busy, "requests", EVENTS),
            evidence("requests in the device, most", f64::from(most), "requests", EVENTS),
        ],
    ))
}
