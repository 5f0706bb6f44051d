//! More workers that want a processor than there are processors they may use, on a machine that has more.

use super::facts::Facts;
use super::{THREADS, cpu_quota, evidence, finding};
use fathom_record::Finding;

/// Share of their time that the workers waited for a processor.
const NOTABLE: f64 = 0.2;
/// The workers would have used this many times the processors that they may use.
const MORE: f64 = 1.25;
/// They had this share of them: with less, it was others that they waited for.
const OURS: f64 = 0.25;
/// In a shorter time a turn or two of somebody else would count for much.
const LEAST_NS: u64 = 100_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let waited = facts.processor_wait_share()?;
    let online = facts.processors_online()?;
    let allowed = facts.processors_allowed().unwrap_or(online);
    let (usable, whose, advice) = match facts.asked.bound_to {
        Some(bound) if (bound as f64) < allowed => (
            bound as f64,
            "The workload lets its workers use",
            "Let it name more processors, or take no more workers than it names.",
        ),
        // Each worker may have its own.
        _ if facts.asked.bound && facts.asked.bound_to.is_none() => return None,
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
