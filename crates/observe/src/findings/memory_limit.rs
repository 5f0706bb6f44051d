//! A control group whose memory limit leaves less page cache than a phase's files need.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// Minimum share of the requested bytes that the device moved: a cache that holds the files would have avoided it.
const NOTABLE: f64 = 0.5;
/// If the device read this many times the files' size, parts were read again.
const AGAIN: f64 = 1.25;

/// Fewer bytes may be code of this program.
const LEAST_BYTES: u64 = 4 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    too_large(facts).or_else(|| pushed_out(facts))
}

/// The files fit, but other programs use up the memory.
fn pushed_out(facts: &Facts<'_>) -> Option<Finding> {
    let limit = facts.environment.pointer("/limits/cgroup/memory_max_bytes").and_then(|b| b.as_u64())?;
    let files = facts.files_bytes()?;
    let available = facts.environment.pointer("/memory/available_bytes").and_then(|b| b.as_u64())?;
    let fetched = facts.repetition.physical.own_read_bytes?;
    let moves = facts.repetition.page_cache.as_ref()?.pages.as_ref()?;
    let reclaimed = moves.removers.iter().fold(0u64, |sum, r| sum.saturating_add(r.reclaimed_bytes));
    let much = reclaimed >= LEAST_BYTES.max(fetched / 2);
    let missed = fetched as f64 >= NOTABLE * facts.calls(OpKind::Read).1 as f64;
    let cached = facts.workload.keeps_pages && !facts.phase.writes && !facts.phase.direct;
    // With little free memory in the machine, the group's limit may have nothing to do with it.
    if !cached || !much || !missed || files > limit || available < limit.saturating_mul(2) {
        return None;
    }
    let who = super::dropped_cache::remover(facts, reclaimed, |r| r.reclaimed_bytes);
    let by = who.map_or(String::new(), |name| format!(" when {name} needed memory"));
    Some(finding(
        format!(
            "A control group limits this program to {} of memory, page cache included, and it does not use it alone: {} of the files' pages were reclaimed{by}, and {} had to be read from the device.",
            size(limit as f64),
            size(reclaimed as f64),
            size(fetched as f64),
        ),
        "Raise the limit (memory.max, or memory.limit_in_bytes), or run the other programs in another group.",
        vec![
            evidence("most memory of the group", limit as f64, "bytes", "limits.cgroup.memory_max_bytes"),
            evidence("size of the files", files as f64, "bytes", "the workload"),
            evidence("pages of the files that were reclaimed", reclaimed as f64, "bytes", EVENTS),
            evidence("read from the device for this program", fetched as f64, "bytes", super::COUNTERS),
        ],
    ))
}

fn too_large(facts: &Facts<'_>) -> Option<Finding> {
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
