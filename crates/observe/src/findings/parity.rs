//! A RAID with parity: to write less than a stripe, it reads from its members first.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use fathom_record::Finding;
use fathom_record::block::{DeviceActivity, RequestClass};

const LEVELS: [&str; 3] = ["raid4", "raid5", "raid6"];
const ENOUGH_BYTES: u64 = 1 << 20;
/// Bytes read from the members per byte written.
const NOTABLE: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let top = facts.device().filter(|_| facts.phase.writes && !facts.phase.reads)?;
    let level = |d: &DeviceActivity| facts.described(&d.name).and_then(|d| d.get("raid_level")?.as_str());
    let has_parity = |d: &&DeviceActivity| level(d).is_some_and(|level| LEVELS.contains(&level));
    let raid = facts.carriers(top).find(has_parity)?;
    let moved = |device: &DeviceActivity, class| device.class(class).map_or(0, |c| c.issued_bytes);
    let members = || facts.all_below(raid);
    let written = moved(raid, RequestClass::Write);
    let below_read: u64 = members().map(|d| moved(d, RequestClass::Read)).sum();
    let below_written: u64 = members().map(|d| moved(d, RequestClass::Write)).sum();
    if written < ENOUGH_BYTES
        || (below_read as f64) < NOTABLE * written as f64
        || moved(raid, RequestClass::Read) > below_read / 4
        || !facts.requests_are_ours()
    {
        return None;
    }
    Some(finding(
        format!(
            "{} is a {}, which reads old data or parity before it writes less than a stripe: while it wrote {}, its members read {} and wrote {}.",
            raid.name,
            level(raid)?.to_uppercase().replace("RAID", "RAID "),
            size(written as f64),
            size(below_read as f64),
            size(below_written as f64)
        ),
        "Writes of whole stripes (chunk size x data disks, aligned to it) need no reads: larger records, or a file system that knows the geometry (mkfs.xfs -d su=,sw=; mkfs.ext4 -E stride=,stripe_width=). For sequential writers, raise md/stripe_cache_size.",
        vec![
            evidence("written to the RAID", written as f64, "bytes", EVENTS),
            evidence("read from its members", below_read as f64, "bytes", EVENTS),
            evidence("written to its members", below_written as f64, "bytes", EVENTS),
        ],
    ))
}
