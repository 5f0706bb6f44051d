//! A device whose read-ahead is turned off, and reads that the kernel therefore fetches page by page.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};
use serde_json::Value;

const ENOUGH_REQUESTS: u64 = 50;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let reads = facts.class(RequestClass::Read).filter(|r| r.issued >= ENOUGH_REQUESTS)?;
    let record = facts.record_bytes(OpKind::Read)?;
    let each = reads.issued_bytes / reads.issued;
    // The mount's counts; it is the device's unless the file system hides its devices, as btrfs does.
    let kb = |of: Option<&Value>| of?.get("read_ahead_kb")?.as_u64();
    let devices = kb(facts.described(&device.name));
    let off = kb(facts.environment.get("filesystem")).or(devices)? == 0;
    // A request as large as the record is what O_DIRECT would make, too.
    if !off || facts.phase.direct || each * 2 > record {
        return None;
    }
    Some(finding(
        format!(
            "Read-ahead is off (read_ahead_kb of {} is 0): reads of {} were fetched in {} of {}.",
            if devices == Some(0) { device.name.as_str() } else { "the mount" },
            size(record as f64),
            count(reads.issued, "request"),
            size(each as f64)
        ),
        &if devices == Some(0) {
            format!("echo 128 > /sys/block/{}/queue/read_ahead_kb turns it on.", device.name)
        } else {
            "Writing 128 to read_ahead_kb of the mount, below /sys/class/bdi, turns it on.".to_owned()
        },
        vec![
            evidence("read_ahead_kb", 0.0, "KiB", "devices"),
            evidence("read requests", reads.issued as f64, "requests", EVENTS),
            evidence("bytes of those", reads.issued_bytes as f64, "bytes", EVENTS),
        ],
    ))
}
