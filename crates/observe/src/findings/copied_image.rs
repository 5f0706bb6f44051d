//! A loop device whose file lies on btrfs, which writes each block to a new place, with metadata that says where.

use super::facts::{Facts, size, times};
use super::{EVENTS, evidence, finding};
use fathom_record::Finding;
use fathom_record::block::{DeviceActivity, IssuerKind, RequestClass};

/// Bytes written below per byte written by the loop device.
const NOTABLE: f64 = 2.5;
const ENOUGH_BYTES: u64 = 1 << 20;
/// If the loop device was busy for less than this share of the time, the workers did not wait for it.
const BUSY: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let image = facts.device().filter(|_| facts.phase.writes)?;
    let described = facts.described(&image.name)?;
    let copied = described.get("backing_file_copied_on_write")?.as_bool()?;
    let busy = image.busy_ns as f64 / facts.repetition.elapsed_ns.max(1) as f64;
    let written = |device: &DeviceActivity| device.class(RequestClass::Write).map_or(0, |c| c.issued_bytes);
    let below = facts.below(image)?;
    // What other programs wrote to the disk below is not the image's.
    let others: u64 =
        below.issuers.iter().filter(|i| i.kind == IssuerKind::Other).map(|i| i.write_bytes).sum();
    let (above, below_bytes) = (written(image), written(below).saturating_sub(others));
    let ratio = below_bytes as f64 / above.max(1) as f64;
    if !copied || above < ENOUGH_BYTES || ratio < NOTABLE || busy < BUSY || !facts.requests_are_ours() {
        return None;
    }
    let path = described.get("backing_file")?.as_str()?;
    Some(finding(
        format!(
            "The file behind {0}, {path}, lies on btrfs, which writes each block to a new place and records where: while {0} wrote {1}, {2} wrote {3} ({4}).",
            image.name,
            size(above as f64),
            below.name,
            size(below_bytes as f64),
            times(ratio)
        ),
        "A file with the attribute C is overwritten in place, without checksums: `chattr +C` on an empty file or directory, then copy the image into it.",
        vec![
            evidence("written by the loop device", above as f64, "bytes", EVENTS),
            evidence("written to the device below", below_bytes as f64, "bytes", EVENTS),
        ],
    ))
}
