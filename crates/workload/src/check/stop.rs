//! Checks the stop rules of a phase: amounts above 0, a steady state that can be reached.

use crate::{Bytes, Phase, Program, Steady, SteadyGroups};

pub(super) fn errors(phase: &Phase) -> Vec<String> {
    let stop = &phase.stop;
    let mut errors = Vec::new();
    if stop.operations == Some(0) {
        errors.push("stop after 0 operations; at least 1 is needed".into());
    }
    if stop.bytes == Some(Bytes(0)) {
        errors.push("stop after 0 bytes; at least 1 is needed".into());
    }
    errors.extend(stop.steady.iter().flat_map(|steady| steady_errors(steady, false)));
    errors.extend(stop.steady_groups.iter().flat_map(|of| groups_errors(phase, of)));
    let mut ended: Vec<u32> = stop.steady_groups.iter().flat_map(|of| of.groups.iter().copied()).collect();
    ended.sort_unstable();
    if let Some(twice) = ended.windows(2).find(|two| two.first() == two.last()) {
        errors.push(format!("group {} is in steady_groups twice", twice.first().unwrap_or(&0)));
    }
    let flows =
        || phase.groups.iter().flat_map(|g| &g.threads).any(|t| matches!(t.program, Program::Flow(_)));
    if !stop.steady_groups.is_empty() && flows() {
        errors.push("steady_groups are for streams, but the phase contains a flow; use steady".into());
    }
    errors
}

fn groups_errors(phase: &Phase, of: &SteadyGroups) -> Vec<String> {
    let mut errors = steady_errors(&of.rule, true);
    if of.groups.is_empty() {
        errors.push("steady_groups without a group; steady is for all of a phase".into());
    }
    let missing = of.groups.iter().find(|&&number| number as usize >= phase.groups.len());
    errors.extend(missing.map(|number| {
        format!("steady_groups has a group {number}, but the phase has {} groups", phase.groups.len())
    }));
    errors
}

/// `endless`: waiting need not be given up.
fn steady_errors(steady: &Steady, endless: bool) -> Vec<String> {
    let Steady { of: _, round, window, most_rounds, range_percent, slope_percent, criterion, after: _ } =
        *steady;
    let mut errors = Vec::new();
    if round.0 == 0 {
        errors.push("the round of steady is 0; a minute is the default".into());
    }
    if window < 2 {
        errors.push(format!("a window of steady of {window} rounds; at least 2 are needed to compare"));
    }
    if most_rounds < window && !(endless && most_rounds == 0) {
        errors
            .push(format!("most_rounds {most_rounds} of steady is less than its window of {window} rounds"));
    }
    for (name, percent) in [("range_percent", range_percent), ("slope_percent", slope_percent)] {
        if !(percent > 0.0 && percent.is_finite()) {
            errors.push(format!("{name} {percent} of steady is not above 0"));
        }
    }
    let limit = criterion.map(|criterion| criterion.limit().number());
    if let Some(limit) = limit.filter(|limit| !(*limit > 0.0 && limit.is_finite())) {
        errors.push(format!("the limit {limit} of the criterion of steady is not above 0"));
    }
    let untouched = Steady::default();
    let given = (range_percent, slope_percent) != (untouched.range_percent, untouched.slope_percent);
    if criterion.is_some() && given {
        errors.push(
            "range_percent and slope_percent of steady have no effect with a criterion; leave them out"
                .into(),
        );
    }
    errors
}
