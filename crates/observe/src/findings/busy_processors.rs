//! Workers that are runnable while others occupy the processors.

use super::facts::Facts;
use super::{THREADS, cpu_quota, evidence, finding};
use crate::weights;
use crate::words::percent;
use fathom_record::Finding;

/// Workers are slowed down if they wait for a processor for this share of their time.
const NOTABLE: f64 = 0.3;
/// If there are more workers than processors, they wait for each other. Others count only if ours use less than this share of the
/// processors.
const OURS: f64 = 0.6;
/// Minimum share of the processors our workers waited for that others used.
const THEIRS: f64 = 0.5;
/// In a shorter time, a single time slice of another program would weigh too much.
const LEAST_NS: u64 = 300_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let waited = facts.processor_wait_share()?;
    let used = facts.processors_used();
    // They may be bound to too few processors and wait for each other.
    if !facts.workload.bound.is_empty() || cpu_quota::find(facts).is_some() {
        return None;
    }
    let by_others = facts.allowed_processors_used_by_others()?;
    let wanted = facts.processors_wanted();
    let theirs = by_others >= THEIRS * waited * wanted;
    if facts.repetition.elapsed_ns < LEAST_NS || waited < NOTABLE || used > OURS * wanted || !theirs {
        return None;
    }
    let workers = facts.repetition.workers.len();
    // More workers than processors also wait for each other.
    let what = if workers as f64 <= wanted {
        "had them".to_owned()
    } else {
        let bound = facts.allowed_busy_ns.is_none() && facts.processors_forbidden() > 0.0;
        let at_least = if bound { "at least " } else { "" };
        format!("used {at_least}{by_others:.1} of the {wanted:.0} that {workers} workers share")
    };
    let mut figures = vec![
        evidence("time ready to run without a processor", waited, "ratio", THREADS),
        evidence("used by the workers", used, "processors", THREADS),
        evidence("used by others where the workers may run", by_others, "processors", "/proc/stat"),
    ];
    let mut sentence = format!(
        "For {} of the time the workers were ready to run but had no processor: other programs or kernel threads {what}.",
        percent(waited)
    );
    if facts.processors_forbidden() > 0.0
        && let (Some(allowed), Some(online)) = (facts.processors_allowed(), facts.processors_online())
    {
        sentence += &format!(
            " This program may use only {allowed:.0} of the machine's {online:.0} processors (taskset, cpuset)."
        );
    }
    let mut advice = "`top -H` shows which. Measure when they are quiet, or give the run dedicated processors (taskset, cpuset).";
    if let Some(weight) = weights::of_processor(facts.environment) {
        let (name, value, default) = (weight.name(), weight.value, weight.default);
        sentence += &format!(
            " A control group of this program has a low weight ({name} {value}, the default is {default}), so programs outside of it go first."
        );
        advice = "Raise the weight (fathom doctor shows where it is set), or measure outside of the group or when the others are quiet.";
        figures.push(evidence("weight", value, "", &weight.file));
    }
    Some(finding(sentence, advice, figures))
}
