//! A queue of synchronous requests per task, and shared queues for asynchronous ones, one per priority: the basis of CFQ with time slices
//! and of BFQ. Each elevator adds its own scheduling and per-queue state.

use super::Order;
use super::best::BestLane;
use super::mean::Mean;
use super::sorted::{self, BackSeek};
use crate::bio::Bio;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot};
use crate::task::{IoClass, TaskId};
use crate::time::Nanos;
use std::ops::{Index, IndexMut};

/// Asynchronous queues: one per level of two classes, and one for the idle class.
const SHARED: usize = 17;

/// A task's think time, and the distance of its requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Habits {
    pub(crate) think: Mean,
    pub(crate) seek: Mean,
    pub(crate) last_completion: Option<Nanos>,
    last_end: Option<u64>,
}

impl Habits {
    /// Records a synchronous request. Think time is capped at `cap`.
    fn submitted(&mut self, now: Nanos, sector: u64, end: u64, cap: Nanos) {
        if let Some(completed) = self.last_completion {
            self.think.add((now - completed).0.min(cap.0), 128);
        }
        if let Some(last) = self.last_end {
            self.seek.add_distance(last.abs_diff(sector));
        }
        self.last_end = Some(end);
    }
}

/// A queue of requests, with the elevator's own state.
#[derive(Clone, Debug)]
pub(crate) struct TaskQueue<E> {
    pub(crate) requests: BestLane,
    pub(crate) sync: bool,
    pub(crate) class: IoClass,
    pub(crate) busy: bool,
    pub(crate) with_device: u32,
    pub(crate) looked_at_age: bool,
    pub(crate) habits: Habits,
    /// The queue that takes its task's requests after a merge.
    pub(crate) into: Option<u16>,
    pub(crate) own: E,
}

impl<E> TaskQueue<E> {
    pub(crate) fn new(sync: bool, class: IoClass, own: E) -> Self {
        Self {
            requests: BestLane::default(),
            sync,
            class,
            busy: false,
            with_device: 0,
            looked_at_age: false,
            habits: Habits::default(),
            into: None,
            own,
        }
    }
}

/// The shared queues, then one per task.
#[derive(Clone, Debug)]
pub(crate) struct TaskQueues<E> {
    queues: Vec<TaskQueue<E>>,
    /// Creates the elevator's state for a queue of this level.
    make: fn(u8) -> E,
}

impl<E> TaskQueues<E> {
    pub(crate) fn new(make: fn(u8) -> E) -> Self {
        let shared = |n: usize| match n {
            0..8 => TaskQueue::new(false, IoClass::RealTime, make(n as u8)),
            8..16 => TaskQueue::new(false, IoClass::BestEffort, make(n as u8 - 8)),
            _ => TaskQueue::new(false, IoClass::Idle, make(7)),
        };
        Self { queues: (0..SHARED).map(shared).collect(), make }
    }

    /// The queue of a task's requests, ignoring merged queues.
    pub(crate) fn key(requests: &Requests, task: TaskId, sync: bool) -> u16 {
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

    /// The queue that a task's request goes to.
    pub(crate) fn at(&self, requests: &Requests, task: TaskId, sync: bool) -> u16 {
        self.end_of(Self::key(requests, task, sync))
    }

    /// The queue that another has been merged into, or that one itself.
    pub(crate) fn end_of(&self, mut key: u16) -> u16 {
        while let Some(into) = self.queues.get(usize::from(key)).and_then(|queue| queue.into) {
            key = into;
        }
        key
    }

    pub(crate) fn len(&self) -> usize {
        self.queues.len()
    }

    pub(crate) fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        let own = self.queues.get(usize::from(self.at(requests, bio.task(), bio.is_sync())));
        own.map_or(Candidate::None, |queue| sorted::candidate(&queue.requests.lane.tree, requests, bio, true))
    }

    pub(crate) fn allows(&self, requests: &Requests, slot: Slot, bio: &Bio) -> bool {
        requests[slot].private.queue == self.at(requests, bio.task(), bio.is_sync())
    }

    pub(crate) fn order(&self, requests: &Requests, slot: Slot) -> Order<'_> {
        Order::Tree(&self[requests[slot].private.queue].requests.lane.tree)
    }

    /// A request of any queue that ends where another one begins.
    pub(crate) fn before(&self, requests: &Requests, slot: Slot) -> Option<Slot> {
        let new = &requests[slot];
        let trees = self.queues.iter().map(|queue| &queue.requests.lane.tree);
        let mut before = trees.filter_map(|tree| tree.ending_at(requests, new.sector()));
        before.find(|&slot| {
            let request = &requests[slot];
            request.op() == new.op() && request.is_sync() == new.is_sync()
        })
    }

    pub(crate) fn merged(
        &mut self,
        requests: &mut Requests,
        slot: Slot,
        kind: MergeKind,
        head: u64,
        back: BackSeek,
    ) {
        let key = requests[slot].private.queue;
        self[key].requests.merged(requests, slot, kind, head, back);
    }

    pub(crate) fn joined(
        &mut self,
        requests: &mut Requests,
        kept: Slot,
        gone: Slot,
        head: u64,
        back: BackSeek,
    ) {
        let key = requests[gone].private.queue;
        self[key].requests.joined(requests, kept, gone, head, back);
    }

    /// Assigns a new request to its queue, creating it for a new task, and returns the key. A task's habits are learned from its
    /// synchronous requests; think time is capped at `cap`.
    pub(crate) fn enter(&mut self, now: Nanos, requests: &mut Requests, slot: Slot, cap: Nanos) -> u16 {
        let (task, sync) = (requests[slot].task(), requests[slot].is_sync());
        let key = Self::key(requests, task, sync);
        while self.queues.len() <= usize::from(key) {
            self.queues.push(TaskQueue::new(true, IoClass::BestEffort, (self.make)(4)));
        }
        let key = self.end_of(key);
        requests[slot].private.queue = key;
        if sync {
            let (sector, end) = (requests[slot].sector(), requests[slot].end());
            let class = requests.task(task).class;
            let queue = &mut self[key];
            queue.habits.submitted(now, sector, end, cap);
            queue.class = class;
        }
        key
    }
}

impl<E> Index<u16> for TaskQueues<E> {
    type Output = TaskQueue<E>;
    fn index(&self, key: u16) -> &TaskQueue<E> {
        &self.queues[usize::from(key)]
    }
}

impl<E> IndexMut<u16> for TaskQueues<E> {
    fn index_mut(&mut self, key: u16) -> &mut TaskQueue<E> {
        &mut self.queues[usize::from(key)]
    }
}
