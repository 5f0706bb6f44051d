//! Writers that the kernel holds back because the mount's share of dirty memory is capped.

use super::facts::{Facts, size};
use super::{evidence, finding};
use fathom_record::{Finding, OpKind};

/// A cap that is larger than this share of what was written held nobody back for long.
const SMALL: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let about = facts.environment.get("filesystem")?;
    let strict = about.get("dirty_limit_strict")?.as_bool()?;
    let most = about.get("dirty_limit_bytes")?.as_u64().filter(|bytes| *bytes > 0)?;
    let (_, written) = facts.calls(OpKind::Write);
    // What is written again before the device has it is dirty once.
    let axes = &facts.phase.axes;
    let files = axes.file_bytes.map(|bytes| bytes.saturating_mul(axes.streams.unwrap_or(1)));
    let dirty = written.min(files.unwrap_or(u64::MAX));
    if !strict || facts.phase.direct || facts.syncs_often() || most as f64 > SMALL * dirty as f64 {
        return None;
    }
    Some(finding(
        format!(
            "The kernel lets at most {} of what is written to {} wait in memory (bdi strict_limit, max_bytes), and {} were written: writers were held back until the device had the rest.",
            size(most as f64),
            device.name,
            size(written as f64)
        ),
        "Raise max_bytes, or set strict_limit to 0, in the mount's directory below /sys/class/bdi.",
        vec![
            evidence("most dirty bytes of the mount", most as f64, "bytes", "/sys/class/bdi"),
            evidence("written", written as f64, "bytes", "our own calls"),
        ],
    ))
}
