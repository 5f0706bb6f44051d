//! The turns of `bfq-lite`: whose it is, how it ends, what it costs, and which request goes in it.

use super::budget::Ended;
use super::fair;
use super::{BfqLite, MAX_BUDGET, TIMEOUT_SYNC, Turn};
use crate::elevator::Pick;
use crate::request::Requests;
use crate::time::Nanos;

impl BfqLite {
    /// The queue's turn is over: it is charged, its budget follows how it went, and if it has more it waits for another turn.
    pub(super) fn end_turn(&mut self, now: Nanos, requests: &Requests, how: Ended) {
        let Some(turn) = self.turn.take() else { return };
        let queue = &mut self.queues[turn.key];
        queue.looked_at_age = false;
        queue.own.share.charge(turn.served);
        let seeky = queue.is_seeky();
        if queue.sync && !seeky {
            let fixed = self.tunables[MAX_BUDGET];
            self.budgets.learn(
                fixed,
                turn.served,
                now - turn.since,
                Nanos::from_millis(self.tunables[TIMEOUT_SYNC]),
            );
        }
        queue.own.budget = self.budgets.next(queue.own.budget, turn.served, how, seeky);
        if queue.busy {
            let least = queue.requests.best().map_or(0, |slot| u64::from(requests[slot].sectors()));
            queue.own.budget = queue.own.budget.max(least);
            queue.own.share.wait_again(queue.own.budget);
        }
        match how {
            Ended::Exhausted => self.exhausted += 1,
            Ended::Timeout => self.timeouts += 1,
            Ended::Idle | Ended::Empty => {}
        }
    }

    /// The next queue: the best class, and in it the earliest virtual finish among those whose start has come.
    fn begin_turn(&mut self, now: Nanos) -> Option<u16> {
        let class = self.busy.iter().map(|&key| self.queues[key].class).min()?;
        let shares = || {
            let queues = self.busy.iter().map(|&key| (key, &self.queues[key]));
            queues.filter(|(_, queue)| queue.class == class).map(|(key, queue)| (key, queue.own.share))
        };
        let earliest = shares().map(|(_, share)| share.start).min()?;
        let virtual_now = self.virtual_now.max(earliest);
        let key = fair::first(shares(), virtual_now)?;
        self.virtual_now = virtual_now;
        self.turn = Some(Turn { key, since: now, served: 0, idle_until: None });
        self.turns += 1;
        Some(key)
    }

    /// The queue whose turn it is, or when to ask again.
    pub(super) fn select(&mut self, now: Nanos, requests: &Requests) -> Result<u16, Pick> {
        let Some(turn) = self.turn else { return self.begin_turn(now).ok_or(Pick::Nothing) };
        let queue = &self.queues[turn.key];
        let how = if queue.busy {
            let next = queue.requests.best().map_or(0, |slot| u64::from(requests[slot].sectors()));
            if now >= turn.since + self.timeout() {
                Ended::Timeout
            } else if turn.served + next > queue.own.budget {
                Ended::Exhausted
            } else {
                return Ok(turn.key);
            }
        } else {
            match turn.idle_until {
                Some(until) if now < until => return Err(Pick::NotBefore(until)),
                Some(_) => Ended::Idle,
                // Its last request is with the device: its next one may be close to it.
                None if queue.with_device > 0 && self.worth_idling(queue) => return Err(Pick::Nothing),
                None => Ended::Empty,
            }
        };
        self.end_turn(now, requests, how);
        self.begin_turn(now).ok_or(Pick::Nothing)
    }

    pub(super) fn wake(&mut self, key: u16) {
        let (virtual_now, fresh) = (self.virtual_now, self.budgets.initial());
        let queue = &mut self.queues[key];
        if queue.busy {
            return;
        }
        queue.busy = true;
        self.busy.push(key);
        if queue.own.budget == 0 {
            queue.own.budget = fresh;
        }
        if self.turn.is_none_or(|turn| turn.key != key) {
            queue.own.share.wake(virtual_now, queue.own.budget);
        }
    }

    /// Virtual time passes with the service given, the slower the more want it.
    pub(super) fn serve(&mut self, key: u16, sectors: u64) {
        let own = self.queues[key].own.share.weight;
        let others = self.busy.iter().filter(|&&other| other != key);
        let weights: u64 = others.map(|&other| self.queues[other].own.share.weight).sum();
        self.virtual_now += fair::virtual_length(sectors, own + weights);
        if let Some(turn) = &mut self.turn {
            turn.served += sectors;
        }
    }
}
