//! The events of limiting operations. There is no generator: event k is there k periods after the start, and the clock says how many
//! that makes. What nobody takes is kept for five seconds.
//!
//! All threads and processes take from one supply. Whoever takes events that are still to come waits for the last of them.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

/// Times are in ps, so that a period of a fast generator is exact enough; 2^64 of them are 213 days.
const PS_PER_NS: u64 = 1000;
const STORED_PS: u64 = 5_000_000_000 * PS_PER_NS;

/// Things of which a process may owe events.
const DUES: usize = 3;

/// What a process pays for as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Reads and writes.
    Ios = 0,
    /// I/O operations of all kinds.
    Ops = 1,
    /// Whole MiB.
    Mebibytes = 2,
}

/// The supply of events. `A` is an array of words that all threads see.
pub struct Supply<A> {
    period_ps: f64,
    /// The moment at which it began, by the executor's clock, and the time up to which events are taken, ps from there.
    state: A,
    /// What each process has paid for: I/Os, operations, MiB.
    paid: A,
}

impl<A: Deref<Target = [AtomicU64]>> Supply<A> {
    /// A supply of `rate` events a second for so many processes. `make` makes arrays of so many words of zero that all threads see.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn new<E>(rate: f64, processes: usize, make: impl Fn(usize) -> Result<A, E>) -> Result<Self, E> {
        Ok(Self { period_ps: 1e12 / rate, state: make(2)?, paid: make(processes * DUES)? })
    }

    /// The moment at which it began: that of the first worker that asks.
    pub fn begin(&self, now: u64) -> u64 {
        // Kept plus one: 0 is no moment.
        match self.state[0].compare_exchange(0, now + 1, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => now,
            Err(begun) => begun - 1,
        }
    }

    /// Takes events at `now_ns` from the beginning. Gives when the last of them is there, likewise.
    pub fn take(&self, events: u64, now_ns: u64) -> u64 {
        let oldest = now_ns.saturating_mul(PS_PER_NS).saturating_sub(STORED_PS);
        let length = (events as f64 * self.period_ps).ceil() as u64;
        let mut taken = self.state[1].load(Ordering::Acquire);
        loop {
            let next = taken.max(oldest).saturating_add(length);
            match self.state[1].compare_exchange_weak(taken, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return next.div_ceil(PS_PER_NS),
                Err(now) => taken = now,
            }
        }
    }

    /// What a process has to pay for, which has done so much by now; each of it is paid by one of its threads.
    pub(super) fn due(&self, process: usize, due: Due, done: u64) -> u64 {
        let paid = &self.paid[process * DUES + due as usize];
        let before = paid.swap(done, Ordering::AcqRel);
        // Less than before: the warm-up has been forgotten, or another thread looked later and paid earlier.
        if done < before {
            paid.fetch_max(before, Ordering::AcqRel);
        }
        done.saturating_sub(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    const S: u64 = 1_000_000_000;

    fn supply(rate: f64, processes: usize) -> Supply<Vec<AtomicU64>> {
        let make = |words: usize| Ok::<_, Infallible>((0..words).map(|_| AtomicU64::new(0)).collect());
        Supply::new(rate, processes, make).unwrap()
    }

    #[test]
    fn events_come_at_their_rate_and_no_faster() {
        let supply = supply(50.0, 1);
        for event in 1..=100u64 {
            assert_eq!(supply.take(1, 0), event * S / 50);
        }
        assert_eq!(supply.take(50, 0), 3 * S, "several at once are there when the last one is");
        assert_eq!(supply.take(0, 0), 3 * S);
    }

    #[test]
    fn what_nobody_takes_is_kept_for_five_seconds() {
        let supply = supply(10.0, 1);
        assert!((1..=50).all(|_| supply.take(1, 60 * S) <= 60 * S));
        assert!(supply.take(1, 60 * S) > 60 * S);
    }

    #[test]
    fn periods_that_are_no_whole_ns_do_not_drift() {
        let supply = supply(3e6, 1);
        let last = (0..3_000_000).fold(0, |_, _| supply.take(1, 0));
        assert!((S..S + S / 100_000).contains(&last), "{last}");
    }

    #[test]
    fn a_process_pays_once_for_what_its_threads_did() {
        let s = supply(1.0, 2);
        let ops = |process, done| s.due(process, Due::Ops, done);
        assert_eq!((ops(0, 10), ops(0, 12), ops(1, 3)), (10, 2, 3));
        assert_eq!((ops(0, 11), ops(0, 13)), (0, 1), "seen in another order");
    }
}
