//! Limits: operations that take events from the phase's generator. There is no generator: event k is there k periods after the start,
//! and the clock says how many that makes. What nobody takes is kept for five seconds.
//!
//! All threads and processes take from one supply. Whoever takes events that are still to come waits for the last of them.

use super::finish::ProcessTotals;
use super::hand::{Break, Hand};
use super::program::Op;
use crate::EngineError;
use crate::mapped::Mapped;
use fathom_record::OpKind;
use fathom_workload::Act;
use std::sync::atomic::{AtomicU64, Ordering};

/// Times are in ps, so that a period of a fast generator is exact enough; 2^64 of them are 213 days.
const PS_PER_NS: u64 = 1000;
const STORED_PS: u64 = 5_000_000_000 * PS_PER_NS;
const MIB: u64 = 1 << 20;

/// Things of which a process may owe events.
const DUES: usize = 3;

/// The supply of events.
pub(crate) struct Limiter {
    period_ps: f64,
    /// The tick at which it began, and the time up to which events are taken, ps from there.
    state: Mapped<AtomicU64>,
    /// What each process has paid for: I/Os, operations, MiB.
    paid: Mapped<AtomicU64>,
}

impl Limiter {
    /// A supply of `rate` events a second for so many processes.
    pub fn new(rate: f64, processes: usize) -> Result<Self, EngineError> {
        Ok(Self { period_ps: 1e12 / rate, state: Mapped::new(2)?, paid: Mapped::new(processes * DUES)? })
    }

    /// The tick at which it began: that of the first worker that asks.
    pub fn begin(&self, tick: u64) -> u64 {
        match self.state[0].compare_exchange(0, tick, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => tick,
            Err(begun) => begun,
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
    fn due(&self, process: usize, due: usize, done: u64) -> u64 {
        let before = self.paid[process * DUES + due].swap(done, Ordering::AcqRel);
        // Less than before: the warm-up has been forgotten, or another thread looked later and paid earlier.
        if done < before {
            self.paid[process * DUES + due].fetch_max(before, Ordering::AcqRel);
        }
        done.saturating_sub(before)
    }
}

impl Hand<'_> {
    /// One of the limiting operations.
    pub(super) fn limit(&mut self, op: &Op) -> Result<(), Break> {
        let setting = self.setting;
        let Some(limiter) = &setting.limiter else { return Ok(()) };
        let from = self.clock.now();
        let events = self.events(op, limiter);
        let begin = limiter.begin(self.released);
        let now_ns = self.clock.between(begin, from);
        let there_ns = limiter.take(events, now_ns);
        if there_ns > now_ns {
            self.wait_until(begin.saturating_add(self.clock.ticks(there_ns)))?;
        }
        self.done(op, from, 0)
    }

    /// Events that the operation has to take.
    fn events(&mut self, op: &Op, limiter: &Limiter) -> u64 {
        let (due, done) = match op.act {
            Act::LimitEvents => return 1,
            Act::LimitIops => (0, Self::ios as fn(&Self, &Op) -> u64),
            Act::LimitOps => (1, Self::ops as fn(&Self, &Op) -> u64),
            _ => (2, Self::mebibytes as fn(&Self, &Op) -> u64),
        };
        let done = done(self, op);
        if op.target_row.is_none() {
            return limiter.due(self.place.process, due, done);
        }
        let before = std::mem::replace(&mut self.paid[op.row], done);
        done.saturating_sub(before)
    }

    fn ios(&self, op: &Op) -> u64 {
        match op.target_row {
            Some(row) if matches!(self.ops[row].kind, Some(OpKind::Read | OpKind::Write)) => {
                self.rows[row].times.ops()
            }
            Some(_) => 0,
            None => ProcessTotals::of(self).ios,
        }
    }

    fn ops(&self, op: &Op) -> u64 {
        op.target_row.map_or_else(|| ProcessTotals::of(self).io_ops, |row| self.rows[row].times.ops())
    }

    fn mebibytes(&self, op: &Op) -> u64 {
        let bytes =
            op.target_row.map_or_else(|| ProcessTotals::of(self).bytes, |row| self.rows[row].times.bytes());
        bytes / MIB
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn events_come_at_their_rate_and_no_faster() {
        let limiter = Limiter::new(50.0, 1).unwrap();
        for event in 1..=100u64 {
            assert_eq!(limiter.take(1, 0), event * S / 50);
        }
        assert_eq!(limiter.take(50, 0), 3 * S, "several at once are there when the last one is");
        assert_eq!(limiter.take(0, 0), 3 * S);
    }

    #[test]
    fn what_nobody_takes_is_kept_for_five_seconds() {
        let limiter = Limiter::new(10.0, 1).unwrap();
        assert!((1..=50).all(|_| limiter.take(1, 60 * S) <= 60 * S));
        assert!(limiter.take(1, 60 * S) > 60 * S);
    }

    #[test]
    fn periods_that_are_no_whole_ns_do_not_drift() {
        let limiter = Limiter::new(3e6, 1).unwrap();
        let last = (0..3_000_000).fold(0, |_, _| limiter.take(1, 0));
        assert!((S..S + S / 100_000).contains(&last), "{last}");
    }

    #[test]
    fn a_process_pays_once_for_what_its_threads_did() {
        let limiter = Limiter::new(1.0, 2).unwrap();
        assert_eq!((limiter.due(0, 1, 10), limiter.due(0, 1, 12), limiter.due(1, 1, 3)), (10, 2, 3));
        assert_eq!((limiter.due(0, 1, 11), limiter.due(0, 1, 13)), (0, 1), "seen in another order");
    }
}
