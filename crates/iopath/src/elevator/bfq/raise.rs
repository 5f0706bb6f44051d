//! Raising the weight of queues that are new or were long without requests: the pattern of an interactive application being started.

use super::queue::BfqQueue;
use super::{BfqLite, LOW_LATENCY};
use crate::time::Nanos;

/// Factor of the weight while raised.
const RAISED: u64 = 30;
/// A queue without requests for this long is taken for interactive.
const LONG_QUIET: Nanos = Nanos::from_secs(2);
/// Sectors after which a raised queue is no longer taken for a starting application.
const MOST_SERVED: u64 = 120_000;
/// An asynchronous queue that keeps going is raised again after this long.
const BETWEEN_ASYNC: Nanos = Nanos::from_millis(500);
/// Only queues of the default priority are taken for interactive.
const DEFAULT_WEIGHT: u64 = 40;

impl BfqLite {
    fn raises(&self) -> bool {
        self.tunables[LOW_LATENCY] != 0
    }

    /// Whether a queue that was without requests is taken for interactive.
    pub(super) fn is_interactive(&self, now: Nanos, key: u16) -> bool {
        let queue = &self.queues[key];
        queue.with_device == 0
            && queue.own.quiet_since.is_none_or(|since| since + LONG_QUIET < now)
            && queue.own.weight == DEFAULT_WEIGHT
    }

    /// Whether a queue that has requests again is raised or should be.
    pub(super) fn deserves_raising(&self, key: u16, interactive: bool) -> bool {
        let queue = &self.queues[key];
        self.raises() && (queue.own.is_raised() || queue.sync && interactive)
    }

    /// Called when a queue has requests again.
    pub(super) fn raise(&mut self, key: u16, deserves: bool, interactive: bool) {
        if !self.raises() || !deserves {
            return;
        }
        let (raise_for, budget) = (self.rate.raise_for(), self.budgets.raised());
        let own = &mut self.queues[key].own;
        if !own.is_raised() {
            own.served_raised = 0;
            own.entity.budget = own.entity.budget.min(budget);
        }
        if interactive {
            own.coefficient = RAISED;
            own.raised_for = raise_for;
        }
    }

    /// Called when an asynchronous queue with requests gets another.
    pub(super) fn raise_async(&mut self, now: Nanos, key: u16) {
        let raise_for = self.rate.raise_for();
        let raises = self.raises();
        let BfqQueue { sync, own, .. } = &mut self.queues[key];
        if raises && !*sync && !own.is_raised() && own.raised_at + BETWEEN_ASYNC < now {
            own.coefficient = RAISED;
            own.raised_for = raise_for;
        }
    }

    /// After an insertion: starts the clock of its raising.
    pub(super) fn note_raising(&mut self, now: Nanos, key: u16, was: u64, interactive: bool) {
        if self.raises() && (was == 1 || !self.queues[key].own.is_raised() || interactive) {
            self.queues[key].own.raised_at = now;
        }
    }

    /// End of a turn: starts the clock for the next raising of a queue that is not raised.
    pub(super) fn note_turn(&mut self, now: Nanos, key: u16) {
        if self.raises() && !self.queues[key].own.is_raised() {
            self.queues[key].own.raised_at = now;
        }
    }

    /// A request of the queue in service was dispatched: raising ends after its time, or when too much was served.
    pub(super) fn end_raising(&mut self, now: Nanos, key: u16) {
        let own = &mut self.queues[key].own;
        let over = own.raised_at + own.raised_for < now || own.served_raised > MOST_SERVED;
        if own.is_raised() && over {
            own.coefficient = 1;
            own.raised_at = now;
        }
        if own.entity.weight != own.weight * own.coefficient {
            self.fair.reweigh(&mut self.queues, key);
        }
    }

    /// Number of raised queues with requests.
    pub(super) fn raised_queues(&self) -> usize {
        self.busy().filter(|&key| self.queues[key].own.is_raised()).count()
    }
}
