//! Whether two tests of a survey differ by more than their repetitions do; a difference within that spread is no finding.

use fathom_record::{Phase, Repetition};

fn rates(phase: &Phase) -> impl Iterator<Item = f64> {
    phase.repetitions.iter().filter_map(Repetition::ops_per_s)
}

/// The rate of the best repetition, operations a second.
pub(super) fn highest(phase: &Phase) -> Option<f64> {
    rates(phase).reduce(f64::max)
}

/// Whether a repetition of the slower test was as fast as one of the faster. Tests measured only once are taken as they are.
pub(super) fn overlap(slower: &Phase, faster: &Phase) -> bool {
    if slower.repetitions.len() < 2 || faster.repetitions.len() < 2 {
        return false;
    }
    match (highest(slower), rates(faster).reduce(f64::min)) {
        (Some(high), Some(low)) => high >= low,
        _ => false,
    }
}
