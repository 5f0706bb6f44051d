//! Kyber's histograms: per domain the device time and the total time, in eight buckets of a quarter of the target each, evaluated every
//! 100 ms.

use crate::time::Nanos;

/// Domains with latency targets: reads, writes, discards.
const TIMED: usize = 3;
const BUCKETS: usize = 8;
/// From this bucket on a latency exceeds its target.
const FIRST_BAD: u32 = 4;
/// Enough samples for a percentile; with fewer it waits for a second.
const ENOUGH: u32 = 500;
const PATIENCE: Nanos = Nanos::from_secs(1);
const INTERVAL: Nanos = Nanos::from_millis(100);

#[derive(Clone, Debug, Default)]
struct Histogram {
    buckets: [u32; BUCKETS],
}

impl Histogram {
    fn add(&mut self, target: u64, latency: Nanos) {
        let quarter = (target / 4).max(1);
        let bucket = (latency.0.saturating_sub(1) / quarter).min(BUCKETS as u64 - 1);
        self.buckets[bucket as usize] += 1;
    }

    /// The bucket of a percentile; resets the counts. `None`: too few samples so far, with a wait until `patience`.
    fn percentile(&mut self, now: Nanos, percent: u32, patience: &mut Option<Nanos>) -> Option<u32> {
        let samples: u32 = self.buckets.iter().sum();
        if samples == 0 {
            return None;
        }
        let until = *patience.get_or_insert(now + PATIENCE);
        if samples < ENOUGH && now < until {
            return None;
        }
        *patience = None;
        let mut left = (samples * percent).div_ceil(100);
        let mut found = BUCKETS - 1;
        for (bucket, &count) in self.buckets.iter().enumerate().take(BUCKETS - 1) {
            if count >= left {
                found = bucket;
                break;
            }
            left -= count;
        }
        *self = Self::default();
        Some(found as u32)
    }
}

/// All histograms, and the time of the next evaluation.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies {
    device: [Histogram; TIMED],
    total: [Histogram; TIMED],
    /// Until when to wait for more samples of a domain. Both histograms share it, as in the kernel: with few samples the one evaluated
    /// first has its percentile after a second, and the other starts its wait again.
    patience: [Option<Nanos>; TIMED],
    /// The last p99 of each domain since a latency exceeded its target.
    remembered: [Option<u32>; TIMED],
    due: Option<Nanos>,
}

impl Latencies {
    pub(super) fn add(&mut self, now: Nanos, domain: usize, target: u64, queued: Nanos, started: Nanos) {
        self.device[domain].add(target, now - started);
        self.total[domain].add(target, now - queued);
        self.due.get_or_insert(now + INTERVAL);
    }

    /// Whether no sample has been added.
    #[cfg(test)]
    pub(super) fn is_untouched(&self) -> bool {
        self.due.is_none()
    }

    /// Evaluates the histograms when it is time: calls `adjust` for the domains whose tokens change, with the bucket of their p99.
    pub(super) fn look(&mut self, now: Nanos, mut adjust: impl FnMut(usize, u32)) {
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        self.due = None;
        let mut trouble = false;
        for (histogram, patience) in self.device.iter_mut().zip(&mut self.patience) {
            trouble |= histogram.percentile(now, 90, patience).is_some_and(|bucket| bucket >= FIRST_BAD);
        }
        for domain in 0..TIMED {
            let mut p99 = self.total[domain].percentile(now, 99, &mut self.patience[domain]);
            if trouble {
                // Used once: next time new samples are needed.
                p99 = p99.or(self.remembered[domain]);
                self.remembered[domain] = None;
            } else if p99.is_some() {
                self.remembered[domain] = p99;
            }
            if let Some(bucket) = p99
                && (trouble || bucket >= FIRST_BAD)
            {
                adjust(domain, bucket);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_500_samples_or_a_second() {
        let mut patience = None;
        let mut histogram = Histogram::default();
        for n in 0..499 {
            histogram.add(4000, Nanos(if n < 450 { 1000 } else { 9000 }));
        }
        assert_eq!(histogram.percentile(Nanos(0), 90, &mut patience), None);
        assert_eq!(histogram.percentile(Nanos::from_secs(1), 90, &mut patience), Some(0));
        assert_eq!(histogram.percentile(Nanos::from_secs(9), 90, &mut patience), None, "started again");
        for n in 0..500 {
            histogram.add(4000, Nanos(if n < 440 { 1001 } else { 9000 }));
        }
        assert_eq!(histogram.percentile(Nanos(0), 90, &mut patience), Some(7));
    }

    #[test]
    fn the_histograms_of_a_domain_share_their_patience() {
        let mut latencies = Latencies::default();
        let mut looks = Vec::new();
        // A hundred slow operations per second: the device's percentile is there after each second, the total one after 500 samples.
        for ms in (0..12_000).step_by(10) {
            let now = Nanos::from_millis(ms + 100);
            latencies.add(now, 0, 4_000_000, Nanos::from_millis(ms), Nanos::from_millis(ms));
            latencies.look(now, |domain, bucket| looks.push((ms / 1000, domain, bucket)));
        }
        // And the p99 is remembered for the next second's evaluation.
        assert_eq!(looks, [(5, 0, 7), (6, 0, 7), (10, 0, 7), (11, 0, 7)].as_slice());
    }
}
