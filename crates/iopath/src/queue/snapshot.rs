//! What is in a queue at a moment, for plots and for the comparison with a running kernel. Filled into a buffer that the caller keeps.

use super::Queue;
use crate::bio::Op;
use crate::elevator::Elevator;
use crate::task::TaskId;
use crate::time::Nanos;

/// A request that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// What is done.
    pub op: Op,
    /// Who submitted its first bio.
    pub task: TaskId,
    /// Since when.
    pub since: Nanos,
}

/// A queue's content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// With the elevator, roughly in the order in which they would go.
    pub waiting: Vec<Waiting>,
    /// Requests in the plugs of tasks.
    pub in_plugs: usize,
    /// A request is picked and waits for a place.
    pub parked: bool,
    /// Requests with the device.
    pub in_flight: u32,
    /// The queue's plug is closed.
    pub plugged: bool,
    /// What the elevator counted, by name.
    pub counters: Vec<(&'static str, u64)>,
}

impl Queue {
    /// Writes the queue's content into a snapshot, whose buffers are used again.
    pub fn snapshot(&self, into: &mut Snapshot) {
        into.waiting.clear();
        self.elevator.each_waiting(&self.requests, &mut |slot| {
            let request = &self.requests[slot];
            into.waiting.push(Waiting {
                sector: request.sector(),
                sectors: request.sectors(),
                op: request.op(),
                task: request.task(),
                since: request.queued_at(),
            });
        });
        into.in_plugs = self.plugs.held();
        into.parked = self.parked.is_some();
        into.in_flight = self.started;
        into.plugged = self.plugged_until.is_some();
        into.counters.clear();
        self.elevator.counters(&mut |name, count| into.counters.push((name, count)));
    }
}
