//! A device's queue: requests, elevator, limits, pools or tags, and plugs. The only interface for a simulator or a file system: bios go
//! in, requests come out when the device has room, bios come back when a request completes.
//!
//! The caller supplies the time, which must not decrease. After [`Submitted::Full`] it sleeps until [`Queue::has_room`] (first come,
//! first served), calls [`Queue::let_in`] and submits again; before waiting for a bio it calls [`Queue::unplug`] or
//! [`Queue::finish_plug`].

mod following;
mod plug;
mod pool;
mod promote;
mod rules;
mod snapshot;
mod submit;

pub use rules::{PlugRule, PoolRule, Rules};
pub use snapshot::{Snapshot, Waiting};

use crate::bio::{Bio, Op};
use crate::elevator::{AnyElevator, Elevator, Pick};
use crate::merge::{MergeCounts, MergeKind};
use crate::request::{Request, RequestId, Requests, Slot, Stage};
use crate::task::{TaskId, TaskInfo};
use crate::time::Nanos;
use plug::Plugs;
use pool::Pool;

/// Result of submitting a bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It was merged into an existing request.
    Merged {
        /// That request.
        request: RequestId,
        /// The end at which it was added.
        kind: MergeKind,
    },
    /// It became a new request.
    Queued(RequestId),
    /// There is no room: the submitter sleeps and tries again. Its plug has been flushed.
    Full,
    /// It is longer, or has more segments, than the device takes in one request (or has no sectors): split it first.
    TooLarge,
}

/// What the device should do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Start this request.
    Request(RequestId),
    /// Nothing until the next submission, unplug or completion.
    Nothing,
    /// Ask again at this time or, if earlier, after the next submission, unplug or completion.
    NotBefore(Nanos),
}

/// A device's queue.
#[derive(Clone, Debug)]
pub struct Queue {
    elevator: AnyElevator,
    rules: Rules,
    requests: Requests,
    pool: Pool,
    plugs: Plugs,
    /// The queue is plugged until this time.
    plugged_until: Option<Nanos>,
    /// The request that grew or entered last.
    last_merge: Option<RequestId>,
    /// Picked before the device had a tag.
    parked: Option<Slot>,
    started: u32,
    counts: MergeCounts,
}

impl Queue {
    /// An empty queue.
    pub fn new(mut elevator: AnyElevator, mut rules: Rules) -> Self {
        elevator.set_hz(rules.hz);
        if let (PoolRule::PerDirection { requests }, Some(raised)) =
            (&mut rules.pool, elevator.raises_requests())
        {
            *requests = raised;
        }
        let bare = elevator.is_none();
        Self {
            requests: Requests::new(rules.capacity()),
            pool: Pool::new(rules.pool, bare),
            elevator,
            rules,
            plugs: Plugs::default(),
            plugged_until: None,
            last_merge: None,
            parked: None,
            started: 0,
            counts: MergeCounts::default(),
        }
    }

    /// Describes a task that begins; by default it is a separate process with the default priority.
    pub fn describe(&mut self, task: TaskId, info: TaskInfo) {
        self.elevator.task_began(task);
        self.requests.describe(task, info);
    }

    /// A task will never submit again (it may still have requests queued or in flight).
    pub fn task_exited(&mut self, now: Nanos, task: TaskId) {
        self.finish_plug(now, task);
        self.elevator.task_exited(now, &mut self.requests, task);
    }

    /// The next request for a device with `free_tags` tags. With [`Rules::parks`] keep asking until nothing is returned, even without
    /// free tags: like today's drivers, the queue then parks one request, which can no longer grow.
    pub fn next(&mut self, now: Nanos, free_tags: u32) -> Next {
        if let Some(until) = self.plugged_until {
            if now < until {
                return if until == Nanos::NEVER { Next::Nothing } else { Next::NotBefore(until) };
            }
            self.plugged_until = None;
        }
        if let Some(slot) = self.parked {
            return if free_tags > 0 { self.start(slot) } else { Next::Nothing };
        }
        if free_tags == 0 && (!self.rules.parks || self.elevator.is_none()) {
            return Next::Nothing;
        }
        let before = self.requests.len();
        let pick = self.elevator.next(now, &mut self.requests, &self.rules.limits, free_tags);
        self.counts.gathered += (before - self.requests.len()) as u64;
        match pick {
            Pick::Request(slot) if free_tags > 0 => self.start(slot),
            Pick::Request(slot) => {
                self.requests.set_stage(slot, Stage::Parked);
                self.parked = Some(slot);
                Next::Nothing
            }
            Pick::Nothing => Next::Nothing,
            Pick::NotBefore(until) => Next::NotBefore(until),
        }
    }

    fn start(&mut self, slot: Slot) -> Next {
        debug_assert_ne!(self.requests[slot].stage(), Stage::Started, "no request is started twice");
        self.parked = None;
        self.requests.set_stage(slot, Stage::Started);
        self.started += 1;
        Next::Request(self.requests.id(slot))
    }

    /// The device has completed a request: passes its bios to `each_bio` in sector order and frees its slot. Returns false, without
    /// effect, if no such request is in flight.
    pub fn completed(&mut self, now: Nanos, id: RequestId, each_bio: impl FnMut(Bio)) -> bool {
        let Some(request) = self.requests.get(id).filter(|request| request.stage() == Stage::Started) else {
            return false;
        };
        let (op, places) = (request.op(), u32::from(request.places()));
        self.elevator.completed(now, &mut self.requests, id.slot);
        self.requests.finish(id.slot, each_bio);
        self.pool.give_back(op, places);
        self.started -= 1;
        true
    }

    /// A task waits: the queue's plug opens.
    pub fn unplug(&mut self, _now: Nanos) {
        self.plugged_until = None;
    }

    /// Whether the queue's plug holds everything back.
    pub const fn is_plugged(&self) -> bool {
        self.plugged_until.is_some()
    }

    /// A request that has not completed.
    pub fn request(&self, id: RequestId) -> Option<&Request> {
        self.requests.get(id)
    }

    /// The bios of a request that has not completed, in sector order.
    pub fn bios(&self, id: RequestId) -> impl Iterator<Item = &Bio> {
        let known = self.requests.get(id).map(|_| self.requests.bios(id.slot));
        known.into_iter().flatten()
    }

    /// The table of requests.
    pub const fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Whether a submitter of this kind that got `Full` would now be let in.
    pub fn has_room(&self, op: Op) -> bool {
        self.pool.has_room(op)
    }

    /// Lets in a task that slept for room; in 2.6 it may then take a batch of requests.
    pub fn let_in(&mut self, now: Nanos, task: TaskId) {
        self.pool.let_in(now, task);
    }

    /// Whether write-back and read-ahead should hold off (2.6).
    pub fn congested(&self, op: Op) -> bool {
        self.pool.congested(op)
    }

    /// The elevator.
    pub const fn elevator(&self) -> &AnyElevator {
        &self.elevator
    }

    /// The kernel's rules for this queue.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Merge counters so far.
    pub const fn merges(&self) -> &MergeCounts {
        &self.counts
    }

    /// Number of requests in flight.
    pub const fn in_flight(&self) -> u32 {
        self.started
    }

    /// Number of waiting requests: in plugs, with the elevator, or parked.
    pub const fn waiting(&self) -> usize {
        self.requests.len() - self.started as usize
    }

    /// Replaces the elevator; the new one takes over all waiting requests. Requests in flight stay there.
    ///
    /// # Errors
    /// Requests are in flight whose completion the old elevator must see; the new one is given back. (The kernel freezes the queue for a
    /// change and so waits for them.)
    pub fn change_elevator(&mut self, now: Nanos, mut elevator: AnyElevator) -> Result<(), Box<AnyElevator>> {
        if self.started > 0 || self.parked.is_some() {
            return Err(Box::new(elevator));
        }
        elevator.set_hz(self.rules.hz);
        while let Some(slot) = self.elevator.drain(&mut self.requests) {
            self.requests.set_stage(slot, Stage::Waiting);
            self.requests[slot].private = Default::default();
            elevator.insert(now, &mut self.requests, slot);
        }
        self.pool.set_bare(elevator.is_none());
        self.elevator = elevator;
        Ok(())
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
