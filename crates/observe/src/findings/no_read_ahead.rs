//! A device with read-ahead disabled or very small, so that the kernel reads page by page.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};
use serde_json::Value;

const ENOUGH_REQUESTS: u64 = 50;
/// The kernel's default is 128.
const SMALL_KB: u64 = 32;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let reads = facts.class(RequestClass::Read).filter(|r| r.issued >= ENOUGH_REQUESTS)?;
    let record = facts.record_bytes(OpKind::Read)?;
    let each = reads.issued_bytes / reads.issued;
    // The mount's read-ahead; the same as the device's unless the file system hides its devices, as btrfs does.
    let kb = |of: Option<&Value>| of?.get("read_ahead_kb")?.as_u64();
    let devices = kb(facts.described(&device.name));
    let set = kb(facts.environment.get("filesystem")).or(devices)?;
    // Requests as large as the record are no worse than with O_DIRECT. A small window mainly affects sequential reads.
    let cut = each * 2 <= record;
    let held = set <= SMALL_KB && facts.workload.in_order && each <= (set * 1024).max(record);
    if facts.phase.direct || !(set == 0 && cut || set > 0 && held) {
        return None;
    }
    let of_device = devices == Some(set);
    Some(finding(
        format!(
            "Read-ahead is {} (read_ahead_kb of {} is {set}): reads of {} were fetched in {} of {}.",
            if set == 0 { "off" } else { "small" },
            if of_device { device.name.as_str() } else { "the mount" },
            size(record as f64),
            count(reads.issued, "request"),
            size(each as f64)
        ),
        &if of_device {
            format!("echo 128 > /sys/block/{}/queue/read_ahead_kb sets the kernel's default.", device.name)
        } else {
            "Writing 128 to read_ahead_kb of the mount, below /sys/class/bdi, sets the kernel's default."
                .to_owned()
        },
        vec![
            evidence("read_ahead_kb", set as f64, "KiB", "devices"),
            evidence("read requests", reads.issued as f64, "requests", EVENTS),
            evidence("bytes of those", reads.issued_bytes as f64, "bytes", EVENTS),
        ],
    ))
}
