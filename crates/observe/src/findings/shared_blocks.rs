//! Overwritten blocks that a reflink or a snapshot shares: the file system allocates new ones.

use super::facts::{Facts, size};
use super::{CALLS, EXTENTS, evidence, finding};
use fathom_record::{Finding, OpKind};

const ENOUGH_BYTES: u64 = 1 << 20;
/// Share of the written bytes.
const NOTABLE: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let unshared = facts.unshared_bytes;
    let (_, written) = facts.calls(OpKind::Write);
    if unshared < ENOUGH_BYTES || written < ENOUGH_BYTES || (unshared as f64) < NOTABLE * written as f64 {
        return None;
    }
    Some(finding(
        format!(
            "{} of the files shared their blocks with another file (a reflink copy, a snapshot) before the phase and no longer after it: to overwrite a shared block, the file system allocates a new one.",
            size(unshared as f64),
        ),
        "Only the first write to a shared block costs that: measure again, or make the file with `cp --reflink=never`.",
        vec![
            evidence("no longer shared after the phase", unshared as f64, "bytes", EXTENTS),
            evidence("written by calls", written as f64, "bytes", CALLS),
        ],
    ))
}
