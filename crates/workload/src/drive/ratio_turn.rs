//! Operations in a ratio to those of other workers. Each worker publishes its progress, in operations divided by its weight, in a word
//! that the others read; no worker begins an operation while another has made less progress. So the worker with the least progress can
//! always proceed, and there is no deadlock. A worker that has ended, failed or was killed is away, and the others do not wait for it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Progress of a worker that does not take part yet, or no longer.
pub const AWAY: u64 = u64::MAX;
/// Progress per operation at weight 1.
const UNIT: u64 = 1 << 20;

/// A worker and those it waits for.
pub struct RatioTurn<'a> {
    own: &'a AtomicU64,
    others: Vec<&'a AtomicU64>,
    weight: u64,
    /// Progress at which it joined.
    joined: u64,
    operations: u64,
}

impl<'a> RatioTurn<'a> {
    /// A worker with this weight, the word it publishes, and those of the others.
    #[must_use]
    pub fn new(own: &'a AtomicU64, others: Vec<&'a AtomicU64>, weight: u32) -> Self {
        Self { own, others, weight: u64::from(weight.max(1)), joined: 0, operations: 0 }
    }

    /// It begins later than the others and is away until then.
    pub fn delay(&self) {
        self.own.store(AWAY, Ordering::Release);
    }

    /// It begins at the others' progress or, without others, at 0 so that later ones can overtake it.
    pub fn join(&mut self) {
        if self.own.load(Ordering::Relaxed) == AWAY {
            self.joined = Some(self.least()).filter(|far| *far != AWAY).unwrap_or(0);
            self.own.store(self.joined, Ordering::Release);
        }
    }

    /// Least progress of the others.
    fn least(&self) -> u64 {
        self.others.iter().map(|far| far.load(Ordering::Relaxed)).min().unwrap_or(AWAY)
    }

    /// Whether it may begin an operation.
    #[must_use]
    pub fn may_go(&self) -> bool {
        self.own.load(Ordering::Relaxed) <= self.least()
    }

    /// It begins an operation.
    pub fn gone(&mut self) {
        self.operations += 1;
        let far = self.operations.saturating_mul(UNIT) / self.weight;
        // Progress never reaches AWAY.
        self.own.store(self.joined.saturating_add(far).min(AWAY - 1), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(words: &[AtomicU64], own: usize, weight: u32) -> RatioTurn<'_> {
        let others = words.iter().enumerate().filter(|(at, _)| *at != own).map(|(_, word)| word).collect();
        RatioTurn::new(&words[own], others, weight)
    }

    #[test]
    fn no_worker_begins_while_another_is_behind() {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        let (mut one, mut eight) = (turn(&words, 0, 1), turn(&words, 1, 8));
        let mut order = String::new();
        for _ in 0..27 {
            // Either may proceed; the lighter one is asked first.
            if one.may_go() {
                one.gone();
                order.push('1');
            } else {
                assert!(eight.may_go(), "one of them can always go on: {order}");
                eight.gone();
                order.push('8');
            }
        }
        assert_eq!(order, "188888888".repeat(3));
    }

    #[test]
    fn absent_workers_are_not_waited_for_and_join_at_the_others_progress() {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        let (mut first, mut late) = (turn(&words, 0, 1), turn(&words, 1, 1));
        late.delay();
        for _ in 0..1000 {
            assert!(first.may_go());
            first.gone();
        }
        late.join();
        assert!(first.may_go() && late.may_go());
        late.gone();
        assert!(first.may_go() && !late.may_go(), "it does not catch up with what was done before");
        words[0].store(AWAY, Ordering::Release);
        assert!(late.may_go());
    }

    #[test]
    fn weights_that_do_not_divide_a_unit_stay_exact() {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        let (mut three, mut seven) = (turn(&words, 0, 3), turn(&words, 1, 7));
        for _ in 0..10_000 {
            if three.may_go() { three.gone() } else { seven.gone() }
        }
        assert_eq!((three.operations, seven.operations), (3000, 7000));
    }
}
