//! CFQ with time slices, 2.6.13 to 4.20 (the definition of seeking changed in 2.6.30, and with it which tasks it idles for): each task
//! has a queue of synchronous requests, asynchronous ones share a queue per priority. Queues are served in turn for a time slice; while
//! the active queue's task thinks, the disk is kept idle for it, unless it thinks too long or seeks too far.
//!
//! Not modelled: groups and group_idle, low_latency with target_latency, merged queues of cooperating tasks, and the tree per workload
//! type of 2.6.33 and later.

mod turns;

use crate::bio::Bio;
use crate::elevator::per_task::{TaskQueue, TaskQueues};
use crate::elevator::sorted::BackSeek;
use crate::elevator::{Elevator, Order, Pick};
use crate::limits::Limits;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot};
use crate::task::TaskId;
use crate::time::Nanos;
use crate::tunable::{Tunable, Tunables, Unit, View};

const QUANTUM: usize = 0;
const FIFO_EXPIRE_SYNC: usize = 1;
const FIFO_EXPIRE_ASYNC: usize = 2;
const SLICE_SYNC: usize = 3;
const SLICE_ASYNC: usize = 4;
const SLICE_ASYNC_RQ: usize = 5;
const SLICE_IDLE: usize = 6;
const BACK_SEEK_MAX: usize = 7;
const BACK_SEEK_PENALTY: usize = 8;
const SEEKY: usize = 9;
const SEEKY_IDLE: usize = 10;

static TABLE: [Tunable; 11] = [
    Tunable::count(
        "quantum",
        Unit::Requests,
        4,
        "most requests of a queue with the device while others wait (later 8)",
    )
    .at_least(1),
    Tunable::millis("fifo_expire_sync", 125, "a synchronous request older than this goes first in its slice")
        .at_least(1),
    Tunable::millis("fifo_expire_async", 250, "the same for asynchronous ones").at_least(1),
    Tunable::millis("slice_sync", 100, "slice at priority 4; 20 % more per step up, less per step down")
        .at_least(1),
    Tunable::millis("slice_async", 40, "the same for asynchronous queues").at_least(1),
    Tunable::count(
        "slice_async_rq",
        Unit::Requests,
        2,
        "measure of most requests in an asynchronous slice (16 at priority 4)",
    )
    .at_least(1),
    Tunable::millis("slice_idle", 8, "how long the disk is kept idle for a task (10 at first); 0: never"),
    BackSeek::ROWS[0],
    BackSeek::ROWS[1],
    Tunable::count(
        "seeky",
        Unit::Sectors,
        8 * 1024,
        "a task whose requests lie further apart on average seeks (131072 before 2.6.30)",
    )
    .at_most(1 << 32),
    Tunable::millis(
        "seeky_idle",
        0,
        "how long the disk is kept idle for a task that seeks (2 before 2.6.30); 0: never",
    ),
];

/// Distance within which another task's request ends idling, in sectors.
const CLOSE: u64 = 8 * 1024;
/// Per-queue state besides its requests.
#[derive(Clone, Debug)]
struct Slice {
    level: u8,
    /// Requests dispatched in this slice.
    dispatched: u32,
}

impl Slice {
    fn new(level: u8) -> Self {
        Self { level, dispatched: 0 }
    }
}

type SliceQueue = TaskQueue<Slice>;

/// CFQ with time slices.
#[derive(Clone, Debug)]
pub struct Cfq3 {
    name: &'static str,
    tunables: Tunables<11>,
    turns: TaskQueues<Slice>,
    /// Queues with requests, in the order of their turns.
    round: Vec<u16>,
    active: Option<u16>,
    /// `None`: the slice has not begun, since none of its requests has completed.
    slice_end: Option<Nanos>,
    /// The disk is kept idle until this time.
    idle_until: Option<Nanos>,
    head: u64,
    async_with_device: u32,
    waiting: usize,
    slices: u64,
    idles: u64,
    idle_hits: u64,
    preempted: u64,
}

impl Default for Cfq3 {
    fn default() -> Self {
        Self {
            name: "cfq3@2.6.30",
            tunables: Tunables::new(&TABLE),
            turns: TaskQueues::new(Slice::new),
            round: Vec::new(),
            active: None,
            slice_end: None,
            idle_until: None,
            head: 0,
            async_with_device: 0,
            waiting: 0,
            slices: 0,
            idles: 0,
            idle_hits: 0,
            preempted: 0,
        }
    }
}

impl Cfq3 {
    fn back(&self) -> BackSeek {
        BackSeek { max: self.tunables[BACK_SEEK_MAX] * 2, penalty: self.tunables[BACK_SEEK_PENALTY] }
    }

    /// With the rules of 2.6.13 to 2.6.29 for seeking tasks: seeking begins further out, and the elevator still idles for them briefly.
    #[must_use]
    pub fn before_2_6_30() -> Self {
        let mut made = Self::default();
        made.tunables.set(SEEKY, 128 * 1024);
        made.tunables.set(SEEKY_IDLE, 2);
        made.name = "cfq3@2.6.13";
        made
    }

    fn idle_time(&self) -> Nanos {
        Nanos::from_millis(self.tunables[SLICE_IDLE])
    }

    /// Dispatches a request.
    fn start(&mut self, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        self.head = requests[slot].end();
        self.leave(requests, slot);
        let turn = &mut self.turns[key];
        turn.with_device += 1;
        turn.own.dispatched += 1;
        self.async_with_device += u32::from(!turn.sync);
        self.waiting -= 1;
    }

    /// Removes a request from its queue; an empty queue leaves the round.
    fn leave(&mut self, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let (head, back) = (self.head, self.back());
        let turn = &mut self.turns[key];
        turn.requests.remove(requests, slot, head, back);
        self.empty(key);
    }

    fn empty(&mut self, key: u16) {
        let turn = &mut self.turns[key];
        if turn.requests.is_empty() {
            turn.busy = false;
            self.round.retain(|&other| other != key);
        }
    }
}

impl Elevator for Cfq3 {
    fn name(&self) -> &'static str {
        self.name
    }

    fn tunables(&self) -> View<'_> {
        self.tunables.view()
    }

    fn set_row(&mut self, row: usize, value: u64) {
        self.tunables.set(row, value);
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        self.turns.touched(requests, bio)
    }

    fn allows(&self, requests: &Requests, slot: Slot, bio: &Bio) -> bool {
        self.turns.allows(requests, slot, bio)
    }

    fn merged(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        let (head, back) = (self.head, self.back());
        self.turns.merged(requests, slot, kind, head, back);
    }

    fn order(&self, requests: &Requests, slot: Slot) -> Order<'_> {
        self.turns.order(requests, slot)
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        let (head, back) = (self.head, self.back());
        self.turns.joined(requests, kept, gone, head, back);
        self.waiting -= 1;
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let (before, cap) = (self.turns.len(), Nanos(2 * self.idle_time().0));
        let key = self.turns.enter(now, requests, slot, cap);
        if self.turns.len() > before {
            self.round.reserve(self.turns.len());
        }
        let sync = requests[slot].is_sync();
        if sync {
            self.turns[key].own.level = requests.task(requests[slot].task()).level;
        }
        let expire = self.tunables[if sync { FIFO_EXPIRE_SYNC } else { FIFO_EXPIRE_ASYNC }];
        let (head, back) = (self.head, self.back());
        let turn = &mut self.turns[key];
        turn.requests.insert(requests, slot, now + Nanos::from_millis(expire), head, back);
        self.waiting += 1;
        if !turn.busy {
            turn.busy = true;
            self.join_round(key, false);
        }
        if self.active == Some(key) {
            self.idle_hits += u64::from(self.idle_until.take().is_some());
        } else if self.preempts(requests, slot, key) {
            self.preempted += 1;
            self.end_slice();
            self.join_round(key, true);
        }
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        let key = match self.select(now) {
            Ok(key) => key,
            Err(pick) => return pick,
        };
        let turn = &self.turns[key];
        let alone = self.round.len() == 1;
        if turn.with_device >= self.most_with_device(turn) && !alone {
            return Pick::Nothing;
        }
        // Write-back in flight must complete before the disk is kept idle for one task.
        if self.worth_idling(turn) && self.async_with_device > 0 && turn.sync {
            return Pick::Nothing;
        }
        let Some(slot) = self.choose(now, requests, key) else { return Pick::Nothing };
        self.start(requests, slot);
        Pick::Request(slot)
    }

    fn taken(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        if self.active != Some(key) {
            self.end_slice();
            (self.active, self.slice_end) = (Some(key), None);
            self.slices += 1;
        }
        self.idle_until = None;
        self.turns[key].requests.prefer(slot);
        self.start(requests, slot);
    }

    fn completed(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let turn = &mut self.turns[key];
        turn.with_device -= 1;
        if turn.sync {
            turn.habits.last_completion = Some(now);
        } else {
            self.async_with_device -= 1;
        }
        if self.active != Some(key) {
            return;
        }
        let slice = self.slice(&self.turns[key]);
        let end = *self.slice_end.get_or_insert(now + slice);
        let turn = &self.turns[key];
        if now < end && !turn.busy && turn.with_device == 0 && self.worth_idling(turn) {
            self.idle_until = Some(now + self.wait_for(turn));
            self.idles += 1;
        }
    }

    fn task_exited(&mut self, _now: Nanos, requests: &mut Requests, task: TaskId) {
        if self.active == Some(TaskQueues::<Slice>::key(requests, task, true)) {
            self.idle_until = None;
        }
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        (self.active, self.idle_until) = (None, None);
        let &key = self.round.first()?;
        let slot = self.turns[key].requests.drain(requests)?;
        self.empty(key);
        self.waiting -= 1;
        Some(slot)
    }

    fn waiting(&self) -> usize {
        self.waiting
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        for &key in &self.round {
            self.turns[key].requests.lane.tree.iter(requests).for_each(&mut *each);
        }
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("slices", self.slices);
        each("idles", self.idles);
        each("idle_hits", self.idle_hits);
        each("preempted", self.preempted);
    }
}

#[cfg(test)]
#[path = "slices_tests.rs"]
mod tests;
