//! Whether streams with a rate kept it: how long operation after operation was issued late.

use super::{Found, told};
use crate::words::time;
use fathom_record::{OpKind, Phase, Run, Trust, Verdict};

/// Late for longer than this without a break is no hiccup: more was asked than could be done.
const BEHIND_NS: u64 = 1_000_000_000;

pub(super) fn check(run: &Run) -> Trust {
    let found = run.phases.iter().filter_map(found).collect();
    told(run, "overload", found, (Verdict::Good, "no rate was asked for"))
}

/// How long a phase was behind its rate without a break, if too long.
pub(crate) fn behind(phase: &Phase) -> Option<u64> {
    longest(phase).filter(|&ns| ns > BEHIND_NS)
}

fn longest(phase: &Phase) -> Option<u64> {
    let workers = phase.repetitions.iter().flat_map(|r| &r.workers);
    workers
        .filter(|w| w.behind_ns > 0 || w.stats.iter().any(|s| s.op == OpKind::Response))
        .map(|w| w.behind_ns)
        .max()
}

fn found(phase: &Phase) -> Option<Found<'_>> {
    let ns = longest(phase)?;
    let (verdict, words) = if behind(phase).is_some() {
        (Verdict::Doubtful, format!("overloaded: behind the rate for {} on end", time(ns as f64)))
    } else {
        (Verdict::Good, format!("the rate was kept, behind for {} at most", time(ns as f64)))
    };
    Some(Found { phase, verdict, weight: ns as f64, words })
}
