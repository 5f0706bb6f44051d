//! Budgets in sectors: larger for a queue that used its own up, smaller for one that idled or seeks; and the largest, which is what the device
//! transfers in the longest turn, learned from the turns.

use crate::time::Nanos;

/// Until something has been learned.
const UNLEARNED: u64 = 16 * 1024;
/// Turns shorter than this say nothing about the device.
const TELLING: Nanos = Nanos::from_millis(20);

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The next request is more than what is left of the budget.
    Exhausted,
    /// It has taken too long.
    Timeout,
    /// It was idled for in vain.
    Idle,
    /// It had nothing left and was not worth idling for.
    Empty,
}

/// The largest budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budgets {
    largest: u64,
}

impl Default for Budgets {
    fn default() -> Self {
        Self { largest: UNLEARNED }
    }
}

impl Budgets {
    /// Sets the largest budget; 0: learn it.
    pub(super) fn fix(&mut self, sectors: u64) {
        self.largest = if sectors == 0 { UNLEARNED } else { sectors };
    }

    /// A new queue's budget.
    pub(super) const fn initial(&self) -> u64 {
        2 * self.largest / 3
    }

    const fn smallest(&self) -> u64 {
        let smallest = self.largest / 32;
        if smallest == 0 { 1 } else { smallest }
    }

    /// A turn has been long enough to tell what the device transfers in the longest one. Upward at once, downward slowly.
    pub(super) fn learn(&mut self, fixed: u64, served: u64, took: Nanos, longest: Nanos) {
        if fixed > 0 || took < TELLING || served == 0 {
            return;
        }
        let seen = (u128::from(served) * u128::from(longest.0) / u128::from(took.0)) as u64;
        self.largest = if seen > self.largest { seen } else { (7 * self.largest + seen) / 8 }.max(32);
    }

    /// The budget of the next turn.
    pub(super) fn next(&self, budget: u64, served: u64, how: Ended, seeky: bool) -> u64 {
        let smallest = self.smallest();
        let next = match how {
            _ if seeky => smallest,
            Ended::Exhausted | Ended::Timeout => budget.saturating_mul(2),
            Ended::Idle if budget > 5 * smallest => budget - 4 * smallest,
            Ended::Idle => smallest,
            Ended::Empty => served.max(smallest),
        };
        next.clamp(smallest, self.largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_follow_how_turns_end() {
        let budgets = Budgets::default();
        assert_eq!(budgets.initial(), 10_922);
        assert_eq!(budgets.next(8192, 8192, Ended::Exhausted, false), 16_384);
        assert_eq!(budgets.next(16_384, 16_384, Ended::Timeout, false), 16_384);
        assert_eq!(budgets.next(8192, 100, Ended::Idle, false), 8192 - 2048);
        assert_eq!(budgets.next(2560, 100, Ended::Idle, false), 512);
        assert_eq!(budgets.next(8192, 1000, Ended::Empty, false), 1000);
        assert_eq!(budgets.next(8192, 8192, Ended::Exhausted, true), 512);
    }

    #[test]
    fn the_largest_is_what_the_device_transfers_in_the_longest_turn() {
        let longest = Nanos::from_millis(124);
        let mut budgets = Budgets::default();
        budgets.learn(0, 20_000, Nanos::from_millis(62), longest);
        assert_eq!(budgets.largest, 40_000);
        budgets.learn(0, 100, Nanos::from_millis(62), longest);
        assert_eq!(budgets.largest, (7 * 40_000 + 200) / 8);
        budgets.learn(0, 1 << 30, Nanos::from_millis(1), longest);
        budgets.learn(5, 1 << 30, Nanos::from_millis(100), longest);
        assert_eq!(budgets.largest, (7 * 40_000 + 200) / 8);
    }
}
