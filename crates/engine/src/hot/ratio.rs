//! Operations in a ratio to those of other workers. Everyone tells how far he is, as operations for his weight, in a word that the
//! others read; nobody begins an operation while another is less far. So the one who is least far can always go on, and nobody waits
//! for ever. Who ends, fails or is killed is far away, and no longer waited for.

use super::Hot;
use super::rare::{NAP_NS, Waited, is_over};
use crate::shared::Shared;
use crate::worker::Plan;
use fathom_workload::WhenStopped;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far somebody is who takes no part: not yet, or no longer.
pub(crate) const AWAY: u64 = u64::MAX;
/// How far an operation of the weight 1 goes.
const UNIT: u64 = 1 << 20;

/// A worker's place among those it waits for.
pub(crate) struct Turn<'a> {
    own: &'a AtomicU64,
    others: Vec<&'a AtomicU64>,
    weight: u64,
    sleep_ns: u64,
    /// How far the others were when it began.
    joined: u64,
    operations: u64,
}

impl<'a> Turn<'a> {
    /// The turn of a worker whose stream has a ratio. Who begins later is away until then: this comes before it is ready.
    pub fn of(plan: &Plan<'_>, shared: &'a Shared) -> Option<Self> {
        let ratio = plan.stream.pace.ratio?;
        let word = |worker: usize| &shared.live(worker).progress;
        let turn = Self {
            own: word(plan.index),
            others: plan.peers.iter().filter(|w| **w != plan.index).map(|w| word(*w)).collect(),
            weight: u64::from(ratio.weight.max(1)),
            sleep_ns: ratio.sleep.0,
            joined: 0,
            operations: 0,
        };
        if plan.delayed {
            turn.own.store(AWAY, Ordering::Release);
        }
        Some(turn)
    }

    /// It begins: where the others are, or, if there are none, where it can be overtaken by whoever comes.
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
    pub fn may_go(&self) -> bool {
        self.own.load(Ordering::Relaxed) <= self.least()
    }

    /// It begins one.
    pub fn gone(&mut self) {
        self.operations += 1;
        let far = self.operations.saturating_mul(UNIT) / self.weight;
        // Nobody gets so far that he is away.
        self.own.store(self.joined.saturating_add(far).min(AWAY - 1), Ordering::Release);
    }

    /// Lets the others come up. `tries`: how often it has looked in vain.
    pub fn rest(&self, tries: u32) {
        const SPIN: u32 = 64;
        const YIELD: u32 = 256;
        const SHORT_NS: u64 = 20_000;
        match tries {
            _ if self.sleep_ns > 0 => {
                std::thread::sleep(std::time::Duration::from_nanos(self.sleep_ns.min(NAP_NS)));
            }
            0..SPIN => std::hint::spin_loop(),
            SPIN..YIELD => rustix::thread::sched_yield(),
            _ => std::thread::sleep(std::time::Duration::from_nanos(SHORT_NS)),
        }
    }
}

/// Waits until it is the worker's turn.
#[inline(never)]
pub(super) fn wait(hot: &Hot, when_stopped: WhenStopped) -> Waited {
    let Some(turn) = hot.rare.as_ref().and_then(|rare| rare.turn.as_ref()) else { return Waited::Enough };
    let mut tries = 0;
    while !turn.may_go() {
        if is_over(hot, hot.clock.now(), when_stopped) {
            return Waited::Cut;
        }
        turn.rest(tries);
        tries = tries.saturating_add(1);
    }
    Waited::Enough
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn<'a>(words: &'a [AtomicU64], own: usize, weight: u64) -> Turn<'a> {
        let others = words.iter().enumerate().filter(|(at, _)| *at != own).map(|(_, word)| word).collect();
        Turn { own: &words[own], others, weight, sleep_ns: 0, joined: 0, operations: 0 }
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
        let words = [AtomicU64::new(0), AtomicU64::new(AWAY)];
        let (mut first, mut late) = (turn(&words, 0, 1), turn(&words, 1, 1));
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
