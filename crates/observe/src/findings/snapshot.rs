//! A snapshot of LVM, or the volume that it was taken of: the first write to each chunk copies what was there.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use fathom_record::Finding;
use fathom_record::block::{DeviceActivity, RequestClass};

const ENOUGH_BYTES: u64 = 1 << 20;
/// Bytes read from the parts below per byte written.
const NOTABLE: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let top = facts.device().filter(|_| facts.phase.writes && !facts.phase.reads)?;
    let kind = |d: &DeviceActivity| {
        facts.described(&d.name).and_then(|d| d.get("mapper_kind")?.as_str()).unwrap_or_default()
    };
    let has = |volume: &DeviceActivity, wanted: &str| facts.all_below(volume).any(|d| kind(d) == wanted);
    let volume = facts.carriers(top).find(|d| has(d, "snapshot-origin"))?;
    // The origin of thin volumes is named likewise.
    if has(volume, "thin-pool") {
        return None;
    }
    let moved = |device: &DeviceActivity, class| device.class(class).map_or(0, |c| c.issued_bytes);
    let written = moved(volume, RequestClass::Write);
    let copied: u64 = facts.all_below(volume).map(|d| moved(d, RequestClass::Read)).sum();
    if written < ENOUGH_BYTES
        || (copied as f64) < NOTABLE * written as f64
        || moved(volume, RequestClass::Read) > copied / 4
        || !facts.requests_are_ours()
    {
        return None;
    }
    // Only the snapshot lies on the store of its changes.
    let what = if has(volume, "snapshot-store") { "is a snapshot of LVM" } else { "has a snapshot (LVM)" };
    Some(finding(
        format!(
            "{} {what}, and the first write to each chunk copies what was there: while {} were written, {} were read from below.",
            volume.name,
            size(written as f64),
            size(copied as f64)
        ),
        "A second pass over the same place costs less; a volume without snapshots does not pay it. `lvs -o +origin,snap_percent` lists them.",
        vec![
            evidence("written to the volume", written as f64, "bytes", EVENTS),
            evidence("read from its parts below", copied as f64, "bytes", EVENTS),
        ],
    ))
}
