//! A loop device whose file lies in many pieces: one request becomes many at the device below.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::files::MANY_PIECES;
use crate::words::count;
use fathom_record::Finding;
use fathom_record::block::{DeviceActivity, RequestClass, RequestStats};
use serde_json::Value;

const ENOUGH_PIECES: u64 = 50;
const ENOUGH_REQUESTS: u64 = 50;
/// Requests at the device below per request of the loop device.
const NOTABLE: f64 = 3.0;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let class = if facts.phase.writes { RequestClass::Write } else { RequestClass::Read };
    let top = facts.device()?;
    let pieces = |d: &DeviceActivity| facts.described(&d.name)?.get("backing_file_pieces")?.as_u64();
    let image = facts.carriers(top).find(|d| pieces(d).is_some_and(|pieces| pieces >= ENOUGH_PIECES))?;
    let described = facts.described(&image.name)?;
    let below = facts.below(image)?;
    let above = image.class(class).filter(|c| c.issued >= ENOUGH_REQUESTS)?;
    let under = below.class(class)?;
    let mean = |c: &RequestStats| c.issued_bytes as f64 / c.issued.max(1) as f64;
    let direct = described.get("direct_io").and_then(Value::as_bool) == Some(true);
    // Other programs' requests below are not the image's.
    let moved = under.issued_bytes as f64 / above.issued_bytes.max(1) as f64;
    let ours = facts.requests_are_ours() && moved < 1.25;
    if !direct || !ours || (under.issued as f64) < NOTABLE * above.issued as f64 {
        return None;
    }
    let known = pieces(image)?;
    Some(finding(
        format!(
            "The file behind {}, {}, lies in {}{} on {}: {} of {} became {} of {} there.",
            image.name,
            described.get("backing_file")?.as_str()?,
            if known >= MANY_PIECES as u64 / 2 { "at least " } else { "" },
            count(known, "piece"),
            below.name,
            count(above.issued, "request"),
            size(mean(above)),
            count(under.issued, "request"),
            size(mean(under)),
        ),
        "Copy the file, or defragment it (e4defrag, xfs_fsr); `fallocate -l SIZE FILE` before its first use keeps a new one in few pieces.",
        vec![
            evidence(
                "pieces of the file",
                known as f64,
                "pieces",
                "filefrag -v of the file behind the device",
            ),
            evidence("requests of the loop device", above.issued as f64, "requests", EVENTS),
            evidence("requests of the device below", under.issued as f64, "requests", EVENTS),
        ],
    ))
}
