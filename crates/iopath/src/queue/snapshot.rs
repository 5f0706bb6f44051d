//! The contents of a queue at one point in time, for plots and for the comparison with a running kernel. Filled into a reusable buffer.

use super::Queue;
use crate::bio::Op;
use crate::elevator::Elevator;
use crate::task::TaskId;
use crate::time::Nanos;

/// A waiting request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// Operation.
    pub op: Op,
    /// The task that submitted its first bio.
    pub task: TaskId,
    /// When its first bio was submitted.
    pub since: Nanos,
}

/// The contents of a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Requests with the elevator, roughly in dispatch order.
    pub waiting: Vec<Waiting>,
    /// Requests in the plugs of tasks.
    pub in_plugs: usize,
    /// Whether a picked request waits for a tag.
    pub parked: bool,
    /// Number of requests in flight.
    pub in_flight: u32,
    /// Whether the queue's plug holds requests back.
    pub plugged: bool,
    /// The elevator's counters, by name.
    pub counters: Vec<(&'static str, u64)>,
}

impl Queue {
    /// Fills a snapshot, reusing its buffers.
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
