//! Contradictions that no author of a workload can intend but that original programs accept: IOzone takes any combination of its options,
//! so these are rejected in workloads of the native format only.

use crate::{Backend, OpenSync, Pace, Phase, Program, Stream, Workload};

use super::{CheckError, error};

/// All such contradictions, in order of the text.
pub(super) fn errors(workload: &Workload) -> Vec<CheckError> {
    workload.phases.iter().enumerate().flat_map(|(i, phase)| phase_errors(i, phase)).collect()
}

fn phase_errors(number: usize, phase: &Phase) -> Vec<CheckError> {
    let mut errors = Vec::new();
    for group in &phase.groups {
        for thread in &group.threads {
            if let Program::Stream(stream) = &thread.program {
                let place = format!("phase {number} ({}), group {} {}", phase.name, group.name, thread.name);
                errors.extend(stream_errors(stream).iter().map(|m| error(place.trim_end(), m)));
            }
        }
    }
    errors
}

fn stream_errors(stream: &Stream) -> Vec<String> {
    let mut errors = Vec::new();
    let Pace { think, rate, burst, .. } = stream.pace;
    if rate.is_some() && think.is_some_and(|think| !think.shifts_schedule) {
        errors.push(
            "rate and think contradict each other: the rate schedules the operations, and a pause before each moves them; use one of them, or think with postpones = true".into(),
        );
    }
    if rate.is_some() && burst.is_some() {
        errors.push(
            "rate and burst contradict each other: the schedule continues during a pause that is not counted; use only one of them".into(),
        );
    }
    if matches!(stream.backend, Backend::Mmap { .. }) {
        if stream.open.direct {
            errors.push(
                "direct = true has no effect on a mapped file, which uses the page cache; leave it out, or use another back-end".into(),
            );
        }
        if stream.open.sync != OpenSync::No {
            errors.push(
                "open.sync has no effect on a mapped file: no write call is made; use flush = \"sync\" of mmap".into(),
            );
        }
    }
    errors
}
