//! A control group that gives us less than the processor time our workers want.

use super::facts::Facts;
use super::{THREADS, evidence, finding};
use crate::words::percent;
use fathom_record::Finding;

/// Minimum share of their time that the workers waited for a processor.
const NOTABLE: f64 = 0.2;
/// Minimum share of the quota used by the workers; the program's other threads use some of it, too.
const MOST_OF_IT: f64 = 0.5;
/// The same, if their waiting time is unknown.
const USED_UP: f64 = 0.8;
/// If the device is busy for a larger share of the time, the workers may have waited for it instead.
const BUSY: f64 = 0.5;
/// A quota is granted in periods of a tenth of a second.
const LEAST_NS: u64 = 300_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let quota = facts.environment.pointer("/limits/cgroup/cpu_max_cores").and_then(|c| c.as_f64())?;
    let elapsed_ns = facts.repetition.elapsed_ns;
    let busy = facts.processors_used();
    let device = facts.device().map_or(0.0, |device| device.busy_ns as f64 / elapsed_ns.max(1) as f64);
    let waited = facts.processor_wait_share();
    let binds = match waited {
        Some(_) if !facts.workload.bound.is_empty() => busy >= USED_UP * quota,
        Some(waited) => waited >= NOTABLE && busy >= MOST_OF_IT * quota,
        None => busy >= USED_UP * quota && device <= BUSY,
    };
    if elapsed_ns < LEAST_NS || quota <= 0.0 || quota >= facts.processors_wanted() || !binds {
        return None;
    }
    let waited = waited.map_or_else(String::new, |waited| {
        format!(" For {} of the time they were ready to run but had to wait.", percent(waited))
    });
    Some(finding(
        format!(
            "A control group gives this program at most {} of a processor, and its workers used {} of one.{waited}",
            cores(quota),
            cores(busy)
        ),
        "Raise the quota (cpu.max, or cpu.cfs_quota_us), or measure outside of the group.",
        vec![
            evidence("quota", quota, "processors", "limits.cgroup.cpu_max_cores"),
            evidence("used by the workers", busy, "processors", THREADS),
        ],
    ))
}

/// "0.05", "1.5".
fn cores(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
