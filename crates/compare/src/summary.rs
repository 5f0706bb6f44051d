//! The five-number summary of a sample: minimum, quartiles, median, maximum. There is no mean, since throughput samples are skewed and
//! one straggler would move it. Non-finite values are failed measurements and are left out.

use crate::numbers::{logs, mean};
use crate::unusable::{Unusable, enough, positive};

/// Five-number summary with the sample size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of finite values.
    pub n: usize,
    /// Smallest value.
    pub min: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Largest value.
    pub max: f64,
}

impl Summary {
    /// Summarises a sample; `None` if it has no finite value.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        Some(Self {
            n: sorted.len(),
            min,
            q1: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            q3: quantile(&sorted, 0.75),
            max,
        })
    }
}

/// Median of the finite values; `None` if there are none.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    Summary::of(values).map(|s| s.median)
}

/// The geometric mean of positive values: the only mean for which 2 and 1/2 cancel.
pub fn geometric_mean(ratios: &[f64]) -> Result<f64, Unusable> {
    enough("a geometric mean", 1, ratios.len())?;
    positive(ratios)?;
    Ok(mean(&logs(ratios)).exp())
}

/// Linear interpolation between the two order statistics around `q * (n - 1)` (the default of R and numpy). `sorted` must be ascending
/// and not empty.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let (low, high) = (position.floor() as usize, position.ceil() as usize);
    let (a, b) = (sorted[low], sorted[high]);
    // Equal neighbours are returned as they are, because interpolation would add rounding errors.
    if a == b { a } else { a + (b - a) * (position - low as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn four_values_by_hand() {
        let s = Summary::of(&[4.0, 1.0, 3.0, 2.0]).expect("four values");
        assert_eq!((s.n, s.min, s.q1, s.median, s.q3, s.max), (4, 1.0, 1.75, 2.5, 3.25, 4.0));
    }

    #[test]
    fn two_and_a_half_cancel() {
        assert!((geometric_mean(&[2.0, 0.5]).expect("two") - 1.0).abs() < 1e-12);
        assert!(geometric_mean(&[]).is_err() && geometric_mean(&[1.0, 0.0]).is_err());
    }

    #[test]
    fn nothing_finite_has_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[f64::NAN, f64::INFINITY]), None);
    }

    proptest! {
        #[test]
        fn the_figures_are_ordered(values in prop::collection::vec(-1e12..1e12f64, 1..60)) {
            let s = Summary::of(&values).expect("not empty");
            prop_assert!(s.min <= s.q1 && s.q1 <= s.median && s.median <= s.q3 && s.q3 <= s.max);
        }

        #[test]
        fn order_of_arrival_does_not_matter(mut values in prop::collection::vec(-1e6..1e6f64, 1..40)) {
            let before = Summary::of(&values);
            values.reverse();
            prop_assert_eq!(before, Summary::of(&values));
        }
    }
}
