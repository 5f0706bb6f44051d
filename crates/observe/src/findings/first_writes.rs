//! Files that are allocated or have holes where the phase writes: a first write to a block also changes the file's metadata.

use super::facts::{Facts, size};
use super::{CALLS, EXTENTS, evidence, finding};
use fathom_record::{Finding, OpKind};

/// Share of the files where the phase writes.
const NOTABLE: f64 = 0.5;
const ENOUGH_BYTES: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let extents = facts.repetition.extents?;
    let without_data = extents.unwritten_bytes.saturating_add(extents.hole_bytes);
    let (_, written) = facts.calls(OpKind::Write);
    let syncs = facts.phase.sync_in_clock || facts.calls(OpKind::Sync).0 > 0;
    // Otherwise the blocks are written when nobody waits for them.
    let waits = facts.phase.direct || facts.workload.synced || syncs;
    if facts.phase.reads
        || !waits
        || written < ENOUGH_BYTES
        || (without_data as f64) < NOTABLE * extents.bytes.max(1) as f64
    {
        return None;
    }
    let state = match (extents.unwritten_bytes, extents.hole_bytes) {
        (_, 0) => "are allocated but were never written",
        (0, _) => "are holes",
        _ => "are holes, or allocated but never written",
    };
    let sync = if syncs || facts.workload.synced { ", and a sync waits for that, too" } else { "" };
    Some(finding(
        format!(
            "{} of the {} of file where the phase writes {state}: the first write to a block also changes the file's metadata{sync}.",
            size(without_data as f64),
            size(extents.bytes as f64),
        ),
        "Write the files once before, as a database does that reuses its log: later writes to the same blocks cost less.",
        vec![
            evidence("allocated, never written", extents.unwritten_bytes as f64, "bytes", EXTENTS),
            evidence("holes", extents.hole_bytes as f64, "bytes", EXTENTS),
            evidence("written by calls", written as f64, "bytes", CALLS),
        ],
    ))
}
