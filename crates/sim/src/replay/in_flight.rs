//! Arrivals in flight, by small numbers that bios carry through the queue. Added at submission, looked up at each completion of a part.

use fathom_iopath::{Op, TaskId};

/// An arrival in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InFlight {
    /// Its number in the trace.
    pub number: u64,
    /// Parts still in flight.
    pub left: u32,
    /// Length, sectors.
    pub sectors: u32,
    /// Scheduled time, ns.
    pub due: u64,
    /// The operation.
    pub op: Op,
    /// Next steps once these parts are done.
    pub rest: Option<RemainingSteps>,
}

/// Remaining steps of a write with a flush before or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RemainingSteps {
    /// Whether its data is still to be written.
    pub data: bool,
    /// Whether a flush follows the data.
    pub flush: bool,
    /// Sector of the data.
    pub sector: u64,
    /// The submitting task.
    pub task: TaskId,
    /// The submitting CPU.
    pub cpu: u8,
}

/// The table; indices are reused.
#[derive(Default)]
pub(super) struct InFlightTable {
    entries: Vec<InFlight>,
    free: Vec<u32>,
}

impl InFlightTable {
    /// Adds an arrival and returns its index.
    pub fn put(&mut self, in_flight: InFlight) -> u32 {
        if let Some(at) = self.free.pop() {
            self.entries[at as usize] = in_flight;
            return at;
        }
        self.entries.push(in_flight);
        (self.entries.len() - 1) as u32
    }

    /// Completes a part. After the last one, returns the arrival and frees its index.
    #[inline]
    pub fn part_done(&mut self, at: u32) -> Option<InFlight> {
        let entry = &mut self.entries[at as usize];
        debug_assert!(entry.left > 0, "no part is done twice");
        entry.left -= 1;
        if entry.left > 0 {
            return None;
        }
        let in_flight = *entry;
        self.free.push(at);
        Some(in_flight)
    }
}
