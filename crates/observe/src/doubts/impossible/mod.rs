//! Figures that the device cannot have delivered, because they contradict the kernel's counters for it. Something between the program and
//! the device answered instead, or the device found is not the one used. One file per rule; each doubt names both figures.
//!
//! There is no doubt where fewer bytes at the device are expected: in memory, on a compressing file system, in holes.

mod direct;
mod other_device;
mod silent_sync;
mod sync_rate;
mod unflushed_sync;

use fathom_record::{Doubt, Phase, Physical, Repetition, Run};
use serde_json::Value;

/// Counters are read at slightly different times, and may differ by a few pages.
const TOLERANCE: f64 = 0.05;
/// Smaller amounts never raise a doubt.
const LEAST_BYTES: u64 = 1 << 20;

pub(super) fn of(run: &Run, environment: &Value) -> Vec<Doubt> {
    let found = [
        direct::check(run),
        other_device::check(run),
        silent_sync::check(run),
        unflushed_sync::check(run, environment),
        sync_rate::check(run),
    ];
    found.into_iter().flatten().collect()
}

/// Whether there are counters to compare with.
fn counted(physical: &Physical) -> bool {
    !physical.is_memory() && !physical.devices.is_empty() && physical.compression.is_none()
}

/// Whether a figure exceeds another by more than counting can explain.
fn exceeds(claimed: u64, counted: u64) -> bool {
    let over = claimed.saturating_sub(counted);
    over >= LEAST_BYTES && over as f64 > claimed as f64 * TOLERANCE
}

/// The phases in which a rule finds something, each with its worst repetition.
fn found<T>(run: &Run, rule: impl Fn(&Phase, &Repetition) -> Option<T>) -> Vec<(&Phase, T)> {
    run.phases
        .iter()
        .filter_map(|phase| {
            let counts = phase.repetitions.iter().filter(|r| counted(&r.physical) && r.error().is_none());
            Some((phase, counts.filter_map(|r| rule(phase, r)).next_back()?))
        })
        .collect()
}

/// Name of the file system's own device.
fn device(repetition: &Repetition) -> String {
    repetition.physical.devices.first().map_or_else(String::new, |d| d.name.clone())
}
