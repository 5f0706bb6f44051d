//! The result in the types of a record: each phase's repetitions as the engine reports them, what reached the device, and the figures
//! that only a simulator has.

use crate::counts::Counts;
use crate::devices;
use crate::machine::Machine;
use crate::sets::Set;
use crate::shapes::Shapes;
use fathom_iopath::MergeCounts;
use fathom_record::block::{BlockLayer, RequestClass};
use fathom_record::course::PhaseCourse;
use fathom_record::{CacheIntent, DeviceDelta, Physical, Repetition, Residency};
use fathom_workload::CacheState;

/// The result of a simulated workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulated {
    /// The repetitions of each phase, in phase order.
    pub phases: Vec<Vec<Repetition>>,
    /// Simulator-only figures, over all phases.
    pub inside: Inside,
}

/// Figures that only a simulator has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inside {
    /// Total virtual time, ns.
    pub elapsed_ns: u64,
    /// Events processed.
    pub events: u64,
    /// Counters of the simulated kernel.
    pub counts: Counts,
    /// How bios merged.
    pub merges: MergeCounts,
    /// Shapes of the write requests.
    pub shapes: Shapes,
    /// Counters of the device model.
    pub device: devices::Counters,
    /// Counters of the elevator, by name.
    pub elevator: Vec<(&'static str, u64)>,
    /// Time integral of the requests in the device, ns. By Little's law it equals `response_ns`.
    pub depth_ns: u128,
    /// Sum of the times that requests spent in the device, ns.
    pub response_ns: u128,
    /// Course of each phase's last repetition, for plotting.
    pub phases: Vec<PhaseCourse>,
    /// What the result leaves out, in sentences.
    pub notes: Vec<String>,
    /// Messages that flows printed, in order; at most the first thousand.
    pub said: Vec<String>,
}

/// What reached the device during a phase. `written_in_clock_bytes` are the bytes the device wrote while its clock ran.
#[must_use]
pub fn physical(layer: &BlockLayer, written_in_clock_bytes: u64, kind: &str) -> Physical {
    let Some(device) = layer.devices.first() else { return Physical::default() };
    let of = |class| device.requests.iter().find(|r| r.class == class);
    let figure =
        |class, of_stats: fn(&fathom_record::block::RequestStats) -> u64| of(class).map_or(0, of_stats);
    let merges = |s: &fathom_record::block::RequestStats| {
        s.back_merges.unwrap_or(0) + s.front_merges.unwrap_or(0) + s.request_merges.unwrap_or(0)
    };
    // Measured from entering the scheduler's queue, like the kernel's counters.
    let took_ns = |s: &fathom_record::block::RequestStats| s.q2d.sum_ns().saturating_add(s.d2c.sum_ns());
    let milliseconds = |ns: u128| u64::try_from(ns / 1_000_000).unwrap_or(u64::MAX);
    let took_ms = |class| of(class).map_or(0, |s| milliseconds(took_ns(s)));
    let delta = DeviceDelta {
        name: device.name.clone(),
        level: 0,
        kind: kind.into(),
        read_ios: figure(RequestClass::Read, |s| s.completed),
        read_bytes: figure(RequestClass::Read, |s| s.completed_bytes),
        read_merges: figure(RequestClass::Read, merges),
        write_ios: figure(RequestClass::Write, |s| s.completed),
        write_bytes: figure(RequestClass::Write, |s| s.completed_bytes),
        write_merges: figure(RequestClass::Write, merges),
        flush_ios: figure(RequestClass::Flush, |s| s.completed),
        discard_ios: 0,
        busy_ms: device.busy_ns / 1_000_000,
        read_ms: took_ms(RequestClass::Read),
        write_ms: took_ms(RequestClass::Write),
        queue_ms: milliseconds(device.requests.iter().map(took_ns).sum()),
    };
    let read_bytes = delta.read_bytes;
    Physical {
        method: "simulated".into(),
        written_in_clock_bytes: Some(written_in_clock_bytes.min(delta.write_bytes)),
        devices: vec![delta],
        own_read_bytes: Some(read_bytes),
        ..Physical::default()
    }
}

/// Cache residency of the files of `sets`.
pub(crate) fn residency<'s>(machine: &Machine, sets: impl Iterator<Item = &'s Set>) -> Residency {
    use crate::cache::Flags;
    let (files, cache) = (machine.files.borrow(), machine.cache.borrow());
    let mut found = Residency::default();
    // A file of several sets is counted once.
    let all: std::collections::BTreeSet<_> = sets.flat_map(Set::files).collect();
    for file in all {
        let file = files.get(file);
        // Blocks past the end of the file are not pages of it.
        let pages = file.pages_of_data();
        found.total_pages += u64::from(pages);
        for page in 0..pages {
            let Some(flags) = cache.flags(file.page(page)) else { continue };
            found.cached_pages += u64::from(flags.has(Flags::READY));
            found.dirty_pages += u64::from(flags.has(Flags::DIRTY));
            found.writeback_pages += u64::from(flags.has(Flags::WRITEBACK));
        }
    }
    found
}

/// The record's term for the cache state that was requested.
pub(crate) fn intent(state: CacheState) -> CacheIntent {
    match state {
        CacheState::AsFound => CacheIntent::AsFound,
        CacheState::Cold => CacheIntent::Cold,
        CacheState::Warm => CacheIntent::Warm,
    }
}
