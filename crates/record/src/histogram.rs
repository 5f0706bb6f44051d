//! A log-linear latency histogram over the whole range of `u64` nanoseconds: values below 64 are exact, above that each power
//! of two is split into 64 buckets, so a bucket's midpoint is within 1/128 (0.79 %) of every value in it. Nothing saturates.
//! The exact sum, minimum and maximum are kept beside the buckets; only the difference of two snapshots derives them from the
//! buckets.
//!
//! Cost: 30 KiB of counters for a dense one; recording takes one leading-zero count, one shift and one increment (about 2 ns).
//! The engine records into plain arrays of [`BUCKETS`] counters in shared memory and converts them to a [`Histogram`] at the
//! end.

use serde::{Deserialize, Serialize};

/// log2 of the number of buckets per power of two.
const SUB_BITS: u32 = 6;
/// Number of buckets per power of two.
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

/// The value that represents a bucket in percentiles: its midpoint.
#[must_use]
pub fn bucket_value(bucket: usize) -> u64 {
    bucket_low(bucket) + bucket_width(bucket) / 2
}

/// A finished histogram of nanoseconds. See the module text for range and error. Deserializing checks that the buckets exist
/// and ascend, that the count is their sum, and that the minimum is not above the maximum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
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

/// A histogram as read, before validation.
#[derive(Deserialize)]
struct Unchecked {
    counts: Vec<(u32, u64)>,
    count: u64,
    #[serde(rename = "sum_ns")]
    sum: u128,
    #[serde(rename = "min_ns")]
    min: u64,
    #[serde(rename = "max_ns")]
    max: u64,
}

/// Why a text is not a valid histogram.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum InvalidHistogram {
    #[error("the histogram has a bucket {0}; the last possible one is {last}", last = BUCKETS - 1)]
    Bucket(u32),
    #[error("the histogram's buckets do not ascend at bucket {0}")]
    Order(u32),
    #[error("the histogram's count is {count}, but its buckets add up to {found}")]
    Count { count: u64, found: u128 },
    #[error("the histogram's min_ns of {min} is above its max_ns of {max}")]
    Range { min: u64, max: u64 },
}

impl TryFrom<Unchecked> for Histogram {
    type Error = InvalidHistogram;

    fn try_from(h: Unchecked) -> Result<Self, InvalidHistogram> {
        if let Some(&(bucket, _)) = h.counts.iter().find(|&&(b, _)| b as usize >= BUCKETS) {
            return Err(InvalidHistogram::Bucket(bucket));
        }
        if let Some(pair) = h.counts.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(InvalidHistogram::Order(pair[1].0));
        }
        let found: u128 = h.counts.iter().map(|&(_, n)| u128::from(n)).sum();
        if found != u128::from(h.count) {
            return Err(InvalidHistogram::Count { count: h.count, found });
        }
        if h.min > h.max {
            return Err(InvalidHistogram::Range { min: h.min, max: h.max });
        }
        let counts = h.counts.into_iter().filter(|&(_, n)| n > 0).collect();
        Ok(Self { counts, count: h.count, sum: h.sum, min: h.min, max: h.max })
    }
}

impl Histogram {
    /// Builds one from dense counters and the exact figures kept beside them. `counts` may be shorter than [`BUCKETS`].
    #[must_use]
    pub fn from_dense(counts: &[u64], sum: u128, min: u64, max: u64) -> Self {
        assert!(counts.len() <= BUCKETS, "a histogram has {BUCKETS} buckets, not {}", counts.len());
        let sparse: Vec<(u32, u64)> =
            counts.iter().enumerate().filter(|&(_, &n)| n > 0).map(|(i, &n)| (i as u32, n)).collect();
        let count = sparse.iter().fold(0u64, |sum, &(_, n)| sum.saturating_add(n));
        Self { counts: sparse, count, sum, min: if count == 0 { 0 } else { min }, max }
    }

    /// The values that dense counters gained between two snapshots: what one interval added to a running histogram. Either
    /// slice may be shorter than [`BUCKETS`], the rest counts as 0. A bucket that shrank, which counters never do, counts as
    /// unchanged.
    ///
    /// The figures beside the counters are then only as exact as the buckets (within 1/64): the minimum is the low edge of the
    /// first bucket and the maximum the high edge of the last, so they enclose the true ones. The sum, and hence the mean,
    /// takes each value as its bucket's midpoint (within 1/128).
    #[must_use]
    pub fn from_dense_difference(now: &[u64], before: &[u64]) -> Self {
        assert!(now.len() <= BUCKETS, "a histogram has {BUCKETS} buckets, not {}", now.len());
        let mut counts = Vec::new();
        let (mut count, mut sum) = (0u64, 0u128);
        for (bucket, &n) in now.iter().enumerate() {
            let gained = n.saturating_sub(before.get(bucket).copied().unwrap_or(0));
            if gained > 0 {
                counts.push((bucket as u32, gained));
                count = count.saturating_add(gained);
                sum = sum.saturating_add(u128::from(bucket_value(bucket)) * u128::from(gained));
            }
        }
        let min = counts.first().map_or(0, |&(b, _)| bucket_low(b as usize));
        let max = counts.last().map_or(0, |&(b, _)| bucket_low(b as usize) + (bucket_width(b as usize) - 1));
        Self { counts, count, sum, min, max }
    }

    /// Builds one from single values; for tests and for imports.
    #[must_use]
    pub fn from_values(values: impl IntoIterator<Item = u64>) -> Self {
        let mut dense = vec![0u64; BUCKETS];
        let (mut sum, mut min, mut max) = (0u128, u64::MAX, 0);
        for v in values {
            dense[bucket_of(v)] += 1;
            sum = sum.saturating_add(u128::from(v));
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

    /// Smallest value in ns, 0 when empty; exact unless it comes from [`from_dense_difference`](Self::from_dense_difference).
    #[must_use]
    pub fn min_ns(&self) -> u64 {
        self.min
    }

    /// Largest value in ns, 0 when empty; exact unless it comes from [`from_dense_difference`](Self::from_dense_difference).
    #[must_use]
    pub fn max_ns(&self) -> u64 {
        self.max
    }

    /// Sum of all values in ns; exact unless it comes from [`from_dense_difference`](Self::from_dense_difference).
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum
    }

    /// Mean in ns, `None` when empty; as exact as the sum.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The value at percentile `p` (0..=100) in ns: midpoint of the first bucket at which the running count reaches p % of all,
    /// clamped to the exact minimum and maximum. `None` when empty.
    #[must_use]
    pub fn percentile_ns(&self, p: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let wanted = ((p / 100.0 * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut running = 0u64;
        for &(bucket, n) in &self.counts {
            running = running.saturating_add(n);
            if running >= wanted {
                return Some(bucket_value(bucket as usize).max(self.min).min(self.max));
            }
        }
        Some(self.max)
    }

    /// (lowest value, width, count) of each non-empty bucket, ascending; ns.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts.iter().map(|&(b, n)| (bucket_low(b as usize), bucket_width(b as usize), n))
    }

    /// Adds another histogram's values to this one. Exact: no value changes its bucket. Counts saturate at 2^64 - 1, which only
    /// a forged text can reach.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        // Most phases have one worker, so there is nothing to merge.
        if self.count == 0 {
            self.clone_from(other);
            return;
        }
        // Merges two ascending lists. Storing a phase merges hundreds of workers with hundreds of buckets each.
        let mut both = Vec::with_capacity(self.counts.len() + other.counts.len());
        let (mut mine, mut theirs) = (self.counts.iter().peekable(), other.counts.iter().peekable());
        while let (Some(&&(a, n)), Some(&&(b, m))) = (mine.peek(), theirs.peek()) {
            both.push((a.min(b), if a <= b { n } else { 0u64 }.saturating_add(if b <= a { m } else { 0 })));
            if a <= b {
                mine.next();
            }
            if b <= a {
                theirs.next();
            }
        }
        both.extend(mine.chain(theirs));
        debug_assert!(both.is_sorted_by(|a, b| a.0 < b.0), "the buckets of a merged histogram ascend");
        self.counts = both;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
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

    fn read(text: &str) -> Result<Histogram, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    #[test]
    fn an_invalid_histogram_is_refused_with_a_reason() {
        let good = r#"{"counts":[[3,1],[5,2]],"count":3,"sum_ns":13,"min_ns":3,"max_ns":5}"#;
        assert_eq!(read(good), Ok(Histogram::from_values([3, 5, 5])));
        for (old, new, said) in [
            ("[5,2]", "[3776,2]", "a bucket 3776; the last possible one is 3775"),
            ("[5,2]", "[4294967295,2]", "a bucket 4294967295"),
            ("[5,2]", "[3,2]", "do not ascend at bucket 3"),
            ("[5,2]", "[5,18446744073709551615]", "its buckets add up to 18446744073709551616"),
            ("\"count\":3", "\"count\":4", "count is 4, but its buckets add up to 3"),
            ("\"min_ns\":3", "\"min_ns\":6", "min_ns of 6 is above its max_ns of 5"),
        ] {
            let error = read(&good.replace(old, new)).expect_err(new);
            assert!(error.contains(said), "{new}: {error}");
        }
    }

    #[test]
    fn claims_near_the_end_of_the_range_do_not_overflow() {
        let most = r#"{"counts":[[3775,18446744073709551615]],"count":18446744073709551615,"sum_ns":340282366920938463463374607431768211455,"min_ns":1,"max_ns":18446744073709551615}"#;
        let mut sum = read(most).expect("possible, if hardly");
        sum.merge(&sum.clone());
        assert_eq!((sum.count(), sum.sum_ns()), (u64::MAX, u128::MAX));
        assert!(sum.percentile_ns(99.0).is_some() && sum.mean_ns().is_some());
        // A damaged store may hold a minimum above the maximum beside valid counters.
        let odd = Histogram::from_dense(&[0, u64::MAX, u64::MAX], 5, 9, 2);
        assert_eq!((odd.count(), odd.percentile_ns(50.0)), (u64::MAX, Some(2)));
    }

    fn dense(values: &[u64]) -> Vec<u64> {
        let mut counts = vec![0u64; BUCKETS];
        for &v in values {
            counts[bucket_of(v)] += 1;
        }
        counts
    }

    #[test]
    fn a_difference_without_news_is_empty() {
        let counts = dense(&[5, 5_000, u64::MAX]);
        assert_eq!(Histogram::from_dense_difference(&counts, &counts), Histogram::default());
        assert_eq!(Histogram::from_dense_difference(&[], &counts), Histogram::default());
        // Counters never shrink; a torn snapshot must not yield a negative count.
        assert_eq!(Histogram::from_dense_difference(&[0, 1], &[3]), Histogram::from_values([1]));
    }

    proptest! {
        #[test]
        fn a_difference_holds_the_buckets_of_what_was_added(before in prop::collection::vec(any::<u64>(), 0..50), added in prop::collection::vec(any::<u64>(), 1..50)) {
            let now: Vec<u64> = before.iter().chain(&added).copied().collect();
            let got = Histogram::from_dense_difference(&dense(&now), &dense(&before));
            let true_one = Histogram::from_values(added.iter().copied());
            prop_assert!(got.buckets().eq(true_one.buckets()));
            prop_assert_eq!(got.count(), true_one.count());
            prop_assert!(got.min_ns() <= true_one.min_ns() && got.max_ns() >= true_one.max_ns());
            let (sum, true_sum) = (got.sum_ns() as f64, true_one.sum_ns() as f64);
            prop_assert!((sum - true_sum).abs() <= true_sum / 64.0, "{sum} {true_sum}");
            // The result passes the same check as a text.
            prop_assert_eq!(read(&serde_json::to_string(&got).expect("writes")), Ok(got));
        }

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
