//! The elevators: which request goes to the device next, and when. Each is one file or folder, built on the trait [`Elevator`];
//! the queue calls it and does everything that is common to all (limits, merging, pools, plugs).
//!
//! An elevator sees the virtual clock and the request table and nothing else. It keeps requests in lists and trees whose links lie
//! in the requests ([`crate::list`], [`crate::tree`]) and its own numbers in [`crate::request::Private`], so that no call allocates.

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
pub use names::{NameError, by_name, kernels, known, on_device};

use crate::bio::Bio;
use crate::limits::Limits;
use crate::list::List;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot};
use crate::task::{IoClass, TaskId};
use crate::time::{Hz, Nanos};
use crate::tree::Tree;
use crate::tunable::View;

/// The elevator's answer to "what next".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// This one; it has left the elevator's lists.
    Request(Slot),
    /// Nothing before something happens (a submission, a completion).
    Nothing,
    /// Nothing before this moment, unless something happens first: the elevator waits on purpose.
    NotBefore(Nanos),
}

/// Whether an elevator lets a submitter have a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayQueue {
    /// As the pool decides.
    Yes,
    /// Not now, though the pool may have room.
    No,
    /// Even beyond the pool's limit (up to its reserve).
    Must,
}

/// What decides who is whose neighbour.
#[derive(Clone, Copy, Debug)]
pub enum Order<'a> {
    /// Requests are not joined.
    None,
    /// The places in a list.
    List(&'a List),
    /// The sectors.
    Tree(&'a Tree),
}

impl Order<'_> {
    /// The one before (`Front`) or behind (`Back`) a request.
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

/// What the pool has given out, for [`Elevator::may_queue`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Requests in use, reads.
    pub reads: u32,
    /// Requests in use, everything else.
    pub writes: u32,
    /// The pool's size (`nr_requests`, per direction where pools are).
    pub limit: u32,
}

/// A scheduler. `now` never goes back. The queue calls, per bio: `merge_candidate`, then either `merged` (and perhaps `joined`), or
/// `may_queue` and `insert`; per request: `next`, later `completed`.
pub trait Elevator {
    /// Name with the version whose rules these are.
    fn name(&self) -> &'static str;

    /// The tunables and their values.
    fn tunables(&self) -> View<'_> {
        View::NONE
    }

    /// Sets a row of the table; the value is within its range.
    fn set_row(&mut self, _row: usize, _value: u64) {}

    /// Ticks per second of the kernel, for those that count in jiffies; told once, before the first bio.
    fn set_hz(&mut self, _hz: Hz) {}

    /// The size that it gives the pools of 2.6, where it does (the first two CFQs).
    fn raises_requests(&self) -> Option<u32> {
        None
    }

    /// A bio is looked at that may become part of a request: what the elevator knows of its task may change by that.
    fn comes(&mut self, _now: Nanos, _requests: &Requests, _bio: &Bio) {}

    /// The request that a bio would be added to. The queue checks limits and [`Elevator::allows`] afterwards.
    fn merge_candidate(&mut self, requests: &Requests, _limits: &Limits, bio: &Bio) -> Candidate {
        self.touched(requests, bio)
    }

    /// The same where the search leaves nothing behind and knows no limits.
    fn touched(&self, _requests: &Requests, _bio: &Bio) -> Candidate {
        Candidate::None
    }

    /// Whether the queue's hint, the request that grew last, is tried before anything else.
    fn uses_last_merge(&self) -> bool {
        true
    }

    /// Whether this bio may become part of this request at all (CFQ: only of the same process).
    fn allows(&self, _requests: &Requests, _slot: Slot, _bio: &Bio) -> bool {
        true
    }

    /// A bio was added: the request's end or, for front merges, its first sector has changed.
    fn merged(&mut self, _now: Nanos, _requests: &mut Requests, _slot: Slot, _kind: MergeKind) {}

    /// Among what a waiting request has neighbours that it may be joined with.
    fn order(&self, _requests: &Requests, _slot: Slot) -> Order<'_> {
        Order::None
    }

    /// The request before (`Front`) or behind (`Back`) another, with which it may now be joined.
    fn neighbour(&self, requests: &Requests, slot: Slot, kind: MergeKind) -> Option<Slot> {
        self.order(requests, slot).beside(requests, slot, kind)
    }

    /// `gone` is about to become the tail of `kept`: it leaves the elevator's lists.
    fn joined(&mut self, now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot);

    /// Whether a request that comes out of a plug is joined with the one that ends where it begins (today's mq-deadline).
    fn joins_on_insert(&self) -> bool {
        false
    }

    /// The request whose tail one becomes that is about to be inserted, where the kernel looks before that and everywhere (BFQ: in every
    /// queue, also where a bio of the same task would not be added to it).
    fn joins_before(&self, _requests: &Requests, _slot: Slot) -> Option<Slot> {
        None
    }

    /// A new request.
    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot);

    /// The next request for the device, which has `free_tags` places (0: it will be parked until one is free).
    fn next(&mut self, now: Nanos, requests: &mut Requests, limits: &Limits, free_tags: u32) -> Pick;

    /// The device takes this one of the waiting requests, whatever would have been chosen: it leaves the elevator's lists, and the
    /// elevator goes on as if it had chosen it. For following the trace of a real kernel step by step.
    fn taken(&mut self, now: Nanos, requests: &mut Requests, slot: Slot);

    /// The device is done with it; its place is freed right after.
    fn completed(&mut self, _now: Nanos, _requests: &mut Requests, _slot: Slot) {}

    /// A request that was chosen did not go to the device after all: it will be inserted anew. Nothing was served, so nothing is learned.
    fn returned(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        self.completed(now, requests, slot);
    }

    /// Somebody waits for a waiting request that was asked for in a lower class: it counts as one of this class from now on.
    fn hurried(&mut self, _now: Nanos, _requests: &mut Requests, _slot: Slot, _class: IoClass) {}

    /// Whether a new request may be made for a bio.
    fn may_queue(&mut self, _now: Nanos, _requests: &Requests, _bio: &Bio, _held: Held) -> MayQueue {
        MayQueue::Yes
    }

    /// A task begins, perhaps under the number of one that has exited.
    fn task_began(&mut self, _task: TaskId) {}

    /// A task will never submit again.
    fn task_exited(&mut self, _now: Nanos, _requests: &mut Requests, _task: TaskId) {}

    /// Takes out any one request, for a change of elevators; `None` when empty.
    fn drain(&mut self, requests: &mut Requests) -> Option<Slot>;

    /// How many requests wait.
    fn waiting(&self) -> usize;

    /// The requests that wait, roughly in the order in which they would go; for plots.
    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot));

    /// What it keeps of tasks to know whether to wait for them: the mean time that a task thinks between requests, and how many sectors
    /// its requests lie apart in the mean. Only tasks of which it has both.
    fn habits(&self, _each: &mut dyn FnMut(TaskId, Nanos, u64)) {}

    /// What it counted (batches, expired deadlines, hits of anticipation ...), by name.
    fn counters(&self, _each: &mut dyn FnMut(&'static str, u64)) {}
}
