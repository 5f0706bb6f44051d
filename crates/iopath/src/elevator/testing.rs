//! A small language for the elevators' tests: a queue without plug or pool, bios by sector, the dispatch order.

use super::by_name;
use crate::bio::{Bio, Op};
use crate::limits::Limits;
use crate::queue::{Next, Queue, Rules, Snapshot, Submitted};
use crate::request::RequestId;
use crate::task::TaskId;
use crate::time::Nanos;

/// A queue and the time.
pub(crate) struct Bench {
    pub(crate) queue: Queue,
    pub(crate) now: Nanos,
}

impl Bench {
    pub(crate) fn new(elevator: &str) -> Self {
        Self::with(elevator, Limits::LOOP_618)
    }

    pub(crate) fn with(elevator: &str, limits: Limits) -> Self {
        Self { queue: Queue::new(by_name(elevator).unwrap(), Rules::bare(limits)), now: Nanos::ZERO }
    }

    pub(crate) fn after(&mut self, millis: u64) -> &mut Self {
        self.now += Nanos::from_millis(millis);
        self
    }

    pub(crate) fn submit(&mut self, bio: Bio) -> Submitted {
        self.queue.submit(self.now, bio)
    }

    /// Task 0 reads 4 KiB.
    pub(crate) fn read(&mut self, sector: u64) {
        self.read_by(0, sector);
    }

    pub(crate) fn read_by(&mut self, task: u16, sector: u64) {
        self.submit(Bio::new(Op::Read, sector, 8).by(TaskId(task)));
    }

    pub(crate) fn write(&mut self, sector: u64) {
        self.write_by(0, sector);
    }

    pub(crate) fn write_by(&mut self, task: u16, sector: u64) {
        self.submit(Bio::new(Op::Write, sector, 8).by(TaskId(task)));
    }

    /// Starts the next request, if there is one now.
    pub(crate) fn start(&mut self) -> Option<RequestId> {
        match self.queue.next(self.now, 1) {
            Next::Request(id) => Some(id),
            _ => None,
        }
    }

    pub(crate) fn sector(&self, id: RequestId) -> u64 {
        self.queue.request(id).unwrap().sector()
    }

    pub(crate) fn done(&mut self, id: RequestId) {
        assert!(self.queue.completed(self.now, id, |_| {}));
    }

    /// Starts and completes one request.
    pub(crate) fn serve(&mut self) -> Option<u64> {
        let id = self.start()?;
        let sector = self.sector(id);
        self.done(id);
        Some(sector)
    }

    /// Serves requests one after the other, without time passing, until the elevator has no more.
    pub(crate) fn order(&mut self) -> Vec<u64> {
        std::iter::from_fn(|| self.serve()).collect()
    }

    /// Serves up to `n` requests.
    pub(crate) fn serve_n(&mut self, n: usize) -> Vec<u64> {
        (0..n).map_while(|_| self.serve()).collect()
    }

    /// When to ask again, if the elevator waits on purpose.
    pub(crate) fn not_before(&mut self) -> Option<Nanos> {
        match self.queue.next(self.now, 1) {
            Next::NotBefore(until) => Some(until),
            Next::Nothing => None,
            Next::Request(id) => panic!("{} goes at once", self.sector(id)),
        }
    }

    /// Sectors of the waiting requests, from the snapshot.
    pub(crate) fn waiting(&self) -> Vec<u64> {
        let mut seen = Snapshot::default();
        self.queue.snapshot(&mut seen);
        seen.waiting.iter().map(|waiting| waiting.sector).collect()
    }

    /// Numbers of back and front merges.
    pub(crate) fn merged(&self) -> (u64, u64) {
        (self.queue.merges().back, self.queue.merges().front)
    }

    pub(crate) fn counter(&self, name: &str) -> u64 {
        let mut seen = Snapshot::default();
        self.queue.snapshot(&mut seen);
        seen.counters.iter().find(|counter| counter.0 == name).map(|counter| counter.1).unwrap()
    }
}
