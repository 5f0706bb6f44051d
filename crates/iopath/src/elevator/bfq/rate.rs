//! The peak rate of a device, from which follow the largest budget (the sectors of the longest turn) and how long a new queue is raised.
//! Measured over a second of requests; random ones count only if they were faster than the current estimate.

use crate::time::Nanos;

/// Fixed-point shift of rates, in sectors per microsecond.
const SHIFT: u32 = 16;
/// The kernel's reference rates: a rotating disk, and one that does not rotate (both in fixed point).
const REFERENCE: [u64; 2] = [14_000, 33_000];
/// Start time of a large application on them, ms.
const REFERENCE_START_MS: [u64; 2] = [7_000, 2_500];
/// A rate is computed after a second,
const WINDOW: Nanos = Nanos::from_secs(1);
/// or when nothing has been dispatched for this long;
const PAUSE: Nanos = Nanos::from_millis(100);
/// but not from fewer requests than this, or less time.
const LEAST_SAMPLES: u64 = 32;
const LEAST_TIME: Nanos = Nanos::from_millis(300);
/// A device with a completion this recently has not been idle.
const JUST_NOW: Nanos = Nanos::from_millis(2);

/// Measurement of the device's rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    peak: u64,
    samples: u64,
    sequential: u64,
    sectors: u64,
    largest: u64,
    first_dispatch: Nanos,
    last_dispatch: Nanos,
    last_completion: Nanos,
    rotational: bool,
}

impl Rate {
    pub(super) fn new(rotational: bool) -> Self {
        Self {
            peak: REFERENCE[usize::from(!rotational)] * 2 / 3,
            samples: 0,
            sequential: 0,
            sectors: 0,
            largest: 0,
            first_dispatch: Nanos::ZERO,
            last_dispatch: Nanos::ZERO,
            last_completion: Nanos::ZERO,
            rotational,
        }
    }

    /// How long a new queue is raised.
    pub(super) fn raise_for(&self) -> Nanos {
        let kind = usize::from(!self.rotational);
        Nanos::from_millis((REFERENCE[kind] * REFERENCE_START_MS[kind] / self.peak).clamp(3_000, 25_000))
    }

    /// Records a dispatch to the device, which has `in_device` other requests in flight. Returns the sectors of the longest turn, if
    /// newly learned.
    pub(super) fn dispatched(
        &mut self,
        now: Nanos,
        in_device: u32,
        sectors: u64,
        seeks: bool,
        longest: Nanos,
    ) -> Option<u64> {
        let mut learned = None;
        if self.samples == 0 {
            self.begin(now, sectors);
        } else if now - self.last_dispatch > PAUSE && in_device == 0 {
            learned = self.take(now, longest);
            self.begin(now, sectors);
        } else {
            self.samples += 1;
            let busy = in_device > 0 || now - self.last_completion < JUST_NOW;
            self.sequential += u64::from(busy && !seeks);
            self.sectors += sectors;
            self.largest = if self.samples.is_multiple_of(32) { sectors } else { self.largest.max(sectors) };
            if now - self.first_dispatch >= WINDOW {
                learned = self.take(now, longest);
                self.begin(now, sectors);
            }
        }
        self.last_dispatch = now;
        learned
    }

    /// Records a completion. If the device had been idle, or did less than 2^-10 sectors per microsecond, the rate is computed and a new
    /// window begins.
    pub(super) fn completed(&mut self, now: Nanos, longest: Nanos) -> Option<u64> {
        let micros = (now - self.last_completion).0 / 1000;
        let mut learned = None;
        if micros > 2000 && (self.largest << SHIFT) / micros < 1 << (SHIFT - 10) {
            learned = self.take(now, longest);
            self.samples = 0;
        }
        self.last_completion = now;
        learned
    }

    fn begin(&mut self, now: Nanos, sectors: u64) {
        self.first_dispatch = now;
        self.samples = 1;
        self.sequential = 0;
        self.sectors = sectors;
        self.largest = sectors;
    }

    fn take(&mut self, now: Nanos, longest: Nanos) -> Option<u64> {
        let mut took = now - self.first_dispatch;
        if self.samples < LEAST_SAMPLES || took < LEAST_TIME {
            return None;
        }
        took = took.max(self.last_completion - self.first_dispatch);
        let rate = (self.sectors << SHIFT) / (took.0 / 1000);
        let mostly_sequential = self.sequential >= self.samples * 3 / 4;
        if (!mostly_sequential && rate <= self.peak) || rate > 20 << SHIFT {
            return None;
        }
        // Longer and more sequential windows weigh more: up to 4 of 5 parts.
        let weight = ((9 * self.sequential / self.samples).saturating_mul(took.0) / WINDOW.0).min(8);
        let parts = 10 - weight;
        self.peak = (self.peak * (parts - 1) / parts + rate / parts).max(1);
        Some(((self.peak * (longest.0 / 1000)) >> SHIFT).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Nanos = Nanos::from_millis(124);

    /// 256 sectors per ms, for `millis` ms; returns the last learned value.
    fn streamed(rate: &mut Rate, millis: u64, seeks: bool) -> Option<u64> {
        (0..millis).filter_map(|n| rate.dispatched(Nanos::from_millis(n), 1, 256, seeks, LONGEST)).last()
    }

    #[test]
    fn a_second_of_sequential_requests_tells_the_rate() {
        let mut rate = Rate::new(true);
        assert_eq!(rate.raise_for(), Nanos::from_millis(14_000 * 7_000 / 9_333));
        let largest = streamed(&mut rate, 1100, false).unwrap();
        // 0.256 sectors per microsecond; half of the old estimate remains.
        assert_eq!(largest, (rate.peak * 124_000) >> 16);
        assert!((12_500..13_500).contains(&rate.peak), "{rate:?}");
    }

    #[test]
    fn random_requests_count_only_if_they_are_faster() {
        let mut rate = Rate { peak: 20_000, ..Rate::new(true) };
        assert_eq!(streamed(&mut rate, 1100, true), None);
        let mut rate = Rate { peak: 9_000, ..Rate::new(true) };
        assert!(streamed(&mut rate, 1100, true).is_some());
        assert!((9_700..9_900).contains(&rate.peak), "a tenth of it: {rate:?}");
    }

    #[test]
    fn a_time_longer_than_any_trace_weighs_the_most() {
        let mut rate = Rate::new(true);
        assert_eq!(streamed(&mut rate, 40, false), None);
        assert!(rate.completed(Nanos(u64::MAX / 4), LONGEST).is_some());
    }

    #[test]
    fn too_short_a_time_says_nothing() {
        let mut rate = Rate::new(true);
        assert_eq!(streamed(&mut rate, 100, false), None);
        assert_eq!(rate.dispatched(Nanos::from_millis(250), 0, 8, false, LONGEST), None);
        assert_eq!(rate.samples, 1);
    }
}
