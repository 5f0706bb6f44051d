//! Does an elevator choose as the running kernel does? The events of a block trace are fed in one by one; at each request that the kernel
//! issued, the model is asked for its own choice, the two are compared, and the model is made to go the kernel's way. So one miss
//! is one miss, and does not spoil what follows. So with each bio that the kernel merged or made a request of ([`merges`]). Where the
//! trace comes from is the caller's business.

mod issues;
mod merges;

pub use merges::MergeMiss;

use crate::bio::{Bio, Op};
use crate::merge::MergeKind;
use crate::queue::Queue;
use crate::request::{Request, RequestId, Stage};
use crate::task::TaskId;
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
        /// At which end of the request.
        kind: MergeKind,
    },
    /// The request at this sector became the tail of the one before it (`block_rq_merge`).
    Join {
        /// What it does.
        op: Op,
        /// First sector.
        sector: u64,
    },
    /// A request went from its task to the elevator (`block_rq_insert`). A trace without these is followed as if nobody held anything
    /// back: see [`Agreement::holding_back`].
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

/// What the model would have done otherwise than the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// It would have issued another request.
    Choice(Miss),
    /// It would have merged a bio, or not.
    Merge(MergeMiss),
}

impl Choice {
    fn of(request: &Request, now: Nanos) -> Self {
        Self {
            op: request.op(),
            sector: request.sector(),
            sectors: request.sectors(),
            waited: Nanos(now.0.saturating_sub(request.queued_at().0)),
        }
    }
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
    /// Bios that the model would have merged.
    pub model_merges: u64,
    /// Bios that the one merged and the other did not.
    pub merges_differ: u64,
    /// Bios that touch a request and were not merged with it, where it depends on how many segments the two have, which no trace says:
    /// with each page a segment the scatter list would not hold them. The model takes the kernel's word for it.
    pub merges_told: u64,
    /// Requests that their tasks gave to the driver themselves (without a scheduler, and with places free), past those that waited:
    /// nobody chose.
    pub direct: u64,
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
    /// Whose plug is being handed over.
    flushing: Option<TaskId>,
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
            flushing: None,
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

    /// The model's queue.
    pub const fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Takes the next event. Returns what differs, if something does.
    pub fn see(&mut self, now: Nanos, seen: Seen) -> Option<Differs> {
        match seen {
            Seen::Bio(bio) => self.arrived(bio),
            Seen::Split { sector, first } => self.split(sector, first),
            Seen::Request { sector } => return self.decided(now, sector, None).map(Differs::Merge),
            Seen::Merge { sector, kind } => return self.merged(now, sector, kind).map(Differs::Merge),
            Seen::Join { op, sector } => self.inserted(now, op, sector, true),
            Seen::Insert { op, sector } => self.inserted(now, op, sector, false),
            Seen::Issue { op, sector, sectors } => {
                return self.issued(now, op, sector, sectors).map(Differs::Choice);
            }
            Seen::Requeue { op, sector } => self.requeued.push((op, sector)),
            Seen::Complete { op, sector } => self.completed(now, op, sector),
        }
        None
    }

    /// A request leaves its task's plug, and perhaps becomes the tail of another at once.
    fn inserted(&mut self, now: Nanos, op: Op, sector: u64, joins: bool) {
        let Some(id) = self.plugged(op, sector) else { return };
        self.flushing = self.queue.request(id).map(Request::task);
        self.queue.insert_plugged(now, id, joins);
        self.park(now);
    }

    /// The oldest request at a sector that its task holds back.
    fn plugged(&self, op: Op, sector: u64) -> Option<RequestId> {
        let requests = self.queue.requests();
        let its = |request: &Request| {
            request.stage() == Stage::Plugged && request.op() == op && request.sector() == sector
        };
        let all = requests.iter().filter(|(_, request)| its(request));
        all.min_by_key(|(_, request)| request.queued_at()).map(|(slot, _)| requests.id(slot))
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

    /// With every place taken the kernel sets its next request aside.
    fn park(&mut self, now: Nanos) {
        if self.in_device.len() >= self.places {
            self.queue.next(now, 0);
        }
    }
}
