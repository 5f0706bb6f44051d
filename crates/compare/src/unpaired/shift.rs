//! The Hodges-Lehmann shift of two groups: the median of all differences, bounded by two of them that the Mann-Whitney test selects.

use super::mann_whitney::interval_rank;
use super::usable;
use crate::numbers::{median_of_sorted, sorted};
use crate::unusable::Unusable;

/// Largest number of differences that are sorted; beyond that the needed ones are found by selection.
const MOST_SORTED: usize = 4096;

/// Shift of B relative to A, in the figures' unit; for logarithms it is the logarithm of a ratio.
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
    if a.len() * b.len() > MOST_SORTED {
        return Ok(selected(&sorted(a), &sorted(b), confidence));
    }
    let mut differences: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| b - a)).collect();
    differences.sort_by(f64::total_cmp);
    let (c, attained) = interval_rank(a.len(), b.len(), confidence);
    let (low, high) = (differences[c], differences[differences.len() - 1 - c]);
    Ok(Shift { estimate: median_of_sorted(&differences), low, high, confidence: attained })
}

/// The same for ascending groups without computing all differences: two histories of five thousand points have 25 million of them.
fn selected(a: &[f64], b: &[f64], confidence: f64) -> Shift {
    let pairs = a.len() * b.len();
    let (c, attained) = interval_rank(a.len(), b.len(), confidence);
    let at = |place: usize| difference_at(a, b, place);
    let estimate = if pairs % 2 == 1 { at(pairs / 2) } else { (at(pairs / 2 - 1) + at(pairs / 2)) / 2.0 };
    Shift { estimate, low: at(c), high: at(pairs - 1 - c), confidence: attained }
}

/// The difference at an index, from 0, among all differences b - a in ascending order; a and b must be ascending. Bisects the floats
/// between the smallest and the largest, at most 64 times, counting in one pass each time. The result is one of the differences, exact to
/// the last digit.
fn difference_at(a: &[f64], b: &[f64], place: usize) -> f64 {
    let (mut low, mut high) = (key(b[0] - a[a.len() - 1]), key(b[b.len() - 1] - a[0]));
    while low < high {
        let middle = low + ((high - low) >> 1);
        if at_most(a, b, of_key(middle)) > place { high = middle } else { low = middle + 1 }
    }
    of_key(low)
}

/// Number of differences b - a of at most `limit`.
fn at_most(a: &[f64], b: &[f64], limit: f64) -> usize {
    let mut count = 0;
    let mut upto = 0;
    // The larger a, the more of b are below a + limit; rounding preserves that order.
    for a in a {
        while upto < b.len() && b[upto] - a <= limit {
            upto += 1;
        }
        count += upto;
    }
    count
}

/// Integers in the order of the floats, so that bisection visits floats only.
fn key(value: f64) -> u64 {
    // -0 and 0 compare equal.
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
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

    #[test]
    fn long_groups_are_quick() {
        let a: Vec<f64> = (0..5000).map(|i| f64::from(i * 7919 % 5000)).collect();
        let b: Vec<f64> = a.iter().map(|v| v + 10.0).collect();
        let found = shift(&a, &b, 0.95).expect("groups");
        assert!((found.estimate - 10.0).abs() < 1e-9 && found.low < 10.0 && found.high > 10.0, "{found:?}");
        assert!((found.confidence - 0.95).abs() < 1e-4);
    }

    proptest! {
        #[test]
        fn selection_finds_the_same_as_sorting(
            a in prop::collection::vec(-9.0..9.0f64, 1..30), b in prop::collection::vec(-9.0..9.0f64, 1..30), ties in any::<bool>(),
        ) {
            let round = |v: &Vec<f64>| if ties { v.iter().map(|v| v.round()).collect() } else { v.clone() };
            let (a, b): (Vec<f64>, Vec<f64>) = (round(&a), round(&b));
            prop_assert_eq!(selected(&sorted(&a), &sorted(&b), 0.95), shift(&a, &b, 0.95).expect("groups"));
        }

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
