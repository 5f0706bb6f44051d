//! A loop device whose file lies in many pieces: one request becomes many at the device below.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::Finding;
use fathom_record::block::{DeviceActivity, IssuerKind, RequestClass};
use serde_json::Value;

const ENOUGH_PIECES: u64 = 50;
const ENOUGH_REQUESTS: u64 = 50;
/// Requests at the device below per request of the loop device.
const NOTABLE: f64 = 3.0;
/// The device below moves about as much; more would be somebody else's.
const SAME: f64 = 1.25;
const FILEFRAG: &str = "filefrag -v of the file behind the device";

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let class = if facts.phase.writes { RequestClass::Write } else { RequestClass::Read };
    let top = facts.device()?;
    let number = |d: &DeviceActivity, name: &str| facts.described(&d.name)?.get(name)?.as_u64();
    let pieces = |d: &DeviceActivity| number(d, "backing_file_pieces");
    let image = facts.carriers(top).find(|d| pieces(d).is_some_and(|pieces| pieces >= ENOUGH_PIECES))?;
    let described = facts.described(&image.name)?;
    let known = pieces(image)?;
    let piece = number(image, "backing_file_pieces_bytes")? as f64 / known as f64;
    let below = facts.below(image)?;
    let above = image.class(class).filter(|c| c.issued >= ENOUGH_REQUESTS)?;
    let under = below.class(class)?;
    // Other programs' requests below, and those of the journal there, are not parts of the image's.
    let foreign = below.issuers.iter().filter(|i| matches!(i.kind, IssuerKind::Other | IssuerKind::Journal));
    let (theirs, their_bytes) = foreign.fold((0, 0), |sum, i| match class {
        RequestClass::Write => (sum.0 + i.writes, sum.1 + i.write_bytes),
        _ => (sum.0 + i.reads, sum.1 + i.read_bytes),
    });
    let (parts, parts_bytes) =
        (under.issued.saturating_sub(theirs), under.issued_bytes.saturating_sub(their_bytes));
    let request = above.issued_bytes as f64 / above.issued as f64;
    let part = parts_bytes as f64 / parts.max(1) as f64;
    // Something else may split requests, such as max_sectors_kb.
    let cut = piece <= request && part <= 2.0 * piece && parts as f64 >= NOTABLE * above.issued as f64;
    let direct = described.get("direct_io").and_then(Value::as_bool) == Some(true);
    let ours = facts.requests_are_ours() && parts_bytes as f64 <= SAME * above.issued_bytes as f64;
    if !direct || !ours || !cut {
        return None;
    }
    Some(finding(
        format!(
            "The file behind {}, {}, lies in pieces of {} (mean of {known}) on {}: {} of {} became {} of {} there.",
            image.name,
            described.get("backing_file")?.as_str()?,
            size(piece),
            below.name,
            count(above.issued, "request"),
            size(request),
            count(parts, "request"),
            size(part),
        ),
        "Unmount and detach it, then copy the file (`cp --reflink=never`) to where there is space in large pieces. `fallocate -l SIZE FILE` before its first use keeps a new one in few pieces, except on btrfs.",
        vec![
            evidence("pieces at the start of the file", known as f64, "pieces", FILEFRAG),
            evidence("mean size of those", piece, "bytes", FILEFRAG),
            evidence("requests of the loop device", above.issued as f64, "requests", EVENTS),
            evidence("requests of the device below", parts as f64, "requests", EVENTS),
        ],
    ))
}
