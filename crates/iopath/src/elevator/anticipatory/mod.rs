//! The anticipatory scheduler of 2.6.0 to 2.6.32 (rules from the 2.6.12-rc2 source): synchronous and asynchronous batches alternate, and
//! after a synchronous request completes, the disk may be kept idle for a few milliseconds, because its process will probably submit
//! another request near by.
//!
//! Reads, and writes inside fsync, are synchronous. It counts in jiffies. Not modelled: requests with the same start sector are kept side
//! by side in the tree instead of chained.

mod choice;
mod process;
mod tunables;
mod waiting;

use super::sorted::{self, BackSeek, Lane};
use super::{Elevator, Held, MayQueue, Order, Pick};
use crate::bio::Bio;
use crate::limits::Limits;
use crate::merge::{Candidate, MergeKind, touches};
use crate::request::{Requests, Slot};
use crate::task::TaskId;
use crate::time::{Hz, Nanos};
use crate::tunable::{Tunables, View};
use process::{AnticipatedProcess, Newcomers};
use tunables::{READ_BATCH_EXPIRE, READ_EXPIRE, TABLE, WRITE_BATCH_EXPIRE, WRITE_EXPIRE};
use waiting::Status;

const SYNC: usize = 0;
const ASYNC: usize = 1;

const BACK: BackSeek = BackSeek { max: 1024 * 1024, penalty: 2 };

/// The anticipatory scheduler.
#[derive(Clone, Debug)]
pub struct Anticipatory {
    tunables: Tunables<5>,
    hz: Hz,
    lanes: [Lane; 2],
    /// The best request of each kind by sector.
    best: [Option<Slot>; 2],
    /// End of the last request of each kind.
    last_sector: [u64; 2],
    last_age_check: [u64; 2],
    batch: usize,
    batch_expires: u64,
    /// The direction has changed and the old batch has not completed.
    changing: bool,
    /// A synchronous batch whose clock starts with its first completion.
    starting: bool,
    /// Length of an asynchronous batch in requests, adapted to the time that it takes.
    write_budget: u64,
    write_left: u64,
    write_idled: bool,
    with_device: u32,
    status: Status,
    wait_start: u64,
    /// The task whose next request may be anticipated.
    expected: Option<TaskId>,
    /// That task's request has completed.
    expected_served: bool,
    processes: Vec<AnticipatedProcess>,
    newcomers: Newcomers,
    waits: u64,
    hits: u64,
    timeouts: u64,
    expired: u64,
    batches: u64,
}

impl Default for Anticipatory {
    fn default() -> Self {
        let mut made = Self {
            tunables: Tunables::new(&TABLE),
            hz: Hz::default(),
            lanes: Default::default(),
            best: [None; 2],
            last_sector: [0; 2],
            last_age_check: [0; 2],
            batch: ASYNC,
            batch_expires: 0,
            changing: false,
            starting: false,
            write_budget: 0,
            write_left: 0,
            write_idled: false,
            with_device: 0,
            status: Status::Off,
            wait_start: 0,
            expected: None,
            expected_served: false,
            processes: Vec::new(),
            newcomers: Newcomers::default(),
            waits: 0,
            hits: 0,
            timeouts: 0,
            expired: 0,
            batches: 0,
        };
        made.set_hz(Hz::default());
        made
    }
}

impl Anticipatory {
    /// Value of a tunable in jiffies.
    fn ticks(&self, row: usize) -> u64 {
        self.hz.jiffies_of_millis(self.tunables[row])
    }

    fn kind(requests: &Requests, slot: Slot) -> usize {
        usize::from(!requests[slot].is_sync())
    }

    /// The task that a request counts for: its own, unless it joined an older request of another task.
    fn task(requests: &Requests, slot: Slot) -> TaskId {
        TaskId(requests[slot].private.queue)
    }

    fn process(&mut self, task: TaskId) -> &mut AnticipatedProcess {
        if self.processes.len() <= task.index() {
            self.processes.resize(task.index() + 1, AnticipatedProcess::default());
        }
        &mut self.processes[task.index()]
    }

    /// Called before a request leaves its lane: chooses another best request of its kind.
    fn forget(&mut self, requests: &Requests, slot: Slot) {
        let kind = Self::kind(requests, slot);
        if self.best[kind] == Some(slot) {
            let head = self.last_sector[kind];
            self.best[kind] = sorted::next_of(&self.lanes[kind].tree, requests, slot, head, BACK);
        }
    }

    /// Dispatches a request.
    fn take(&mut self, requests: &mut Requests, slot: Slot) {
        let kind = Self::kind(requests, slot);
        let task = Self::task(requests, slot);
        self.status = Status::Off;
        self.last_sector[kind] = requests[slot].end();
        if kind == SYNC {
            self.expected = Some(task);
        } else {
            self.expected = None;
            self.write_left = self.write_left.saturating_sub(1);
        }
        self.expected_served = false;
        let head = self.last_sector[kind];
        self.best[kind] = sorted::next_of(&self.lanes[kind].tree, requests, slot, head, BACK);
        self.lanes[kind].remove(requests, slot);
        let process = self.process(task);
        process.queued -= 1;
        process.with_device += 1;
        self.with_device += 1;
    }

    /// Adapts the length of a batch of writes so that it takes write_batch_expire.
    fn adapt_write_budget(&mut self, jiffies: u64) {
        let target = self.ticks(WRITE_BATCH_EXPIRE);
        let took = (jiffies + target).saturating_sub(self.batch_expires);
        if took > target && !self.write_idled {
            self.write_budget = if took > target * 3 { self.write_budget / 2 } else { self.write_budget - 1 };
        } else if took < target && self.write_left == 0 {
            let longer = if target > took * 3 { self.write_budget * 2 } else { self.write_budget + 1 };
            self.write_budget = longer.min(1 << 20);
        }
        self.write_budget = self.write_budget.max(1);
    }
}

impl Elevator for Anticipatory {
    fn name(&self) -> &'static str {
        "as@2.6.12"
    }

    fn tunables(&self) -> View<'_> {
        self.tunables.view()
    }

    fn set_row(&mut self, row: usize, value: u64) {
        self.tunables.set(row, value);
    }

    fn set_hz(&mut self, hz: Hz) {
        self.hz = hz;
        self.batch_expires = self.ticks(READ_BATCH_EXPIRE);
        self.write_budget = (self.ticks(WRITE_BATCH_EXPIRE) / 10).max(2);
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        if let Some(found) = sorted::behind(self.lanes.iter().map(|lane| &lane.tree), requests, bio) {
            return found;
        }
        // The kernel looks for front merges in the tree of the other kind (it takes the direction for the kind), so for reads and plain
        // writes only the last-merge hint finds one.
        let lane = if bio.op().is_read() { &self.lanes[ASYNC] } else { &self.lanes[SYNC] };
        let front = lane.tree.starting_at(requests, bio.end());
        match front.filter(|&slot| touches(requests, slot, bio) == Some(MergeKind::Front)) {
            Some(slot) => Candidate::Front(slot),
            None => Candidate::None,
        }
    }

    fn merged(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        self.lanes[Self::kind(requests, slot)].merged(requests, slot, kind);
    }

    fn order(&self, requests: &Requests, slot: Slot) -> Order<'_> {
        Order::Tree(&self.lanes[Self::kind(requests, slot)].tree)
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        self.forget(requests, gone);
        let mut owner = Self::task(requests, gone);
        if requests[gone].private.due < requests[kept].private.due {
            std::mem::swap(&mut requests[kept].private.queue, &mut owner.0);
        }
        self.process(owner).queued -= 1;
        self.lanes[Self::kind(requests, gone)].joined(requests, kept, gone);
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let jiffies = self.hz.jiffies(now);
        let kind = Self::kind(requests, slot);
        let task = requests[slot].task();
        requests[slot].private.queue = task.0;
        self.process(task);
        let process = &mut self.processes[task.index()];
        if kind == SYNC {
            let longest = self.hz.jiffies_of_millis(20).saturating_sub(1);
            let (sector, end) = (requests[slot].sector(), requests[slot].end());
            process.submitted(jiffies, sector, end, longest, &mut self.newcomers);
        }
        process.queued += 1;
        let expire = self.ticks(if kind == SYNC { READ_EXPIRE } else { WRITE_EXPIRE });
        self.lanes[kind].insert(requests, slot, self.hz.moment(jiffies + expire));
        self.best[kind] = sorted::nearer(requests, self.last_sector[kind], BACK, Some(slot), self.best[kind]);
        self.consider(jiffies, requests, slot);
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        let jiffies = self.hz.jiffies(now);
        self.time_out(jiffies);
        match self.choose(jiffies, requests) {
            Some(slot) => {
                self.take(requests, slot);
                Pick::Request(slot)
            }
            None => match self.status {
                Status::WaitNext => Pick::NotBefore(self.hz.moment(self.wait_end())),
                _ => Pick::Nothing,
            },
        }
    }

    fn taken(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        self.batches += u64::from(self.batch != Self::kind(requests, slot));
        self.batch = Self::kind(requests, slot);
        self.changing = false;
        self.take(requests, slot);
    }

    fn completed(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let jiffies = self.hz.jiffies(now);
        let kind = Self::kind(requests, slot);
        let task = Self::task(requests, slot);
        self.process(task).with_device -= 1;
        if self.changing && self.with_device == 1 {
            self.changing = false;
            self.starting |= self.batch == SYNC;
        }
        self.with_device -= 1;
        // A batch begins when the device completes its first request, because tagged queueing and write caches would distort an earlier
        // start.
        if self.starting && self.batch == kind {
            self.adapt_write_budget(jiffies);
            self.batch_expires = jiffies + self.ticks(READ_BATCH_EXPIRE);
            self.starting = false;
        }
        if self.expected == Some(task) {
            self.wait_start = jiffies;
            self.expected_served = true;
            if self.status == Status::WaitRequest {
                self.wait_next();
            }
        }
        if kind == SYNC {
            let process = self.process(task);
            process.served = true;
            process.last_completion = jiffies;
        }
    }

    fn returned(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        let task = Self::task(requests, slot);
        self.process(task).with_device -= 1;
        self.with_device -= 1;
    }

    fn may_queue(&mut self, _now: Nanos, _requests: &Requests, bio: &Bio, _held: Held) -> MayQueue {
        // The process being waited for must not be held up.
        if self.is_waiting() && self.expected == Some(bio.task()) { MayQueue::Must } else { MayQueue::Yes }
    }

    fn task_began(&mut self, task: TaskId) {
        self.process(task).exited = false;
    }

    fn task_exited(&mut self, _now: Nanos, _requests: &mut Requests, task: TaskId) {
        self.process(task).exited = true;
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        self.best = [None; 2];
        self.status = Status::Off;
        let slot = self.lanes.iter_mut().find_map(|lane| lane.drain(requests))?;
        self.process(Self::task(requests, slot)).queued -= 1;
        Some(slot)
    }

    fn waiting(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum()
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        self.lanes.iter().for_each(|lane| lane.tree.iter(requests).for_each(&mut *each));
    }

    fn habits(&self, each: &mut dyn FnMut(TaskId, Nanos, u64)) {
        for (task, process) in self.processes.iter().enumerate() {
            if let (Some(think), Some(seek)) = (process.think_mean(), process.seek_mean()) {
                each(TaskId(task as u16), self.hz.moment(think), seek);
            }
        }
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("batches", self.batches);
        each("expired", self.expired);
        each("waits", self.waits);
        each("hits", self.hits);
        each("timeouts", self.timeouts);
    }
}

#[cfg(test)]
#[path = "anticipatory_tests.rs"]
mod tests;
