//! Correlation of neighbours in a series.

use crate::numbers::{mean, squares};
use crate::unusable::{Unusable, enough, finite};

/// Lag-1 autocorrelation with the 95 % bound of white noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lag1 {
    /// Correlation of neighbours.
    pub r1: f64,
    /// 1.96 over the root of n.
    pub bound: f64,
}

impl Lag1 {
    /// Whether the correlation, positive or negative, exceeds chance.
    #[must_use]
    pub fn flagged(&self) -> bool {
        self.r1.abs() > self.bound
    }
}

/// Autocorrelations at lags 1 to `lags`; all zero for a constant series.
pub fn autocorrelations(values: &[f64], lags: usize) -> Result<Vec<f64>, Unusable> {
    enough("autocorrelation", lags + 2, values.len())?;
    finite(values)?;
    let centre = mean(values);
    let whole = squares(values);
    let at =
        |lag: usize| values.iter().zip(&values[lag..]).map(|(x, y)| (x - centre) * (y - centre)).sum::<f64>();
    Ok((1..=lags).map(|lag| if whole > 0.0 { at(lag) / whole } else { 0.0 }).collect())
}

/// Lag-1 autocorrelation of a series of at least three values.
pub fn lag1(values: &[f64]) -> Result<Lag1, Unusable> {
    let r1 = autocorrelations(values, 1)?[0];
    Ok(Lag1 { r1, bound: 1.96 / (values.len() as f64).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WAVE: [f64; 16] = [
        100.0, 102.0, 103.0, 101.0, 99.0, 97.0, 98.0, 100.0, 103.0, 104.0, 102.0, 99.0, 96.0, 97.0, 101.0,
        103.0,
    ];

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-7, "{found} instead of {expected}");
    }

    #[test]
    fn the_worked_wave() {
        let r = autocorrelations(&WAVE, 3).expect("16 values");
        near(r[0], 0.549855);
        near(r[1], -0.261193);
        near(r[2], -0.743464);
        assert!(lag1(&[1.0, 2.0]).is_err());
        assert_eq!(lag1(&[4.0; 5]).expect("five").r1, 0.0);
    }

    proptest! {
        #[test]
        fn unit_and_origin_do_not_matter(values in prop::collection::vec(-9.0..9.0f64, 5..40), by in 0.1..10.0f64) {
            let moved: Vec<f64> = values.iter().map(|v| v * by + 3.0).collect();
            let (one, two) = (lag1(&values).expect("values"), lag1(&moved).expect("values"));
            prop_assert!((one.r1 - two.r1).abs() < 1e-9 && one.r1.abs() <= 1.0 + 1e-9);
        }
    }
}
