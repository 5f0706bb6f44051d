//! Replays a trace in virtual time: its arrivals go through a queue with a scheduler to a simulated device. The analysis used for real
//! events counts what reached the device. Nothing above the queue takes part: no cache, no threads.
//!
//! ```text
//! block events ─▶ arrival (what came when, after what) ─▶ feed (open, closed, dependent) ─▶ engine (queue, device) ─▶ watch
//! ```
//!
//! Everything streams: memory does not grow with the trace. The same trace and set-up give the same events.

mod arrival;
mod engine;
mod feed;
mod handing;
mod in_flight;
mod ring;
mod served;
mod synthetic;
pub(crate) mod tasks;
#[cfg(test)]
mod tests;
mod watch;

pub use arrival::{After, Arrival, Arrivals, LeftOut};
pub use engine::replay;
pub use synthetic::Synthetic;
pub use watch::DEVICE;

use crate::devices::{AnyDevice, Counters};
use fathom_iopath::{MergeCounts, Queue};
use fathom_record::course::PhaseCourse;
use fathom_record::{BlockLayer, OpStat};
use std::num::NonZeroU32;

/// When arrivals are submitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// At the times of the trace, however far the device is behind. Trace order is kept: an arrival that finds the queue full holds up
    /// those behind it, as a submitter would.
    Open(Scale),
    /// With this many in flight at all times, whatever the times in the trace.
    Closed(NonZeroU32),
    /// Each with the same delay as in the trace after the last completion that its task had seen: the task waits and thinks. Processes
    /// may drift apart by about 8192 arrivals. Before its first completion a task follows the times of the trace.
    Dependent(Scale),
}

/// Factor for gaps in time: 0.5 replays twice as fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(f64);

impl Scale {
    /// The trace's own speed.
    pub const ONE: Self = Self(1.0);

    /// A factor above 0 and at most a million; `None` for others.
    #[must_use]
    pub fn new(factor: f64) -> Option<Self> {
        (factor > 0.0 && factor <= 1e6).then_some(Self(factor))
    }

    /// The factor.
    #[must_use]
    pub const fn factor(self) -> f64 {
        self.0
    }

    /// Scales a time or gap in ns. A whole number times a factor is rounded the same way on every machine.
    fn of(self, ns: u64) -> u64 {
        if self == Self::ONE { ns } else { (ns as f64 * self.0) as u64 }
    }
}

/// What a trace is replayed on.
pub struct ReplaySetup {
    /// The queue with its scheduler, limits and tags.
    pub queue: Queue,
    /// The simulated device.
    pub device: AnyDevice,
    /// Name of the device in the result.
    pub device_name: String,
    /// When arrivals are submitted.
    pub mode: Mode,
}

/// The result of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Activity at the device, analysed as for a real one.
    pub block: BlockLayer,
    /// Counters of the replay.
    pub counts: ReplayCounts,
    /// Completed arrivals by kind. Latencies run from the scheduled time to the completion of all parts.
    pub served: Vec<OpStat>,
    /// Counters of the scheduler, by name.
    pub scheduler: Vec<(&'static str, u64)>,
    /// Merges of bios and requests.
    pub merges: MergeCounts,
    /// Counters of the device model.
    pub device: Counters,
    /// Time from the first arrival to the last completion, ns.
    pub elapsed_ns: u64,
    /// Number of requests in the device, integrated over time, ns.
    pub depth_ns: u128,
    /// Sum of the times that requests spent in the device, ns. By Little's law it equals `depth_ns`.
    pub response_ns: u128,
    /// Course of the replay, for plotting.
    pub inside: PhaseCourse,
}

/// Counters of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayCounts {
    /// Arrivals submitted.
    pub arrivals: u64,
    /// Arrivals completed.
    pub done: u64,
    /// Bios after splitting arrivals at the device's request limit.
    pub bios: u64,
    /// Bios completed.
    pub bios_done: u64,
    /// Flushes, which bypass the scheduler.
    pub flushes: u64,
    /// Arrivals without data that are not flushes; ignored.
    pub empty: u64,
    /// Arrivals from past the end of the device, moved to elsewhere on it.
    pub wrapped: u64,
    /// Times an arrival found the queue full.
    pub full: u64,
    /// Sum of the delays of arrivals behind their scheduled time because one before them found the queue full, ns.
    pub late_ns: u64,
    /// Highest number of arrivals in flight.
    pub most_under_way: u32,
}

/// A replay that failed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError<E> {
    /// The trace could not be read.
    #[error(transparent)]
    Trace(E),
    /// An arrival is longer than the device.
    #[error(
        "arrival {number} of the trace has {sectors} sectors, but the device has {capacity}; choose a larger device"
    )]
    TooLong {
        /// Number of the arrival, from 1.
        number: u64,
        /// Length of the arrival, sectors.
        sectors: u32,
        /// Capacity of the device, sectors.
        capacity: u64,
    },
    /// An arrival's time exceeds the range of the clock.
    #[error(
        "an arrival is at {at_ns} ns, more than 146 years after the start of the trace; check its times and --scale"
    )]
    TooLate {
        /// The scheduled time, ns.
        at_ns: u64,
    },
    /// A bug in the model.
    #[error(
        "the replay made no progress after {at_ns} ns, with {waiting} requests waiting: a bug in the model; please report it"
    )]
    Standstill {
        /// Virtual time of the standstill, ns.
        at_ns: u64,
        /// Requests in the queue.
        waiting: usize,
    },
}
