//! Does an elevator choose as the running kernel does? The events of a block trace are fed in one by one; at each request that the kernel
//! issued, the model is asked for its own choice, the two are compared, and the model is made to go the kernel's way. So one miss
//! is one miss, and does not spoil what follows. Where the trace comes from is the caller's business.

use crate::bio::{Bio, Op};
use crate::merge::MergeCounts;
use crate::queue::{Next, Queue, Submitted};
use crate::request::{RequestId, Stage};
use crate::time::Nanos;

/// An event of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A bio was submitted (`block_bio_queue`). What becomes of it tells one of the next three.
    Bio(Bio),
    /// A request was made for the bio at this sector (`block_getrq`).
    Request {
        /// First sector of the bio.
        sector: u64,
    },
    /// The bio at this sector was added to a request (`block_bio_backmerge`, `block_bio_frontmerge`).
    Merge {
        /// First sector of the bio.
        sector: u64,
    },
    /// The device started a request (`block_rq_issue`).
    Issue {
        /// What it does.
        op: Op,
        /// First sector.
        sector: u64,
        /// Length in sectors.
        sectors: u32,
    },
    /// The device is done with a request (`block_rq_complete`).
    Complete {
        /// What it did.
        op: Op,
        /// First sector.
        sector: u64,
    },
}

/// The model would have issued another request than the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// First sector and sectors of the kernel's choice.
    pub kernel: (u64, u32),
    /// First sector and sectors of the model's; `None`: it would have issued nothing.
    pub model: Option<(u64, u32)>,
    /// Among how many.
    pub waiting: usize,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that the kernel issued.
    pub issued: u64,
    /// Of these, the model chose the same.
    pub same: u64,
    /// Requests issued while others waited too, so that there was a choice.
    pub contested: u64,
    /// Of these, the model chose the same.
    pub contested_same: u64,
    /// Bios that the kernel merged.
    pub kernel_merges: u64,
    /// Bios that the one merged and the other did not.
    pub merges_differ: u64,
    /// Events that the model could not follow: a request that it does not have.
    pub lost: u64,
}

/// A model that follows a trace.
#[derive(Clone, Debug)]
pub struct Agreement {
    queue: Queue,
    places: usize,
    /// Bios of which it is not known yet what becomes of them.
    undecided: Vec<Bio>,
    in_device: Vec<RequestId>,
    counts: Counts,
}

impl Agreement {
    /// A queue, empty, before a device with this many places (driver tags).
    pub fn new(queue: Queue, places: usize) -> Self {
        Self { queue, places, undecided: Vec::new(), in_device: Vec::new(), counts: Counts::default() }
    }

    /// What was counted so far.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The model's merges so far.
    pub const fn merges(&self) -> &MergeCounts {
        self.queue.merges()
    }

    /// Takes the next event. Returns the miss if this is one.
    pub fn see(&mut self, now: Nanos, seen: Seen) -> Option<Miss> {
        match seen {
            Seen::Bio(bio) => self.undecided.push(bio),
            Seen::Request { sector } => self.decided(now, sector, false),
            Seen::Merge { sector } => {
                self.counts.kernel_merges += 1;
                self.decided(now, sector, true);
            }
            Seen::Issue { op, sector, sectors } => return self.issued(now, op, sector, sectors),
            Seen::Complete { op, sector } => self.completed(now, op, sector),
        }
        None
    }

    fn decided(&mut self, now: Nanos, sector: u64, merged: bool) {
        let Some(at) = self.undecided.iter().position(|bio| bio.sector() == sector) else {
            self.counts.lost += 1;
            return;
        };
        let bio = self.undecided.remove(at);
        // What the kernel still adds to, it has not set aside.
        let parked = self.queue.parked().and_then(|id| self.queue.request(id));
        if merged && parked.is_some_and(|request| request.end() == sector || bio.end() == request.sector()) {
            self.queue.unpark(now);
        }
        let became = self.queue.submit(now, bio);
        if matches!(became, Submitted::Merged { .. }) != merged {
            self.counts.merges_differ += 1;
        }
        self.park(now);
    }

    fn issued(&mut self, now: Nanos, op: Op, sector: u64, sectors: u32) -> Option<Miss> {
        // The question changes the state of the one that is asked.
        let mut asked = self.queue.clone();
        let model = match asked.next(now, 1) {
            Next::Request(id) => asked.request(id).map(|request| (request.sector(), request.sectors())),
            Next::Nothing | Next::NotBefore(_) => None,
        };
        let (kernel, waiting) = ((sector, sectors), self.queue.waiting());
        let same = model == Some(kernel);
        let contested = waiting > 1;
        self.counts.issued += 1;
        self.counts.same += u64::from(same);
        self.counts.contested += u64::from(contested);
        self.counts.contested_same += u64::from(contested && same);
        self.follow(now, op, sector);
        (!same).then_some(Miss { kernel, model, waiting })
    }

    fn follow(&mut self, now: Nanos, op: Op, sector: u64) {
        let waits = |stage| matches!(stage, Stage::Waiting | Stage::Parked | Stage::Plugged);
        let requests = self.queue.requests();
        let found = requests
            .iter()
            .find(|(_, request)| request.sector() == sector && request.op() == op && waits(request.stage()));
        let id = found.map(|(slot, _)| requests.id(slot));
        match id.filter(|&id| self.queue.follow(now, id)) {
            Some(id) => self.in_device.push(id),
            None => self.counts.lost += 1,
        }
        self.park(now);
    }

    fn completed(&mut self, now: Nanos, op: Op, sector: u64) {
        let its = |id: &RequestId| {
            self.queue.request(*id).is_some_and(|request| request.sector() == sector && request.op() == op)
        };
        match self.in_device.iter().position(its) {
            Some(at) => {
                let id = self.in_device.remove(at);
                self.queue.completed(now, id, |_| {});
            }
            None => self.counts.lost += 1,
        }
    }

    /// With every place taken the kernel sets its next request aside.
    fn park(&mut self, now: Nanos) {
        if self.in_device.len() >= self.places {
            self.queue.next(now, 0);
        }
    }
}
