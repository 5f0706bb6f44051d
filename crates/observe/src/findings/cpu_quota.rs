//! A control group that gives us less than the processor time our workers want.

use super::facts::Facts;
use super::{evidence, finding};
use fathom_record::Finding;

/// Share of the quota that the workers must have used: the program's other threads use some of it, too.
const USED_UP: f64 = 0.8;
/// A device that is busy for a larger share of the time may be what the workers waited for.
const BUSY: f64 = 0.5;
/// A quota is given out in periods of a tenth of a second.
const LEAST_NS: u64 = 300_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let quota = facts.environment.pointer("/limits/cgroup/cpu_max_cores").and_then(|c| c.as_f64())?;
    let workers = &facts.repetition.workers;
    let elapsed_ns = facts.repetition.elapsed_ns;
    let busy = facts.processors_used();
    // Without the quota they could use a processor each, as far as the machine has them.
    let online = facts.environment.pointer("/cpu/online").and_then(|n| n.as_f64());
    let most = online.map_or(workers.len() as f64, |online| online.min(workers.len() as f64));
    let device = facts.device().map_or(0.0, |device| device.busy_ns as f64 / elapsed_ns.max(1) as f64);
    let binds = quota > 0.0 && quota < most && busy >= USED_UP * quota && device <= BUSY;
    if elapsed_ns < LEAST_NS || !binds {
        return None;
    }
    Some(finding(
        format!(
            "A control group gives this program at most {} of a processor, and its workers used {} of one.",
            cores(quota),
            cores(busy)
        ),
        "Raise the quota (cpu.max, or cpu.cfs_quota_us), or measure outside of the group.",
        vec![
            evidence("quota", quota, "processors", "limits.cgroup.cpu_max_cores"),
            evidence("used by the workers", busy, "processors", "our own threads"),
        ],
    ))
}

/// "0.05", "1.5".
fn cores(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
