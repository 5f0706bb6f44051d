//! Budgets in sectors: larger for a queue that used up its own, smaller for one that idled, and what was consumed for one that ran out of
//! requests. A raised queue's budgets are small, so that raised queues alternate quickly.

/// Largest budget until one has been learned, and the basis of the smallest one during the first turns.
const UNLEARNED: u64 = 16 * 1024;
/// Turns count an eighth each, 256 for one; below this value (about 11 turns) the learned budget is not used.
const ENOUGH_TURNS: u64 = 194;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The next request exceeds the rest of the budget.
    Exhausted,
    /// It took too long.
    Timeout,
    /// Idling for it was in vain.
    Idle,
    /// It had no more requests and was not worth idling for.
    Empty,
    /// It was preempted by another queue.
    Preempted,
}

/// The queue whose turn has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ender {
    pub(super) sync: bool,
    pub(super) raised: bool,
    /// It has requests in flight.
    pub(super) outstanding: bool,
    /// Sectors charged to it.
    pub(super) served: u64,
}

/// The largest budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budgets {
    largest: u64,
    /// The user has set the largest budget.
    fixed: bool,
    turns: u64,
}

impl Default for Budgets {
    fn default() -> Self {
        Self { largest: UNLEARNED, fixed: false, turns: 0 }
    }
}

impl Budgets {
    /// Sets the largest budget; 0: learn it.
    pub(super) fn fix(&mut self, sectors: u64) {
        self.fixed = sectors > 0;
        self.largest = if self.fixed { sectors } else { UNLEARNED };
    }

    /// Learns the largest budget: what the device transfers in the longest turn.
    pub(super) fn learn(&mut self, sectors: u64) {
        if !self.fixed {
            self.largest = sectors;
        }
    }

    /// Counts the start of a turn.
    pub(super) fn turn(&mut self) {
        self.turns = (7 * self.turns + 256) / 8;
    }

    pub(super) const fn largest(&self) -> u64 {
        self.largest
    }

    const fn believed(&self) -> u64 {
        if self.turns < ENOUGH_TURNS { UNLEARNED } else { self.largest }
    }

    /// Budget of a new queue.
    pub(super) const fn initial(&self) -> u64 {
        let initial = 2 * self.believed() / 3;
        if initial == 0 { 1 } else { initial }
    }

    const fn smallest(&self) -> u64 {
        let smallest = self.believed() / 32;
        if smallest == 0 { 1 } else { smallest }
    }

    /// Budget of a raised queue.
    pub(super) const fn raised(&self) -> u64 {
        2 * self.smallest()
    }

    /// Budget of the next turn; `None`: unchanged, and the rest of this one remains.
    pub(super) fn next(&self, budget: u64, how: Ended, ender: Ender) -> Option<u64> {
        let (smallest, largest) = (self.smallest(), self.largest);
        let next = if !ender.sync {
            largest
        } else if ender.raised {
            self.raised()
        } else {
            match how {
                Ended::Exhausted => budget.saturating_mul(4).min(largest),
                Ended::Timeout => budget.saturating_mul(2).min(largest),
                // It continues when its requests in flight are done.
                Ended::Idle if ender.outstanding => budget.saturating_mul(2).min(largest),
                Ended::Idle if budget > 5 * smallest => budget - 4 * smallest,
                Ended::Idle => smallest,
                Ended::Empty => ender.served.max(smallest),
                Ended::Preempted => return None,
            }
        };
        Some(if self.turns >= ENOUGH_TURNS && !self.fixed { next.min(largest) } else { next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNC: Ender = Ender { sync: true, raised: false, outstanding: false, served: 1000 };

    #[test]
    fn budgets_follow_how_turns_end() {
        let budgets = Budgets::default();
        let next = |budget, how, ender| budgets.next(budget, how, ender).unwrap();
        assert_eq!(budgets.initial(), 10_922);
        assert_eq!(next(2048, Ended::Exhausted, SYNC), 8192);
        assert_eq!(next(8192, Ended::Exhausted, SYNC), 16_384);
        assert_eq!(next(2048, Ended::Timeout, SYNC), 4096);
        assert_eq!(next(8192, Ended::Idle, SYNC), 8192 - 2048);
        assert_eq!(next(8192, Ended::Idle, Ender { outstanding: true, ..SYNC }), 16_384);
        assert_eq!(next(2560, Ended::Idle, SYNC), 512);
        assert_eq!(next(8192, Ended::Empty, SYNC), 1000);
        assert_eq!(budgets.next(8192, Ended::Preempted, SYNC), None);
    }

    #[test]
    fn raised_queues_have_small_budgets_and_asynchronous_ones_the_largest() {
        let budgets = Budgets::default();
        let raised = Ender { raised: true, ..SYNC };
        assert_eq!(budgets.next(16_384, Ended::Exhausted, raised), Some(1024));
        let background = Ender { sync: false, ..SYNC };
        assert_eq!(budgets.next(100, Ended::Empty, background), Some(16_384));
    }

    #[test]
    fn what_was_learned_is_used_after_some_turns() {
        let mut budgets = Budgets::default();
        budgets.learn(64_000);
        assert_eq!(budgets.smallest(), 512);
        (0..11).for_each(|_| budgets.turn());
        assert_eq!(budgets.smallest(), 2000);
        budgets.fix(4096);
        budgets.learn(64_000);
        assert_eq!((budgets.largest(), budgets.smallest()), (4096, 128), "set by the user");
        budgets.fix(0);
        assert_eq!(budgets.largest(), UNLEARNED);
    }
}
