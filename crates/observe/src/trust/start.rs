//! Whether the workers of a phase began together: the skew of their first operations.

use super::{PhaseResult, summary};
use crate::words::{percent, time};
use fathom_record::{Phase, Repetition, Run, Trust, Verdict};

/// Above this share of the phase, the workers did not start together.
pub(crate) const SKEW: f64 = 0.01;

pub(super) fn check(run: &Run) -> Trust {
    let found = run.phases.iter().filter_map(found).collect();
    summary(run, "start", found, (Verdict::Good, "one worker at a time"))
}

/// Largest share of a phase that passed before the last worker had started.
pub(crate) fn skew_of(phase: &Phase) -> f64 {
    phase.repetitions.iter().map(share).fold(0.0, f64::max)
}

fn share(r: &Repetition) -> f64 {
    if r.workers.len() < 2 || r.elapsed_ns == 0 { 0.0 } else { r.start_skew_ns as f64 / r.elapsed_ns as f64 }
}

fn found(phase: &Phase) -> Option<PhaseResult<'_>> {
    let several = phase.repetitions.iter().filter(|r| r.workers.len() > 1);
    let worst = several.max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let weight = share(worst);
    let words = format!(
        "{} workers started within {} ({} of the measured time)",
        worst.workers.len(),
        time(worst.start_skew_ns as f64),
        percent(weight)
    );
    Some(PhaseResult {
        phase,
        verdict: if weight > SKEW { Verdict::Doubtful } else { Verdict::Good },
        weight,
        words,
    })
}
