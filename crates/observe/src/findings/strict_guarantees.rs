//! The I/O scheduler bfq, set to give the device one request at a time.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use fathom_record::Finding;
use serde_json::Value;

/// With fewer requests, one at a time may be chance.
const ENOUGH_REQUESTS: u64 = 50;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let described = facts.described(&device.name)?;
    let set = |pointer: &str, value: &str| described.pointer(pointer).and_then(Value::as_str) == Some(value);
    let asked = facts.kept_in_flight();
    let most = device.in_device.iter().filter(|d| d.ns > 0).map(|d| d.depth).max()?;
    let requests: u64 = device.requests.iter().map(|r| r.issued).sum();
    if !set("/scheduler", "bfq")
        || !set("/scheduler_tunables/strict_guarantees", "1")
        || asked < 2
        || most != 1
        || requests < ENOUGH_REQUESTS
    {
        return None;
    }
    Some(finding(
        format!(
            "The I/O scheduler bfq of {} has strict_guarantees set, so the device gets one request at a time, \
             although the workload kept {asked} operations in flight.",
            device.name
        ),
        "Set queue/iosched/strict_guarantees to 0, or use another scheduler.",
        vec![
            evidence("operations kept in flight", asked as f64, "operations", "the workload"),
            evidence("requests in the device, most", f64::from(most), "requests", EVENTS),
        ],
    ))
}
