//! A device whose read-ahead is turned off, and reads that the kernel therefore fetches page by page.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

const ENOUGH_REQUESTS: u64 = 50;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let reads = facts.class(RequestClass::Read).filter(|r| r.issued >= ENOUGH_REQUESTS)?;
    let record = facts.record_bytes(OpKind::Read)?;
    let each = reads.issued_bytes / reads.issued.max(1);
    let off = facts.described(&device.name)?.get("read_ahead_kb")?.as_u64()? == 0;
    // A request as large as the record is what O_DIRECT would make, too.
    if !off || facts.phase.direct || each * 2 > record {
        return None;
    }
    Some(finding(
        format!(
            "Read-ahead of {} is off (read_ahead_kb is 0): reads of {} were fetched in {} of {}.",
            device.name,
            size(record as f64),
            count(reads.issued, "request"),
            size(each as f64)
        ),
        &format!("echo 128 > /sys/block/{}/queue/read_ahead_kb turns it on.", device.name),
        vec![
            evidence("read_ahead_kb", 0.0, "KiB", "devices"),
            evidence("read requests", reads.issued as f64, "requests", EVENTS),
            evidence("bytes of those", reads.issued_bytes as f64, "bytes", EVENTS),
        ],
    ))
}
