//! A trace in virtual time: its arrivals go through a queue with a scheduler to a device of the simulator, and what the device was
//! asked for is counted by the analysis that counts real events. Nothing above the queue takes part: no cache, no threads.
//!
//! ```text
//! block events ─▶ arrival (what came when, after what) ─▶ feed (open, closed, dependent) ─▶ engine (queue, device) ─▶ watch
//! ```
//!
//! Everything streams: memory does not grow with the length of the trace. The same trace and set-up give the same events.

mod arrival;
mod engine;
mod feed;
mod handing;
mod ring;
mod served;
mod synthetic;
pub(crate) mod tasks;
#[cfg(test)]
mod tests;
mod watch;
mod wholes;

pub use arrival::{After, Arrival, Arrivals, LeftOut};
pub use engine::replay;
pub use synthetic::Synthetic;
pub use watch::DEVICE;

use crate::devices::{AnyDevice, Counters};
use fathom_iopath::{MergeCounts, Queue};
use fathom_record::inside::PhaseInside;
use fathom_record::{BlockLayer, OpStat};
use std::num::NonZeroU32;

/// When arrivals are handed in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// At the times of the trace, however far the device is behind; but in the order of the trace, and one that finds the queue
    /// full holds up those behind it, as a submitter would.
    Open(Scale),
    /// So many are under way at any time, whatever the times of the trace.
    Closed(NonZeroU32),
    /// Each as long after the completion of what its task had seen completed last as in the trace: the task waits and thinks.
    /// Processes may drift apart by some 8192 arrivals. Before its first completion a task keeps to the times of the trace.
    Dependent(Scale),
}

/// What gaps in time are multiplied by: 0.5 is twice as fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(f64);

impl Scale {
    /// As in the trace.
    pub const ONE: Self = Self(1.0);

    /// Above 0 and at most a million; `None` for others.
    #[must_use]
    pub fn new(factor: f64) -> Option<Self> {
        (factor > 0.0 && factor <= 1e6).then_some(Self(factor))
    }

    /// What it was made of.
    #[must_use]
    pub const fn factor(self) -> f64 {
        self.0
    }

    /// A time or gap in ns, scaled. A whole number times a factor is rounded the same way everywhere.
    fn of(self, ns: u64) -> u64 {
        if self == Self::ONE { ns } else { (ns as f64 * self.0) as u64 }
    }
}

/// What a trace is replayed on.
pub struct Setup {
    /// Scheduler, limits, tags.
    pub queue: Queue,
    /// The device.
    pub device: AnyDevice,
    /// What it is called in the result.
    pub device_name: String,
    /// When arrivals are handed in.
    pub mode: Mode,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// What the device was asked for, as of a real one.
    pub block: BlockLayer,
    /// What was counted beside.
    pub counts: Counts,
    /// Arrivals by kind, with the time from when each was due until all of it was done.
    pub served: Vec<OpStat>,
    /// What the scheduler counted, by name.
    pub scheduler: Vec<(&'static str, u64)>,
    /// Bios and requests that merged.
    pub merges: MergeCounts,
    /// What the device did.
    pub device: Counters,
    /// The first arrival to the last completion, ns.
    pub elapsed_ns: u64,
    /// Requests with the device, integrated over time, ns.
    pub depth_ns: u128,
    /// Sum of the times that requests were with the device, ns. Little's law: the same.
    pub response_ns: u128,
    /// How it went, to be drawn.
    pub inside: PhaseInside,
}

/// What was counted beside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Arrivals that were handed in.
    pub arrivals: u64,
    /// Of these, done.
    pub done: u64,
    /// Bios that they were cut into by the longest request of the device.
    pub bios: u64,
    /// Bios that were done.
    pub bios_done: u64,
    /// Flushes, which pass the scheduler by.
    pub flushes: u64,
    /// Arrivals without data that were no flush: nothing was done for them.
    pub empty: u64,
    /// Arrivals from beyond the end of the device, put elsewhere on it.
    pub wrapped: u64,
    /// Times that an arrival found the queue full.
    pub full: u64,
    /// Sum of the times by which arrivals were handed in later than they were due, because one before them found no room, ns.
    pub late_ns: u64,
    /// Most arrivals under way at a time.
    pub most_under_way: u32,
}

/// A replay that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError<E> {
    /// The trace could not be read.
    #[error(transparent)]
    Trace(E),
    /// An arrival is longer than the device.
    #[error(
        "arrival {number} of the trace has {sectors} sectors and the device {capacity}; choose a larger device"
    )]
    TooLong {
        /// Which, from 1.
        number: u64,
        /// Its sectors.
        sectors: u32,
        /// The device's.
        capacity: u64,
    },
    /// An arrival or something behind it lies at a time that no clock has.
    #[error(
        "the trace goes on at {at_ns} ns, more than 146 years after its beginning; its times or --scale cannot be meant"
    )]
    TooLate {
        /// When it would be, ns.
        at_ns: u64,
    },
    /// An error in the model.
    #[error("nothing moves any more at {at_ns} ns with {waiting} requests waiting: an error in the model")]
    Standstill {
        /// When.
        at_ns: u64,
        /// Requests in the queue.
        waiting: usize,
    },
}
