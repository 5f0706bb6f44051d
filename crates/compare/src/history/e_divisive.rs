//! E-divisive: the split of a series at which the energy distance between both sides is largest, tested by permuting the series, then
//! the same in both parts.
//!
//! At a split t of a segment of length T, `Q(t) = t (T-t) / T (2 mean|x-y| - mean|x-x'| - mean|y-y'|)`, means over pairs. Running sums make
//! all splits of one series cost O(T^2). Where neighbours resemble each other (lag-1 autocorrelation of the residuals above 0.2),
//! permuting single points would find drift to be change, so blocks of points are permuted.

use crate::numbers::mean;
use crate::seeded::Draws;
use crate::series::lag1;
use crate::unusable::{Unusable, finite};
use std::ops::Range;

/// How changes are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// No segment is shorter.
    pub min_segment: usize,
    /// Level of the permutation test.
    pub alpha: f64,
    /// Permutations per segment.
    pub permutations: usize,
    /// Points in a block where blocks are permuted.
    pub block: usize,
    /// Where chance begins; stored with the result.
    pub seed: u64,
}

impl Search {
    /// Segments of three, 999 permutations, alpha 0.01.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self { min_segment: 3, alpha: 0.01, permutations: 999, block: 5, seed }
    }
}

/// Autocorrelation of residuals above which blocks are permuted.
const ALIKE: f64 = 0.2;

/// A change that passed the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The first point of the new level, from 0.
    pub index: usize,
    /// The statistic.
    pub q: f64,
    /// `(1 + as large among permutations) / (1 + permutations)`.
    pub p: f64,
}

/// What the search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Splits {
    /// In order.
    pub splits: Vec<Split>,
    /// Whether blocks were permuted.
    pub blocks: bool,
}

/// Searches a series; one that is too short for two segments has no splits.
pub fn search(values: &[f64], how: &Search) -> Result<Splits, Unusable> {
    finite(values)?;
    let how = Search { min_segment: how.min_segment.max(2), block: how.block.max(1), ..*how };
    let by_points = recursed(values, &how, 1);
    if !alike(values, &by_points) {
        return Ok(Splits { splits: by_points, blocks: false });
    }
    Ok(Splits { splits: recursed(values, &how, how.block), blocks: true })
}

/// Splits, then splits both parts, until no test passes.
fn recursed(values: &[f64], how: &Search, block: usize) -> Vec<Split> {
    let mut draws = Draws::from_seed(how.seed);
    let mut splits = Vec::new();
    let mut left = Vec::from([Range { start: 0, end: values.len() }]);
    while let Some(segment) = left.pop() {
        if let Some(split) = tested(values, segment.clone(), how, block, &mut draws) {
            left.push(split.index..segment.end);
            left.push(segment.start..split.index);
            splits.push(split);
        }
    }
    splits.sort_by_key(|s| s.index);
    splits
}

/// Whether neighbours resemble each other when the levels found are taken out. Every mean taken out lowers r1 by about (1 + 3 r1) / n,
/// which is added again: else false changes would hide the drift that they come from.
fn alike(values: &[f64], splits: &[Split]) -> bool {
    let bounds: Vec<usize> =
        std::iter::once(0).chain(splits.iter().map(|s| s.index)).chain([values.len()]).collect();
    let levels = bounds.windows(2).map(|b| &values[b[0]..b[1]]);
    let residuals: Vec<f64> = levels.flat_map(|level| level.iter().map(|v| v - mean(level))).collect();
    let taken_out = (bounds.len() - 1) as f64 / values.len() as f64;
    lag1(&residuals).is_ok_and(|l| l.r1 + (1.0 + 3.0 * l.r1) * taken_out > ALIKE)
}

/// The best split of a segment, if its test passes.
fn tested(
    values: &[f64],
    segment: Range<usize>,
    how: &Search,
    block: usize,
    draws: &mut Draws,
) -> Option<Split> {
    let part = &values[segment.clone()];
    let (t, q) = best(&statistics(part, how.min_segment))?;
    let mut pieces: Vec<&[f64]> = part.chunks(block).collect();
    // A sum in another order may differ in its last digits.
    let limit = q - q.abs() * 1e-9;
    // Stops as soon as the test cannot pass any more.
    let most = (how.alpha * (how.permutations + 1) as f64 + 1e-9) as usize;
    let mut as_large = 0;
    for _ in 0..how.permutations {
        draws.shuffle(&mut pieces);
        let permuted = best(&statistics(&pieces.concat(), how.min_segment));
        as_large += usize::from(permuted.is_some_and(|(_, q)| q >= limit));
        if as_large + 1 > most {
            return None;
        }
    }
    let p = (1 + as_large) as f64 / (how.permutations + 1) as f64;
    Some(Split { index: segment.start + t, q, p })
}

fn best(statistics: &[(usize, f64)]) -> Option<(usize, f64)> {
    // Of equals the first.
    statistics.iter().rev().copied().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Q of every split that leaves both sides long enough, with its t; empty if there is none.
#[must_use]
pub fn statistics(values: &[f64], min_segment: usize) -> Vec<(usize, f64)> {
    let n = values.len();
    let min_segment = min_segment.max(2);
    if n < 2 * min_segment {
        return Vec::new();
    }
    // Distances of each point to those before it and to those after it.
    let to_earlier: Vec<f64> =
        (0..n).map(|i| values[..i].iter().map(|v| (v - values[i]).abs()).sum()).collect();
    let to_later: Vec<f64> =
        (0..n).map(|i| values[i + 1..].iter().map(|v| (v - values[i]).abs()).sum()).collect();
    let (mut left, mut right, mut between) = (0.0, to_later.iter().sum::<f64>(), 0.0);
    let mut found = Vec::with_capacity(n);
    for t in 1..=n - min_segment {
        // Point t - 1 moves to the left side.
        left += to_earlier[t - 1];
        right -= to_later[t - 1];
        between += to_later[t - 1] - to_earlier[t - 1];
        if t >= min_segment {
            let (m, k) = (t as f64, (n - t) as f64);
            let pairs = |n: f64| n * (n - 1.0) / 2.0;
            let distance = 2.0 * between / (m * k) - left / pairs(m) - right / pairs(k);
            found.push((t, m * k / (m + k) * distance));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unpaired::spread::welch;
    use proptest::prelude::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    const EXAMPLE: [f64; 12] = [100.0, 101.0, 99.0, 100.0, 102.0, 100.0, 97.0, 96.0, 98.0, 97.0, 96.0, 97.0];

    #[test]
    fn the_statistic_of_the_example() {
        let found = statistics(&EXAMPLE, 3);
        let expected = [2.791667, 5.476190, 9.972222, 14.8, 9.972222, 5.476190, 5.541667];
        assert_eq!(found.len(), 7);
        for ((t, q), (at, expected)) in found.iter().zip((3..).zip(expected)) {
            assert!(*t == at && (q - expected).abs() < 5e-7, "{t} {q} instead of {expected}");
        }
        let split = search(&EXAMPLE, &Search::seeded(3)).expect("12 points");
        assert_eq!(split.splits.len(), 1);
        assert!(split.splits[0].index == 6 && split.splits[0].p <= 0.01 && !split.blocks, "{split:?}");
        let student = welch(&EXAMPLE[..6], &EXAMPLE[6..]).expect("groups");
        assert!((student.statistic - 6.708204).abs() < 5e-7);
        // With equal sizes Welch's t is Student's; that has ten degrees of freedom.
        let p = 2.0 * StudentsT::new(0.0, 1.0, 10.0).expect("10 degrees").sf(student.statistic);
        assert!((p / 5.310e-5 - 1.0).abs() < 1e-3, "{p}");
    }

    #[test]
    fn two_of_924_relabellings_reach_it() {
        let observed = 14.8 - 1e-9;
        let mut reached = 0;
        for code in 0u32..1 << 12 {
            if code.count_ones() == 6 {
                let side = |wanted: u32| {
                    (0..12).filter(move |i| code >> i & 1 == wanted).map(|i| EXAMPLE[i as usize])
                };
                let relabelled: Vec<f64> = side(1).chain(side(0)).collect();
                reached += usize::from(statistics(&relabelled, 6)[0].1 >= observed);
            }
        }
        assert_eq!(reached, 2);
    }

    #[test]
    fn several_levels_are_found_and_the_seed_repeats() {
        let series: Vec<f64> =
            (0..60).map(|i| f64::from(i * 7 % 5) + [0.0, 20.0, 5.0][i as usize / 20]).collect();
        let found = search(&series, &Search::seeded(5)).expect("60 points");
        assert_eq!(found.splits.iter().map(|s| s.index).collect::<Vec<_>>(), [20, 40]);
        assert_eq!(found, search(&series, &Search::seeded(5)).expect("60 points"));
        assert!(search(&series[..5], &Search::seeded(5)).expect("5 points").splits.is_empty());
        assert!(search(&[f64::NAN; 20], &Search::seeded(5)).is_err());
    }

    #[test]
    fn a_wave_is_drift_and_not_change() {
        let wave: Vec<f64> = (0..60).map(|i| (f64::from(i) / 4.0).sin()).collect();
        let found = search(&wave, &Search::seeded(5)).expect("60 points");
        assert!(found.blocks && found.splits.is_empty(), "{found:?}");
    }

    proptest! {
        #[test]
        fn running_sums_are_the_definition(values in prop::collection::vec(-9.0..9.0f64, 6..20)) {
            let spread = |x: &[f64], y: &[f64]| x.iter().flat_map(|a| y.iter().map(move |b| (a - b).abs())).sum::<f64>();
            for (t, q) in statistics(&values, 3) {
                let (x, y) = values.split_at(t);
                let (m, n) = (x.len() as f64, y.len() as f64);
                let within = |v: &[f64], n: f64| spread(v, v) / (n * (n - 1.0));
                let plain = m * n / (m + n) * (2.0 * spread(x, y) / (m * n) - within(x, m) - within(y, n));
                prop_assert!((plain - q).abs() < 1e-9 * (1.0 + plain.abs()));
            }
        }

        #[test]
        fn unit_and_sign_do_not_matter(values in prop::collection::vec(-9i32..9, 6..24), step in 0i32..30) {
            // Whole numbers and powers of two: every sum is exact, so both searches see the same.
            let half = values.len() / 2;
            let series: Vec<f64> = values.iter().enumerate().map(|(i, v)| f64::from(v + if i < half { 0 } else { step })).collect();
            let moved: Vec<f64> = series.iter().map(|v| 64.0 - 4.0 * v).collect();
            let how = Search { permutations: 99, alpha: 0.05, ..Search::seeded(2) };
            let places = |v: &[f64]| search(v, &how).expect("finite").splits.iter().map(|s| (s.index, s.p)).collect::<Vec<_>>();
            let found = places(&series);
            prop_assert!(found.iter().all(|(_, p)| *p > 0.0 && *p <= 0.05));
            prop_assert_eq!(found, places(&moved));
        }
    }
}
