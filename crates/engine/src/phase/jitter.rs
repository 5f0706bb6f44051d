//! Disturbances by the machine while a phase runs: a latency tail may come from the scheduler or the hypervisor.
//!
//! The parent wakes periodically to check its workers. One measure is how late its sleep ended. The other is a short spin in
//! which it reads the clock as fast as it can: a gap between two readings is time in which the CPU did something else. It spins
//! only while there are CPUs without a worker, and for at most a thousandth of the time since the release, so the measurement is
//! hardly affected.

use crate::clock::Clock;
use crate::interrupt::was_continued;
use crate::shared::futex_wait;
use fathom_record::histogram::{BUCKETS, bucket_of};
use fathom_record::{Histogram, Jitter};
use std::sync::atomic::AtomicU32;

/// Longest spin.
const SPIN_NS: u64 = 50_000;
/// Shortest spin, enough for some hundred readings.
const LEAST_SPIN_NS: u64 = 5_000;
/// At most 1/SHARE of the time is spent on spinning.
const SHARE: u64 = 1000;

/// Length of the next spin, given the elapsed time and the time spun so far; `None`: too short to be useful.
fn allowance_ns(elapsed_ns: u64, spun_ns: u64) -> Option<u64> {
    let left_ns = (elapsed_ns / SHARE).saturating_sub(spun_ns);
    (left_ns >= LEAST_SPIN_NS).then_some(left_ns.min(SPIN_NS))
}

pub(super) struct Probe {
    clock: Clock,
    /// Start of the observation, in ticks.
    began: u64,
    /// Whether a CPU is free for spinning.
    spins: bool,
    gaps: ExactHistogram,
    wakes: ExactHistogram,
    watched_ns: u64,
    /// Time of the last visit, in ticks.
    seen: u64,
}

/// A process away from its sleeps for this long was stopped, or had no CPU.
const AWAY_NS: u64 = 100_000_000;

impl Probe {
    /// A probe beside `workers` workers, which were `released` at that tick: this process may have been stopped since.
    pub fn new(clock: Clock, workers: usize, released: u64) -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        // The release may still be in the future.
        let began = released.min(clock.now());
        let (gaps, wakes) = (ExactHistogram::new(), ExactHistogram::new());
        Self { clock, began, spins: workers < cpus, gaps, wakes, watched_ns: 0, seen: began }
    }

    /// Sleeps while `word` is `value`, at most `wait_ns`, and records how late the sleep ended.
    pub fn sleep(&mut self, word: &AtomicU32, value: u32, wait_ns: u64) {
        self.goes_on();
        self.look(word, value, wait_ns, self.seen);
        self.begin();
    }

    /// Call when little was done since the last visit.
    pub fn goes_on(&mut self) {
        let away_ns = self.clock.between(self.seen, self.clock.now());
        if away_ns >= AWAY_NS {
            self.wakes.record(away_ns);
        }
        self.begin();
    }

    /// Call when the work since the last visit may have taken long: a gap counts only if this process was stopped in that time.
    pub fn back(&mut self) {
        if was_continued() {
            self.goes_on();
        }
        self.begin();
    }

    fn begin(&mut self) {
        // Clears earlier events.
        let _ = was_continued();
        self.seen = self.clock.now();
    }

    fn look(&mut self, word: &AtomicU32, value: u32, wait_ns: u64, from: u64) {
        futex_wait(word, value, wait_ns);
        let slept_ns = self.clock.between(from, self.clock.now());
        // Only a sleep that timed out shows how late it ended.
        if slept_ns >= wait_ns {
            self.wakes.record(slept_ns - wait_ns);
            let elapsed_ns = self.clock.between(self.began, self.clock.now());
            if self.spins
                && let Some(most_ns) = allowance_ns(elapsed_ns, self.watched_ns)
            {
                self.spin(most_ns);
            }
        }
    }

    fn spin(&mut self, most_ns: u64) {
        let begun = self.clock.now();
        let mut last = begun;
        loop {
            let now = self.clock.now();
            self.gaps.record(self.clock.between(last, now));
            last = now;
            let spun_ns = self.clock.between(begun, now);
            if spun_ns >= most_ns {
                self.watched_ns += spun_ns;
                return;
            }
        }
    }

    /// The observations; `None` if the phase was too short for any.
    pub fn record(&self) -> Option<Jitter> {
        let jitter = Jitter {
            gaps: self.gaps.histogram(),
            wakes: self.wakes.histogram(),
            watched_ns: self.watched_ns,
        };
        (jitter.gaps.count() + jitter.wakes.count() > 0).then_some(jitter)
    }
}

/// Histogram counters with exact figures.
struct ExactHistogram {
    dense: Vec<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

impl ExactHistogram {
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
    fn only_timed_out_sleeps_are_recorded() {
        let clock = Clock::monotonic();
        let mut probe = Probe::new(clock, 0, clock.now());
        assert!(probe.record().is_none());
        let word = AtomicU32::new(1);
        probe.sleep(&word, 0, 1_000_000_000);
        assert!(probe.record().is_none(), "the word had another value: nobody slept");
        probe.sleep(&word, 1, 20_000_000);
        let jitter = probe.record().unwrap();
        assert_eq!(jitter.wakes.count(), 1);
        assert!(jitter.gaps.count() > 0 && jitter.watched_ns >= LEAST_SPIN_NS, "{}", jitter.gaps.count());
    }

    #[test]
    fn a_stop_between_the_release_and_the_first_look_is_seen() {
        let clock = Clock::monotonic();
        let mut probe = Probe::new(clock, 0, clock.now() - clock.ticks(1_500_000_000));
        probe.goes_on();
        assert!(probe.record().unwrap().wakes.max_ns() >= 1_500_000_000);
    }

    #[test]
    fn it_spins_for_a_thousandth_of_the_time_however_often_it_wakes() {
        let mut spun_ns = 0;
        for elapsed_ns in (0..1_000_000_000).step_by(100_000) {
            spun_ns += allowance_ns(elapsed_ns, spun_ns).unwrap_or(0);
            assert!(spun_ns <= elapsed_ns / 1000, "{spun_ns} ns of {elapsed_ns}");
        }
        assert!(spun_ns >= 990_000, "{spun_ns} ns of a second: what is allowed is used");
        assert_eq!(allowance_ns(u64::MAX, 0), Some(SPIN_NS), "and never for long at a time");
    }

    #[test]
    fn beside_workers_on_every_cpu_it_does_not_spin() {
        let clock = Clock::monotonic();
        let mut probe = Probe::new(clock, usize::MAX, clock.now());
        probe.sleep(&AtomicU32::new(1), 1, 1_000_000);
        assert_eq!(probe.record().unwrap().gaps.count(), 0);
    }
}
