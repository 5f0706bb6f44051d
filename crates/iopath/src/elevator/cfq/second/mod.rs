//! CFQ of 2.6.9 to 2.6.12 (rules from the 2.6.12-rc2 source): processes are ordered by the service they have used, which fades within
//! seconds; each gives one request per pass, in the first pass only those with nothing dispatched. A process's next request is the one
//! nearest to the head.
//!
//! Kept from the source: the age queues are indexed by "synchronous" when filled and by "write" when checked, so asynchronous requests
//! expire after the shorter time. Not modelled: keys other than the process (pgid, uid, gid).

mod dispatch;
mod service;

use crate::bio::Bio;
use crate::elevator::sorted::{self, BackSeek};
use crate::elevator::{Elevator, Held, MayQueue, Order, Pick};
use crate::limits::Limits;
use crate::list::List;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot, Stage};
use crate::time::{Hz, Nanos};
use crate::tree::Tree;
use crate::tunable::{Tunable, Tunables, Unit, View};

const QUANTUM: usize = 0;
const QUEUED: usize = 1;
const FIFO_EXPIRE_R: usize = 2;
const FIFO_EXPIRE_W: usize = 3;
const FIFO_BATCH_EXPIRE: usize = 4;
const BACK_MAX: usize = 5;
const BACK_PENALTY: usize = 6;

static TABLE: [Tunable; 7] = [
    Tunable::count("quantum", Unit::Requests, 4, "passes go on until this many requests are dispatched")
        .at_least(1),
    Tunable::count("queued", Unit::Requests, 8, "requests that each process may always have").at_least(1),
    Tunable::millis("fifo_expire_r", 500, "an asynchronous request older than this may go first").at_least(1),
    Tunable::millis("fifo_expire_w", 5000, "a synchronous request older than this may go first").at_least(1),
    Tunable::millis("fifo_batch_expire", 125, "ages are looked at once per this time"),
    Tunable::count("back_max", Unit::KiB, 16 * 1024, "how far the head goes back for a request")
        .at_most(1 << 32),
    Tunable::count("back_penalty", Unit::Number, 2, "how much dearer going back is than going ahead")
        .at_least(1),
];

/// Pool size that CFQ sets.
const REQUESTS: u32 = 1024;
/// Maximum number of requests per process and direction.
const MOST_QUEUED: u32 = REQUESTS / 16;
/// With this many requests in flight the device counts as tagged: requests are counted instead of their times.
const TAGGED_FROM: u32 = 4;

#[derive(Clone, Debug, Default)]
struct SecondCfqProcess {
    tree: Tree,
    /// Asynchronous, synchronous.
    ages: [List; 2],
    best: Option<Slot>,
    allocated: [u32; 2],
    in_flight: u32,
    busy: bool,
    service_start: Option<u64>,
    service_used: u64,
    last_age_served: u64,
}

/// CFQ of 2.6.9.
#[derive(Clone, Debug)]
pub struct Cfq2 {
    tunables: Tunables<7>,
    hz: Hz,
    processes: Vec<SecondCfqProcess>,
    /// Processes with requests, least served first.
    busy: Vec<u16>,
    /// The busy list at the start of a pass.
    pass: Vec<u16>,
    dispatch: List,
    last_sector: u64,
    in_device: u32,
    tagged: bool,
    waiting: usize,
    expired: u64,
}

impl Default for Cfq2 {
    fn default() -> Self {
        Self {
            tunables: Tunables::new(&TABLE),
            hz: Hz::default(),
            processes: Vec::new(),
            busy: Vec::new(),
            pass: Vec::new(),
            dispatch: List::default(),
            last_sector: 0,
            in_device: 0,
            tagged: false,
            waiting: 0,
            expired: 0,
        }
    }
}

impl Cfq2 {
    fn back(&self) -> BackSeek {
        BackSeek { max: self.tunables[BACK_MAX] * 2, penalty: self.tunables[BACK_PENALTY] }
    }

    fn enter(&mut self, jiffies: u64, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let (head, back) = (self.last_sector, self.back());
        let process = &mut self.processes[usize::from(key)];
        process.tree.insert(requests, slot);
        process.best = sorted::nearer(requests, head, back, process.best, Some(slot));
        if !process.busy {
            process.busy = true;
            self.fade(key, jiffies, 8);
            self.sort(key);
        }
    }

    /// Removes a request from its process's tree, and with the last one the process from the busy list.
    fn leave(&mut self, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let (head, back) = (self.last_sector, self.back());
        let process = &mut self.processes[usize::from(key)];
        if process.best == Some(slot) {
            process.best = sorted::next_of(&process.tree, requests, slot, head, back);
        }
        process.tree.remove(requests, slot);
        if process.tree.is_empty() {
            process.busy = false;
            self.busy.retain(|&other| other != key);
        }
    }
}

impl Elevator for Cfq2 {
    fn name(&self) -> &'static str {
        "cfq2@2.6.9"
    }

    fn tunables(&self) -> View<'_> {
        self.tunables.view()
    }

    fn set_row(&mut self, row: usize, value: u64) {
        self.tunables.set(row, value);
    }

    fn set_hz(&mut self, hz: Hz) {
        self.hz = hz;
    }

    fn raises_requests(&self) -> Option<u32> {
        Some(REQUESTS)
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        let busy = self.busy.iter().map(|&key| &self.processes[usize::from(key)].tree);
        if let Some(found) = sorted::behind(busy, requests, bio) {
            return found;
        }
        let own = self.processes.get(usize::from(requests.task(bio.task()).process));
        own.map_or(Candidate::None, |process| sorted::candidate(&process.tree, requests, bio, true))
    }

    fn merged(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        if kind == MergeKind::Back {
            return;
        }
        let (head, back) = (self.last_sector, self.back());
        let process = &mut self.processes[usize::from(requests[slot].private.queue)];
        if process.best == Some(slot) {
            process.best = sorted::next_of(&process.tree, requests, slot, head, back);
        }
        process.tree.remove(requests, slot);
        process.tree.insert(requests, slot);
        process.best = sorted::nearer(requests, head, back, process.best, Some(slot));
    }

    fn order(&self, requests: &Requests, slot: Slot) -> Order<'_> {
        Order::Tree(&self.processes[usize::from(requests[slot].private.queue)].tree)
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        let (kind, way) = (usize::from(requests[gone].is_sync()), requests[gone].op().direction());
        let since = requests[gone].private.count;
        let key = requests[gone].private.queue;
        self.leave(requests, gone);
        let process = &mut self.processes[usize::from(key)];
        process.allocated[way] -= 1;
        if since < requests[kept].private.count {
            requests[kept].private.count = since;
            process.ages[kind].remove(requests, kept);
            process.ages[kind].insert_before(requests, gone, kept);
        }
        process.ages[kind].remove(requests, gone);
        self.waiting -= 1;
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let jiffies = self.hz.jiffies(now);
        let key = requests.task(requests[slot].task()).process;
        requests[slot].private.queue = key;
        requests[slot].private.count = jiffies as i64;
        if self.processes.len() <= usize::from(key) {
            self.processes.resize(usize::from(key) + 1, SecondCfqProcess::default());
            self.busy.reserve(self.processes.len());
            self.pass.reserve(self.processes.len());
        }
        let (kind, way) = (usize::from(requests[slot].is_sync()), requests[slot].op().direction());
        let process = &mut self.processes[usize::from(key)];
        process.allocated[way] += 1;
        process.ages[kind].push_back(requests, slot);
        self.enter(jiffies, requests, slot);
        self.waiting += 1;
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        let jiffies = self.hz.jiffies(now);
        if self.dispatch.is_empty() {
            self.fill(jiffies, requests);
        }
        let Some(slot) = self.dispatch.pop_front(requests) else { return Pick::Nothing };
        self.account_start(jiffies, requests, slot);
        self.waiting -= 1;
        Pick::Request(slot)
    }

    fn taken(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        if requests[slot].stage() == Stage::Parked {
            self.dispatch.remove(requests, slot);
        } else {
            self.processes[usize::from(requests[slot].private.queue)].best = Some(slot);
            self.move_out(requests, slot);
        }
        self.account_start(self.hz.jiffies(now), requests, slot);
        self.waiting -= 1;
    }

    fn completed(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let started = self.hz.jiffies(requests[slot].private.due);
        let process = &mut self.processes[usize::from(key)];
        process.in_flight -= 1;
        process.allocated[requests[slot].op().direction()] -= 1;
        self.account_end(self.hz.jiffies(now), key, started);
    }

    fn may_queue(&mut self, _now: Nanos, requests: &Requests, bio: &Bio, held: Held) -> MayQueue {
        let Some(own) = self.processes.get(usize::from(requests.task(bio.task()).process)) else {
            return MayQueue::Yes;
        };
        let allocated = u64::from(own.allocated[bio.op().direction()]);
        let always = self.tunables[QUEUED];
        if allocated < always {
            return MayQueue::Must;
        }
        let most = u64::from(MOST_QUEUED);
        let share = if self.busy.is_empty() { most } else { u64::from(held.limit) / self.busy.len() as u64 };
        let limit = if share < always { always } else { share.min(most) };
        if allocated >= limit { MayQueue::No } else { MayQueue::Yes }
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        let slot = match self.dispatch.pop_front(requests) {
            Some(slot) => {
                self.processes[usize::from(requests[slot].private.queue)].in_flight -= 1;
                slot
            }
            None => {
                let &key = self.busy.first()?;
                let slot = self.processes[usize::from(key)].tree.first(requests)?;
                self.leave(requests, slot);
                let kind = usize::from(requests[slot].is_sync());
                self.processes[usize::from(key)].ages[kind].remove(requests, slot);
                slot
            }
        };
        let process = &mut self.processes[usize::from(requests[slot].private.queue)];
        process.allocated[requests[slot].op().direction()] -= 1;
        self.waiting -= 1;
        Some(slot)
    }

    fn waiting(&self) -> usize {
        self.waiting
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        self.dispatch.iter(requests).for_each(&mut *each);
        for &key in &self.busy {
            self.processes[usize::from(key)].tree.iter(requests).for_each(&mut *each);
        }
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("expired", self.expired);
    }
}

#[cfg(test)]
#[path = "second_tests.rs"]
mod tests;
