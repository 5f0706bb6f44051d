//! Checks durations: short enough that their sums do not overflow the clock, long enough to be meaningful.

use crate::{Access, Action, Duration, Phase, Program, Stream};

const YEAR_NS: u64 = 365 * 24 * 3_600_000_000_000;
/// Sums of a few of these, and their product with the tick rate of any clock, fit into 64 bits.
const LONGEST: Duration = Duration(10 * YEAR_NS);
/// The monitor of the workers wakes for each interval; below this it would measure itself.
const SHORTEST_INTERVAL: Duration = Duration(1_000_000);

pub(super) fn phase_errors(phase: &Phase, workers: u64) -> Vec<String> {
    let mut errors = Vec::new();
    for action in phase.before.iter().chain(&phase.after) {
        if let Action::Sleep(time) = action {
            errors.extend(too_long("a sleep", *time));
        }
    }
    errors.extend(too_long("the ramp", phase.ramp));
    let last = Duration(phase.stagger.0.saturating_mul(workers.max(1)));
    errors.extend(too_long("the stagger, up to its last worker,", last));
    errors.extend(too_long("the interval", phase.interval));
    if phase.interval.0 > 0 {
        errors.extend(too_short("the interval", phase.interval));
    }
    errors.extend(phase.stop.time.and_then(|t| too_long("the time of stop", t)));
    let of_groups = phase.stop.steady_groups.iter().map(|of| of.rule);
    for steady in phase.stop.steady.into_iter().chain(of_groups) {
        errors.extend(too_long("the time after which steady begins", steady.after));
        errors.extend(too_long("the round of steady", steady.round));
        if steady.round.0 > 0 {
            errors.extend(too_short("the round of steady", steady.round));
        }
    }
    let flows =
        || phase.groups.iter().flat_map(|g| &g.threads).any(|t| matches!(t.program, Program::Flow(_)));
    if phase.groups.iter().any(|g| g.times.ends_company) && flows() {
        errors
            .push("companies are for streams, but the phase contains a flow; leave ends_company out".into());
    }
    for group in &phase.groups {
        let of = |what: &str| format!("the {what} of group {}", group.name);
        errors.extend(too_long(&of("delay"), group.times.delay));
        errors.extend(group.times.ramp.and_then(|t| too_long(&of("ramp"), t)));
        if group.times.ends_company && group.times.company.is_none() {
            errors.push(format!("group {} has ends_company but no company; give it one", group.name));
        }
        if group.times.ramp_bytes.0 > 0 && flows() {
            errors.push(
                "ramp_bytes is for streams, but the phase contains a flow; give the phase a ramp".into(),
            );
        }
        if group.times.ramp_together && (group.times.company.is_none() || group.times.ramp_bytes.0 == 0) {
            errors.push(format!(
                "ramp_together needs ramp_bytes and a company, and group {} lacks one of them",
                group.name
            ));
        }
        if group.times.ends_with_io && flows() {
            errors.push("ends_with_io is for streams, but the phase contains a flow; leave it out".into());
        }
        if group.times.ends_with_io && !phase.groups.iter().any(crate::Group::is_awaited) {
            errors.push(format!("group {} has ends_with_io, but no other group does I/O", group.name));
        }
        errors.extend(group.times.stop.and_then(|t| too_long(&of("time"), t)));
    }
    for thread in phase.groups.iter().flat_map(|g| &g.threads) {
        if let Program::Stream(stream) = &thread.program {
            errors.extend(stream_errors(stream));
        }
    }
    errors
}

fn stream_errors(stream: &Stream) -> Vec<String> {
    let mut errors = Vec::new();
    errors.extend(stream.pace.think.and_then(|t| too_long("the time of think", t.time)));
    errors.extend(stream.pace.think.and_then(|t| too_long("the time between pauses to think", t.interval)));
    errors.extend(stream.pace.ratio.and_then(|r| too_long("the sleep of a ratio", r.sleep)));
    errors.extend(stream.pace.least.and_then(|l| too_long("the window of least", l.window)));
    errors.extend(stream.pace.least.and_then(|l| too_long("the grace of least", l.grace)));
    let longest = stream.pace.longest;
    errors.extend(longest.and_then(|l| too_long("the longest latency", l.read.max(l.write))));
    errors.extend(stream.pace.burst.and_then(|b| too_long("the pause of burst", b.pause)));
    errors.extend(stream.adaptive_depth.and_then(|a| too_long("the window of adaptive_depth", a.window)));
    errors.extend(
        stream
            .adaptive_depth
            .and_then(|a| a.longest)
            .and_then(|t| too_long("the longest search of adaptive_depth", t)),
    );
    if let Access::Listed(list) = &stream.access {
        errors.extend(list.iter().find_map(|op| too_long("a think time of the list", op.think)));
        let last = list.iter().filter_map(|op| op.due).max();
        errors.extend(last.and_then(|due| too_long("the time that the list's operations are due", due)));
    }
    errors
}

fn too_long(what: &str, time: Duration) -> Option<String> {
    (time > LONGEST).then(|| format!("{what} is longer than 10 years, the longest time allowed"))
}

fn too_short(what: &str, time: Duration) -> Option<String> {
    (time < SHORTEST_INTERVAL).then(|| format!("{what} is {time}; at least 1ms is needed"))
}
