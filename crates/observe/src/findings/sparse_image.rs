//! A loop device whose file had holes where the workload writes: the file system below allocates each block first.

use super::facts::{Facts, size};
use super::{evidence, finding};
use crate::words::percent;
use fathom_record::Finding;

const ENOUGH_BYTES: u64 = 1 << 20;
/// Allocated bytes per byte written by the device.
const NOTABLE: f64 = 0.5;
/// If the device was busy for less than this share of the time, the workers did not wait for it.
const BUSY: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let growth = facts.image_growth.filter(|_| facts.phase.writes)?;
    let physical = &facts.repetition.physical;
    let device = physical.devices.iter().find(|d| d.name == growth.device)?;
    let busy = device.busy_ms as f64 * 1e6 / facts.repetition.elapsed_ns.max(1) as f64;
    let enough = growth.allocated_bytes as f64 >= NOTABLE * device.write_bytes as f64;
    // What is written after the clock has stopped costs the workload nothing.
    let in_clock = physical.written_in_clock_bytes? >= physical.device_write_bytes()? / 2;
    if growth.allocated_bytes < ENOUGH_BYTES || !enough || busy < BUSY || !in_clock {
        return None;
    }
    let (allocated, written) = (growth.allocated_bytes as f64, device.write_bytes as f64);
    Some(finding(
        format!(
            "The file behind {}, {}, had holes: the file system below allocated {} for it while {} wrote {} and was busy for {} of the time.",
            device.name,
            growth.path,
            size(allocated),
            device.name,
            size(written),
            percent(busy.min(1.0))
        ),
        &format!(
            "Fill the holes: `fallocate -l {} {}`. The data stay, and the first write to each new block may still cost more than the next. Or write the measured files once before.",
            growth.length_bytes,
            quoted(&growth.path)
        ),
        vec![
            evidence("allocated for the file", allocated, "bytes", "st_blocks of the file behind the device"),
            evidence("written by the device", written, "bytes", "/proc/diskstats"),
            evidence(
                "time with a request in the device",
                device.busy_ms as f64 * 1e6,
                "ns",
                "/proc/diskstats",
            ),
        ],
    ))
}

/// A path quoted for the shell.
fn quoted(path: &str) -> String {
    shlex::try_quote(path).map_or_else(|_| path.to_owned(), |path| path.into_owned())
}
