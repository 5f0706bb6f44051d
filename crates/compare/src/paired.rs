//! Naturally paired values, such as the same cell on two systems: ratios, their geometric mean, and one-sample tests on their logarithms.
//! The pairs are cells, not runs: a p-value here answers "does it help across cells", never "is it noise".

use crate::numbers::{mean, median_of_sorted, ranks, sorted, variance};
use crate::seeded::RandomStream;
use crate::unusable::{Unusable, enough, finite, positive};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

/// Largest number of pairs whose sign flips are all enumerated.
const MOST_ENUMERATED: usize = 20;
/// Number of random sign flips beyond that.
const FLIPS: usize = 9999;
/// Largest number of pairs whose signed-rank counts fit u128.
const MOST_COUNTED: usize = 120;

/// Ratios `b / a` of pairs.
pub fn ratios(a: &[f64], b: &[f64]) -> Result<Vec<f64>, Unusable> {
    if a.len() != b.len() {
        return Err(Unusable::Unequal { what: "pairs", first: a.len(), second: b.len() });
    }
    positive(a)?;
    positive(b)?;
    Ok(a.iter().zip(b).map(|(a, b)| b / a).collect())
}

/// The geometric mean of positive values: the only mean for which 2 and 1/2 cancel.
pub fn geometric_mean(ratios: &[f64]) -> Result<f64, Unusable> {
    enough("a geometric mean", 1, ratios.len())?;
    positive(ratios)?;
    Ok(mean(&crate::numbers::logs(ratios)).exp())
}

/// The Hodges-Lehmann estimate of a shift: the median of all pairwise means, each value paired with itself too.
pub fn walsh_median(differences: &[f64]) -> Result<f64, Unusable> {
    enough("the Hodges-Lehmann estimate", 1, differences.len())?;
    finite(differences)?;
    let walsh =
        differences.iter().enumerate().flat_map(|(i, x)| differences[i..].iter().map(move |y| (x + y) / 2.0));
    Ok(median_of_sorted(&sorted(&walsh.collect::<Vec<f64>>())))
}

/// Result of a test on differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedTest {
    /// The statistic: the smaller rank sum, the mean, the smaller number of signs, or t.
    pub statistic: f64,
    /// Number of non-zero differences.
    pub n: usize,
    /// Two-sided p-value.
    pub p: f64,
    /// Whether p is exact, rather than from random flips or a noise model.
    pub exact: bool,
}

/// Zeros carry no sign and are left out.
fn signed(what: &'static str, differences: &[f64]) -> Result<Vec<f64>, Unusable> {
    finite(differences)?;
    let kept: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    enough(what, 1, kept.len()).map(|()| kept)
}

/// Wilcoxon's signed-rank test, exact with and without ties. p is twice the share of all sign patterns with a rank sum as small.
pub fn signed_rank(differences: &[f64]) -> Result<PairedTest, Unusable> {
    let kept = signed("the signed-rank test", differences)?;
    let sizes: Vec<f64> = kept.iter().map(|d| d.abs()).collect();
    // Mid-ranks are multiples of one half, so doubled ranks are integers.
    let doubled: Vec<usize> = ranks(&sizes).0.iter().map(|r| (r * 2.0) as usize).collect();
    let all: usize = doubled.iter().sum();
    let positive: usize = doubled.iter().zip(&kept).filter(|(_, d)| **d > 0.0).map(|(r, _)| r).sum();
    let smaller = positive.min(all - positive);
    let p = (2.0 * share_at_most(&doubled, smaller)).min(1.0);
    Ok(PairedTest { statistic: smaller as f64 / 2.0, n: kept.len(), p, exact: true })
}

/// The share of all subsets of `ranks` whose sum is at most `limit`, by dynamic programming.
fn share_at_most(ranks: &[usize], limit: usize) -> f64 {
    let all: usize = ranks.iter().sum();
    if ranks.len() <= MOST_COUNTED {
        let mut counts = vec![0u128; all + 1];
        counts[0] = 1;
        for rank in ranks {
            for sum in (*rank..=all).rev() {
                counts[sum] += counts[sum - rank];
            }
        }
        return counts[..=limit].iter().sum::<u128>() as f64 / 2f64.powi(ranks.len() as i32);
    }
    let mut shares = vec![0f64; all + 1];
    shares[0] = 1.0;
    for rank in ranks {
        for sum in (0..=all).rev() {
            shares[sum] = (shares[sum] + if sum >= *rank { shares[sum - rank] } else { 0.0 }) / 2.0;
        }
    }
    shares[..=limit].iter().sum::<f64>().min(1.0)
}

/// The sign-flip test of the mean: all `2^n` flips up to 20 differences, 9999 seeded ones beyond.
pub fn sign_flip(differences: &[f64], seed: u64) -> Result<PairedTest, Unusable> {
    let kept = signed("the sign-flip test", differences)?;
    let observed = kept.iter().sum::<f64>().abs();
    // Sums of the same numbers in another order may differ in the last digit.
    let limit = observed - 1e-12 * kept.iter().map(|d| d.abs()).sum::<f64>();
    let n = kept.len();
    let exact = n <= MOST_ENUMERATED;
    let p = if exact {
        let flipped = |code: u32| -> f64 {
            kept.iter().enumerate().map(|(i, d)| if code >> i & 1 == 1 { -d } else { *d }).sum()
        };
        let codes = 1u32 << n;
        (0..codes).filter(|code| flipped(*code).abs() >= limit).count() as f64 / f64::from(codes)
    } else {
        let mut draws = RandomStream::from_seed(seed);
        let mut flip = || kept.iter().map(|d| if draws.coin() { -d } else { *d }).sum::<f64>();
        let as_large = (0..FLIPS).filter(|_| flip().abs() >= limit).count();
        (1 + as_large) as f64 / (FLIPS + 1) as f64
    };
    Ok(PairedTest { statistic: mean(&kept), n, p, exact })
}

/// The sign test: uses only the numbers of positive and negative differences.
pub fn sign_test(differences: &[f64]) -> Result<PairedTest, Unusable> {
    let kept = signed("the sign test", differences)?;
    let up = kept.iter().filter(|d| **d > 0.0).count();
    let fewer = up.min(kept.len() - up);
    let p = Binomial::new(0.5, kept.len() as u64).map_or(1.0, |b| (2.0 * b.cdf(fewer as u64)).min(1.0));
    Ok(PairedTest { statistic: fewer as f64, n: kept.len(), p, exact: true })
}

/// Student's one-sample t-test of a mean of zero.
pub fn t_test(differences: &[f64]) -> Result<PairedTest, Unusable> {
    let (centre, error, student) = student("the t-test", differences)?;
    let t = centre / error;
    Ok(PairedTest {
        statistic: t,
        n: differences.len(),
        p: (2.0 * student.sf(t.abs())).min(1.0),
        exact: false,
    })
}

/// The mean of differences with Student's interval at `confidence`, such as 0.95: low and high.
pub fn t_interval(differences: &[f64], confidence: f64) -> Result<[f64; 2], Unusable> {
    let (centre, error, student) = student("the t-interval", differences)?;
    let reach = error * student.inverse_cdf((1.0 + confidence.clamp(0.0, 1.0)) / 2.0);
    Ok([centre - reach, centre + reach])
}

/// Mean, standard error, and the matching t distribution.
fn student(what: &'static str, differences: &[f64]) -> Result<(f64, f64, StudentsT), Unusable> {
    finite(differences)?;
    enough(what, 2, differences.len())?;
    let n = differences.len() as f64;
    let error = (variance(differences) / n).sqrt();
    match StudentsT::new(0.0, 1.0, n - 1.0) {
        Ok(student) if error > 0.0 => Ok((mean(differences), error, student)),
        _ => Err(Unusable::NoSpread { what }),
    }
}

#[cfg(test)]
#[path = "paired_tests.rs"]
mod tests;
