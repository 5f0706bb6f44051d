//! `bfq-lite`: BFQ (4.12 and later) without its extras, and named so in reports. Each task has a queue of synchronous requests, asynchronous
//! ones share a queue per priority; a queue is served until its budget of sectors or its time is used up or it has nothing left, and
//! the next is the one with the earliest virtual finish among those whose virtual start has come.
//!
//! Left out: weight raising for interactive and soft real-time tasks, joining the queues of cooperating tasks, injection, groups, and the
//! charge by time for slow queues.

mod budget;
mod fair;
mod turns;

use super::per_task::{TaskQueue, TaskQueues};
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
use fair::Share;

const FIFO_EXPIRE_SYNC: usize = 0;
const FIFO_EXPIRE_ASYNC: usize = 1;
const TIMEOUT_SYNC: usize = 2;
const SLICE_IDLE: usize = 3;
const BACK_SEEK_MAX: usize = 4;
const BACK_SEEK_PENALTY: usize = 5;
const MAX_BUDGET: usize = 6;

static TABLE: [Tunable; 7] = [
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
];

/// A task whose requests lie further apart than this is not idled for, in sectors.
const SEEKY: u64 = 8 * 1024;
/// What a queue has beside its requests.
#[derive(Clone, Debug)]
struct Budgeted {
    share: Share,
    budget: u64,
}

impl Budgeted {
    fn new(level: u8) -> Self {
        Self { share: Share::new(level), budget: 0 }
    }
}

type Queued = TaskQueue<Budgeted>;

impl Queued {
    fn is_seeky(&self) -> bool {
        self.habits.seek.believed().is_some_and(|seek| seek > SEEKY)
    }
}

/// The queue whose turn it is.
#[derive(Clone, Copy, Debug)]
struct Turn {
    key: u16,
    since: Nanos,
    served: u64,
    /// The disk is kept idle until then.
    idle_until: Option<Nanos>,
}

/// BFQ without its extras.
#[derive(Clone, Debug)]
pub struct BfqLite {
    tunables: Tunables<7>,
    queues: TaskQueues<Budgeted>,
    /// Queues with requests, in no order.
    busy: Vec<u16>,
    turn: Option<Turn>,
    /// Virtual time, in sectors per weight.
    virtual_now: u64,
    budgets: Budgets,
    head: u64,
    waiting: usize,
    turns: u64,
    exhausted: u64,
    timeouts: u64,
    idles: u64,
    idle_hits: u64,
}

impl Default for BfqLite {
    fn default() -> Self {
        Self {
            tunables: Tunables::new(&TABLE),
            queues: TaskQueues::new(Budgeted::new),
            busy: Vec::new(),
            turn: None,
            virtual_now: 0,
            budgets: Budgets::default(),
            head: 0,
            waiting: 0,
            turns: 0,
            exhausted: 0,
            timeouts: 0,
            idles: 0,
            idle_hits: 0,
        }
    }
}

impl BfqLite {
    fn back(&self) -> BackSeek {
        BackSeek { max: self.tunables[BACK_SEEK_MAX] * 2, penalty: self.tunables[BACK_SEEK_PENALTY] }
    }

    fn timeout(&self) -> Nanos {
        Nanos::from_millis(self.tunables[TIMEOUT_SYNC])
    }

    fn worth_idling(&self, queue: &Queued) -> bool {
        let idle = self.tunables[SLICE_IDLE] * 1_000_000;
        let quick = queue.habits.think.believed().is_none_or(|think| think <= idle);
        queue.sync && idle > 0 && queue.class != IoClass::Idle && quick && !queue.is_seeky()
    }

    /// Hands a request to the device.
    fn start(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let sectors = u64::from(requests[slot].sectors());
        self.head = requests[slot].end();
        let (head, back) = (self.head, self.back());
        let queue = &mut self.queues[key];
        queue.requests.remove(requests, slot, head, back);
        queue.with_device += 1;
        // Ages are looked at once per turn, when its first request has gone.
        if !std::mem::replace(&mut queue.looked_at_age, true) {
            queue.requests.prefer_expired(requests, now);
        }
        self.serve(key, sectors);
        self.empty(key);
        self.waiting -= 1;
    }

    fn empty(&mut self, key: u16) {
        let queue = &mut self.queues[key];
        if queue.requests.is_empty() {
            queue.busy = false;
            self.busy.retain(|&other| other != key);
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
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        self.queues.touched(requests, bio)
    }

    fn allows(&self, requests: &Requests, slot: Slot, bio: &Bio) -> bool {
        self.queues.allows(requests, slot, bio)
    }

    fn merged(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        let (head, back) = (self.head, self.back());
        self.queues.merged(requests, slot, kind, head, back);
    }

    fn order(&self, requests: &Requests, slot: Slot) -> Order<'_> {
        self.queues.order(requests, slot)
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        let (head, back) = (self.head, self.back());
        self.queues.joined(requests, kept, gone, head, back);
        self.waiting -= 1;
    }

    fn joins_on_insert(&self) -> bool {
        true
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let cap = Nanos(2 * Nanos::from_millis(self.tunables[SLICE_IDLE]).0);
        let before = self.queues.len();
        let key = self.queues.enter(now, requests, slot, cap);
        if self.queues.len() > before {
            self.busy.reserve(self.queues.len());
        }
        let sync = requests[slot].is_sync();
        if sync {
            self.queues[key].own.share.set_level(requests.task(requests[slot].task()).level);
        }
        let expire = self.tunables[if sync { FIFO_EXPIRE_SYNC } else { FIFO_EXPIRE_ASYNC }];
        let (head, back) = (self.head, self.back());
        let queue = &mut self.queues[key];
        queue.requests.insert(requests, slot, now + Nanos::from_millis(expire), head, back);
        self.waiting += 1;
        self.wake(key);
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.key == key) {
            self.idle_hits += u64::from(turn.idle_until.take().is_some());
        }
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        let key = match self.select(now, requests) {
            Ok(key) => key,
            Err(pick) => return pick,
        };
        let Some(slot) = self.queues[key].requests.best() else { return Pick::Nothing };
        self.start(now, requests, slot);
        Pick::Request(slot)
    }

    fn taken(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        if self.turn.is_none_or(|turn| turn.key != key) {
            self.end_turn(now, requests, Ended::Empty);
            self.turn = Some(Turn { key, since: now, served: 0, idle_until: None });
            self.turns += 1;
        }
        self.queues[key].requests.prefer(slot);
        self.start(now, requests, slot);
    }

    fn completed(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let queue = &mut self.queues[key];
        queue.with_device -= 1;
        if queue.sync {
            queue.habits.last_completion = Some(now);
        }
        let idle = Nanos::from_millis(self.tunables[SLICE_IDLE]);
        let queue = &self.queues[key];
        let idles = !queue.busy && queue.with_device == 0 && self.worth_idling(queue);
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.key == key && idles) {
            turn.idle_until = Some(now + idle);
            self.idles += 1;
        }
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        self.turn = None;
        let &key = self.busy.last()?;
        let slot = self.queues[key].requests.drain(requests)?;
        self.empty(key);
        self.waiting -= 1;
        Some(slot)
    }

    fn waiting(&self) -> usize {
        self.waiting
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        for &key in &self.busy {
            self.queues[key].requests.lane.tree.iter(requests).for_each(&mut *each);
        }
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("turns", self.turns);
        each("exhausted", self.exhausted);
        each("timeouts", self.timeouts);
        each("idles", self.idles);
        each("idle_hits", self.idle_hits);
    }
}

#[cfg(test)]
#[path = "bfq_tests.rs"]
mod tests;
