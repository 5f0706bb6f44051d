//! The start of the steady part of a run, by MSER: drop the number of initial windows, at most half of the run, that minimises the error
//! of the mean of the rest.

use crate::numbers::{mean, squares};
use crate::unusable::{Unusable, enough, finite};

/// The steady part of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Truncation {
    /// The squared error for every number of dropped windows, from 0 to half.
    pub errors: Vec<f64>,
    /// Windows to drop; `None` if the error was still falling at half of the run, so that no steady part was found.
    pub left_out: Option<usize>,
    /// Mean of all windows.
    pub mean_all: f64,
    /// Mean of the kept windows; of the second half if no steady part was found.
    pub mean_kept: f64,
}

/// Finds the steady part of a series of window means.
pub fn truncation(windows: &[f64]) -> Result<Truncation, Unusable> {
    enough("a search for the steady part", 4, windows.len())?;
    finite(windows)?;
    let n = windows.len();
    let error = |left_out: usize| squares(&windows[left_out..]) / ((n - left_out) as f64).powi(2);
    let errors: Vec<f64> = (0..=n / 2).map(error).collect();
    let best = (0..errors.len()).min_by(|i, j| errors[*i].total_cmp(&errors[*j])).unwrap_or(0);
    let left_out = (best < n / 2).then_some(best);
    Ok(Truncation { left_out, mean_all: mean(windows), mean_kept: mean(&windows[best..]), errors })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_run_that_warms_up() {
        let windows = [
            40.0, 62.0, 78.0, 88.0, 95.0, 99.0, 101.0, 100.0, 98.0, 102.0, 100.0, 99.0, 101.0, 100.0, 100.0,
            99.0,
        ];
        let found = truncation(&windows).expect("16");
        for (error, expected) in
            found.errors.iter().zip([17.655273, 7.575111, 2.814869, 0.929449, 0.243056, 0.106687])
        {
            assert!((error - expected).abs() < 5e-7, "{error} instead of {expected}");
        }
        assert!((found.errors[6] - 0.12).abs() < 5e-7);
        assert_eq!(found.left_out, Some(5));
        assert!((found.mean_all - 91.375).abs() < 1e-9 && (found.mean_kept - 99.909091).abs() < 5e-7);
    }

    #[test]
    fn a_run_that_never_settles() {
        let rising: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(truncation(&rising).expect("20").left_out, None);
        assert_eq!(truncation(&[5.0; 10]).expect("10").left_out, Some(0));
        assert!(truncation(&[1.0; 3]).is_err());
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter(windows in prop::collection::vec(1.0..99.0f64, 4..40)) {
            let scaled: Vec<f64> = windows.iter().map(|v| v * 8.0).collect();
            let (one, two) = (truncation(&windows).expect("windows"), truncation(&scaled).expect("windows"));
            prop_assert_eq!(one.left_out, two.left_out);
            prop_assert_eq!(one.mean_kept * 8.0, two.mean_kept);
        }
    }
}
