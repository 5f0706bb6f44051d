//! Operations in a ratio to those of other workers. Each worker publishes how far it is, as operations for its weight, in a word that
//! the others read; nobody begins an operation while another is less far. So the one that is least far can always go on, and nobody
//! waits for ever. A worker that has ended, failed or was killed is away, and no longer waited for.

use std::sync::atomic::{AtomicU64, Ordering};

/// How far a worker is that takes no part: not yet, or no longer.
pub const AWAY: u64 = u64::MAX;
/// How far an operation of the weight 1 goes.
const UNIT: u64 = 1 << 20;

/// A worker among those it waits for.
pub struct Turn<'a> {
    own: &'a AtomicU64,
    others: Vec<&'a AtomicU64>,
    weight: u64,
    /// How far the others were when it began.
    joined: u64,
    operations: u64,
}

impl<'a> Turn<'a> {
    /// A worker of this weight, the word it publishes in, and those of the others.
    #[must_use]
    pub fn new(own: &'a AtomicU64, others: Vec<&'a AtomicU64>, weight: u32) -> Self {
        Self { own, others, weight: u64::from(weight.max(1)), joined: 0, operations: 0 }
    }

    /// It begins later than the others: until then it is away.
    pub fn delay(&self) {
        self.own.store(AWAY, Ordering::Release);
    }

    /// It begins: where the others are, or, if there are none, where whoever comes can overtake it.
    pub fn join(&mut self) {
        if self.own.load(Ordering::Relaxed) == AWAY {
            self.joined = Some(self.least()).filter(|far| *far != AWAY).unwrap_or(0);
            self.own.store(self.joined, Ordering::Release);
        }
    }

    /// How far the least far of the others is.
    fn least(&self) -> u64 {
        self.others.iter().map(|far| far.load(Ordering::Relaxed)).min().unwrap_or(AWAY)
    }

    /// Whether it may begin an operation.
    #[must_use]
    pub fn may_go(&self) -> bool {
        self.own.load(Ordering::Relaxed) <= self.least()
    }

    /// It begins one.
    pub fn gone(&mut self) {
        self.operations += 1;
        let far = self.operations.saturating_mul(UNIT) / self.weight;
        // Nobody gets so far that it is away.
        self.own.store(self.joined.saturating_add(far).min(AWAY - 1), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(words: &[AtomicU64], own: usize, weight: u32) -> Turn<'_> {
        let others = words.iter().enumerate().filter(|(at, _)| *at != own).map(|(_, word)| word).collect();
        Turn::new(&words[own], others, weight)
    }

    #[test]
    fn nobody_begins_while_another_is_less_far() {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        let (mut one, mut eight) = (turn(&words, 0, 1), turn(&words, 1, 8));
        let mut order = String::new();
        for _ in 0..27 {
            // Whoever may; the lighter one is asked first.
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
    fn who_is_away_is_not_waited_for_and_begins_where_the_others_are() {
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
