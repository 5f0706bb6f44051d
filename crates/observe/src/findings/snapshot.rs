//! A volume with an LVM snapshot: the first write to each chunk copies the old one.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use fathom_record::Finding;
use fathom_record::block::{DeviceActivity, RequestClass};
use serde_json::Value;

const ENOUGH_BYTES: u64 = 1 << 20;
/// Bytes read from the volume below per byte written.
const NOTABLE: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let top = facts.device().filter(|_| facts.phase.writes && !facts.phase.reads)?;
    let is_snapshot = |d: &Value| d.get("mapper_kind").and_then(Value::as_str) == Some("snapshot");
    let parts = || facts.all_below(top).filter(|d| facts.described(&d.name).is_some_and(is_snapshot));
    let moved = |device: &DeviceActivity, class| device.class(class).map_or(0, |c| c.issued_bytes);
    let written = moved(top, RequestClass::Write);
    let copied: u64 = parts().map(|d| moved(d, RequestClass::Read)).sum();
    if written < ENOUGH_BYTES
        || (copied as f64) < NOTABLE * written as f64
        || moved(top, RequestClass::Read) > copied / 4
        || !facts.requests_are_ours()
    {
        return None;
    }
    Some(finding(
        format!(
            "{} has an LVM snapshot, for which the first write to each chunk copies what was there: while {} were written, {} were read for it.",
            top.name,
            size(written as f64),
            size(copied as f64)
        ),
        "A second pass over the same place costs less. `lvs -o +origin,snap_percent` lists the snapshots; `lvremove` of the snapshot ends the copying.",
        vec![
            evidence("written to the volume", written as f64, "bytes", EVENTS),
            evidence("read from its parts below", copied as f64, "bytes", EVENTS),
        ],
    ))
}
