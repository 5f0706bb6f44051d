//! What the machine does to any program, watched while a phase runs: a latency tail may be the scheduler's or the hypervisor's.
//!
//! The parent wakes now and then to look at its workers. How late its sleep ended is one measure. The other is a short spin in which
//! it reads the clock as fast as it can: a gap between two readings is time in which the CPU did something else. It spins only while
//! there are CPUs without a worker, and for a thousandth of the time, so that it takes nothing from what is measured.

use crate::clock::Clock;
use crate::shared::futex_wait;
use fathom_record::histogram::{BUCKETS, bucket_of};
use fathom_record::{Histogram, Jitter};
use std::sync::atomic::AtomicU32;

/// Length of a spin.
const SPIN_NS: u64 = 50_000;

pub(super) struct Probe {
    clock: Clock,
    /// Whether a CPU is free to spin on.
    spins: bool,
    gaps: Counts,
    wakes: Counts,
    watched_ns: u64,
}

impl Probe {
    /// A probe beside so many workers.
    pub fn new(clock: Clock, workers: usize) -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { clock, spins: workers < cpus, gaps: Counts::new(), wakes: Counts::new(), watched_ns: 0 }
    }

    /// Sleeps on a word that is `value`, as long as `wait_ns` at most, and learns from how the sleep ended.
    pub fn sleep(&mut self, word: &AtomicU32, value: u32, wait_ns: u64) {
        let from = self.clock.now();
        futex_wait(word, value, wait_ns);
        let slept_ns = self.clock.between(from, self.clock.now());
        // Only a sleep that ended by itself says how late it ended.
        if slept_ns >= wait_ns {
            self.wakes.record(slept_ns - wait_ns);
            if self.spins {
                self.spin();
            }
        }
    }

    fn spin(&mut self) {
        let begun = self.clock.now();
        let mut last = begun;
        loop {
            let now = self.clock.now();
            self.gaps.record(self.clock.between(last, now));
            last = now;
            let spun_ns = self.clock.between(begun, now);
            if spun_ns >= SPIN_NS {
                self.watched_ns += spun_ns;
                return;
            }
        }
    }

    /// What was seen; `None` if the phase was too short to see anything.
    pub fn tell(&self) -> Option<Jitter> {
        let jitter = Jitter {
            gaps: self.gaps.histogram(),
            wakes: self.wakes.histogram(),
            watched_ns: self.watched_ns,
        };
        (jitter.gaps.count() + jitter.wakes.count() > 0).then_some(jitter)
    }
}

/// Counters of a histogram, with the exact figures beside them.
struct Counts {
    dense: Vec<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

impl Counts {
    fn new() -> Self {
        Self { dense: vec![0; BUCKETS], sum: 0, min: u64::MAX, max: 0 }
    }

    #[inline(always)]
    fn record(&mut self, ns: u64) {
        self.dense[bucket_of(ns)] += 1;
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    fn histogram(&self) -> Histogram {
        Histogram::from_dense(&self.dense, self.sum, self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_that_ended_by_itself_tells_and_one_that_was_woken_does_not() {
        let mut probe = Probe::new(Clock::monotonic(), 0);
        assert!(probe.tell().is_none());
        let word = AtomicU32::new(1);
        probe.sleep(&word, 0, 1_000_000_000);
        assert!(probe.tell().is_none(), "the word had another value: nobody slept");
        probe.sleep(&word, 1, 2_000_000);
        let jitter = probe.tell().unwrap();
        assert_eq!(jitter.wakes.count(), 1);
        assert!(jitter.gaps.count() > 10 && jitter.watched_ns >= SPIN_NS, "{}", jitter.gaps.count());
    }

    #[test]
    fn beside_workers_on_every_cpu_it_does_not_spin() {
        let mut probe = Probe::new(Clock::monotonic(), usize::MAX);
        probe.sleep(&AtomicU32::new(1), 1, 1_000_000);
        assert_eq!(probe.tell().unwrap().gaps.count(), 0);
    }
}
