//! The events of limiting operations. There is no generator thread: event k exists k periods after the start, and the clock determines
//! how many have come. Unused events are kept for five seconds.
//!
//! All threads and processes take from one supply. A worker that takes events still to come waits for the last of them.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

/// Times are in ps, to represent the period of a fast generator precisely enough; 2^64 ps are 213 days.
const PS_PER_NS: u64 = 1000;
const STORED_PS: u64 = 5_000_000_000 * PS_PER_NS;

/// Number of totals that a process may owe events for.
const DUES: usize = 3;

/// A total that a process pays for as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Reads and writes.
    Ios = 0,
    /// I/O operations of all kinds.
    Ops = 1,
    /// Whole MiB.
    Mebibytes = 2,
}

/// The supply of events. `A` is an array of words visible to all threads.
pub struct Supply<A> {
    period_ps: f64,
    /// Start time on the executor's clock, and the time up to which events are taken, in ps from the start.
    state: A,
    /// Totals each process has paid for: I/Os, operations, MiB.
    paid: A,
}

impl<A: Deref<Target = [AtomicU64]>> Supply<A> {
    /// A supply of `rate` events a second for `processes` processes. `make` allocates an array of zeroed words visible to all threads.
    ///
    /// # Errors
    /// If `make` fails.
    pub fn new<E>(rate: f64, processes: usize, make: impl Fn(usize) -> Result<A, E>) -> Result<Self, E> {
        Ok(Self { period_ps: 1e12 / rate, state: make(2)?, paid: make(processes * DUES)? })
    }

    /// The start time: that of the first worker to ask.
    pub fn begin(&self, now: u64) -> u64 {
        // Stored plus one, so that 0 means unset.
        match self.state[0].compare_exchange(0, now + 1, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => now,
            Err(begun) => begun - 1,
        }
    }

    /// Takes events at `now_ns` after the start. Returns when the last of them arrives, also in ns after the start.
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

    /// Number of events a process owes now that its total is `done`; each event is paid by one of its threads.
    pub(super) fn due(&self, process: usize, due: Due, done: u64) -> u64 {
        let paid = &self.paid[process * DUES + due as usize];
        let before = paid.swap(done, Ordering::AcqRel);
        // Less than before: the warm-up was discarded, or another thread with a later total paid earlier.
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
    fn untaken_supply_is_kept_for_five_seconds() {
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
    fn a_process_pays_once_for_its_threads() {
        let s = supply(1.0, 2);
        let ops = |process, done| s.due(process, Due::Ops, done);
        assert_eq!((ops(0, 10), ops(0, 12), ops(1, 3)), (10, 2, 3));
        assert_eq!((ops(0, 11), ops(0, 13)), (0, 1), "seen in another order");
    }
}
