//! Numbers that the device cannot have delivered: the kernel's own counters of it contradict them. Something between the program and
//! the device answered instead, or the device that was found is not the one that was used. One file a rule; each names both figures.
//!
//! Where fewer bytes at the device are in order, nothing is said: in memory, on a file system that compresses, in holes.

mod direct;
mod other_device;
mod silent_sync;
mod sync_rate;

use fathom_record::{Doubt, Phase, Physical, Repetition, Run};

/// Counters are read at slightly different moments, and a page more or less is nobody's lie.
const TOLERANCE: f64 = 0.05;
/// Below this nothing is worth a doubt.
const LEAST_BYTES: u64 = 1 << 20;

pub(super) fn of(run: &Run) -> Vec<Doubt> {
    [direct::check(run), other_device::check(run), silent_sync::check(run), sync_rate::check(run)]
        .into_iter()
        .flatten()
        .collect()
}

/// Whether there are counters that could contradict anything.
fn counted(physical: &Physical) -> bool {
    !physical.is_memory() && !physical.devices.is_empty() && physical.compression.is_none()
}

/// Whether one figure exceeds another by more than counting can explain.
fn exceeds(claimed: u64, counted: u64) -> bool {
    let over = claimed.saturating_sub(counted);
    over >= LEAST_BYTES && over as f64 > claimed as f64 * TOLERANCE
}

/// The phases a rule finds something in, each with its worst repetition.
fn found<T>(run: &Run, rule: impl Fn(&Phase, &Repetition) -> Option<T>) -> Vec<(&Phase, T)> {
    run.phases
        .iter()
        .filter_map(|phase| {
            let counts = phase.repetitions.iter().filter(|r| counted(&r.physical) && r.error().is_none());
            Some((phase, counts.filter_map(|r| rule(phase, r)).next_back()?))
        })
        .collect()
}

/// What the file system's own device is called.
fn device(repetition: &Repetition) -> String {
    repetition.physical.devices.first().map_or_else(String::new, |d| d.name.clone())
}
