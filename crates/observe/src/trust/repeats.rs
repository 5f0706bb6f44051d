//! The number of repetitions of a phase, and the spread of their figures.

use super::{PhaseResult, summary};
use crate::doubts::phases::{SHORT_NS, shortest_ns};
use crate::words::percent;
use fathom_record::{Phase, Repetition, Run, Trust, Verdict};

/// Above this share of the median, repetitions differ too much.
pub(crate) const SPREAD: f64 = 0.2;

pub(super) fn check(run: &Run) -> Trust {
    let found = run.phases.iter().filter_map(found).collect();
    summary(run, "repeats", found, (Verdict::Unknown, "nothing was timed"))
}

/// Largest minus least rate as a share of the median; `None` for fewer than two repetitions, or if they are so short that a scheduler
/// tick decides.
pub(crate) fn spread(phase: &Phase) -> Option<f64> {
    if is_short(phase) {
        return None;
    }
    let rates = |figure: fn(&Repetition) -> Option<f64>| -> Vec<f64> {
        phase.repetitions.iter().filter_map(figure).filter(|r| r.is_finite() && *r > 0.0).collect()
    };
    let (bytes, operations) = (rates(Repetition::bytes_per_s), rates(Repetition::ops_per_s));
    // Operations that move no data (an fsync, a stat) have a rate, too.
    let (rates, median) = if bytes.len() >= operations.len() {
        (bytes, phase.bytes_per_s())
    } else {
        (operations, phase.ops_per_s())
    };
    let median = median.filter(|m| *m > 0.0 && rates.len() > 1)?;
    let (least, most) =
        rates.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &r| (low.min(r), high.max(r)));
    Some((most - least) / median)
}

fn is_short(phase: &Phase) -> bool {
    shortest_ns(phase).is_some_and(|ns| ns < SHORT_NS)
}

fn found(phase: &Phase) -> Option<PhaseResult<'_>> {
    let (verdict, weight, words) = match (phase.repetitions.len(), spread(phase)) {
        (0, _) => return None,
        (1, _) => (Verdict::Unknown, 0.0, "done once: the spread is not known".to_string()),
        (n, None) if is_short(phase) => {
            (Verdict::Unknown, 0.0, format!("{n} repetitions, too short to judge their spread"))
        }
        (n, None) => (Verdict::Unknown, 0.0, format!("{n} repetitions without rates")),
        (n, Some(spread)) => {
            let words = format!("{n} repetitions, least to most {} of the median", percent(spread));
            (if spread > SPREAD { Verdict::Doubtful } else { Verdict::Good }, spread, words)
        }
    };
    Some(PhaseResult { phase, verdict, weight, words })
}
