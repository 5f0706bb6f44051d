//! The distribution of command times, besides the time per byte: the observed times are divided into equal shares, each represented by
//! its mean. Memory does not grow with the trace.

use super::service::Service;
use super::{FitError, Value};
use crate::devices::SECTOR_BYTES;
use fathom_record::histogram::{BUCKETS, bucket_of, bucket_value};

/// Number of shares.
const SHARES: usize = 128;
const LEAST: u64 = 20;

/// Histogram of observed times.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeSample {
    /// Count per bucket; allocated on first use.
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
}

impl TimeSample {
    pub fn add(&mut self, ns: u64) {
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKETS];
        }
        self.counts[bucket_of(ns)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds the times of another one.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
        } else {
            self.counts.iter_mut().zip(&other.counts).for_each(|(n, more)| *n += more);
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
    }

    pub fn median_us(&self) -> Option<f64> {
        let mut below = 0;
        let middle = self.counts.iter().position(|&n| {
            below += n;
            2 * below > self.count
        });
        middle.map(|bucket| bucket_value(bucket) as f64 / 1e3)
    }

    pub fn mean_us(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e3)
    }

    /// Means of equal shares, ascending, us: at most [`SHARES`], and at most one per time.
    pub fn shares_us(&self) -> Vec<f64> {
        let shares = (self.count.min(SHARES as u64)) as usize;
        let size = self.count as f64 / shares.max(1) as f64;
        let (mut means, mut sum, mut room) = (Vec::with_capacity(shares), 0.0, size);
        for (bucket, &n) in self.counts.iter().enumerate().filter(|&(_, &n)| n > 0) {
            let (mut left, ns) = (n as f64, bucket_value(bucket) as f64);
            while left > 0.0 && means.len() < shares {
                let taken = left.min(room);
                sum += taken * ns;
                left -= taken;
                room -= taken;
                // A remainder due to rounding is dropped.
                if room <= size * 1e-9 {
                    means.push(sum / size / 1e3);
                    (sum, room) = (0.0, size);
                }
            }
        }
        if means.len() < shares && room < size {
            means.push(sum / (size - room) / 1e3);
        }
        means
    }
}

/// Command times of a device that serves several commands in parallel.
#[derive(Clone, Debug)]
pub struct Spread {
    channels: usize,
    ns_per_byte: f64,
    reads: TimeSample,
    writes: TimeSample,
}

impl Spread {
    /// For a device with `channels` channels and this time per byte.
    #[must_use]
    pub fn new(channels: usize, ns_per_byte: f64) -> Self {
        Self { channels, ns_per_byte, reads: TimeSample::default(), writes: TimeSample::default() }
    }

    /// Commands served in parallel.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Adds a request.
    pub fn add(&mut self, service: &Service) {
        let bytes = u64::from(service.sectors) * SECTOR_BYTES;
        let for_bytes = (bytes as f64 * self.ns_per_byte + 0.5) as u64;
        let seen = if service.write { &mut self.writes } else { &mut self.reads };
        seen.add(service.channel_ns.saturating_sub(for_bytes));
    }

    /// The values other than the lists.
    ///
    /// # Errors
    /// Too few requests.
    pub fn fit(&self) -> Result<Vec<Value>, FitError> {
        let found = self.reads.count + self.writes.count;
        if found < LEAST {
            return Err(FitError::TooFew { found, wanted: LEAST });
        }
        let value = |key, value, note: String| Value { key, value, standard_error: None, src: "fit", note };
        let mb_s = if self.ns_per_byte > 0.0 { 1e3 / self.ns_per_byte } else { 0.0 };
        let rate = if mb_s > 0.0 {
            "least squares of times over sizes"
        } else {
            "times do not rise with sizes in this trace"
        };
        let channels = "the fewest that fit the first half about as well as any other number";
        let mut values = vec![
            value("service.channels", self.channels as f64, channels.into()),
            value("service.mb_s", mb_s, rate.into()),
        ];
        for (key, seen) in [("service.read_us", &self.reads), ("service.write_us", &self.writes)] {
            if let Some(mean) = seen.mean_us() {
                values.push(value(key, mean, format!("mean of the list, from {} requests", seen.count)));
            }
        }
        Ok(values)
    }

    /// The lists as lines of a profile. A direction without requests takes the times of the other.
    pub(super) fn lines(&self) -> String {
        let line = |key: &str, seen: &TimeSample, other: &TimeSample| {
            let (of, src, note) = if seen.count > 0 {
                (seen, "fit", format!("means of equal shares of {} requests", seen.count))
            } else {
                (other, "guess", "copied from the other direction; this one had no requests".into())
            };
            let times: Vec<String> = of.shares_us().iter().map(|us| format!("{us:.3}")).collect();
            format!("{key} = {{ value = [{}], src = \"{src}\", note = \"{note}\" }}\n", times.join(", "))
        };
        line("read_us", &self.reads, &self.writes) + &line("write_us", &self.writes, &self.reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_the_mean_of_the_sample() {
        for count in [1_u64, 5, 127, 128, 129, 1000, 40_000] {
            let mut seen = TimeSample::default();
            (0..count).for_each(|n| seen.add(if n % 40 == 0 { 98_000_000 } else { 50_000 + n }));
            let shares = seen.shares_us();
            assert_eq!(shares.len(), count.min(128) as usize);
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            let wanted = seen.mean_us().unwrap();
            assert!((mean / wanted - 1.0).abs() < 0.01, "{count}: {mean} {wanted}");
            assert!(shares.is_sorted());
        }
    }
}
