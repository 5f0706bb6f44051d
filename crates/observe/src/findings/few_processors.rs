//! More workers than processors they may use, on a machine that has more.

use super::facts::Facts;
use super::{THREADS, cpu_quota, evidence, finding};
use fathom_record::Finding;

/// Minimum share of their time that the workers waited for a processor.
const NOTABLE: f64 = 0.2;
/// The workers would have used at least this many times the available processors.
const MORE: f64 = 1.25;
/// The workers used at least this share of them; with less, they waited for other programs.
const OURS: f64 = 0.25;
/// In a shorter time, a few time slices of another program would weigh too much.
const LEAST_NS: u64 = 100_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let waited = facts.processor_wait_share()?;
    let online = facts.processors_online()?;
    let allowed = facts.processors_allowed().unwrap_or(online);
    let (usable, whose, advice) = match facts.workload.bound_to {
        Some(bound) if (bound as f64) < allowed => (
            bound as f64,
            "The workload lets its workers use",
            "Let it name more processors, or take no more workers than it names.",
        ),
        // Each worker may have its own processor.
        _ if facts.workload.bound && facts.workload.bound_to.is_none() => return None,
        _ => (
            allowed,
            "This program may use",
            "`taskset -p` and the cpuset of its control group show what was set. Measure outside of it, or with as many workers as it has processors.",
        ),
    };
    let workers = facts.repetition.workers.len() as f64;
    let used = facts.processors_used();
    let wanted = (used + waited * workers).min(workers);
    let more = wanted.min(online) >= MORE * usable && used >= OURS * usable;
    if facts.repetition.elapsed_ns < LEAST_NS || waited < NOTABLE || !more || cpu_quota::find(facts).is_some()
    {
        return None;
    }
    Some(finding(
        format!(
            "{whose} only {usable:.0} of the machine's {online:.0} processors, and on average {wanted:.1} of {workers:.0} workers were running or ready to run."
        ),
        advice,
        vec![
            evidence(
                "processors that the workers may use",
                usable,
                "processors",
                "cpu.allowed, the workload",
            ),
            evidence("used by the workers", used, "processors", THREADS),
            evidence("time ready to run without a processor", waited, "ratio", THREADS),
        ],
    ))
}
