//! Whether what ends a phase makes sense: amounts above 0, a steady state that can come.

use crate::{Bytes, Phase, Steady};

/// Everything that is wrong with the stop rules of a phase.
pub(super) fn errors(phase: &Phase) -> Vec<String> {
    let stop = &phase.stop;
    let mut errors = Vec::new();
    if stop.operations == Some(0) {
        errors.push("stop after 0 operations; at least 1 is needed".into());
    }
    if stop.bytes == Some(Bytes(0)) {
        errors.push("stop after 0 bytes; at least 1 is needed".into());
    }
    errors.extend(stop.steady.iter().flat_map(steady_errors));
    errors
}

fn steady_errors(steady: &Steady) -> Vec<String> {
    let Steady { of: _, round, window, most_rounds, range_percent, slope_percent } = *steady;
    let mut errors = Vec::new();
    if round.0 == 0 {
        errors.push("the round of steady is 0; a minute is the default".into());
    }
    if window < 2 {
        errors.push(format!("a window of steady of {window} rounds; at least 2 are needed to compare"));
    }
    if most_rounds < window {
        errors
            .push(format!("most_rounds {most_rounds} of steady is less than its window of {window} rounds"));
    }
    for (name, percent) in [("range_percent", range_percent), ("slope_percent", slope_percent)] {
        if !(percent > 0.0 && percent.is_finite()) {
            errors.push(format!("{name} {percent} of steady is not above 0"));
        }
    }
    errors
}
