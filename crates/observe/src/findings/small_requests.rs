//! A device, the file system's or one below it, whose maximum request size was lowered.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::{DeviceActivity, RequestClass, RequestStats};
use fathom_record::{Finding, OpKind};

/// The hardware limit must be at least this many times the setting.
const NOTABLE: i64 = 4;
/// Larger requests gain little on any device.
const LARGE_KB: i64 = 128;
const ENOUGH_REQUESTS: u64 = 50;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let top = facts.device()?;
    let below = facts.block()?.devices.iter().filter(|device| device.level > top.level);
    std::iter::once(top).chain(below).find_map(|device| of_device(facts, top, device))
}

fn of_device(facts: &Facts<'_>, top: &DeviceActivity, device: &DeviceActivity) -> Option<Finding> {
    let about = facts.described(&device.name)?;
    let kb = |name: &str| about.get(name)?.as_i64().filter(|kb| *kb > 0);
    let (most, hardware) = (kb("max_sectors_kb")?, kb("max_hw_sectors_kb")?);
    if most >= LARGE_KB || hardware / most < NOTABLE {
        return None;
    }
    let bytes = most as u64 * 1024;
    let (class, record) = [(RequestClass::Read, OpKind::Read), (RequestClass::Write, OpKind::Write)]
        .into_iter()
        .filter_map(|(class, op)| {
            // A device below may have other users: at least half of its bytes must be able to be ours.
            let asked = facts.class(class)?.issued_bytes;
            let stats = device.class(class).filter(|c| c.issued_bytes / 2 <= asked)?;
            Some((stats, facts.record_bytes(op)?))
        })
        .max_by_key(|(class, _)| class.issued)?;
    // Half of the requests have the maximum size, and larger ones are wanted: by calls, by the device above, or as neighbours.
    let full = class.sizes.iter().filter(|s| s.bytes == bytes).map(|s| s.count).sum::<u64>();
    let larger_above = || top.class(class.class).is_some_and(|c| c.issued_bytes > bytes * c.issued);
    let more_wanted = match device.level == top.level {
        true => record > bytes || !facts.phase.direct && adjoining(class),
        false => larger_above(),
    };
    if class.issued < ENOUGH_REQUESTS || full * 2 < class.issued || !more_wanted {
        return None;
    }
    let place = match device.level == top.level {
        true => String::new(),
        false => format!(", which lies below {},", top.name),
    };
    Some(finding(
        format!(
            "Requests of {}{place} are limited to {} (max_sectors_kb; the hardware allows {}): {} had that size.",
            device.name,
            size(bytes as f64),
            size(hardware as f64 * 1024.0),
            count(full, &format!("{} request", class.class.word())),
        ),
        &format!(
            "Writing a larger number to /sys/block/{}/queue/max_sectors_kb allows larger requests.",
            device.name
        ),
        vec![
            evidence("max_sectors_kb", most as f64, "KiB", "devices"),
            evidence("max_hw_sectors_kb", hardware as f64, "KiB", "devices"),
            evidence("requests", class.issued as f64, "requests", EVENTS),
            evidence("requests of the largest size", full as f64, "requests", EVENTS),
        ],
    ))
}

/// Whether most requests begin where the previous one ended.
fn adjoining(class: &RequestStats) -> bool {
    class.seeks.sequential * 2 >= class.issued
}
