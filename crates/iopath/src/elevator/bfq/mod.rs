//! `bfq-lite`: BFQ (4.12 and later) without its extras, and named so in reports. Each task has a queue of synchronous requests, asynchronous
//! ones share a queue per priority; a queue is served until its budget of sectors or its time is used up or it has nothing left, and
//! the next is the one with the earliest virtual finish among those whose virtual start has come.
//!
//! Left out: weight raising for interactive and soft real-time tasks, joining the queues of cooperating tasks, injection, groups, and the
//! charge by time for slow queues.

mod budget;
mod fair;
mod turns;

use super::best::BestLane;
use super::mean::Mean;
use super::sorted::{self, BackSeek};
use super::{Elevator, Order, Pick};
use crate::bio::Bio;
use crate::limits::Limits;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot};
use crate::task::{IoClass, TaskId};
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
/// Asynchronous queues: one per level of two classes, and one for the idle class.
const SHARED: usize = 17;

/// A queue of requests.
#[derive(Clone, Debug)]
struct Queued {
    requests: BestLane,
    share: Share,
    sync: bool,
    class: IoClass,
    busy: bool,
    with_device: u32,
    budget: u64,
    looked_at_age: bool,
    think: Mean,
    seek: Mean,
    last_completion: Option<Nanos>,
    last_end: Option<u64>,
}

impl Queued {
    fn new(sync: bool, class: IoClass, level: u8) -> Self {
        Self {
            requests: BestLane::default(),
            share: Share::new(level),
            sync,
            class,
            busy: false,
            with_device: 0,
            budget: 0,
            looked_at_age: false,
            think: Mean::default(),
            seek: Mean::default(),
            last_completion: None,
            last_end: None,
        }
    }

    fn is_seeky(&self) -> bool {
        self.seek.believed().is_some_and(|seek| seek > SEEKY)
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
    /// The shared asynchronous queues, then one per task.
    queues: Vec<Queued>,
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
        let shared = |n: usize| match n {
            0..8 => Queued::new(false, IoClass::RealTime, n as u8),
            8..16 => Queued::new(false, IoClass::BestEffort, n as u8 - 8),
            _ => Queued::new(false, IoClass::Idle, 7),
        };
        Self {
            tunables: Tunables::new(&TABLE),
            queues: (0..SHARED).map(shared).collect(),
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

    fn key(requests: &Requests, task: TaskId, sync: bool) -> u16 {
        if sync {
            return SHARED as u16 + task.0.min(u16::MAX - SHARED as u16);
        }
        let info = requests.task(task);
        match info.class {
            IoClass::RealTime => u16::from(info.level),
            IoClass::BestEffort => 8 + u16::from(info.level),
            IoClass::Idle => 16,
        }
    }

    fn worth_idling(&self, queue: &Queued) -> bool {
        let idle = self.tunables[SLICE_IDLE] * 1_000_000;
        let quick = queue.think.believed().is_none_or(|think| think <= idle);
        queue.sync && idle > 0 && queue.class != IoClass::Idle && quick && !queue.is_seeky()
    }

    /// Hands a request to the device.
    fn start(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let sectors = u64::from(requests[slot].sectors());
        self.head = requests[slot].end();
        let (head, back) = (self.head, self.back());
        let queue = &mut self.queues[usize::from(key)];
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
        let queue = &mut self.queues[usize::from(key)];
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
        let own = self.queues.get(usize::from(Self::key(requests, bio.task(), bio.is_sync())));
        own.map_or(Candidate::None, |queue| sorted::candidate(&queue.requests.lane.tree, requests, bio, true))
    }

    fn allows(&self, requests: &Requests, slot: Slot, bio: &Bio) -> bool {
        requests[slot].private.queue == Self::key(requests, bio.task(), bio.is_sync())
    }

    fn merged(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        let (head, back) = (self.head, self.back());
        let queue = &mut self.queues[usize::from(requests[slot].private.queue)];
        queue.requests.merged(requests, slot, kind, head, back);
    }

    fn order(&self, requests: &Requests, slot: Slot) -> Order<'_> {
        Order::Tree(&self.queues[usize::from(requests[slot].private.queue)].requests.lane.tree)
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        let (head, back) = (self.head, self.back());
        let queue = &mut self.queues[usize::from(requests[gone].private.queue)];
        queue.requests.joined(requests, kept, gone, head, back);
        self.waiting -= 1;
    }

    fn joins_on_insert(&self) -> bool {
        true
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let (task, sync) = (requests[slot].task(), requests[slot].is_sync());
        let key = Self::key(requests, task, sync);
        while self.queues.len() <= usize::from(key) {
            self.queues.push(Queued::new(true, IoClass::BestEffort, 4));
            self.busy.reserve(self.queues.len());
        }
        requests[slot].private.queue = key;
        if sync {
            let info = requests.task(task);
            self.observe(now, requests, slot, key);
            let queue = &mut self.queues[usize::from(key)];
            queue.class = info.class;
            queue.share.set_level(info.level);
        }
        let expire = self.tunables[if sync { FIFO_EXPIRE_SYNC } else { FIFO_EXPIRE_ASYNC }];
        let (head, back) = (self.head, self.back());
        let queue = &mut self.queues[usize::from(key)];
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
        let Some(slot) = self.queues[usize::from(key)].requests.best() else { return Pick::Nothing };
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
        self.queues[usize::from(key)].requests.prefer(slot);
        self.start(now, requests, slot);
    }

    fn completed(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let queue = &mut self.queues[usize::from(key)];
        queue.with_device -= 1;
        if queue.sync {
            queue.last_completion = Some(now);
        }
        let idle = Nanos::from_millis(self.tunables[SLICE_IDLE]);
        let queue = &self.queues[usize::from(key)];
        let idles = !queue.busy && queue.with_device == 0 && self.worth_idling(queue);
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.key == key && idles) {
            turn.idle_until = Some(now + idle);
            self.idles += 1;
        }
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        self.turn = None;
        let &key = self.busy.last()?;
        let slot = self.queues[usize::from(key)].requests.drain(requests)?;
        self.empty(key);
        self.waiting -= 1;
        Some(slot)
    }

    fn waiting(&self) -> usize {
        self.waiting
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        for &key in &self.busy {
            self.queues[usize::from(key)].requests.lane.tree.iter(requests).for_each(&mut *each);
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
