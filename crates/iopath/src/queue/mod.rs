//! A device's queue: requests, elevator, limits, pools or tags, and plugs. The one thing that a simulator or a file system talks to:
//! bios go in, requests come out when the device has room, bios come back when a request is done.
//!
//! Time is the caller's and must not go back. Whoever is told [`Submitted::Full`] sleeps until [`Queue::has_room`] (first come, first
//! served), calls [`Queue::let_in`] and submits again; whoever waits for a bio calls [`Queue::unplug`] or [`Queue::finish_plug`] first.

mod following;
mod hurry;
mod plug;
mod pool;
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

/// What became of a bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It is part of a request that was there.
    Merged {
        /// Which.
        request: RequestId,
        /// At which end.
        kind: MergeKind,
    },
    /// It is a request of its own.
    Queued(RequestId),
    /// There is no room: the submitter sleeps and tries again. Its plug has been handed over.
    Full,
    /// It is longer, or has more segments, than the device takes in one request (or no sectors at all): cut it up first.
    TooLarge,
}

/// What the device does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It starts this request.
    Request(RequestId),
    /// Nothing until something is submitted, unplugged or completed.
    Nothing,
    /// Nothing until this moment or, if earlier, until something is submitted, unplugged or completed: ask again then.
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
    /// The queue is plugged until then.
    plugged_until: Option<Nanos>,
    /// The request that grew or entered last.
    last_merge: Option<RequestId>,
    /// Picked before the device had a place.
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

    /// Says what is known of a task that begins; otherwise it is a process of its own with the default priority.
    pub fn describe(&mut self, task: TaskId, info: TaskInfo) {
        self.elevator.task_began(task);
        self.requests.describe(task, info);
    }

    /// A task will never submit again (it may still have requests under way).
    pub fn task_exited(&mut self, now: Nanos, task: TaskId) {
        self.finish_plug(now, task);
        self.elevator.task_exited(now, &mut self.requests, task);
    }

    /// The next request for a device with `free_tags` places. With [`Rules::parks`] ask again until it says no, even when no place is
    /// left: as today's drivers do, the queue then sets one request aside, which can no longer grow.
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

    /// The device is done with a request: hands over its bios in the order of their sectors and frees its place. False, and nothing
    /// happens, if no request of this name is with the device.
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

    /// Someone waits: the queue's plug opens.
    pub fn unplug(&mut self, _now: Nanos) {
        self.plugged_until = None;
    }

    /// Whether the queue's plug holds everything back.
    pub const fn is_plugged(&self) -> bool {
        self.plugged_until.is_some()
    }

    /// A request that has not been completed.
    pub fn request(&self, id: RequestId) -> Option<&Request> {
        self.requests.get(id)
    }

    /// The bios of a request that has not been completed, in the order of their sectors.
    pub fn bios(&self, id: RequestId) -> impl Iterator<Item = &Bio> {
        let known = self.requests.get(id).map(|_| self.requests.bios(id.slot));
        known.into_iter().flatten()
    }

    /// The table of requests.
    pub const fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Whether a submitter of this kind that was told `Full` would now be let in.
    pub fn has_room(&self, op: Op) -> bool {
        self.pool.has_room(op)
    }

    /// A task that slept for room is let in; in 2.6 it may then take a batch of requests.
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

    /// The elevator, to set its tunables.
    pub const fn elevator_mut(&mut self) -> &mut AnyElevator {
        &mut self.elevator
    }

    /// The rules.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Merges so far.
    pub const fn merges(&self) -> &MergeCounts {
        &self.counts
    }

    /// Requests with the device.
    pub const fn in_flight(&self) -> u32 {
        self.started
    }

    /// Requests that wait: in plugs, with the elevator, or parked.
    pub const fn waiting(&self) -> usize {
        self.requests.len() - self.started as usize
    }

    /// Another elevator takes over everything that waits. Requests with the device stay there.
    ///
    /// # Errors
    /// Requests are under way that the old elevator must see complete; the new one is given back. (The kernel freezes the queue for
    /// a change and so waits for them.)
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
