//! A control group whose memory limit leaves less page cache than a phase's files need.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// Minimum share of the requested bytes that the device moved: a cache that holds the files would have avoided it.
const NOTABLE: f64 = 0.5;
/// If the device read this many times the files' size, parts were read again.
const AGAIN: f64 = 1.25;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let limit = facts.environment.pointer("/limits/cgroup/memory_max_bytes").and_then(|b| b.as_u64())?;
    let device = facts.device_at_least()?;
    let files = facts.files_bytes()?;
    let moved = |class| device.class(class).map_or(0, |r| r.issued_bytes) as f64;
    let (fetched, stored) = (moved(RequestClass::Read), moved(RequestClass::Write));
    let (read, written) = (facts.calls(OpKind::Read).1, facts.calls(OpKind::Write).1);
    let reads = fetched >= AGAIN * files as f64 && fetched >= NOTABLE * read as f64;
    // Files larger than main memory are not cached on any setting.
    let machine = facts.environment.pointer("/memory/total_bytes").and_then(|b| b.as_u64());
    if machine.is_some_and(|bytes| files >= bytes) {
        return None;
    }
    let writes = !facts.syncs_often()
        && !facts.phase.sync_in_clock
        && written > limit
        && stored >= NOTABLE * written as f64;
    if facts.phase.direct || files <= limit || !(reads || writes) {
        return None;
    }
    let consequence = if reads {
        "repeated reads go to the device again"
    } else {
        "written data must reach the device before more can be written"
    };
    Some(finding(
        format!(
            "A control group limits this program to {} of memory, page cache included, and the files total {}: {consequence}.",
            size(limit as f64),
            size(files as f64),
        ),
        "Raise the limit (memory.max, or memory.limit_in_bytes), or use smaller files.",
        vec![
            evidence("most memory of the group", limit as f64, "bytes", "limits.cgroup.memory_max_bytes"),
            evidence("size of the files", files as f64, "bytes", "the workload"),
            evidence("moved by the device", fetched + stored, "bytes", EVENTS),
        ],
    ))
}
