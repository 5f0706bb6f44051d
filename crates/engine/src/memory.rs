//! Whether the I/O buffers of a phase fit into memory. They are touched before the start, so asking for more than there is would end
//! in the kernel killing somebody, not in an error.

use crate::EngineError;
use crate::check::unsupported;
use crate::contents::Contents;
use crate::worker::Plan;
use fathom_workload::Phase;

/// Refuses a phase whose buffers would take more than three quarters of the memory that is available now.
pub(crate) fn check<'a>(phase: &Phase, plans: impl Iterator<Item = &'a Plan<'a>>) -> Result<(), EngineError> {
    let needed = plans.fold(0u64, |sum, plan| {
        let each = Contents::bytes(plan.stream, plan.largest, plan.depth());
        sum.saturating_add(each.saturating_mul(u64::from(plan.depth())))
    });
    let Some(available) = available_bytes() else { return Ok(()) };
    if needed <= available / 4 * 3 {
        return Ok(());
    }
    Err(unsupported(
        &format!("phase {}", phase.name),
        &format!(
            "its I/O buffers need {} MiB and {} MiB of memory are available; fewer workers, a smaller queue depth or smaller records need less",
            needed >> 20,
            available >> 20
        ),
    ))
}

fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
