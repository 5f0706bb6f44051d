//! Workers that somebody stopped: a signal, or a control group that was frozen.

use super::facts::Facts;
use super::{CALLS, THREADS, evidence, finding, traced};
use crate::words::percent;
use fathom_record::Finding;

/// Minimum share of the workers' time.
const NOTABLE: f64 = 0.1;
const LEAST_NS: u64 = 100_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let halts = facts.repetition.halts?;
    let whole = facts.workers_ns();
    let (stopped, frozen) = (halts.stopped_ns as f64, halts.frozen_ns as f64);
    let share = (stopped + frozen) / whole.max(1.0);
    // A tracer stops the workers, too.
    if facts.repetition.elapsed_ns < LEAST_NS || share < NOTABLE || traced::find(facts).is_some() {
        return None;
    }
    let (how, advice) = if frozen >= stopped {
        let group = group(facts).map_or_else(String::new, |group| format!(" ({group})"));
        (
            format!("frozen with their control group{group}"),
            "freezer.state of the group, or cgroup.freeze in version 2, freezes and thaws it.",
        )
    } else {
        ("stopped by a signal, such as SIGSTOP".into(), "Job control and programs such as cpulimit send one.")
    };
    Some(finding(
        format!("For {} of their time the workers were {how}.", percent(share.min(1.0))),
        advice,
        vec![
            evidence("time stopped by a signal", stopped, "ns", THREADS),
            evidence("time frozen by a control group", frozen, "ns", THREADS),
            evidence("time of the workers", whole, "ns", CALLS),
        ],
    ))
}

/// The group of this program that can be frozen: that of the freezer in version 1, else that of version 2.
fn group(facts: &Facts<'_>) -> Option<String> {
    let path = facts.environment.pointer("/limits/cgroup/path")?.as_str()?;
    let of = |controller: &str| {
        path.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (names, group) = rest.split_once(':')?;
            (names.split(',').any(|name| name == controller) && group != "/").then(|| group.to_owned())
        })
    };
    of("freezer").or_else(|| of(""))
}
