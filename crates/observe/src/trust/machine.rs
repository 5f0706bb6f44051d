//! The machine's own influence on any program: a latency tail no longer than the machine's stalls says nothing about the storage.

use super::{PhaseResult, summary};
use crate::doubts::DoubtInputs;
use crate::words::{percent, time};
use fathom_record::{Phase, Run, Tail, Trust, Verdict, Watched};

/// Above this share of the CPU time, steal matters.
pub(crate) const STEAL: f64 = 0.01;

/// Processor use beside our workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowd {
    /// Share of all processors on which other programs ran their own code, 0..=1.
    pub others: f64,
    /// Idle share of all processors, 0..=1.
    pub idle: f64,
}

impl Crowd {
    /// Whether our workers, and the kernel threads that work for them, had to wait for other programs: not while processors were idle.
    pub(crate) fn matters(&self) -> bool {
        self.others >= 0.2 && self.idle < 0.2
    }

    /// The worst case during a phase, if it matters.
    pub(crate) fn during(phase: &Phase, seen: &DoubtInputs) -> Option<Self> {
        let those = seen.crowds.iter().filter(|(seq, crowd)| *seq == phase.seq && crowd.matters());
        those.map(|&(_, crowd)| crowd).max_by(|a, b| a.others.total_cmp(&b.others))
    }
}

/// Weights above any `nearness`, to order phases: steal, then busy programs, then a tail caused by the machine, then lesser doubts.
const ROBBED: f64 = 1e12;
const CROWDED: f64 = 1e10;
const OWNED: f64 = 1e9;

pub(super) fn check(run: &Run, seen: &DoubtInputs) -> Trust {
    let found = run.phases.iter().filter(|p| !p.repetitions.is_empty()).map(|p| found(p, seen)).collect();
    summary(run, "machine", found, (Verdict::Unknown, "nothing was measured"))
}

fn found<'r>(phase: &'r Phase, seen: &DoubtInputs) -> PhaseResult<'r> {
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
        None => match Watched::of(phase) {
            // Late wake-ups without a watched period.
            Some(w) if w.watched_ns == 0 => format!(
                "too few operations or stalls to compare; the longest stall seen was {}",
                time(w.longest_ns as f64)
            ),
            Some(w) => format!(
                "too few operations or stalls to compare; the longest stall seen was {} in {} of watching",
                time(w.longest_ns as f64),
                time(w.watched_ns as f64)
            ),
            None => "its stalls were not watched".into(),
        },
    };
    let crowd = Crowd::during(phase, seen);
    let bad =
        steal.is_some_and(|s| s > STEAL) || crowd.is_some() || tail.is_some_and(|t| t.is_the_machines());
    // Steal alone says nothing about this machine's own stalls.
    let verdict = match (bad, tail.is_some()) {
        (true, _) => Verdict::Doubtful,
        (false, true) => Verdict::Good,
        (false, false) => Verdict::Unknown,
    };
    // The same order as the doubts: the most steal, else the most use by others, else the nearest tail.
    let nearness = tail.map_or(0.0, |t| t.machine_p999_ns as f64 / t.p999_ns.max(1) as f64);
    let robbed = steal.filter(|s| *s > STEAL).map_or(0.0, |s| ROBBED + s);
    let owned = tail.filter(Tail::is_the_machines).map_or(0.0, |_| OWNED);
    let crowded = crowd.map_or(0.0, |c| CROWDED + c.others);
    let weight = [robbed, crowded].into_iter().find(|w| *w > 0.0).unwrap_or(owned + nearness);
    let others = crowd
        .map_or(String::new(), |c| format!("; other programs on {} of the processors", percent(c.others)));
    PhaseResult { phase, verdict, weight, words: format!("{stolen}{others}; {stalls}") }
}
