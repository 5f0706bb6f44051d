//! A phase that the device should limit, but in which the device is often idle.

use super::facts::Facts;
use super::{EVENTS, evidence, finding, stood_still};
use crate::words::percent;
use fathom_record::{Finding, Regime};

/// Minimum idle share of the time.
const NOTABLE: f64 = 0.25;
const ENOUGH_REQUESTS: u64 = 50;
/// If the workers waited for a processor for this share of the idle time, more operations would not help.
const WAITED: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let block = facts.block()?;
    let device = facts.device()?;
    let requests: u64 = device.requests.iter().map(|r| r.issued).sum();
    let origin = fathom_record::Origin::of(facts.phase, facts.repetition);
    let bound = facts.phase.direct || origin.regime == Regime::Device;
    // Buffered writes wait in memory until write-back; the device may be idle until then.
    let waiting = facts.phase.writes && !facts.phase.direct;
    if !bound || facts.workload.paced || waiting || requests < ENOUGH_REQUESTS || block.watched_ns == 0 {
        return None;
    }
    // The device is watched from before the measured interval until after it.
    let (time_ns, whose) = match facts.repetition.elapsed_ns {
        0 => (block.watched_ns, "watched time"),
        elapsed => (elapsed.min(block.watched_ns), "time of the phase"),
    };
    let idle = 1.0 - (device.busy_ns as f64 / time_ns as f64).min(1.0);
    // More operations would stall, too.
    if idle < NOTABLE || stood_still::find(facts).is_some() {
        return None;
    }
    // A worker that waits for a processor submits nothing.
    let waited = facts.processor_wait_share().filter(|waited| *waited >= WAITED * idle);
    let used = facts.processors_used();
    let workers = match (facts.repetition.workers.len(), waited) {
        (0 | 1, None) => format!("the worker used a processor for {} of it", percent(used)),
        (0 | 1, Some(waited)) => format!(
            "the worker used a processor for {} of it and was ready to run without one for {}",
            percent(used),
            percent(waited)
        ),
        (n, None) => format!("{n} workers used {used:.1} processors"),
        (n, Some(waited)) => format!(
            "{n} workers used {used:.1} processors and were ready to run without one for {} of their time",
            percent(waited)
        ),
    };
    Some(finding(
        format!("{} was idle for {} of the time; {workers}.", device.name, percent(idle)),
        match (facts.phase.direct, facts.workload.in_order) {
            _ if waited.is_some() => {
                "`top -H` shows what uses the processors: stop it, or use no more workers than there are processors."
            }
            (true, _) => {
                "More operations in flight (queue depth, threads), or larger ones, would use the device better."
            }
            (false, true) => "More streams, or a larger read_ahead_kb of the device, would use it better.",
            (false, false) => "More streams at once would use it better.",
        },
        vec![
            evidence(whose, time_ns as f64, "ns", EVENTS),
            evidence("time with a request in the device", device.busy_ns as f64, "ns", EVENTS),
            evidence("requests", requests as f64, "requests", EVENTS),
        ],
    ))
}
