//! A file system that compresses what is written, and a device that waits for it.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::percent;
use fathom_record::{Finding, OpKind};

/// More idle time than this, and the device is not what writers wait for.
const NOTABLE: f64 = 0.5;
const ENOUGH_BYTES: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let options = facts.environment.pointer("/filesystem/options").and_then(|o| o.as_str())?;
    let option =
        options.split(',').find(|o| o.starts_with("compress=") || o.starts_with("compress-force="))?;
    let (device, elapsed_ns) = (facts.device()?, facts.repetition.elapsed_ns);
    let idle = 1.0 - (device.busy_ns as f64 / elapsed_ns.max(1) as f64).min(1.0);
    // Writers that wait for no sync wait for no compression either.
    let waits = facts.phase.sync_in_clock || facts.calls(OpKind::Sync).0 > 0;
    if !waits || facts.calls(OpKind::Write).1 < ENOUGH_BYTES || idle < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "The file system compresses what is written ({option}) before {} gets it, and {} had nothing to do for {} of the time.",
            device.name,
            device.name,
            percent(idle)
        ),
        "A lower level, another algorithm, or chattr -c on the directory shows what compression costs here.",
        vec![
            evidence("time of the phase", elapsed_ns as f64, "ns", "our own clock"),
            evidence("time with a request in the device", device.busy_ns as f64, "ns", EVENTS),
        ],
    ))
}
