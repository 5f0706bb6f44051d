//! Files on tmpfs whose pages lay in swap: each read fetches them from there.

use super::facts::{Facts, size};
use super::{CALLS, COUNTERS, evidence, finding};
use crate::residency::page_bytes;
use fathom_record::{Finding, OpKind};

const ENOUGH_BYTES: u64 = 1 << 20;
/// Bytes swapped in per byte read by calls.
const NOTABLE: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let kind = facts.environment.pointer("/filesystem/type")?.as_str()?;
    let swapped_in = facts.swapped_in_bytes.filter(|_| kind == "tmpfs")?;
    let before = facts.repetition.resident_before.filter(|_| facts.phase.reads)?;
    // What is not in memory is in swap, or a hole; fathom fills the holes of what it reads.
    let absent = before.total_pages.saturating_sub(before.cached_pages).saturating_mul(page_bytes());
    let read = facts.calls(OpKind::Read).1;
    if swapped_in.min(absent) < ENOUGH_BYTES || (swapped_in as f64) < NOTABLE * read as f64 {
        return None;
    }
    Some(finding(
        format!(
            "The files are on tmpfs, but {} of them were not in memory: the machine swapped in {} while {} were read.",
            size(absent as f64),
            size(swapped_in as f64),
            size(read as f64)
        ),
        "Read the files once before measuring. If memory is short they are swapped out again: free memory, or turn swap off (`swapoff`), which needs room in memory for everything that is in swap.",
        vec![
            evidence("not in memory at the start", absent as f64, "bytes", "mincore"),
            evidence("swapped in by the machine", swapped_in as f64, "bytes", COUNTERS),
            evidence("read by calls", read as f64, "bytes", CALLS),
        ],
    ))
}
