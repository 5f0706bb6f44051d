//! Splits a series where its level changes: the piecewise-constant fit with least squared error and a penalty per cut (optimal
//! partitioning). The report passes the logarithm of throughput over the file size, so a level is a regime and a cut is the size at which
//! one ends. This module names and draws nothing.
//!
//! The penalty is 4 ln(n) sigma^2, with sigma estimated from the differences of neighbours (the few differences at cuts do not move their
//! median). Cost: O(n^2) time, O(n) memory; a surface has a dozen or two rows.

use std::ops::Range;

/// Criteria for a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Neighbouring levels closer than this are merged.
    pub min_step: f64,
    /// Lower limit of the noise estimate, because a few points can look smooth by chance.
    pub noise_floor: f64,
    /// Minimum length of a segment between two cuts. The first and the last segment may be a single point, because a regime often starts
    /// at the largest measured size.
    pub min_inner_len: usize,
}

impl Settings {
    /// For natural logarithms of throughput: levels differ by at least a third, and 8 % of noise is normal.
    pub const LOG_THROUGHPUT: Self = Self { min_step: 0.285, noise_floor: 0.08, min_inner_len: 2 };
}

/// The segments of `values` in order, covering the whole series. A series with a value that is not finite is returned as one segment.
#[must_use]
pub fn segments(values: &[f64], settings: &Settings) -> Vec<Range<usize>> {
    let n = values.len();
    if n == 0 {
        return Vec::new();
    }
    if n == 1 || values.iter().any(|v| !v.is_finite()) {
        return std::iter::once(0..n).collect();
    }
    let sigma = noise(values).max(settings.noise_floor);
    let price = 4.0 * (n as f64).ln() * sigma * sigma;
    let cuts = cheapest_cuts(&Prefix::of(values), n, price, settings.min_inner_len.max(1));
    merge_small_steps(values, cuts, settings.min_step)
}

/// Standard deviation of the noise: 1.4826 times the median absolute difference of neighbours, over the square root of two.
fn noise(values: &[f64]) -> f64 {
    let mut steps: Vec<f64> = values.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    steps.sort_by(f64::total_cmp);
    // The lower median: with very few points a cut must not count as noise.
    steps[(steps.len() - 1) / 2] * 1.4826 / std::f64::consts::SQRT_2
}

/// Prefix sums for the squared error of any range in constant time. Values are centred first so that large levels do not lose small
/// steps.
struct Prefix {
    sum: Vec<f64>,
    square: Vec<f64>,
}

impl Prefix {
    fn of(values: &[f64]) -> Self {
        let centre = values.iter().sum::<f64>() / values.len() as f64;
        let (mut sum, mut square) = (vec![0.0], vec![0.0]);
        for (i, v) in values.iter().enumerate() {
            let v = v - centre;
            sum.push(sum[i] + v);
            square.push(square[i] + v * v);
        }
        Self { sum, square }
    }

    fn error(&self, from: usize, to: usize) -> f64 {
        let total = self.sum[to] - self.sum[from];
        (self.square[to] - self.square[from] - total * total / (to - from) as f64).max(0.0)
    }
}

/// Optimal partitioning: the best cuts of every prefix, from the best of the shorter ones.
fn cheapest_cuts(prefix: &Prefix, n: usize, price: f64, min_inner_len: usize) -> Vec<usize> {
    let mut cost = vec![f64::INFINITY; n + 1];
    let mut last_cut = vec![0usize; n + 1];
    cost[0] = -price;
    for end in 1..=n {
        for start in 0..end {
            let at_an_edge = start == 0 || end == n;
            if !at_an_edge && end - start < min_inner_len {
                continue;
            }
            let candidate = cost[start] + prefix.error(start, end) + price;
            if candidate < cost[end] {
                cost[end] = candidate;
                last_cut[end] = start;
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = n;
    while last_cut[end] > 0 {
        end = last_cut[end];
        cuts.push(end);
    }
    cuts.reverse();
    cuts
}

/// Removes the smallest step until every remaining one is at least `min_step`.
fn merge_small_steps(values: &[f64], mut cuts: Vec<usize>, min_step: f64) -> Vec<Range<usize>> {
    loop {
        let ranges = ranges_of(&cuts, values.len());
        let smallest = ranges
            .windows(2)
            .map(|w| (mean(&values[w[1].clone()]) - mean(&values[w[0].clone()])).abs())
            .enumerate()
            .min_by(|a, b| a.1.total_cmp(&b.1));
        match smallest {
            Some((i, step)) if step < min_step => {
                cuts.remove(i);
            }
            _ => return ranges,
        }
    }
}

fn ranges_of(cuts: &[usize], n: usize) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(n));
    starts.zip(ends).map(|(a, b)| a..b).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: Settings = Settings::LOG_THROUGHPUT;

    fn logs(rates: &[f64]) -> Vec<f64> {
        rates.iter().map(|r| r.ln()).collect()
    }

    #[test]
    fn a_flat_series_is_one_segment() {
        assert_eq!(segments(&logs(&[100.0, 103.0, 98.0, 101.0, 99.0]), &S), vec![0..5]);
    }

    #[test]
    fn three_levels_are_three_segments() {
        let rates = [9.8, 10.1, 9.9, 10.0, 6.1, 6.0, 5.9, 6.2, 0.4, 0.41];
        assert_eq!(segments(&logs(&rates), &S), vec![0..4, 4..8, 8..10]);
    }

    #[test]
    fn the_last_point_alone_may_be_a_regime() {
        assert_eq!(segments(&logs(&[5.0, 5.1, 4.9, 5.0, 0.3]), &S), vec![0..4, 4..5]);
    }

    #[test]
    fn a_step_below_the_threshold_is_no_regime() {
        let rates = [10.0, 10.0, 10.0, 10.0, 8.4, 8.4, 8.4, 8.4];
        assert_eq!(segments(&logs(&rates), &S).len(), 1);
    }

    #[test]
    fn short_and_unjudgeable_series() {
        assert_eq!(segments(&[], &S), Vec::<Range<usize>>::new());
        assert_eq!(segments(&[1.0], &S).len(), 1);
        assert_eq!(segments(&[1.0, f64::NAN, 9.0], &S), vec![0..3]);
    }

    proptest! {
        #[test]
        fn segments_cover_the_series(values in prop::collection::vec(-20.0..20.0f64, 1..40)) {
            let found = segments(&values, &S);
            prop_assert_eq!(found[0].start, 0);
            prop_assert_eq!(found[found.len() - 1].end, values.len());
            for w in found.windows(2) {
                prop_assert_eq!(w[0].end, w[1].start);
            }
            prop_assert!(found.iter().all(|r| r.start < r.end));
        }

        #[test]
        fn neighbouring_levels_differ(values in prop::collection::vec(-20.0..20.0f64, 1..40)) {
            for w in segments(&values, &S).windows(2) {
                let step = mean(&values[w[1].clone()]) - mean(&values[w[0].clone()]);
                prop_assert!(step.abs() >= S.min_step);
            }
        }

        #[test]
        fn a_clear_step_is_found_at_its_position(
            before in 2usize..15, after in 2usize..15, height in 1.0..6.0f64, up in any::<bool>(),
            noise in prop::collection::vec(-0.05..0.05f64, 30),
        ) {
            let step = if up { height } else { -height };
            let values: Vec<f64> = (0..before + after)
                .map(|i| noise[i] + if i < before { 0.0 } else { step })
                .collect();
            prop_assert_eq!(segments(&values, &S), vec![0..before, before..before + after]);
        }

        #[test]
        fn the_unit_of_throughput_does_not_matter(values in prop::collection::vec(0i32..80, 1..30)) {
            // Eighths and a shift by a power of two are exact, so both fits see the same numbers.
            let a: Vec<f64> = values.iter().map(|v| f64::from(*v) / 8.0).collect();
            let b: Vec<f64> = a.iter().map(|v| v + 16.0).collect();
            let (found_a, found_b) = (segments(&a, &S), segments(&b, &S));
            prop_assert_eq!(found_a.len(), found_b.len());
        }
    }
}
