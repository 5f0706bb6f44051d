//! The elevators: which request goes to the device next, and when. Each is one file or folder that implements the trait [`Elevator`]; the
//! queue calls it and does what all have in common (limits, merging, pools, plugs).
//!
//! An elevator sees only the virtual clock and the request table. It keeps requests in lists and trees whose links are stored in the
//! requests ([`crate::list`], [`crate::tree`]) and its own per-request numbers in [`crate::request::Private`], so no call allocates.

mod any;
mod best;
mod mean;
mod names;
mod per_task;
mod sorted;
#[cfg(test)]
pub(crate) mod testing;

pub mod anticipatory;
pub mod bfq;
pub mod cfq;
pub mod clook;
pub mod deadline;
pub mod fifo;
pub mod kyber;
pub mod linus24;
pub mod sweep;

pub use any::AnyElevator;
pub use names::{ElevatorNameError, by_name, kernels, known, on_device};

use crate::bio::Bio;
use crate::limits::Limits;
use crate::list::List;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot};
use crate::task::{IoClass, TaskId};
use crate::time::{Hz, Nanos};
use crate::tree::Tree;
use crate::tunable::View;

/// The elevator's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// This request, which has left the elevator's lists.
    Request(Slot),
    /// Nothing until an event (a submission, a completion).
    Nothing,
    /// Nothing before this time or the next event: the elevator waits on purpose.
    NotBefore(Nanos),
}

/// Whether an elevator lets a submitter have a new request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayQueue {
    /// The pool decides.
    Yes,
    /// Not now, even if the pool has room.
    No,
    /// Yes, even beyond the pool's limit (up to its reserve).
    Must,
}

/// The order that defines neighbours.
#[derive(Clone, Copy, Debug)]
pub enum Order<'a> {
    /// Requests are not joined.
    None,
    /// Positions in a list.
    List(&'a List),
    /// Sectors.
    Tree(&'a Tree),
}

impl Order<'_> {
    /// The request before (`Front`) or after (`Back`) another in this order.
    pub fn beside(self, requests: &Requests, slot: Slot, kind: MergeKind) -> Option<Slot> {
        match (self, kind) {
            (Order::None, _) => None,
            (Order::List(list), MergeKind::Back) => list.after(requests, slot),
            (Order::List(list), MergeKind::Front) => list.before(requests, slot),
            (Order::Tree(tree), MergeKind::Back) => tree.after(requests, slot),
            (Order::Tree(tree), MergeKind::Front) => tree.before(requests, slot),
        }
    }
}

/// The pool's usage, for [`Elevator::may_queue`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Read requests in use.
    pub reads: u32,
    /// All other requests in use.
    pub writes: u32,
    /// The pool's size (`nr_requests`, per direction if pools are).
    pub limit: u32,
}

/// A scheduler. `now` never decreases. The queue calls, per bio: `merge_candidate`, then either `merged` (and perhaps `joined`), or
/// `may_queue` and `insert`; per request: `next`, later `completed`.
pub trait Elevator {
    /// Name including the version whose rules apply.
    fn name(&self) -> &'static str;

    /// The tunables and their values.
    fn tunables(&self) -> View<'_> {
        View::NONE
    }

    /// Sets a row of the table; the value is within its range.
    fn set_row(&mut self, _row: usize, _value: u64) {}

    /// Sets the kernel's ticks per second, for elevators that count in jiffies; called once, before the first bio.
    fn set_hz(&mut self, _hz: Hz) {}

    /// Pool size of 2.6 that the elevator sets, if any (the first two CFQs).
    fn raises_requests(&self) -> Option<u32> {
        None
    }

    /// A bio is about to be considered for merging: the elevator may update what it knows of the task.
    fn comes(&mut self, _now: Nanos, _requests: &Requests, _bio: &Bio) {}

    /// The request to which a bio would be added. The queue checks limits and [`Elevator::allows`] afterwards.
    fn merge_candidate(&mut self, requests: &Requests, _limits: &Limits, bio: &Bio) -> Candidate {
        self.touched(requests, bio)
    }

    /// Like `merge_candidate`, for searches that keep no state and ignore limits.
    fn touched(&self, _requests: &Requests, _bio: &Bio) -> Candidate {
        Candidate::None
    }

    /// Whether the queue's last-merge hint is tried first.
    fn uses_last_merge(&self) -> bool {
        true
    }

    /// Whether this bio may be merged into this request at all (CFQ: only of the same process).
    fn allows(&self, _requests: &Requests, _slot: Slot, _bio: &Bio) -> bool {
        true
    }

    /// A bio was merged: the request's end or, for front merges, its first sector has changed.
    fn merged(&mut self, _now: Nanos, _requests: &mut Requests, _slot: Slot, _kind: MergeKind) {}

    /// The order in which a waiting request may be joined with its neighbours.
    fn order(&self, _requests: &Requests, _slot: Slot) -> Order<'_> {
        Order::None
    }

    /// The request before (`Front`) or after (`Back`) another, with which it may now be joined.
    fn neighbour(&self, requests: &Requests, slot: Slot, kind: MergeKind) -> Option<Slot> {
        self.order(requests, slot).beside(requests, slot, kind)
    }

    /// `gone` is about to become the tail of `kept`: it leaves the elevator's lists.
    fn joined(&mut self, now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot);

    /// Whether a request leaving a plug is joined with the one that ends where it begins (today's mq-deadline).
    fn joins_on_insert(&self) -> bool {
        false
    }

    /// The request to which a request about to be inserted is appended, for kernels that search all queues before insertion (BFQ: in
    /// every queue, even where a bio of the same task would not be merged).
    fn joins_before(&self, _requests: &Requests, _slot: Slot) -> Option<Slot> {
        None
    }

    /// Inserts a new request.
    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot);

    /// The next request for the device, which has `free_tags` tags (0: it will be parked until one is free).
    fn next(&mut self, now: Nanos, requests: &mut Requests, limits: &Limits, free_tags: u32) -> Pick;

    /// The device takes this waiting request, whatever would have been chosen: it leaves the elevator's lists, and the elevator continues
    /// as if it had chosen it. For replaying the trace of a real kernel step by step.
    fn taken(&mut self, now: Nanos, requests: &mut Requests, slot: Slot);

    /// The device has completed it; its slot is freed right after.
    fn completed(&mut self, _now: Nanos, _requests: &mut Requests, _slot: Slot) {}

    /// A chosen request did not go to the device: it will be inserted again. Nothing was served, so nothing is learned.
    fn returned(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        self.completed(now, requests, slot);
    }

    /// A waiting request of a lower class is now waited for: from now on it counts as one of this class.
    fn on_promote(&mut self, _now: Nanos, _requests: &mut Requests, _slot: Slot, _class: IoClass) {}

    /// Whether a new request may be created for a bio.
    fn may_queue(&mut self, _now: Nanos, _requests: &Requests, _bio: &Bio, _held: Held) -> MayQueue {
        MayQueue::Yes
    }

    /// A task begins, perhaps with the id of one that has exited.
    fn task_began(&mut self, _task: TaskId) {}

    /// A task will never submit again.
    fn task_exited(&mut self, _now: Nanos, _requests: &mut Requests, _task: TaskId) {}

    /// Removes any one request, for a change of elevators; `None` when empty.
    fn drain(&mut self, requests: &mut Requests) -> Option<Slot>;

    /// Number of waiting requests.
    fn waiting(&self) -> usize;

    /// Calls `each` for every waiting request, roughly in dispatch order; for plots.
    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot));

    /// Calls `each` with the habits of each task that decide about idling: mean think time between requests, and mean distance of its
    /// requests in sectors. Only tasks with both.
    fn habits(&self, _each: &mut dyn FnMut(TaskId, Nanos, u64)) {}

    /// Calls `each` with its counters (batches, expired deadlines, hits of anticipation ...), by name.
    fn counters(&self, _each: &mut dyn FnMut(&'static str, u64)) {}
}
