//! A log-linear latency histogram over the whole range of `u64` nanoseconds: values below 64 are exact, above that each power of
//! two is cut into 64 buckets, so a bucket's midpoint is within 1/128 (0.79 %) of every value in it. Nothing saturates. The
//! exact sum, minimum and maximum are kept beside the buckets.
//!
//! Cost: 30 KiB of counters for a dense one; recording is one leading-zero count, one shift and one increment (about 2 ns).
//! The engine records into plain arrays of [`BUCKETS`] counters in shared memory and turns them into a [`Histogram`] at the end.

use serde::{Deserialize, Serialize};

/// log2 of the number of buckets a power of two is cut into.
const SUB_BITS: u32 = 6;
/// Number of buckets a power of two is cut into.
const SUB: usize = 1 << SUB_BITS;
/// Number of buckets that cover every `u64`: 64 exact ones and 64 for each of the remaining 58 powers of two.
pub const BUCKETS: usize = SUB + (64 - SUB_BITS as usize) * SUB;

/// The bucket that holds `value`. Always below [`BUCKETS`].
#[inline]
#[must_use]
pub fn bucket_of(value: u64) -> usize {
    if value < SUB as u64 {
        return value as usize;
    }
    let power = 63 - value.leading_zeros(); // >= SUB_BITS
    let shift = power - SUB_BITS;
    // (value >> shift) is in SUB..2*SUB; group `shift` starts at (shift + 1) * SUB.
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

/// Lowest value of a bucket.
#[must_use]
pub fn bucket_low(bucket: usize) -> u64 {
    if bucket < SUB {
        return bucket as u64;
    }
    let shift = (bucket >> SUB_BITS) - 1;
    (((bucket & (SUB - 1)) + SUB) as u64) << shift
}

/// Number of values a bucket covers.
#[must_use]
pub fn bucket_width(bucket: usize) -> u64 {
    if bucket < SUB { 1 } else { 1 << ((bucket >> SUB_BITS) - 1) }
}

/// The value a bucket stands for in percentiles: its midpoint.
#[must_use]
pub fn bucket_value(bucket: usize) -> u64 {
    bucket_low(bucket) + bucket_width(bucket) / 2
}

/// A finished histogram of nanoseconds. See the module text for range and error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// (bucket, count) of every bucket that is not empty, ascending.
    counts: Vec<(u32, u64)>,
    count: u64,
    #[serde(rename = "sum_ns")]
    sum: u128,
    #[serde(rename = "min_ns")]
    min: u64,
    #[serde(rename = "max_ns")]
    max: u64,
}

impl Histogram {
    /// Builds one from dense counters and the exact figures kept beside them. `counts` may be shorter than [`BUCKETS`].
    #[must_use]
    pub fn from_dense(counts: &[u64], sum: u128, min: u64, max: u64) -> Self {
        assert!(counts.len() <= BUCKETS, "a histogram has {BUCKETS} buckets, not {}", counts.len());
        let sparse: Vec<(u32, u64)> =
            counts.iter().enumerate().filter(|&(_, &n)| n > 0).map(|(i, &n)| (i as u32, n)).collect();
        let count = sparse.iter().map(|&(_, n)| n).sum();
        Self { counts: sparse, count, sum, min: if count == 0 { 0 } else { min }, max }
    }

    /// Builds one from single values; for tests and for imports.
    #[must_use]
    pub fn from_values(values: impl IntoIterator<Item = u64>) -> Self {
        let mut dense = vec![0u64; BUCKETS];
        let (mut sum, mut min, mut max) = (0u128, u64::MAX, 0);
        for v in values {
            dense[bucket_of(v)] += 1;
            sum += u128::from(v);
            min = min.min(v);
            max = max.max(v);
        }
        Self::from_dense(&dense, sum, min, max)
    }

    /// Number of values recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact smallest value in ns, 0 when empty.
    #[must_use]
    pub fn min_ns(&self) -> u64 {
        self.min
    }

    /// Exact largest value in ns, 0 when empty.
    #[must_use]
    pub fn max_ns(&self) -> u64 {
        self.max
    }

    /// Exact sum of all values in ns.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum
    }

    /// Exact mean in ns, `None` when empty.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The value at percentile `p` (0..=100) in ns: midpoint of the first bucket at which the running count reaches p % of all,
    /// held inside the exact minimum and maximum. `None` when empty.
    #[must_use]
    pub fn percentile_ns(&self, p: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let wanted = ((p / 100.0 * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut running = 0;
        for &(bucket, n) in &self.counts {
            running += n;
            if running >= wanted {
                return Some(bucket_value(bucket as usize).clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }

    /// (lowest value, width, count) of each bucket that is not empty, ascending; ns.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts.iter().map(|&(b, n)| (bucket_low(b as usize), bucket_width(b as usize), n))
    }

    /// Adds another histogram's values to this one. Exact: no value changes its bucket.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let mut dense = std::collections::BTreeMap::new();
        for &(b, n) in self.counts.iter().chain(&other.counts) {
            *dense.entry(b).or_insert(0u64) += n;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.counts = dense.into_iter().collect();
        self.count += other.count;
        self.sum += other.sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_value_has_a_bucket() {
        assert_eq!(bucket_of(0), 0);
        assert_eq!(bucket_of(63), 63);
        assert_eq!(bucket_of(64), 64);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn an_empty_histogram_has_no_percentile() {
        assert_eq!(Histogram::default().percentile_ns(50.0), None);
        assert_eq!(Histogram::default().mean_ns(), None);
    }

    #[test]
    fn a_single_value_is_every_percentile() {
        let h = Histogram::from_values([123_456_789]);
        for p in [0.0, 50.0, 99.99, 100.0] {
            assert_eq!(h.percentile_ns(p), Some(123_456_789));
        }
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket_and_near_its_midpoint(v in any::<u64>()) {
            let b = bucket_of(v);
            prop_assert!(b < BUCKETS);
            prop_assert!(bucket_low(b) <= v && v - bucket_low(b) < bucket_width(b));
            let error = (bucket_value(b) as f64 - v as f64).abs() / (v.max(1) as f64);
            prop_assert!(error <= 0.01, "{v}: {error}");
        }

        #[test]
        fn merging_equals_recording_together(a in prop::collection::vec(any::<u64>(), 0..50), b in prop::collection::vec(any::<u64>(), 0..50)) {
            let mut merged = Histogram::from_values(a.iter().copied());
            merged.merge(&Histogram::from_values(b.iter().copied()));
            prop_assert_eq!(merged, Histogram::from_values(a.into_iter().chain(b)));
        }
    }
}
