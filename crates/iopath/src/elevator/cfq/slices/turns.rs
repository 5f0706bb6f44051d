//! The turns of CFQ's time slices: their length, their end, idling, and preemption.

use super::{
    CLOSE, Cfq3, QUANTUM, SEEKY, SEEKY_IDLE, SLICE_ASYNC, SLICE_ASYNC_RQ, SLICE_IDLE, SLICE_SYNC, SliceQueue,
};
use crate::elevator::Pick;
use crate::request::{Requests, Slot};
use crate::task::IoClass;
use crate::time::Nanos;

impl Cfq3 {
    /// The slice of a queue: the base, plus a fifth for each priority step above 4, less below.
    pub(super) fn slice(&self, turn: &SliceQueue) -> Nanos {
        let base = self.tunables[if turn.sync { SLICE_SYNC } else { SLICE_ASYNC }] as i64 * 1_000_000;
        Nanos((base + base / 5 * (4 - i64::from(turn.own.level))).max(1) as u64)
    }

    /// Maximum number of requests in an asynchronous slice.
    pub(super) fn async_share(&self, turn: &SliceQueue) -> u64 {
        let base = self.tunables[SLICE_ASYNC_RQ];
        2 * (base + base * (7 - u64::from(turn.own.level)))
    }

    pub(super) fn most_with_device(&self, turn: &SliceQueue) -> u32 {
        if turn.class == IoClass::Idle { 1 } else { self.tunables[QUANTUM] as u32 }
    }

    /// Inserts a queue into the round: behind its class, or before it if it preempts.
    pub(super) fn join_round(&mut self, key: u16, first: bool) {
        self.round.retain(|&other| other != key);
        let class = self.turns[key].class;
        let before = |&other: &u16| {
            let its = self.turns[other].class;
            if first { its < class } else { its <= class }
        };
        let at = self.round.iter().position(|other| !before(other)).unwrap_or(self.round.len());
        self.round.insert(at, key);
    }

    /// Ends the active queue's turn.
    pub(super) fn end_slice(&mut self) {
        self.idle_until = None;
        let Some(key) = self.active.take() else { return };
        let turn = &mut self.turns[key];
        (turn.own.dispatched, turn.looked_at_age) = (0, false);
        if turn.busy {
            self.join_round(key, false);
        }
    }

    fn activate(&mut self) -> Option<u16> {
        let &key = self.round.first()?;
        self.active = Some(key);
        self.slice_end = None;
        self.slices += 1;
        Some(key)
    }

    /// How long the disk may be kept idle for a queue.
    pub(super) fn wait_for(&self, turn: &SliceQueue) -> Nanos {
        let seeks = turn.habits.seek.believed().is_some_and(|seek| seek > self.tunables[SEEKY]);
        let longest = self.tunables[SLICE_IDLE];
        Nanos::from_millis(if seeks { self.tunables[SEEKY_IDLE].min(longest) } else { longest })
    }

    /// Whether the disk may be kept idle for a queue at all.
    pub(super) fn worth_idling(&self, turn: &SliceQueue) -> bool {
        let idle = self.idle_time();
        turn.sync
            && turn.class != IoClass::Idle
            && turn.habits.think.believed().is_none_or(|think| think <= idle.0)
            && self.wait_for(turn) > Nanos::ZERO
    }

    /// The queue in service, or when to ask again.
    pub(super) fn select(&mut self, now: Nanos) -> Result<u16, Pick> {
        let Some(key) = self.active else { return self.activate().ok_or(Pick::Nothing) };
        let turn = &self.turns[key];
        let used = self.slice_end.is_some_and(|end| now >= end)
            || (!turn.sync && u64::from(turn.own.dispatched) >= self.async_share(turn));
        if !used {
            if turn.busy {
                return Ok(key);
            }
            if let Some(until) = self.idle_until.filter(|&until| now < until) {
                return Err(Pick::NotBefore(until));
            }
            // Its last request is in flight: its next one may be close to it.
            if turn.with_device > 0 && self.worth_idling(turn) {
                return Err(Pick::Nothing);
            }
        }
        self.end_slice();
        self.activate().ok_or(Pick::Nothing)
    }

    /// The next request of a queue: the oldest if it has expired (checked once per slice), otherwise the nearest.
    pub(super) fn choose(&mut self, now: Nanos, requests: &Requests, key: u16) -> Option<Slot> {
        let turn = &mut self.turns[key];
        let expired = !turn.looked_at_age && turn.requests.lane.expired(requests, now);
        turn.looked_at_age = true;
        if expired { turn.requests.lane.oldest() } else { turn.requests.best() }
    }

    /// Whether a new request ends the active queue's turn: a real-time one does, a synchronous one preempts asynchronous ones, and during
    /// idling one close to the head does.
    pub(super) fn preempts(&self, requests: &Requests, slot: Slot, key: u16) -> bool {
        let Some(active) = self.active.filter(|&active| active != key) else { return false };
        let (new, old) = (&self.turns[key], &self.turns[active]);
        if new.class != old.class {
            return new.class < old.class;
        }
        if new.sync != old.sync {
            return new.sync;
        }
        let close = old.habits.seek.believed().unwrap_or(CLOSE).min(CLOSE);
        self.idle_until.is_some() && self.head.abs_diff(requests[slot].sector()) <= close
    }
}
