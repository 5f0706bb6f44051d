//! The Hodges-Lehmann shift of two groups: the median of all differences, bounded by two of them that Mann-Whitney's test chooses.

use super::mann_whitney::interval_rank;
use super::usable;
use crate::numbers::median_of_sorted;
use crate::unusable::Unusable;

/// How far B lies above A, in the unit of the figures; of logarithms it is the logarithm of a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The estimate.
    pub estimate: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The confidence attained.
    pub confidence: f64,
}

/// The shift with the interval whose confidence is nearest to `confidence`.
pub fn shift(a: &[f64], b: &[f64], confidence: f64) -> Result<Shift, Unusable> {
    usable("the Hodges-Lehmann shift", 1, a, b)?;
    let mut differences: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| b - a)).collect();
    differences.sort_by(f64::total_cmp);
    let (c, attained) = interval_rank(a.len(), b.len(), confidence);
    let (low, high) = (differences[c], differences[differences.len() - 1 - c]);
    Ok(Shift { estimate: median_of_sorted(&differences), low, high, confidence: attained })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{A, B};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_worked_groups() {
        let found = shift(&A, &B, 0.95).expect("groups");
        for (found, expected) in
            [(found.estimate, 0.3), (found.low, -0.3), (found.high, 0.9), (found.confidence, 0.958874)]
        {
            assert!((found - expected).abs() < 5e-7, "{found} instead of {expected}");
        }
        assert!(shift(&A, &[], 0.95).is_err());
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_estimate_and_mirrors(
            a in prop::collection::vec(-9.0..9.0f64, 1..14), b in prop::collection::vec(-9.0..9.0f64, 1..14), up in -5.0..5.0f64,
        ) {
            let one = shift(&a, &b, 0.95).expect("groups");
            prop_assert!(one.low <= one.estimate && one.estimate <= one.high);
            let two = shift(&b, &a, 0.95).expect("groups");
            prop_assert_eq!((one.estimate, one.low, one.high), (-two.estimate, -two.high, -two.low));
            let moved: Vec<f64> = b.iter().map(|v| v + up).collect();
            prop_assert!((shift(&a, &moved, 0.95).expect("groups").estimate - one.estimate - up).abs() < 1e-9);
        }
    }
}
