//! What the machine does to any program, beside what was measured: a tail that is no longer than the machine's own stalls says
//! nothing about the storage.

use super::{Found, told};
use crate::doubts::Seen;
use crate::words::{percent, time};
use fathom_record::{Phase, Run, Tail, Trust, Verdict};

/// Above this share of the CPU time the hypervisor matters.
pub(crate) const STEAL: f64 = 0.01;

pub(super) fn check(run: &Run, seen: &Seen) -> Trust {
    let found = run.phases.iter().filter(|p| !p.repetitions.is_empty()).map(|p| found(p, seen)).collect();
    told(run, "machine", found, (Verdict::Unknown, "nothing was measured"))
}

fn found<'r>(phase: &'r Phase, seen: &Seen) -> Found<'r> {
    let steal = seen.steal.iter().filter(|(seq, _)| *seq == phase.seq).map(|&(_, share)| share);
    let steal = steal.max_by(f64::total_cmp);
    let tail = Tail::of(phase);
    let stolen = steal.map_or("steal not known".into(), |s| format!("steal {}", percent(s)));
    let stalls = match tail {
        Some(t) => format!(
            "p99.9 {} beside stalls of {} (max {} beside {})",
            time(t.p999_ns as f64),
            time(t.machine_p999_ns as f64),
            time(t.max_ns as f64),
            time(t.machine_max_ns as f64)
        ),
        None if phase.repetitions.iter().any(|r| r.jitter.is_some()) => {
            "too few operations or stalls to set them beside each other".into()
        }
        None => "its stalls were not watched".into(),
    };
    let bad = steal.is_some_and(|s| s > STEAL) || tail.is_some_and(|t| t.is_the_machines());
    let verdict = match (bad, steal.is_some() || tail.is_some()) {
        (true, _) => Verdict::Doubtful,
        (false, true) => Verdict::Good,
        (false, false) => Verdict::Unknown,
    };
    let nearness = tail.map_or(0.0, |t| t.machine_p999_ns as f64 / t.p999_ns.max(1) as f64);
    Found { phase, verdict, weight: steal.unwrap_or(0.0) + nearness, words: format!("{stolen}; {stalls}") }
}
