//! Does an elevator choose as the running kernel does? The events of a block trace are fed in one by one; at each request that the kernel
//! issued, the model is asked for its own choice, the two are compared, and the model is made to go the kernel's way. So one miss
//! is one miss, and does not spoil what follows. Where the trace comes from is the caller's business.

use crate::bio::{Bio, Op};
use crate::merge::MergeCounts;
use crate::queue::{Next, Queue, Submitted};
use crate::request::{Request, RequestId, Stage};
use crate::time::Nanos;

/// An event of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A bio was submitted (`block_bio_queue`). What becomes of it tells one of the next three.
    Bio(Bio),
    /// The bio at this sector was cut (`block_split`): its first sectors go on as one bio, the rest as another.
    Split {
        /// First sector of the bio.
        sector: u64,
        /// Sectors of the first part.
        first: u32,
    },
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
    /// A request went from its task to the elevator (`block_rq_insert`), and with it all that the task held back. A trace without
    /// these is followed as if nobody held anything back: see [`Agreement::holding_back`].
    Insert {
        /// What it does.
        op: Op,
        /// First sector.
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
    /// The driver gave a request back (`block_rq_requeue`): it will be issued again, and nobody chooses then.
    Requeue {
        /// What it does.
        op: Op,
        /// First sector.
        sector: u64,
    },
    /// The device is done with a request (`block_rq_complete`).
    Complete {
        /// What it did.
        op: Op,
        /// First sector.
        sector: u64,
    },
}

/// A request that was chosen, by the kernel or by the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What it does.
    pub op: Op,
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// How long it had waited.
    pub waited: Nanos,
}

/// The model would have issued another request than the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// What the kernel issued.
    pub kernel: Choice,
    /// What the model would have issued; `None`: nothing.
    pub model: Option<Choice>,
    /// Among how many.
    pub waiting: usize,
    /// Where the request that was issued before it ended.
    pub head: u64,
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
    /// Events that the model could not follow: of a request that it does not have, because the trace begins behind its arrival.
    pub lost: u64,
}

/// Bios of which it is not known yet what becomes of them; of a recorder that lost events they must not pile up.
const MOST_UNDECIDED: usize = 4096;

/// A request of the kernel's that is with the device.
#[derive(Clone, Copy, Debug)]
struct InDevice {
    id: RequestId,
    op: Op,
    /// Where the kernel says that it begins.
    sector: u64,
}

/// A model that follows a trace.
#[derive(Clone, Debug)]
pub struct Agreement {
    queue: Queue,
    places: usize,
    holds_back: bool,
    undecided: Vec<Bio>,
    in_device: Vec<InDevice>,
    requeued: Vec<(Op, u64)>,
    head: u64,
    counts: Counts,
}

impl Agreement {
    /// A queue, empty, before a device with this many places (driver tags).
    pub fn new(queue: Queue, places: usize) -> Self {
        Self {
            queue,
            places,
            holds_back: false,
            undecided: Vec::new(),
            in_device: Vec::new(),
            requeued: Vec::new(),
            head: 0,
            counts: Counts::default(),
        }
    }

    /// Requests stay with their tasks until the trace says that they were inserted, or issued. For traces that say so.
    #[must_use]
    pub fn holding_back(mut self) -> Self {
        self.holds_back = true;
        self
    }

    /// What was counted so far.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The model's merges so far.
    pub const fn merges(&self) -> &MergeCounts {
        self.queue.merges()
    }

    /// The model's queue.
    pub const fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Takes the next event. Returns the miss if this is one.
    pub fn see(&mut self, now: Nanos, seen: Seen) -> Option<Miss> {
        match seen {
            Seen::Bio(bio) => self.arrived(bio),
            Seen::Split { sector, first } => self.split(sector, first),
            Seen::Request { sector } => self.decided(now, sector, false),
            Seen::Merge { sector } => {
                self.counts.kernel_merges += 1;
                self.decided(now, sector, true);
            }
            Seen::Insert { op, sector } => self.inserted(now, op, sector),
            Seen::Issue { op, sector, sectors } => return self.issued(now, op, sector, sectors),
            Seen::Requeue { op, sector } => self.requeued.push((op, sector)),
            Seen::Complete { op, sector } => self.completed(now, op, sector),
        }
        None
    }

    fn arrived(&mut self, bio: Bio) {
        if self.undecided.len() == MOST_UNDECIDED {
            self.undecided.remove(0);
            self.counts.lost += 1;
        }
        self.undecided.push(bio);
    }

    fn split(&mut self, sector: u64, first: u32) {
        let its = |bio: &Bio| bio.sector() == sector && bio.sectors() > first;
        let Some(at) = self.undecided.iter().position(its) else {
            self.counts.lost += 1;
            return;
        };
        let whole = self.undecided[at];
        let part = |sector, sectors| {
            let bio = Bio::new(whole.op(), sector, sectors).by(whole.task()).on(whole.cpu());
            if whole.is_sync() { bio.sync() } else { bio }
        };
        self.undecided[at] = part(sector, first);
        self.undecided.push(part(sector + u64::from(first), whole.sectors() - first));
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
        if self.holds_back {
            self.queue.start_plug(bio.task());
        }
        match self.queue.submit(now, bio) {
            Submitted::Full | Submitted::TooLarge => self.counts.lost += 1,
            became => {
                let model = matches!(became, Submitted::Merged { .. });
                self.counts.merges_differ += u64::from(model != merged);
            }
        }
        self.park(now);
    }

    fn inserted(&mut self, now: Nanos, op: Op, sector: u64) {
        if let Some(request) = self.holder(op, sector).and_then(|id| self.queue.request(id)) {
            let (stage, task) = (request.stage(), request.task());
            if stage == Stage::Plugged {
                self.queue.finish_plug(now, task);
                self.park(now);
            }
        }
    }

    /// The request that waits at a sector, or else the one that has it inside.
    fn holder(&self, op: Op, sector: u64) -> Option<RequestId> {
        let waits = |stage| matches!(stage, Stage::Waiting | Stage::Parked | Stage::Plugged);
        let requests = self.queue.requests();
        let has = |request: &Request| {
            request.op() == op
                && waits(request.stage())
                && (request.sector()..request.end()).contains(&sector)
        };
        // Of two that begin alike the older one is meant: nothing chooses the younger first.
        let rank = |request: &Request| (request.sector() != sector, request.queued_at());
        let all = requests.iter().filter(|(_, request)| has(request));
        all.min_by_key(|(_, request)| rank(request)).map(|(slot, _)| requests.id(slot))
    }

    fn issued(&mut self, now: Nanos, op: Op, sector: u64, sectors: u32) -> Option<Miss> {
        if let Some(at) = self.requeued.iter().position(|&its| its == (op, sector)) {
            self.requeued.remove(at);
            return None;
        }
        // What is issued is no longer held back, whether or not the trace says when that ended.
        self.inserted(now, op, sector);
        let Some(holder) = self.holder(op, sector) else {
            self.counts.lost += 1;
            return None;
        };
        // The question changes the state of the one that is asked.
        let mut asked = self.queue.clone();
        let choice = |request: &Request| Choice {
            op: request.op(),
            sector: request.sector(),
            sectors: request.sectors(),
            waited: Nanos(now.0.saturating_sub(request.queued_at().0)),
        };
        let model = match asked.next(now, 1) {
            Next::Request(id) => asked.request(id).map(choice),
            Next::Nothing | Next::NotBefore(_) => None,
        };
        let waited = self.queue.request(holder).map_or(Nanos::ZERO, |request| choice(request).waited);
        let kernel = Choice { op, sector, sectors, waited };
        let (waiting, head) = (self.queue.waiting(), self.head);
        let same = model.is_some_and(|m| (m.op, m.sector, m.sectors) == (op, sector, sectors));
        let contested = waiting > 1;
        self.counts.issued += 1;
        self.counts.same += u64::from(same);
        self.counts.contested += u64::from(contested);
        self.counts.contested_same += u64::from(contested && same);
        self.head = sector + u64::from(sectors);
        self.follow(now, &kernel, holder);
        (!same).then_some(Miss { kernel, model, waiting, head })
    }

    /// Goes the kernel's way. Where the two have merged otherwise, all that the model has of the kernel's request goes.
    fn follow(&mut self, now: Nanos, kernel: &Choice, holder: RequestId) {
        let mut next = Some(holder);
        let end = kernel.sector + u64::from(kernel.sectors);
        while let Some(id) = next {
            let from = self.queue.request(id).map_or(end, Request::end);
            if self.queue.follow(now, id) {
                self.in_device.push(InDevice { id, op: kernel.op, sector: kernel.sector });
            } else {
                self.counts.lost += 1;
            }
            next = (from < end).then(|| self.holder(kernel.op, from)).flatten();
        }
        self.park(now);
    }

    fn completed(&mut self, now: Nanos, op: Op, sector: u64) {
        let Self { in_device, queue, .. } = self;
        let before = in_device.len();
        in_device.retain(|its| {
            let is = its.op == op && its.sector == sector;
            if is {
                queue.completed(now, its.id, |_| {});
            }
            !is
        });
        self.counts.lost += u64::from(in_device.len() == before);
    }

    /// With every place taken the kernel sets its next request aside.
    fn park(&mut self, now: Nanos) {
        if self.in_device.len() >= self.places {
            self.queue.next(now, 0);
        }
    }
}
