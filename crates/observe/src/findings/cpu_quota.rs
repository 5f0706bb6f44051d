//! A control group that gives us less than the processor time our workers want.

use super::facts::Facts;
use super::{evidence, finding};
use fathom_record::Finding;

/// Share of the quota that must have been used: the last period is seldom used to its end.
const USED_UP: f64 = 0.8;
/// A quota is given out in periods of a tenth of a second.
const LEAST_NS: u64 = 300_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let quota = facts.environment.pointer("/limits/cgroup/cpu_max_cores").and_then(|c| c.as_f64())?;
    let workers = &facts.repetition.workers;
    let elapsed_ns = facts.repetition.elapsed_ns;
    let busy = facts.processors_used();
    // Who could not use more than the quota was not held back by it.
    if elapsed_ns < LEAST_NS || quota <= 0.0 || quota >= workers.len() as f64 || busy < USED_UP * quota {
        return None;
    }
    Some(finding(
        format!(
            "A control group gives this program {} of a processor, and its workers used {}: they stood still for the rest of the time.",
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
