//! `bfq-lite`: BFQ (4.12 and later) without some of its extras, hence the name. Each task has a queue of synchronous requests,
//! asynchronous ones share a queue per priority. A queue is served until it has used up its budget of sectors or its time, or has no more
//! requests; the next is the one with the earliest virtual finish among those whose virtual start has come.
//!
//! ```text
//! insert ─▶ queue (what is its task like?) ─▶ raise (is it interactive?) ─▶ fair (virtual time) ─▶ turns ─▶ next
//!                                                       turns ─▶ budget (how much next time?) ◀─ rate (of the device)
//!                                                       turns ─▶ idling (wait for its next request?)
//! ```
//!
//! Queues of processes that start together are merged ([`partners`]). Not modelled: soft real-time tasks, queue bursts, merging the
//! queues of tasks that read near one another, injection, groups.

mod budget;
mod counts;
mod fair;
mod idling;
mod partners;
mod queue;
mod raise;
mod rate;
mod turns;

use super::per_task::TaskQueues;
use super::sorted::BackSeek;
use super::{Elevator, Order, Pick};
use crate::bio::Bio;
use crate::limits::Limits;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot};
use crate::task::IoClass;
use crate::time::Nanos;
use crate::tunable::{Tunable, Tunables, Unit, View};
use budget::{Budgets, Ended};
use counts::Counts;
use fair::Fair;
use idling::Queueing;
use queue::{Budgeted, Queues, seeks};
use rate::Rate;

const FIFO_EXPIRE_SYNC: usize = 0;
const FIFO_EXPIRE_ASYNC: usize = 1;
const TIMEOUT_SYNC: usize = 2;
const SLICE_IDLE: usize = 3;
const BACK_SEEK_MAX: usize = 4;
const BACK_SEEK_PENALTY: usize = 5;
const MAX_BUDGET: usize = 6;
const LOW_LATENCY: usize = 7;
const ROTATIONAL: usize = 8;

static TABLE: [Tunable; 9] = [
    Tunable::millis(
        "fifo_expire_sync",
        125,
        "a synchronous request older than this goes first in its queue's turn",
    )
    .at_least(1),
    Tunable::millis("fifo_expire_async", 250, "the same for asynchronous ones").at_least(1),
    Tunable::millis("timeout_sync", 124, "longest turn of a queue").at_least(1),
    Tunable::millis("slice_idle", 8, "how long the disk is kept idle for a task; 0: never"),
    BackSeek::ROWS[0],
    BackSeek::ROWS[1],
    Tunable::count(
        "max_budget",
        Unit::Sectors,
        0,
        "largest budget; 0: what the device transfers in timeout_sync, 16384 until learned",
    )
    .at_most(1 << 32),
    Tunable::switch(
        "low_latency",
        1,
        "queues that are new or were quiet for 2 s are raised: they weigh 30 times as much",
    ),
    Tunable::switch("rotational", 1, "whether the device says that it rotates (queue/rotational)"),
];

/// The queue in service.
#[derive(Clone, Copy, Debug)]
struct ServiceTurn {
    key: u16,
    since: Nanos,
    timeout_at: Nanos,
    /// The disk is kept idle until this time,
    idle_until: Option<Nanos>,
    /// and since this time.
    idle_since: Nanos,
}

/// BFQ without some of its extras.
#[derive(Clone, Debug)]
pub struct BfqLite {
    tunables: Tunables<9>,
    queues: Queues,
    fair: Fair,
    turn: Option<ServiceTurn>,
    /// Queues that are busy or have requests in flight, unordered.
    counted: Vec<u16>,
    budgets: Budgets,
    rate: Rate,
    queueing: Queueing,
    /// End of the last dispatched request.
    head: u64,
    in_device: u32,
    waiting: usize,
    counts: Counts,
    /// The queue whose partners are the queues created shortly after it.
    last_made: Option<u16>,
}

impl Default for BfqLite {
    fn default() -> Self {
        Self {
            tunables: Tunables::new(&TABLE),
            queues: TaskQueues::new(Budgeted::new),
            fair: Fair::default(),
            turn: None,
            counted: Vec::new(),
            budgets: Budgets::default(),
            rate: Rate::new(true),
            queueing: Queueing::default(),
            head: 0,
            in_device: 0,
            waiting: 0,
            counts: Counts::default(),
            last_made: None,
        }
    }
}

impl BfqLite {
    fn back(&self) -> BackSeek {
        BackSeek { max: self.tunables[BACK_SEEK_MAX] * 2, penalty: self.tunables[BACK_SEEK_PENALTY] }
    }

    fn longest(&self) -> Nanos {
        Nanos::from_millis(self.tunables[TIMEOUT_SYNC])
    }

    /// Queues that have requests or the turn.
    fn busy(&self) -> impl Iterator<Item = u16> {
        self.fair.active().iter().copied().chain(self.turn.map(|turn| turn.key))
    }

    /// Dispatches a request of the queue in service.
    fn start(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let (sector, sectors) = (requests[slot].sector(), u64::from(requests[slot].sectors()));
        let charge = self.charge(key, sectors);
        self.fair.serve(&mut self.queues, key, charge);
        let seeks = seeks(self.head, sector, sectors, self.rotates());
        let learned = self.rate.dispatched(now, self.in_device, sectors, seeks, self.longest());
        learned.into_iter().for_each(|sectors| self.budgets.learn(sectors));
        self.head = sector + sectors;
        self.in_device += 1;
        self.waiting -= 1;
        let back = self.back();
        let queue = &mut self.queues[key];
        queue.with_device += 1;
        if queue.own.is_raised() {
            queue.own.served_raised += charge;
        }
        // The next one is the nearest to where this one begins. Ages are checked once per turn, with its first request.
        let oldest = queue.requests.lane.oldest().filter(|&oldest| oldest != slot);
        let due =
            !std::mem::replace(&mut queue.looked_at_age, true) && queue.requests.lane.expired(requests, now);
        queue.requests.remove(requests, slot, sector, back);
        if let Some(oldest) = oldest.filter(|_| due) {
            queue.requests.prefer(oldest);
        }
        self.end_raising(now, key);
        if self.queues[key].class == IoClass::Idle && self.busy().count() > 1 {
            self.end_turn(now, now, requests, Ended::Exhausted);
        }
    }
}

impl Elevator for BfqLite {
    fn name(&self) -> &'static str {
        "bfq-lite@4.12"
    }

    fn tunables(&self) -> View<'_> {
        self.tunables.view()
    }

    fn set_row(&mut self, row: usize, value: u64) {
        self.tunables.set(row, value);
        self.budgets.fix(self.tunables[MAX_BUDGET]);
        self.rate = Rate::new(self.rotates());
    }

    fn comes(&mut self, now: Nanos, requests: &Requests, bio: &Bio) {
        let key = self.queues.at(requests, bio.task(), bio.is_sync());
        if bio.is_sync() && usize::from(key) < self.queues.len() {
            self.join_partner(now, key);
        }
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        self.queues.touched(requests, bio)
    }

    fn allows(&self, requests: &Requests, slot: Slot, bio: &Bio) -> bool {
        self.queues.allows(requests, slot, bio)
    }

    fn merged(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        let (head, back) = (self.head, self.back());
        let key = requests[slot].private.queue;
        let lane = &mut self.queues[key].requests;
        let before = lane.best();
        lane.merged_in_place(requests, slot, kind, head, back);
        if lane.best() != before {
            self.next_changed(requests, key);
        }
    }

    fn order(&self, requests: &Requests, slot: Slot) -> Order<'_> {
        self.queues.order(requests, slot)
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        let (head, back) = (requests[gone].sector(), self.back());
        let lane = &mut self.queues[requests[gone].private.queue].requests;
        if lane.best() == Some(gone) {
            lane.prefer(kept);
        }
        self.queues.joined(requests, kept, gone, head, back);
        self.waiting -= 1;
    }

    fn joins_before(&self, requests: &Requests, slot: Slot) -> Option<Slot> {
        self.queues.before(requests, slot)
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        self.tick(now, requests);
        let (slice_idle, rotates) = (self.slice_idle(), self.rotates());
        let key = self.enter(now, requests, slot);
        let (sector, sectors) = (requests[slot].sector(), u64::from(requests[slot].sectors()));
        let sync = requests[slot].is_sync();
        let expire = self.tunables[if sync { FIFO_EXPIRE_SYNC } else { FIFO_EXPIRE_ASYNC }];
        let (head, back) = (self.head, self.back());
        let queue = &mut self.queues[key];
        queue.learn(now, sector, sectors, slice_idle, rotates);
        let (before, was) = (queue.requests.best(), queue.own.coefficient);
        queue.requests.insert(requests, slot, now + Nanos::from_millis(expire), head, back);
        let changed = queue.requests.best() != before;
        self.waiting += 1;
        let mut interactive = false;
        if !self.queues[key].is_busy() {
            interactive = self.wake(now, requests, key);
        } else {
            self.raise_async(now, key);
            if changed {
                self.next_changed(requests, key);
            }
        }
        self.note_raising(now, key, was, interactive);
        self.came(now, requests, key);
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        self.tick(now, requests);
        let key = match self.select(now, requests) {
            Ok(key) => key,
            Err(pick) => return pick,
        };
        let Some(slot) = self.queues[key].requests.best() else { return Pick::Nothing };
        self.start(now, requests, slot);
        Pick::Request(slot)
    }

    fn taken(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        self.tick(now, requests);
        let key = requests[slot].private.queue;
        if self.select(now, requests) != Ok(key) {
            self.force_turn(now, requests, key);
        }
        self.queues[key].requests.prefer(slot);
        self.start(now, requests, slot);
    }

    fn completed(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        self.tick(now, requests);
        let key = requests[slot].private.queue;
        self.watch_queueing();
        self.in_device -= 1;
        let learned = self.rate.completed(now, self.longest());
        learned.into_iter().for_each(|sectors| self.budgets.learn(sectors));
        let queue = &mut self.queues[key];
        queue.with_device -= 1;
        queue.done(now);
        if queue.with_device == 0 && !queue.is_busy() {
            self.counted.retain(|&other| other != key);
        }
        if self.turn.is_some_and(|turn| turn.key == key) {
            self.served(now, requests, key);
        }
    }

    fn returned(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let charge = self.charge(key, u64::from(requests[slot].sectors()));
        self.in_device -= 1;
        let queue = &mut self.queues[key];
        queue.with_device -= 1;
        queue.own.entity.service = queue.own.entity.service.saturating_sub(charge);
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        let key = self.busy().find(|&key| !self.queues[key].requests.is_empty())?;
        let slot = self.queues[key].requests.drain(requests)?;
        self.waiting -= 1;
        Some(slot)
    }

    fn waiting(&self) -> usize {
        self.waiting
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        for key in self.busy() {
            self.queues[key].requests.lane.tree.iter(requests).for_each(&mut *each);
        }
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        self.counts.each(each);
    }
}

#[cfg(test)]
#[path = "bfq_tests.rs"]
mod tests;
