//! Scheduling by virtual time (B-WF2Q+): each queue should get service in proportion to its weight. A queue's virtual start is where its
//! last turn ended, and its virtual finish one budget later; of the queues whose start has come, the earliest finish goes first. Each I/O
//! priority class has its own virtual time.

use super::queue::Queues;
use crate::task::IoClass;
use crate::time::Nanos;

/// Fixed-point scale of virtual time.
const SCALE: u64 = 1 << 22;
/// After this long without service the idle class is served once ahead of the others.
const IDLE_CLASS_WAITS: Nanos = Nanos::from_millis(200);

/// State of a queue in virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EntityState {
    /// None: virtual time has passed its finish.
    #[default]
    Off,
    /// It waits for its turn.
    Active,
    /// It has its turn.
    Serving,
    /// It has no requests, but its finish still lies ahead: it keeps its charges.
    Idle,
}

/// A queue's position in virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entity {
    pub(super) weight: u64,
    pub(super) start: u64,
    pub(super) finish: u64,
    /// Sectors that it may transfer in a turn.
    pub(super) budget: u64,
    /// Sectors charged in this turn.
    pub(super) service: u64,
    pub(super) state: EntityState,
    /// Of equal finishes the one waiting longest goes first.
    order: u64,
}

impl Entity {
    /// What is left of the budget.
    pub(super) fn left(&self) -> u64 {
        self.budget.saturating_sub(self.service)
    }

    /// Whether it has requests or its turn.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.state, EntityState::Active | EntityState::Serving)
    }

    fn finish_after(&mut self, sectors: u64) {
        self.finish = self.start + virtual_length(sectors, self.weight);
    }
}

/// Length in virtual time of a number of sectors at a weight.
pub(super) fn virtual_length(sectors: u64, weight: u64) -> u64 {
    sectors.saturating_mul(SCALE) / weight.max(1)
}

/// Virtual time per class, and the queues in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Fair {
    time: [u64; 3],
    /// Sum of the weights of all queues that are active, served or idle.
    weights: [u64; 3],
    /// Queues waiting for their turn, unordered.
    active: Vec<u16>,
    /// Queues without requests whose finish lies ahead, unordered.
    idle: Vec<u16>,
    order: u64,
    idle_class_served: Nanos,
}

impl Fair {
    /// Reserves space for a number of queues.
    pub(super) fn reserve(&mut self, queues: usize) {
        self.active.reserve(queues.saturating_sub(self.active.len()));
        self.idle.reserve(queues.saturating_sub(self.idle.len()));
    }

    /// Queues waiting for their turn.
    pub(super) fn active(&self) -> &[u16] {
        &self.active
    }

    /// A queue has requests again and waits for its turn. One that was idle only briefly (`in_time`) starts where it ended although
    /// virtual time has moved on; if even its new finish is past, both are moved on by the
    /// difference, divided by the raising coefficient.
    pub(super) fn activate(&mut self, queues: &mut Queues, key: u16, in_time: bool) {
        let queue = &mut queues[key];
        let (class, raised) = (queue.class as usize, queue.own.coefficient);
        let now = self.time[class];
        let entity = &mut queue.own.entity;
        let shifted = in_time && now > entity.finish;
        let earliest = if shifted { entity.finish } else { now };
        if entity.state == EntityState::Idle {
            self.idle.retain(|&other| other != key);
            entity.start = earliest.max(entity.finish);
        } else {
            entity.start = earliest;
            self.weights[class] += entity.weight;
        }
        self.reweigh(queues, key);
        let entity = &mut queues[key].own.entity;
        entity.finish_after(entity.budget);
        if shifted && now > entity.finish {
            let missing = (now - entity.finish) / raised;
            entity.start += missing;
            entity.finish += missing;
        }
        self.wait(queues, key);
    }

    /// Updates the budget of a waiting queue.
    pub(super) fn set_budget(&mut self, queues: &mut Queues, key: u16, budget: u64) {
        self.reweigh(queues, key);
        let entity = &mut queues[key].own.entity;
        entity.budget = budget;
        entity.finish_after(budget);
        self.wait(queues, key);
    }

    /// The turn of a queue is over and it has more requests: charges it and lets it wait for another turn.
    pub(super) fn requeue(&mut self, queues: &mut Queues, key: u16) {
        let entity = &mut queues[key].own.entity;
        entity.finish_after(entity.service);
        entity.start = entity.finish;
        self.reweigh(queues, key);
        let entity = &mut queues[key].own.entity;
        entity.finish_after(entity.budget);
        self.wait(queues, key);
    }

    /// A queue no longer has requests or a turn.
    pub(super) fn deactivate(&mut self, queues: &mut Queues, key: u16, remember: bool) {
        let queue = &mut queues[key];
        let class = queue.class as usize;
        let entity = &mut queue.own.entity;
        entity.finish_after(entity.service);
        self.active.retain(|&other| other != key);
        if remember && entity.finish > self.time[class] {
            entity.state = EntityState::Idle;
            self.idle.push(key);
        } else {
            entity.state = EntityState::Off;
            self.weights[class] -= entity.weight;
        }
    }

    /// Updates the stored weight of a queue.
    pub(super) fn reweigh(&mut self, queues: &mut Queues, key: u16) {
        let queue = &mut queues[key];
        let weights = &mut self.weights[queue.class as usize];
        let weight = queue.own.weight * queue.own.coefficient;
        *weights = *weights - queue.own.entity.weight + weight;
        queue.own.entity.weight = weight;
    }

    /// Moves a queue in virtual time to another class: its weight moves with it, and it starts at the new class's time.
    pub(super) fn change_class(&mut self, queues: &mut Queues, key: u16, class: IoClass) {
        let queue = &mut queues[key];
        let entity = &mut queue.own.entity;
        if entity.state != EntityState::Off && queue.class != class {
            self.weights[queue.class as usize] -= entity.weight;
            self.weights[class as usize] += entity.weight;
            let length = entity.finish - entity.start;
            entity.start = self.time[class as usize];
            entity.finish = entity.start + length;
        }
        queue.class = class;
    }

    fn wait(&mut self, queues: &mut Queues, key: u16) {
        self.order += 1;
        let entity = &mut queues[key].own.entity;
        entity.order = self.order;
        if entity.state != EntityState::Active {
            entity.state = EntityState::Active;
            self.active.push(key);
        }
    }

    /// Advances virtual time by the service given, more slowly the higher the total weight.
    pub(super) fn serve(&mut self, queues: &mut Queues, key: u16, sectors: u64) {
        queues[key].own.entity.service += sectors;
        let class = queues[key].class as usize;
        self.time[class] += virtual_length(sectors, self.weights[class]);
        self.forget(queues, class);
    }

    /// Drops one idle queue whose finish has passed; if no other queue waits, time advances to the last of them.
    fn forget(&mut self, queues: &mut Queues, class: usize) {
        let of_class = |&&key: &&u16| queues[key].class as usize == class;
        let finish = |&key: &u16| queues[key].own.entity.finish;
        if !self.active.iter().any(|key| of_class(&key)) {
            let last = self.idle.iter().filter(of_class).map(finish).max();
            self.time[class] = self.time[class].max(last.unwrap_or(0));
        }
        let first = self.idle.iter().filter(of_class).copied().min_by_key(|key| finish(key));
        if let Some(key) = first.filter(|key| finish(key) <= self.time[class]) {
            self.idle.retain(|&other| other != key);
            let entity = &mut queues[key].own.entity;
            entity.state = EntityState::Off;
            self.weights[class] -= entity.weight;
        }
    }

    /// Gives the next turn to this waiting queue, whatever the order.
    pub(super) fn force(&mut self, queues: &mut Queues, key: u16) {
        self.active.retain(|&other| other != key);
        queues[key].own.entity.state = EntityState::Serving;
    }

    /// Chooses the next queue: the best class, and in it the earliest finish among those whose start has come. If none has, time jumps to
    /// the earliest start.
    pub(super) fn pick(&mut self, now: Nanos, queues: &mut Queues) -> Option<u16> {
        let has = |class: usize| self.active.iter().any(|&key| queues[key].class as usize == class);
        let mut class = (0..3).find(|&class| has(class))?;
        if now > self.idle_class_served + IDLE_CLASS_WAITS {
            self.idle_class_served = now;
            class = if has(IoClass::Idle as usize) { IoClass::Idle as usize } else { class };
        }
        let candidates = || self.active.iter().filter(|&&key| queues[key].class as usize == class);
        let earliest = candidates().map(|&key| queues[key].own.entity.start).min()?;
        let time = self.time[class].max(earliest);
        let started = candidates().filter(|&&key| queues[key].own.entity.start <= time);
        let rank = |&&key: &&u16| (queues[key].own.entity.finish, queues[key].own.entity.order);
        let &key = started.min_by_key(rank)?;
        self.time[class] = time;
        self.force(queues, key);
        Some(key)
    }
}
