//! The turns of `bfq-lite`: whose turn it is, how it ends, what it costs, and how a queue with new requests gets one.

use super::budget::{Ended, Ender};
use super::queue::weight;
use super::{BfqLite, ServiceTurn, TIMEOUT_SYNC};
use crate::elevator::Pick;
use crate::request::{Requests, Slot};
use crate::time::Nanos;

/// Turns shorter than this are charged one idle time if they seek, and tell nothing else.
const TOO_SHORT: Nanos = Nanos::from_millis(1);
/// From this length on a turn is slow if it did not get half of the largest budget.
const TELLING: Nanos = Nanos::from_millis(20);
/// Cost factor of asynchronous requests where weights are equal.
const ASYNC_CHARGE: u64 = 3;
/// Number of idle times within which a queue continues where it ended.
const IN_TIME: u64 = 3;

impl BfqLite {
    /// Sectors charged for a request of a queue.
    pub(super) fn charge(&self, key: u16, sectors: u64) -> u64 {
        let queue = &self.queues[key];
        let alike = queue.sync || queue.own.is_raised() || self.is_asymmetric(Some(queue));
        if alike { sectors } else { ASYNC_CHARGE * sectors }
    }

    /// Sectors charged for its next request; 0: it has none.
    fn next_charge(&self, requests: &Requests, key: u16) -> u64 {
        let next = self.queues[key].requests.best();
        next.map_or(0, |slot| self.charge(key, u64::from(requests[slot].sectors())))
    }

    /// Handles timeouts: idling for a queue's next request may be over.
    pub(super) fn tick(&mut self, now: Nanos, requests: &Requests) {
        let Some(turn) = self.turn else { return };
        let Some(at) = turn.idle_until.filter(|&at| at <= now) else { return };
        let how = if at >= turn.timeout_at { Ended::Timeout } else { Ended::Idle };
        // Time spent idling in vain is not charged.
        self.end_turn(at, turn.idle_since, requests, how);
    }

    /// Ends the turn: charges the queue, adapts its budget, and lets it wait for another turn if it has more requests.
    pub(super) fn end_turn(&mut self, now: Nanos, until: Nanos, requests: &Requests, how: Ended) {
        let Some(turn) = self.turn else { return };
        let key = turn.key;
        self.charge_time(turn, until, how);
        self.note_turn(now, key);
        let charge = self.next_charge(requests, key);
        let queue = &mut self.queues[key];
        queue.looked_at_age = false;
        let ender = Ender {
            sync: queue.sync,
            raised: queue.own.is_raised(),
            outstanding: queue.with_device > 0,
            served: queue.own.entity.service,
        };
        let dry = queue.requests.is_empty();
        if let Some(budget) = self.budgets.next(queue.own.budget, how, ender) {
            queue.own.budget = budget;
            if !dry {
                queue.own.entity.budget = budget.max(charge);
            }
        }
        self.turn = None;
        if dry {
            self.leave(now, key, true);
        } else {
            self.fair.requeue(&mut self.queues, key);
        }
        let own = &mut self.queues[key].own;
        if dry && !matches!(how, Ended::Timeout | Ended::Exhausted) {
            own.goes_on = true;
        } else {
            own.entity.service = 0;
        }
        self.counts.ended(how);
    }

    /// A queue that is slow, or timed out without much service, is charged for its time at the peak rate.
    fn charge_time(&mut self, turn: ServiceTurn, until: Nanos, how: Ended) {
        let queue = &self.queues[turn.key];
        let entity = &queue.own.entity;
        if queue.own.is_raised() {
            return;
        }
        let (mut slow, mut took) = (queue.own.is_seeky(), until - turn.since);
        if took < TOO_SHORT {
            took = if self.rotates() { self.slice_idle() } else { Nanos::from_millis(2) };
        } else if took > TELLING {
            slow = entity.service < self.budgets.largest() / 2;
        }
        let late = how == Ended::Timeout && entity.left() >= entity.budget / 3;
        if !(slow && queue.sync || late) {
            return;
        }
        let longest = self.tunables[TIMEOUT_SYNC];
        let due = self.budgets.largest() * (took.0 / 1_000_000).min(longest) / longest;
        let missing = due.saturating_sub(entity.service);
        let own = &mut self.queues[turn.key].own;
        own.entity.budget = own.entity.budget.max(due).max(own.entity.service);
        self.fair.serve(&mut self.queues, turn.key, missing);
    }

    /// Begins the next queue's turn.
    fn begin_turn(&mut self, now: Nanos) -> Option<u16> {
        let key = self.fair.pick(now, &mut self.queues)?;
        self.set_turn(now, key);
        Some(key)
    }

    /// Gives this queue a turn regardless of order, because the kernel chose it.
    pub(super) fn force_turn(&mut self, now: Nanos, requests: &Requests, key: u16) {
        self.end_turn(now, now, requests, Ended::Preempted);
        self.fair.force(&mut self.queues, key);
        self.set_turn(now, key);
    }

    fn set_turn(&mut self, now: Nanos, key: u16) {
        let own = &mut self.queues[key].own;
        // A raised queue's timeout is scaled by its weight.
        let timeout_at =
            now + Nanos(self.tunables[TIMEOUT_SYNC] * 1_000_000 * own.entity.weight / own.weight);
        own.quiet_since = Some(timeout_at);
        self.budgets.turn();
        self.turn = Some(ServiceTurn { key, since: now, timeout_at, idle_until: None, idle_since: now });
        self.counts.turns += 1;
    }

    /// Whether the turn has timed out; one that is idled for may continue if it has used most of its budget.
    pub(super) fn times_out(&self, now: Nanos) -> bool {
        self.turn.is_some_and(|turn| {
            let entity = &self.queues[turn.key].own.entity;
            now >= turn.timeout_at && (turn.idle_until.is_none() || entity.left() >= entity.budget / 3)
        })
    }

    /// The queue in service, or when to ask again.
    pub(super) fn select(&mut self, now: Nanos, requests: &Requests) -> Result<u16, Pick> {
        if let Some(turn) = self.turn.filter(|_| self.times_out(now)) {
            let must_idle = self.queues[turn.key].requests.is_empty() && self.worth_idling(turn.key);
            if !must_idle {
                self.end_turn(now, now, requests, Ended::Timeout);
            }
        }
        loop {
            let Some(turn) = &mut self.turn else {
                self.begin_turn(now).ok_or(Pick::Nothing)?;
                continue;
            };
            let key = turn.key;
            let how = if !self.queues[key].requests.is_empty() {
                turn.idle_until = None;
                if self.next_charge(requests, key) <= self.queues[key].own.entity.left() {
                    return Ok(key);
                }
                Ended::Exhausted
            } else if let Some(until) = turn.idle_until {
                return Err(Pick::NotBefore(until));
            } else if self.queues[key].with_device > 0 && self.worth_idling(key) {
                // Its last request is in flight: its next one may be close to it.
                return Err(Pick::Nothing);
            } else {
                Ended::Empty
            };
            self.end_turn(now, now, requests, how);
        }
    }

    /// The first request of a queue that had none has arrived.
    pub(super) fn wake(&mut self, now: Nanos, requests: &Requests, key: u16) -> bool {
        let interactive = self.is_interactive(now, key);
        let deserves = self.deserves_raising(key, interactive);
        let in_time = now <= self.queues[key].last_done() + Nanos(IN_TIME * self.slice_idle().0);
        let charge = self.next_charge(requests, key);
        let own = &mut self.queues[key].own;
        let goes_on = own.goes_on && in_time && own.entity.left() > 0;
        own.entity.budget = if goes_on { own.entity.left().min(own.budget) } else { own.budget.max(charge) };
        own.entity.service = 0;
        let preempts = goes_on || deserves;
        own.goes_on = false;
        self.raise(key, deserves, interactive);
        self.fair.activate(&mut self.queues, key, goes_on);
        if !self.counted.contains(&key) {
            self.counted.push(key);
        }
        if let Some(turn) = self.turn {
            let (other, serving) = (&self.queues[key], &self.queues[turn.key]);
            let higher = other.class < serving.class || other.own.entity.weight > serving.own.entity.weight;
            if preempts && other.own.coefficient >= serving.own.coefficient || higher {
                self.end_turn(now, now, requests, Ended::Preempted);
            }
        }
        interactive
    }

    /// The next request of a queue has changed: while it waits for its turn, its budget is adapted.
    pub(super) fn next_changed(&mut self, requests: &Requests, key: u16) {
        let charge = self.next_charge(requests, key);
        let own = &self.queues[key].own;
        let budget = own.budget.max(charge).max(own.entity.service);
        if self.turn.is_none_or(|turn| turn.key != key) && charge > 0 && budget != own.entity.budget {
            self.fair.set_budget(&mut self.queues, key, budget);
        }
    }

    /// A queue without requests is no longer busy.
    pub(super) fn leave(&mut self, now: Nanos, key: u16, remember: bool) {
        self.fair.deactivate(&mut self.queues, key, remember);
        let queue = &mut self.queues[key];
        if queue.with_device == 0 {
            queue.own.quiet_since = Some(now);
            self.counted.retain(|&other| other != key);
        }
    }

    /// Assigns a new request to its queue, creating it for a new task.
    pub(super) fn enter(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) -> u16 {
        let sync = requests[slot].is_sync();
        let info = requests.task(requests[slot].task());
        let task = requests[slot].task();
        let (key, before) = (self.queues.at(requests, task, sync), self.queues.len());
        if sync && usize::from(key) < before {
            self.fair.change_class(&mut self.queues, key, info.class);
        }
        self.queues.enter(now, requests, slot, Nanos::ZERO);
        if self.queues.len() > before || self.counted.capacity() == 0 {
            let queues = self.queues.len();
            self.fair.reserve(queues);
            self.counted.reserve(queues - self.counted.len());
        }
        let initial = self.budgets.initial();
        let queue = &mut self.queues[key];
        if sync {
            queue.own.weight = weight(info.level);
        }
        if queue.own.budget == 0 {
            queue.begin(now, initial);
            self.find_partner(now, key);
        }
        self.join_partner(now, key);
        let key = self.queues.end_of(key);
        requests[slot].private.queue = key;
        key
    }

    /// A request for a queue has arrived: ends idling for that queue.
    pub(super) fn came(&mut self, now: Nanos, requests: &Requests, key: u16) {
        let Some(turn) = self.turn.filter(|turn| turn.key == key && turn.idle_until.is_some()) else {
            return;
        };
        self.counts.idle_hits += 1;
        self.turn = Some(ServiceTurn { idle_until: None, ..turn });
        if now >= turn.timeout_at {
            self.end_turn(now, now, requests, Ended::Timeout);
        }
    }

    /// Records a completion for the queue in service.
    pub(super) fn served(&mut self, now: Nanos, requests: &Requests, key: u16) {
        let queue = &self.queues[key];
        let (dry, outstanding) = (queue.requests.is_empty(), queue.with_device > 0);
        let idles = dry && self.worth_idling(key);
        if idles && !outstanding {
            let idle_until = Some(now + self.idle_time(key));
            self.turn = self.turn.map(|turn| ServiceTurn { idle_until, idle_since: now, ..turn });
            self.counts.idles += 1;
        } else if idles {
            // Its next request may arrive while the others are served.
        } else if self.times_out(now) {
            self.end_turn(now, now, requests, Ended::Timeout);
        } else if dry {
            self.end_turn(now, now, requests, Ended::Empty);
        }
    }
}
