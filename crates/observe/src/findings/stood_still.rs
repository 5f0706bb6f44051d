//! Calls that do not return while the device is idle: the delay is above the device.

use super::facts::Facts;
use super::{JOIN, evidence, finding};
use crate::words::{percent, time};
use fathom_record::Finding;

/// Minimum share of the phase.
const NOTABLE: f64 = 0.1;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    // I/O of a journal on a separate device is not part of this device's activity.
    if facts.block()?.devices.iter().any(|d| facts.repetition.physical.is_journal(&d.name)) {
        return None;
    }
    let still = &facts.joined?.still;
    let repetition = facts.repetition;
    let waits_for_processor = facts.processor_wait_share()?;
    let whole = repetition.elapsed_ns as f64 * repetition.workers.len() as f64;
    // At most all of the workers' CPU time and processor waiting time may have been in these stretches.
    let awake =
        (facts.processors_used() / repetition.workers.len().max(1) as f64 + waits_for_processor) * whole;
    let asleep = still.in_calls_ns as f64 - awake;
    // In that case this process or the whole machine stalled.
    if repetition.stood_still_ns().is_some() || whole <= 0.0 || asleep < NOTABLE * whole {
        return None;
    }
    Some(finding(
        format!(
            "For {} of the time, in stretches of up to {}, no call returned and the device was idle: something above it held the calls back.",
            percent((still.total_ns as f64 / repetition.elapsed_ns as f64).min(1.0)),
            time(still.longest_ns as f64)
        ),
        "Possible causes: a frozen file system (fsfreeze, a snapshot being made), a lock, a control group; for syncs also the I/O limit of another group, if the journal must write data of that group first. /proc/PID/stack of a worker shows where it waits.",
        vec![
            evidence(
                "time with calls under way, none returning, and an idle device",
                still.total_ns as f64,
                "ns",
                JOIN,
            ),
            evidence("time of the calls in it", still.in_calls_ns as f64, "ns", JOIN),
            evidence("time the workers computed or waited for a processor", awake, "ns", super::THREADS),
        ],
    ))
}
