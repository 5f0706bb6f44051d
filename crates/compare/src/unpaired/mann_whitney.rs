//! Mann-Whitney's test: exact without ties for groups that are not large, otherwise the normal approximation with corrections for ties
//! and continuity.
//!
//! The exact distribution of U is the Gaussian binomial coefficient, by its recurrence: the largest of all values is either in A, leaving
//! U of (m-1, n), or in B, where it is above all m of A.

use super::usable;
use crate::numbers::ranks;
use crate::unusable::Unusable;
use statrs::distribution::{ContinuousCDF, Normal};

/// Up to this total, counts stay below C(100, 50), which fits u128.
const MOST_COUNTED: usize = 100;

/// Result of the Mann-Whitney test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// Number of pairs with B above A; ties count one half.
    pub u: f64,
    /// Two-sided p-value.
    pub p: f64,
    /// False if p is the normal approximation.
    pub exact: bool,
}

/// Tests two groups, exactly if possible.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Result<MannWhitney, Unusable> {
    usable("Mann-Whitney's test", 1, a, b)?;
    let (u, ties) = u_of(a, b);
    if ties == 0.0 && a.len() + b.len() <= MOST_COUNTED {
        return Ok(MannWhitney { u, p: exact_p(a.len(), b.len(), u as usize), exact: true });
    }
    approximate(a, b)
}

/// The normal approximation for groups of any size.
pub fn approximate(a: &[f64], b: &[f64]) -> Result<MannWhitney, Unusable> {
    usable("Mann-Whitney's test", 1, a, b)?;
    let (u, ties) = u_of(a, b);
    let (m, n) = (a.len() as f64, b.len() as f64);
    let all = m + n;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return Ok(MannWhitney { u, p: 1.0, exact: false });
    }
    let z = ((u - m * n / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    Ok(MannWhitney { u, p: (2.0 * Normal::standard().sf(z)).min(1.0), exact: false })
}

fn u_of(a: &[f64], b: &[f64]) -> (f64, f64) {
    let (ranks, ties) = ranks(&[a, b].concat());
    let n = b.len() as f64;
    (ranks[a.len()..].iter().sum::<f64>() - n * (n + 1.0) / 2.0, ties)
}

/// Two-sided p of U without ties.
fn exact_p(m: usize, n: usize, u: usize) -> f64 {
    let extreme = u.min(m * n - u);
    (2.0 * at_most(m, n, extreme)).min(1.0)
}

/// P(U <= u) for groups of m and n without ties, at most 100 values in all.
fn at_most(m: usize, n: usize, u: usize) -> f64 {
    let counts = counts(m, n);
    let upto = u.min(m * n);
    counts[..=upto].iter().sum::<u128>() as f64 / counts.iter().sum::<u128>() as f64
}

/// Number of arrangements of m and n values that give each U.
fn counts(m: usize, n: usize) -> Vec<u128> {
    // One row of the recurrence at a time: by_a[i] are the counts for groups of i and j.
    let mut by_a: Vec<Vec<u128>> = vec![vec![1]; m + 1];
    for j in 1..=n {
        for i in 1..=m {
            let mut next = vec![0; i * j + 1];
            // The largest is in A: U of (i-1, j), from this row.
            for (u, count) in by_a[i - 1].iter().enumerate() {
                next[u] += count;
            }
            // The largest is in B, above all i of A: U of (i, j-1), from the previous row.
            for (u, count) in by_a[i].iter().enumerate() {
                next[u + i] += count;
            }
            by_a[i] = next;
        }
    }
    by_a.swap_remove(m)
}

/// The largest rejecting U and its level: "reject if U <= c or U >= mn - c". `None` if alpha cannot be reached, or the groups are too
/// large for the exact test (100 values in all).
#[must_use]
pub fn critical(m: usize, n: usize, alpha: f64) -> Option<(usize, f64)> {
    levels(m, n)?.into_iter().enumerate().take_while(|(_, level)| *level <= alpha).last()
}

/// The rank of the shift's interval nearest to `confidence`, and its attained confidence. Large groups use the normal approximation.
pub(crate) fn interval_rank(m: usize, n: usize, confidence: f64) -> (usize, f64) {
    let Some(levels) = levels(m, n) else { return approximate_rank(m, n, confidence) };
    let distance = |level: f64| (1.0 - level - confidence).abs();
    let best = levels.into_iter().enumerate().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
    best.map_or((0, 0.0), |(c, level)| (c, 1.0 - level))
}

/// Two-sided levels of c = 0, 1, ... below the middle.
fn levels(m: usize, n: usize) -> Option<Vec<f64>> {
    if m == 0 || n == 0 || m + n > MOST_COUNTED {
        return None;
    }
    let counts = counts(m, n);
    let all = counts.iter().sum::<u128>() as f64;
    let middle = (m * n).div_ceil(2);
    Some(
        counts[..middle]
            .iter()
            .scan(0, |sum: &mut u128, n| {
                Some({
                    *sum += n;
                    2.0 * *sum as f64 / all
                })
            })
            .collect(),
    )
}

/// Two-sided level of c by the normal approximation.
fn approximate_level(m: usize, n: usize, c: usize) -> f64 {
    let pairs = (m * n) as f64;
    let spread = (pairs * (m + n + 1) as f64 / 12.0).sqrt();
    2.0 * Normal::standard().cdf((c as f64 + 0.5 - pairs / 2.0) / spread)
}

/// The c with the nearest level: levels rise with c, so it is one of two neighbours.
fn approximate_rank(m: usize, n: usize, confidence: f64) -> (usize, f64) {
    let level = |c: usize| approximate_level(m, n, c);
    let distance = |c: &usize| (1.0 - level(*c) - confidence).abs();
    let (mut low, mut high) = (0, (m * n).div_ceil(2).saturating_sub(1));
    while low < high {
        let middle = low + (high - low) / 2;
        if level(middle) < 1.0 - confidence { low = middle + 1 } else { high = middle }
    }
    let c = if low > 0 && distance(&(low - 1)) <= distance(&low) { low - 1 } else { low };
    (c, 1.0 - level(c))
}

#[cfg(test)]
mod tests {
    use super::super::examples::{A, B, pooled};
    use super::*;
    use proptest::prelude::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-7, "{found} instead of {expected}");
    }

    #[test]
    fn the_worked_groups() {
        let found = mann_whitney(&A, &B).expect("groups");
        // U of A is 11, of B 25.
        assert_eq!((found.u, found.exact), (25.0, true));
        near(found.p, 0.309524);
        let (a, b) = pooled();
        let found = mann_whitney(&a, &b).expect("groups");
        assert!(found.exact && (found.p / 1.082509e-5 - 1.0).abs() < 5e-7, "{found:?}");
        let found = approximate(&a, &b).expect("groups");
        assert!((found.p / 1.826718e-4 - 1.0).abs() < 5e-7, "{found:?}");
    }

    /// statrs 0.19.1 gives 1.0 for both of these.
    #[test]
    fn the_second_group_above_the_first() {
        near(
            mann_whitney(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]).expect("groups").p,
            0.007937,
        );
        near(
            mann_whitney(&[6.0, 7.0, 8.0, 9.0, 10.0], &[1.0, 2.0, 3.0, 4.0, 5.0]).expect("groups").p,
            0.007937,
        );
    }

    #[test]
    fn the_table_of_critical_values() {
        for (n, alpha, c, level) in [
            (4, 0.05, 0, 0.028571),
            (5, 0.01, 0, 0.007937),
            (6, 0.05, 5, 0.041126),
            (6, 0.01, 2, 0.008658),
            (8, 0.05, 13, 0.049883),
            (8, 0.01, 7, 0.006993),
            (10, 0.05, 23, 0.043257),
            (10, 0.01, 16, 0.008931),
        ] {
            let found = critical(n, n, alpha).expect("reached");
            assert_eq!(found.0, c, "n = {n}, alpha = {alpha}");
            near(found.1, level);
        }
        assert_eq!((critical(3, 3, 0.05), critical(4, 4, 0.01), critical(60, 60, 0.05)), (None, None, None));
        assert_eq!(counts(50, 50).iter().sum::<u128>(), 100_891_344_545_564_193_334_812_497_256);
    }

    #[test]
    fn ties_and_large_groups_are_approximated() {
        let tied = mann_whitney(&[1.0, 2.0, 2.0, 3.0], &[2.0, 3.0, 4.0, 4.0]).expect("groups");
        assert!(!tied.exact);
        // scipy.stats.mannwhitneyu(method="asymptotic")
        near(tied.p, 0.134169);
        assert_eq!(mann_whitney(&[1.0; 3], &[1.0; 3]).expect("groups").p, 1.0);
        assert!(mann_whitney(&[], &[1.0]).is_err());
        let exact = levels(40, 40).expect("exact");
        assert!(exact.iter().enumerate().all(|(c, e)| (e - approximate_level(40, 40, c)).abs() < 5e-3));
        let by_all = (0..800).min_by(|a, b| {
            let distance = |c: usize| (0.05 - approximate_level(40, 40, c)).abs();
            distance(*a).total_cmp(&distance(*b))
        });
        assert_eq!(by_all, Some(approximate_rank(40, 40, 0.95).0));
    }

    proptest! {
        #[test]
        fn swapping_groups_mirrors(a in prop::collection::vec(0i32..99, 1..12), b in prop::collection::vec(0i32..99, 1..12)) {
            let (a, b): (Vec<f64>, Vec<f64>) = (a.into_iter().map(f64::from).collect(), b.into_iter().map(f64::from).collect());
            let (one, two) = (mann_whitney(&a, &b).expect("groups"), mann_whitney(&b, &a).expect("groups"));
            prop_assert!((one.u + two.u - (a.len() * b.len()) as f64).abs() < 1e-9);
            prop_assert!((one.p - two.p).abs() < 1e-12 && one.p > 0.0 && one.p <= 1.0);
        }

        #[test]
        fn the_levels_are_those_of_all_arrangements(m in 1usize..5, n in 1usize..5) {
            let mut by_force = vec![0u128; m * n + 1];
            for code in 0..1u32 << (m + n) {
                if code.count_ones() as usize == n {
                    let of_b = |i: usize| code >> i & 1 == 1;
                    let u: usize = (0..m + n).filter(|i| of_b(*i)).map(|i| (0..i).filter(|j| !of_b(*j)).count()).sum();
                    by_force[u] += 1;
                }
            }
            prop_assert_eq!(counts(m, n), by_force);
        }
    }
}
