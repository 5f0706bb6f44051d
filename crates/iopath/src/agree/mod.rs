//! Checks whether an elevator model makes the same choices as the running kernel. The caller feeds in the events of a block trace
//! one by one. At each request that the kernel issued, the model's own choice is compared with the kernel's. The model then follows
//! the kernel, so that a miss does not affect later comparisons. Merge decisions on bios are compared the same way ([`merges`]).

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
pub enum TraceEvent {
    /// A bio was submitted (`block_bio_queue`). One of the next three events shows what becomes of it.
    Bio(Bio),
    /// The bio at this sector was split (`block_split`): its first sectors continue as one bio, the rest as another.
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
        /// End of the request.
        kind: MergeKind,
    },
    /// The request at this sector became the tail of the one before it (`block_rq_merge`).
    Join {
        /// Operation.
        op: Op,
        /// First sector.
        sector: u64,
    },
    /// A request went from its task to the elevator (`block_rq_insert`). A trace without these events is followed as if no task held
    /// requests back: see [`Agreement::holding_back`].
    Insert {
        /// Operation.
        op: Op,
        /// First sector.
        sector: u64,
    },
    /// The device started a request (`block_rq_issue`).
    Issue {
        /// Operation.
        op: Op,
        /// First sector.
        sector: u64,
        /// Length in sectors.
        sectors: u32,
    },
    /// The driver gave a request back (`block_rq_requeue`): it will be issued again, without a choice.
    Requeue {
        /// Operation.
        op: Op,
        /// First sector.
        sector: u64,
    },
    /// The device has completed a request (`block_rq_complete`).
    Complete {
        /// Operation.
        op: Op,
        /// First sector.
        sector: u64,
    },
}

/// A request chosen by the kernel or the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Operation.
    pub op: Op,
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// Time it had waited.
    pub waited: Nanos,
}

/// A difference between model and kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// The model would have issued another request.
    Choice(Miss),
    /// The model would have merged a bio that the kernel did not, or the reverse.
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

/// A request that the kernel issued and the model would not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The kernel's request.
    pub kernel: Choice,
    /// The model's request; `None`: it would have issued nothing.
    pub model: Option<Choice>,
    /// Number of waiting requests.
    pub waiting: usize,
    /// End of the previously issued request.
    pub head: u64,
}

/// Totals of the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgreementCounts {
    /// Requests that the kernel issued.
    pub issued: u64,
    /// Issued requests that the model chose as well.
    pub same: u64,
    /// Requests issued while others waited, so that there was a choice.
    pub contested: u64,
    /// Of `contested`, those that the model chose as well.
    pub contested_same: u64,
    /// Bios that the kernel merged.
    pub kernel_merges: u64,
    /// Bios that the model would have merged.
    pub model_merges: u64,
    /// Bios that only one of kernel and model merged.
    pub merges_differ: u64,
    /// Bios that touch a request and were not merged, where the reason may be the number of segments, which no trace shows: with a
    /// segment per page the scatter list would not hold them. The model accepts the kernel's decision.
    pub merges_told: u64,
    /// Requests that tasks passed directly to the driver (without a scheduler, and with tags free), ahead of waiting ones: there was no
    /// choice.
    pub direct: u64,
    /// Events that the model could not follow: their request is unknown, because the trace begins after its arrival.
    pub lost: u64,
}

/// Limit on undecided bios; they must not pile up if the recorder loses events.
const MOST_UNDECIDED: usize = 4096;

/// A kernel request in flight.
#[derive(Clone, Copy, Debug)]
struct InDevice {
    id: RequestId,
    op: Op,
    /// Start sector according to the kernel.
    sector: u64,
}

/// A queue model that follows a trace.
#[derive(Clone, Debug)]
pub struct Agreement {
    queue: Queue,
    places: usize,
    holds_back: bool,
    undecided: Vec<Bio>,
    in_device: Vec<InDevice>,
    requeued: Vec<(Op, u64)>,
    /// The task whose plug is being flushed.
    flushing: Option<TaskId>,
    head: u64,
    counts: AgreementCounts,
}

impl Agreement {
    /// Follows a trace with an empty queue in front of a device with `places` driver tags.
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
            counts: AgreementCounts::default(),
        }
    }

    /// Keeps each request in its task's plug until the trace shows its insertion or issue. For traces with insert events.
    #[must_use]
    pub fn holding_back(mut self) -> Self {
        self.holds_back = true;
        self
    }

    /// Totals so far.
    pub const fn counts(&self) -> &AgreementCounts {
        &self.counts
    }

    /// The model's queue.
    pub const fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Processes the next event. Returns the difference, if any.
    pub fn see(&mut self, now: Nanos, seen: TraceEvent) -> Option<Differs> {
        match seen {
            TraceEvent::Bio(bio) => self.arrived(bio),
            TraceEvent::Split { sector, first } => self.split(sector, first),
            TraceEvent::Request { sector } => return self.decided(now, sector, None).map(Differs::Merge),
            TraceEvent::Merge { sector, kind } => return self.merged(now, sector, kind).map(Differs::Merge),
            TraceEvent::Join { op, sector } => self.inserted(now, op, sector, true),
            TraceEvent::Insert { op, sector } => self.inserted(now, op, sector, false),
            TraceEvent::Issue { op, sector, sectors } => {
                return self.issued(now, op, sector, sectors).map(Differs::Choice);
            }
            TraceEvent::Requeue { op, sector } => self.requeued.push((op, sector)),
            TraceEvent::Complete { op, sector } => self.completed(now, op, sector),
        }
        None
    }

    /// A request leaves its task's plug, and may immediately become the tail of another.
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

    /// The waiting request that starts at a sector, or else one that contains it.
    fn holder(&self, op: Op, sector: u64) -> Option<RequestId> {
        let waits = |stage| matches!(stage, Stage::Waiting | Stage::Parked | Stage::Plugged);
        let requests = self.queue.requests();
        let has = |request: &Request| {
            request.op() == op
                && waits(request.stage())
                && (request.sector()..request.end()).contains(&sector)
        };
        // Of two with the same start the older one is meant: no elevator chooses the younger first.
        let rank = |request: &Request| (request.sector() != sector, request.queued_at());
        let all = requests.iter().filter(|(_, request)| has(request));
        all.min_by_key(|(_, request)| rank(request)).map(|(slot, _)| requests.id(slot))
    }

    /// With every tag taken the kernel parks its next request.
    fn park(&mut self, now: Nanos) {
        if self.in_device.len() >= self.places {
            self.queue.next(now, 0);
        }
    }
}
