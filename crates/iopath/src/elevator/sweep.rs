//! A one-way sweep with deadlines, not from any kernel: for a reader that knows which of its requests are being waited for. The class of
//! a request is the I/O priority class of its task: real time for directories and other metadata, the default for reads that are waited
//! for, idle for read-ahead. Each class has a deadline. Requests are served in one direction over the sectors, whatever their class;
//! overdue ones go first, together in one sweep, because serving them one by one, oldest first, would cost a seek each.
//!
//! The position of the sweep survives idle times. Read-ahead that is waited for after all moves to the class above
//! ([`Elevator::on_promote`]).

use super::sorted;
use super::{Elevator, Order, Pick};
use crate::bio::Bio;
use crate::limits::Limits;
use crate::list::List;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot};
use crate::task::IoClass;
use crate::time::Nanos;
use crate::tree::Tree;
use crate::tunable::{Tunable, Tunables, View};

const METADATA: usize = 0;
const BATCH: usize = 3;

/// The deadlines in the order of [`IoClass`].
static TABLE: [Tunable; 4] = [
    Tunable::millis("metadata", 100, "deadline of tasks in the class real time: directories"),
    Tunable::millis("sync", 500, "deadline of tasks in the default class: reads that a process waits for"),
    Tunable::millis("ahead", 5000, "deadline of tasks in the class idle: what is read ahead"),
    Tunable::switch(
        "batch",
        1,
        "1: all that is overdue goes in one sweep; 0: oldest first, as deadlines were kept in 2007",
    ),
];

/// Set in a request's mark: it is overdue and part of the sweep that goes before everything else.
const OVERDUE: u16 = 1;

/// The sweep elevator.
#[derive(Clone, Debug)]
pub struct Sweep {
    tunables: Tunables<4>,
    tree: Tree,
    /// By class, each in deadline order.
    ages: [List; 3],
    /// Start of the last request.
    position: u64,
    /// Overdue requests not yet dispatched.
    overdue: usize,
    expired: u64,
    batches: u64,
    promoted: u64,
}

impl Default for Sweep {
    fn default() -> Self {
        Self {
            tunables: Tunables::new(&TABLE),
            tree: Tree::default(),
            ages: Default::default(),
            position: 0,
            overdue: 0,
            expired: 0,
            batches: 0,
            promoted: 0,
        }
    }
}

impl Sweep {
    fn deadline(&self, class: usize) -> Nanos {
        Nanos::from_millis(self.tunables[METADATA + class])
    }

    /// Removes a request from tree and list.
    fn leave(&mut self, requests: &mut Requests, slot: Slot) {
        let class = usize::from(requests[slot].private.queue);
        self.tree.remove(requests, slot);
        self.ages[class].remove(requests, slot);
    }

    /// Dispatches a request; the position of the sweep is its start.
    fn start(&mut self, requests: &mut Requests, slot: Slot) {
        if requests[slot].private.mark == OVERDUE {
            self.overdue -= 1;
        }
        self.position = requests[slot].sector();
        self.leave(requests, slot);
    }

    /// Makes the requests whose deadline has passed the next sweep.
    fn mark_overdue(&mut self, now: Nanos, requests: &mut Requests) {
        for list in &self.ages {
            let mut at = list.first();
            while let Some(slot) = at.filter(|&slot| requests[slot].private.due <= now) {
                requests[slot].private.mark = OVERDUE;
                self.overdue += 1;
                at = list.after(requests, slot);
            }
        }
        self.expired += self.overdue as u64;
        self.batches += u64::from(self.overdue > 0);
    }

    /// The next overdue request: upward from the sweep's position, then from the lowest.
    fn next_overdue(&self, requests: &Requests) -> Option<Slot> {
        let marked_from = |first: Option<Slot>| {
            let mut at = first;
            while let Some(slot) = at.filter(|&slot| requests[slot].private.mark != OVERDUE) {
                at = self.tree.after(requests, slot);
            }
            at
        };
        let above = marked_from(self.tree.at_or_after(requests, self.position));
        above.or_else(|| marked_from(self.tree.first(requests)))
    }

    /// The oldest request if its deadline has passed.
    fn oldest_overdue(&self, now: Nanos, requests: &Requests) -> Option<Slot> {
        let oldest = self.ages.iter().filter_map(List::first).min_by_key(|&slot| requests[slot].private.due);
        oldest.filter(|&slot| requests[slot].private.due <= now)
    }

    fn choose(&mut self, now: Nanos, requests: &mut Requests) -> Option<Slot> {
        if self.tunables[BATCH] == 0 {
            if let Some(slot) = self.oldest_overdue(now, requests) {
                self.expired += 1;
                return Some(slot);
            }
        } else {
            if self.overdue == 0 {
                self.mark_overdue(now, requests);
            }
            if self.overdue > 0
                && let Some(slot) = self.next_overdue(requests)
            {
                return Some(slot);
            }
        }
        let above = self.tree.at_or_after(requests, self.position);
        above.or_else(|| self.tree.first(requests))
    }
}

impl Elevator for Sweep {
    fn name(&self) -> &'static str {
        "sweep@fathom"
    }

    fn tunables(&self) -> View<'_> {
        self.tunables.view()
    }

    fn set_row(&mut self, row: usize, value: u64) {
        self.tunables.set(row, value);
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        sorted::candidate(&self.tree, requests, bio, true)
    }

    fn merged(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        if kind == MergeKind::Front {
            self.tree.remove(requests, slot);
            self.tree.insert(requests, slot);
        }
    }

    fn order(&self, _requests: &Requests, _slot: Slot) -> Order<'_> {
        Order::Tree(&self.tree)
    }

    /// The joined request has the earlier of the two deadlines, and the class that goes with it.
    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        let earlier = requests[gone].private;
        let before = requests[kept].private;
        if earlier.due < before.due {
            self.ages[usize::from(before.queue)].remove(requests, kept);
            self.ages[usize::from(earlier.queue)].insert_before(requests, gone, kept);
            requests[kept].private.due = earlier.due;
            requests[kept].private.queue = earlier.queue;
        }
        if earlier.mark == OVERDUE {
            if before.mark == OVERDUE {
                self.overdue -= 1;
            }
            requests[kept].private.mark = OVERDUE;
        }
        self.leave(requests, gone);
    }

    fn joins_on_insert(&self) -> bool {
        true
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let class = requests.task(requests[slot].task()).class as usize;
        requests[slot].private.queue = class as u16;
        requests[slot].private.due = now + self.deadline(class);
        self.tree.insert(requests, slot);
        self.ages[class].push_back(requests, slot);
    }

    fn on_promote(&mut self, now: Nanos, requests: &mut Requests, slot: Slot, class: IoClass) {
        let due = now + self.deadline(class as usize);
        if due >= requests[slot].private.due {
            return;
        }
        self.promoted += 1;
        self.ages[usize::from(requests[slot].private.queue)].remove(requests, slot);
        requests[slot].private.queue = class as u16;
        requests[slot].private.due = due;
        // Time does not go back: no request in the list has a later deadline.
        self.ages[class as usize].push_back(requests, slot);
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        match self.choose(now, requests) {
            Some(slot) => {
                self.start(requests, slot);
                Pick::Request(slot)
            }
            None => Pick::Nothing,
        }
    }

    fn taken(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        self.start(requests, slot);
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        let slot = self.tree.first(requests)?;
        self.start(requests, slot);
        Some(slot)
    }

    fn waiting(&self) -> usize {
        self.tree.len()
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        self.tree.iter(requests).for_each(each);
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("expired", self.expired);
        each("batches", self.batches);
        each("hurried", self.promoted);
    }
}

#[cfg(test)]
mod tests {
    use crate::elevator::testing::Bench;
    use crate::task::{IoClass, TaskId, TaskInfo};

    /// Task 1 reads metadata, task 2 reads ahead.
    fn bench(name: &str) -> Bench {
        let mut bench = Bench::new(name);
        for (task, class) in [(1, IoClass::RealTime), (2, IoClass::Idle)] {
            bench.queue.describe(TaskId(task), TaskInfo { class, ..TaskInfo::alone(TaskId(task)) });
        }
        bench
    }

    #[test]
    fn it_sweeps_one_way_and_stays_where_it_is_when_idle() {
        let mut bench = bench("sweep");
        for sector in [500, 100, 900] {
            bench.read(sector);
        }
        assert_eq!(bench.order(), [100, 500, 900]);
        bench.read(300);
        bench.read(1000);
        assert_eq!(bench.order(), [1000, 300], "not from the lowest");
    }

    #[test]
    fn each_class_has_its_deadline() {
        for (task, age, first) in [
            (1, 99, 900_u64),
            (1, 100, 50),
            (0, 400, 900),
            (0, 499, 900),
            (0, 500, 50),
            (2, 500, 900),
            (2, 4999, 900),
            (2, 5000, 50),
        ] {
            let mut bench = bench("sweep");
            bench.read(100);
            bench.serve();
            bench.read_by(task, 50);
            bench.after(age);
            bench.read(900);
            assert_eq!(bench.serve(), Some(first), "task {task} after {age} ms");
        }
    }

    #[test]
    fn what_is_overdue_goes_in_one_sweep() {
        for (name, order) in [
            ("sweep", [600, 700, 50, 60, 80, 650]),
            // Oldest first, in arrival order.
            ("sweep,batch=0", [700, 50, 600, 60, 80, 650]),
        ] {
            let mut bench = bench(name);
            bench.read(500);
            bench.serve();
            for sector in [700, 50, 600, 60] {
                bench.read(sector);
            }
            bench.after(499);
            bench.read(650);
            bench.read(80);
            bench.after(1);
            assert_eq!(bench.order(), order, "{name}");
            assert_eq!(bench.counter("expired"), 4, "{name}");
        }
    }

    #[test]
    fn what_is_hurried_is_due_as_if_it_had_been_asked_for_now() {
        let mut bench = bench("sweep");
        bench.read(100);
        bench.serve();
        bench.read_by(2, 50);
        bench.after(1000);
        let id = bench.queue.holding(54).unwrap();
        bench.queue.promote(bench.now, id, IoClass::BestEffort);
        bench.after(499);
        bench.read(900);
        assert_eq!(bench.serve(), Some(900));
        bench.after(1);
        bench.read(950);
        assert_eq!(bench.order(), [50, 950]);
        assert_eq!((bench.counter("hurried"), bench.counter("expired")), (1, 1));
    }

    #[test]
    fn requests_of_different_classes_are_joined() {
        let mut bench = bench("sweep");
        bench.read(400);
        bench.serve();
        bench.read_by(2, 100);
        bench.read_by(2, 116);
        bench.after(100);
        bench.read_by(0, 116 - 8);
        assert_eq!(bench.waiting().len(), 1, "all three are one");
        assert_eq!(bench.order(), [100]);
    }
}
