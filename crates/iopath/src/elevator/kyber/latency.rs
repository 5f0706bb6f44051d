//! Kyber's histograms: per domain the time in the device and the total time, in eight buckets of a quarter of the target each, and the look
//! at them every 100 ms.

use crate::time::Nanos;

/// Domains whose latency counts: reads, writes, discards.
const TIMED: usize = 3;
const BUCKETS: usize = 8;
/// From this bucket on a latency is above its target.
const FIRST_BAD: u32 = 4;
/// Enough samples for a percentile; with fewer it waits for a second.
const ENOUGH: u32 = 500;
const PATIENCE: Nanos = Nanos::from_secs(1);
const INTERVAL: Nanos = Nanos::from_millis(100);

#[derive(Clone, Debug, Default)]
struct Histogram {
    buckets: [u32; BUCKETS],
    /// Until when more samples are waited for.
    patience: Option<Nanos>,
}

impl Histogram {
    fn add(&mut self, target: u64, latency: Nanos) {
        let quarter = (target / 4).max(1);
        let bucket = (latency.0.saturating_sub(1) / quarter).min(BUCKETS as u64 - 1);
        self.buckets[bucket as usize] += 1;
    }

    /// The bucket of a percentile; then the count begins anew. `None`: not enough samples yet.
    fn percentile(&mut self, now: Nanos, percent: u32) -> Option<u32> {
        let samples: u32 = self.buckets.iter().sum();
        if samples == 0 {
            return None;
        }
        let until = *self.patience.get_or_insert(now + PATIENCE);
        if samples < ENOUGH && now < until {
            return None;
        }
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

/// All histograms, and when they are looked at next.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies {
    device: [Histogram; TIMED],
    total: [Histogram; TIMED],
    /// The last p99 of each domain since there was trouble.
    remembered: [Option<u32>; TIMED],
    due: Option<Nanos>,
}

impl Latencies {
    pub(super) fn add(&mut self, now: Nanos, domain: usize, target: u64, queued: Nanos, started: Nanos) {
        self.device[domain].add(target, now - started);
        self.total[domain].add(target, now - queued);
        self.due.get_or_insert(now + INTERVAL);
    }

    /// When it is time: tells `adjust` the domains whose number of tokens changes, and the bucket of their p99.
    pub(super) fn look(&mut self, now: Nanos, mut adjust: impl FnMut(usize, u32)) {
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        self.due = None;
        let mut trouble = false;
        for histogram in &mut self.device {
            trouble |= histogram.percentile(now, 90).is_some_and(|bucket| bucket >= FIRST_BAD);
        }
        for domain in 0..TIMED {
            let mut p99 = self.total[domain].percentile(now, 99);
            if trouble {
                // Once per trouble: the next time needs new samples.
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
        let mut histogram = Histogram::default();
        for n in 0..499 {
            histogram.add(4000, Nanos(if n < 450 { 1000 } else { 9000 }));
        }
        assert_eq!(histogram.percentile(Nanos(0), 90), None);
        assert_eq!(histogram.percentile(Nanos::from_secs(1), 90), Some(0));
        assert_eq!(histogram.percentile(Nanos::from_secs(9), 90), None, "begun anew");
        for n in 0..500 {
            histogram.add(4000, Nanos(if n < 440 { 1001 } else { 9000 }));
        }
        assert_eq!(histogram.percentile(Nanos(0), 90), Some(7));
    }
}
