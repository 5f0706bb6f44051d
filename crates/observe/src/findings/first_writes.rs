//! Files that are allocated or have holes where the phase writes: a first write to a block also changes the file's metadata.

use super::facts::{Facts, size};
use super::{CALLS, EXTENTS, evidence, finding};
use fathom_record::{Finding, OpKind};

/// Share of the files where the phase writes, and of what it writes.
const NOTABLE: f64 = 0.5;
const SMALL_RECORD: u64 = 64 << 10;
const ENOUGH_BYTES: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let extents = facts.repetition.extents?;
    let without_data = extents.unwritten_bytes.saturating_add(extents.hole_bytes);
    let (_, written) = facts.calls(OpKind::Write);
    let kind = facts.environment.pointer("/filesystem/type").and_then(|t| t.as_str()).unwrap_or_default();
    // File systems that write every block to a new place have no cheaper second write.
    let overwrites = ["ext3", "ext4", "xfs"].contains(&kind);
    // With large records, or if nobody waits, the metadata is a small part.
    let syncs = facts.syncs_often();
    let small = facts.record_bytes(OpKind::Write).is_some_and(|record| record <= SMALL_RECORD);
    if facts.phase.reads
        || !overwrites
        || !(syncs || facts.phase.direct && small)
        || without_data < ENOUGH_BYTES
        || (without_data as f64) < NOTABLE * extents.bytes.max(written) as f64
    {
        return None;
    }
    let state = match (extents.unwritten_bytes, extents.hole_bytes) {
        (_, 0) => "are allocated but were never written",
        (0, _) => "are holes",
        _ => "are holes, or allocated but never written",
    };
    let sync = if syncs { ", and a sync waits for that, too" } else { "" };
    Some(finding(
        format!(
            "Of the {} that the phase writes to, {} {state}: the first write to a block also changes the file's metadata{sync}.",
            size(extents.bytes as f64),
            size(without_data as f64),
        ),
        "Write the files once before, as a database does that reuses its log: later writes to the same blocks cost less.",
        vec![
            evidence("allocated, never written", extents.unwritten_bytes as f64, "bytes", EXTENTS),
            evidence("holes", extents.hole_bytes as f64, "bytes", EXTENTS),
            evidence("written by calls", written as f64, "bytes", CALLS),
        ],
    ))
}
