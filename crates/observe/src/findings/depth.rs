//! Compares the device's actual queue depth with the requested one.

use super::facts::{Facts, mean};
use super::{EVENTS, evidence, finding};
use fathom_record::block::{DeviceActivity, RequestClass};
use fathom_record::{Finding, OpKind};

/// Reported if the actual depth is below this share of the requested one.
const NOTABLE: f64 = 0.6;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    if !facts.phase.direct {
        // For buffered I/O the kernel decides what is in flight.
        return None;
    }
    let asked = facts.kept_in_flight();
    let device = facts.device()?;
    // Operations that were merged are in the device together.
    let operations = facts.calls(OpKind::Read).0.saturating_add(facts.calls(OpKind::Write).0);
    let moving =
        device.requests.iter().filter(|r| matches!(r.class, RequestClass::Read | RequestClass::Write));
    let requests: u64 = moving.map(|r| r.issued).sum();
    let merged = (operations as f64 / requests.max(1) as f64).max(1.0);
    let busy = while_busy(device)? * merged;
    let most = device.in_device.iter().map(|d| d.depth).max().unwrap_or(0);
    let most = (f64::from(most) * merged).round();
    if asked < 2 || device.busy_ns == 0 || busy >= NOTABLE * asked as f64 {
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
            evidence("operations in the device while busy, mean", busy, "operations", EVENTS),
            evidence("operations in the device, most", most, "operations", EVENTS),
        ],
    ))
}

/// Mean depth over the time in which it was not 0. Flushes do not count: a device handles one at a time, and the one at the end
/// of a phase may take longer than all writes.
fn while_busy(device: &DeviceActivity) -> Option<f64> {
    let flushes = device.requests.iter().filter(|r| r.class == RequestClass::Flush);
    let flushing: u128 = flushes.map(|r| r.d2c.sum_ns()).sum();
    let (mut area, mut time) = (0.0, 0.0);
    for at in device.in_device.iter().filter(|d| d.depth > 0) {
        let ns = u128::from(at.ns).saturating_sub(if at.depth == 1 { flushing } else { 0 });
        area += f64::from(at.depth) * ns as f64;
        time += ns as f64;
    }
    (time > 0.0).then(|| area / time)
}
