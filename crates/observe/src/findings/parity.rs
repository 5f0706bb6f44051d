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
    let written = moved(raid, RequestClass::Write);
    let [below_read, below_written] =
        [RequestClass::Read, RequestClass::Write].map(|class| facts.moved_by_members(raid, class));
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
        &format!(
            "Aligned writes of whole stripes (chunk size x data disks; cat /sys/block/{0}/md/chunk_size) need no reads. For sequential writers a larger /sys/block/{0}/md/stripe_cache_size may join more of them.",
            raid.name
        ),
        vec![
            evidence("written to the RAID", written as f64, "bytes", EVENTS),
            evidence("read from its members", below_read as f64, "bytes", EVENTS),
            evidence("written to its members", below_written as f64, "bytes", EVENTS),
        ],
    ))
}
