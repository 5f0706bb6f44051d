//! The clock of the hot loop: the time stamp counter where the kernel itself trusts it, else CLOCK_MONOTONIC through the vDSO.
//!
//! The counter is calibrated against CLOCK_MONOTONIC at the start; its cost, its resolution and, at the end, its drift are part
//! of every record. Each operation lies between two readings, so every latency includes the cost of one reading; this cost is
//! shown, never subtracted. On the development machine: 13 ns for the counter, 33 ns for the vDSO.

use std::time::{Duration, Instant};

/// Converts ticks to nanoseconds. Small and `Copy`: every worker has its own copy.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    source: Source,
    /// Nanoseconds per tick as 32.32 fixed point.
    ns_per_tick: u64,
    /// Ticks per nanosecond as 32.32 fixed point.
    ticks_per_ns: u64,
    hz: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    #[cfg(target_arch = "x86_64")]
    Tsc,
    Monotonic,
}

/// A pair of readings taken close together, for calibration.
#[derive(Clone, Copy)]
struct Pair {
    ticks: u64,
    mono_ns: u64,
}

/// Length and number of the calibration rounds. Short, because they delay every start: [`Clock::refined`] improves the rate
/// before the first phase.
const ROUND: Duration = Duration::from_micros(250);
const ROUNDS: usize = 3;
/// Observation time beyond which the rate no longer improves: 30 ns of uncertainty in a second.
const LONG_ENOUGH_NS: u64 = 1_000_000_000;

impl Clock {
    /// Chooses and calibrates the clock. Takes under 1 ms, with an accuracy of some 100 parts per million. See
    /// [`Clock::refined`].
    #[must_use]
    pub fn calibrated() -> Self {
        #[cfg(target_arch = "x86_64")]
        if tsc_is_trusted()
            && let Some(hz) = tsc_hz()
        {
            return Self {
                source: Source::Tsc,
                ns_per_tick: fixed_point(1e9 / hz),
                ticks_per_ns: fixed_point(hz / 1e9),
                hz,
            };
        }
        Self::monotonic()
    }

    /// The same clock with the rate observed since `mark`; the longer ago that is, the better.
    #[must_use]
    pub fn refined(self, mark: (u64, u64)) -> Self {
        let now = self.mark();
        match self.source {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc if now.1.saturating_sub(mark.1) > ROUND.as_nanos() as u64 * ROUNDS as u64 => {
                let hz = now.0.saturating_sub(mark.0) as f64 * 1e9 / (now.1 - mark.1) as f64;
                // A very different rate is not a refinement: keep the original one; the record shows the drift.
                let near = (hz / self.hz - 1.0).abs() < 1e-3;
                if near {
                    Self {
                        ns_per_tick: fixed_point(1e9 / hz),
                        ticks_per_ns: fixed_point(hz / 1e9),
                        hz,
                        ..self
                    }
                } else {
                    self
                }
            }
            _ => self,
        }
    }

    /// Whether a longer observation can still improve the rate.
    #[must_use]
    pub fn is_young(&self, mark: (u64, u64)) -> bool {
        self.between(mark.0, self.now()) < 2 * LONG_ENOUGH_NS
    }

    /// A clock on CLOCK_MONOTONIC, which is always available.
    #[must_use]
    pub fn monotonic() -> Self {
        Self { source: Source::Monotonic, ns_per_tick: 1 << 32, ticks_per_ns: 1 << 32, hz: 1e9 }
    }

    /// The current time in ticks.
    #[inline(always)]
    #[must_use]
    pub fn now(&self) -> u64 {
        match self.source {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc => tsc(),
            Source::Monotonic => monotonic_ns(),
        }
    }

    /// Converts ticks to nanoseconds.
    #[inline(always)]
    #[must_use]
    pub fn ns(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.ns_per_tick)) >> 32) as u64
    }

    /// Converts nanoseconds to ticks.
    #[must_use]
    pub fn ticks(&self, ns: u64) -> u64 {
        ((u128::from(ns) * u128::from(self.ticks_per_ns)) >> 32).min(u128::from(u64::MAX)) as u64
    }

    /// Nanoseconds from one reading to a later one; 0 if the later one is earlier (readings of different CPUs).
    #[inline(always)]
    #[must_use]
    pub fn between(&self, earlier: u64, later: u64) -> u64 {
        self.ns(later.saturating_sub(earlier))
    }

    /// This clock for the record: source, rate, cost and resolution, measured now.
    #[must_use]
    pub fn describe(&self) -> fathom_record::Clock {
        let (cost_ns, resolution_ns) = self.cost_and_resolution();
        fathom_record::Clock {
            source: match self.source {
                #[cfg(target_arch = "x86_64")]
                Source::Tsc => "tsc".into(),
                Source::Monotonic => "clock_gettime".into(),
            },
            hz: self.hz,
            cost_ns,
            resolution_ns,
            drift_ppm: None,
        }
    }

    /// Drift against CLOCK_MONOTONIC since `start` (see [`Clock::mark`]), in parts per million.
    #[must_use]
    pub fn drift_ppm(&self, start: (u64, u64)) -> Option<f64> {
        let now = self.mark();
        let mono = now.1.checked_sub(start.1).filter(|&ns| ns > 0)?;
        let ours = self.between(start.0, now.0);
        Some((ours as f64 / mono as f64 - 1.0) * 1e6)
    }

    /// The tick at which CLOCK_MONOTONIC shows `ns`. Only for times nearby, as the rate has limited accuracy.
    #[must_use]
    pub fn at_monotonic(&self, ns: u64) -> u64 {
        let (ticks, mono_ns) = self.mark();
        if ns >= mono_ns {
            ticks.saturating_add(self.ticks(ns - mono_ns))
        } else {
            ticks.saturating_sub(self.ticks(mono_ns - ns))
        }
    }

    /// A reading of this clock and of CLOCK_MONOTONIC taken together.
    #[must_use]
    pub fn mark(&self) -> (u64, u64) {
        let pair = best_pair(|| self.now());
        (pair.ticks, pair.mono_ns)
    }

    fn cost_and_resolution(&self) -> (f64, f64) {
        const READINGS: usize = 200;
        let mut readings = [0u64; READINGS];
        let mut costs = [0f64; 9];
        let mut step = u64::MAX;
        for cost in &mut costs {
            for r in &mut readings {
                *r = self.now();
            }
            *cost = self.between(readings[0], readings[READINGS - 1]) as f64 / (READINGS - 1) as f64;
            for pair in readings.windows(2) {
                if pair[1] > pair[0] {
                    step = step.min(pair[1] - pair[0]);
                }
            }
        }
        costs.sort_by(f64::total_cmp);
        (costs[costs.len() / 2], step as f64 * 1e9 / self.hz)
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn tsc() -> u64 {
    // SAFETY: rdtsc is part of every x86-64 CPU and reads a counter; it touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

fn monotonic_ns() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Of several readings, the pair with the shortest gap between the two clocks.
fn best_pair(ticks: impl Fn() -> u64) -> Pair {
    let mut best = (u64::MAX, Pair { ticks: 0, mono_ns: 0 });
    for _ in 0..8 {
        let before = monotonic_ns();
        let t = ticks();
        let after = monotonic_ns();
        if after - before < best.0 {
            best = (after - before, Pair { ticks: t, mono_ns: before + (after - before) / 2 });
        }
    }
    best.1
}

/// The counter is used only if the CPU guarantees a constant rate in all states and the kernel uses it as its clock source: the
/// kernel monitors it and drops it when CPUs disagree.
#[cfg(target_arch = "x86_64")]
fn tsc_is_trusted() -> bool {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = flags.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    let has = |flag| flags.split_ascii_whitespace().any(|f| f == flag);
    let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    has("constant_tsc") && has("nonstop_tsc") && source.is_ok_and(|s| s.trim() == "tsc")
}

/// Ticks per second: the median of several rounds, or `None` if the rounds disagree by more than 0.1 % (a loaded hypervisor).
#[cfg(target_arch = "x86_64")]
fn tsc_hz() -> Option<f64> {
    let mut rates = Vec::with_capacity(ROUNDS);
    let first = best_pair(tsc);
    let mut last = first;
    for _ in 0..ROUNDS {
        let until = Instant::now() + ROUND;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let pair = best_pair(tsc);
        rates.push((pair.ticks - last.ticks) as f64 * 1e9 / (pair.mono_ns - last.mono_ns) as f64);
        last = pair;
    }
    rates.sort_by(f64::total_cmp);
    let median = rates[rates.len() / 2];
    let whole = (last.ticks - first.ticks) as f64 * 1e9 / (last.mono_ns - first.mono_ns) as f64;
    ((whole / median - 1.0).abs() < 1e-3 && median > 1e6).then_some(whole)
}

#[cfg(target_arch = "x86_64")]
fn fixed_point(value: f64) -> u64 {
    (value * (1u64 << 32) as f64).round() as u64
}

impl fathom_workload::drive::Timeline for Clock {
    fn ticks(&self, ns: u64) -> u64 {
        Self::ticks(self, ns)
    }

    fn between(&self, earlier: u64, later: u64) -> u64 {
        Self::between(self, earlier, later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_ns_are_inverse() {
        for clock in [Clock::calibrated(), Clock::monotonic()] {
            let back = clock.ns(clock.ticks(1_000_000_000));
            assert!(back.abs_diff(1_000_000_000) <= 2, "{back}");
        }
    }

    #[test]
    fn the_clock_agrees_with_the_systems() {
        let clock = Clock::calibrated();
        let start = clock.mark();
        std::thread::sleep(Duration::from_millis(20));
        let drift = clock.drift_ppm(start).unwrap();
        assert!(drift.abs() < 10_000.0, "{drift} ppm");
    }

    #[test]
    fn a_longer_look_gives_the_same_rate_or_a_better_one() {
        let clock = Clock::calibrated();
        let mark = clock.mark();
        assert!(clock.is_young(mark));
        std::thread::sleep(Duration::from_millis(10));
        let refined = clock.refined(mark);
        assert!((refined.hz / clock.hz - 1.0).abs() < 1e-3, "{refined:?} and {clock:?}");
        let wrong = Clock { hz: clock.hz * 2.0, ..clock };
        assert_eq!(wrong.refined(mark).hz, wrong.hz);
    }

    #[test]
    fn times_of_the_systems_clock_are_found() {
        let clock = Clock::calibrated();
        let (ticks, mono) = clock.mark();
        for ahead_ms in [-20i64, 0, 20] {
            let at = clock.at_monotonic(mono.saturating_add_signed(ahead_ms * 1_000_000));
            let off = at.abs_diff(ticks.saturating_add_signed(clock.ticks(1_000_000) as i64 * ahead_ms));
            assert!(clock.ns(off) < 500_000, "{} ns off at {ahead_ms} ms", clock.ns(off));
        }
    }

    #[test]
    fn a_long_interval_does_not_overflow() {
        let clock = Clock { source: Source::Monotonic, ns_per_tick: 1 << 32, ticks_per_ns: 1 << 32, hz: 1e9 };
        assert_eq!(clock.ns(u64::MAX), u64::MAX);
    }

    #[test]
    fn the_description_has_figures() {
        let d = Clock::calibrated().describe();
        assert!(d.cost_ns > 0.0 && d.resolution_ns > 0.0 && d.hz > 1e6, "{d:?}");
    }
}
