//! Correlation of neighbours in a series: autocorrelation, effective number of independent values, the Ljung-Box test, and batch means
//! for intervals within one run.

use crate::numbers::{mean, squares, variance};
use crate::unusable::{Unusable, enough, finite};
use statrs::distribution::{ChiSquared, ContinuousCDF};

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

/// Standard error of the mean, with and without the assumption of independence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effective {
    /// Effective number of independent values: `n (1 - r1) / (1 + r1)`, at most n.
    pub n: f64,
    /// Standard error of the mean if values were independent.
    pub naive_error: f64,
    /// Standard error with the effective n.
    pub error: f64,
}

/// The effective size of a series. Negative autocorrelation does not increase it.
pub fn effective(values: &[f64]) -> Result<Effective, Unusable> {
    let r1 = lag1(values)?.r1.max(0.0);
    let n = values.len() as f64;
    let worth = n * (1.0 - r1) / (1.0 + r1);
    let spread = variance(values).sqrt();
    Ok(Effective { n: worth, naive_error: spread / n.sqrt(), error: spread / worth.sqrt() })
}

/// Joint test of several autocorrelations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LjungBox {
    /// The statistic.
    pub q: f64,
    /// Its p-value: chi-square with one degree of freedom per lag.
    pub p: f64,
}

/// The Ljung-Box test over lags 1 to `lags` (at least 1).
pub fn ljung_box(values: &[f64], lags: usize) -> Result<LjungBox, Unusable> {
    let lags = lags.max(1);
    let n = values.len() as f64;
    let r = autocorrelations(values, lags)?;
    let q = n * (n + 2.0) * r.iter().enumerate().map(|(k, r)| r * r / (n - (k + 1) as f64)).sum::<f64>();
    let p = ChiSquared::new(lags as f64).map_or(1.0, |chi| chi.sf(q));
    Ok(LjungBox { q, p })
}

/// Means of consecutive batches.
#[derive(Clone, Debug, PartialEq)]
pub struct Batches {
    /// Values per batch; an incomplete batch at the end is left out.
    pub size: usize,
    /// The means.
    pub means: Vec<f64>,
    /// Standard error of the mean of the batch means.
    pub error: f64,
}

/// Batches of a given size, at least two of them.
pub fn batches(values: &[f64], size: usize) -> Result<Batches, Unusable> {
    let size = size.max(1);
    enough("batch means", 2 * size, values.len())?;
    finite(values)?;
    let means: Vec<f64> = values.chunks_exact(size).map(mean).collect();
    let error = (variance(&means) / means.len() as f64).sqrt();
    Ok(Batches { size, means, error })
}

/// The smallest batches with uncorrelated neighbours (r1 below 0.2), at least four of them; `None` if there is no such size.
pub fn independent_batches(values: &[f64]) -> Result<Option<Batches>, Unusable> {
    enough("batch means", 4, values.len())?;
    for size in 1..=values.len() / 4 {
        let found = batches(values, size)?;
        if lag1(&found.means)?.r1 < 0.2 {
            return Ok(Some(found));
        }
    }
    Ok(None)
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
        let worth = effective(&WAVE).expect("16 values");
        near(worth.naive_error, 0.617244);
        near(worth.n, 4.647096);
        near(worth.error, 1.145317);
        let test = ljung_box(&WAVE, 3).expect("16 values");
        near(test.q, 19.453631);
        near(test.p, 0.000220);
        let four = batches(&WAVE, 4).expect("16 values");
        assert_eq!(four.means, [101.5, 98.5, 102.0, 99.25]);
        near(four.error, 0.850092);
    }

    #[test]
    fn batches_grow_until_they_are_independent() {
        let found = independent_batches(&WAVE).expect("16 values").expect("some size");
        assert!(found.size > 1 && lag1(&found.means).expect("four").r1 < 0.2);
        let rising: Vec<f64> = (0..40).map(f64::from).collect();
        let of_rising = independent_batches(&rising).expect("40 values");
        assert!(of_rising.is_none_or(|b| b.means.len() < 8));
        assert!(lag1(&[1.0, 2.0]).is_err() && batches(&WAVE, 9).is_err());
        assert_eq!(lag1(&[4.0; 5]).expect("five").r1, 0.0);
    }

    proptest! {
        #[test]
        fn unit_and_origin_do_not_matter(values in prop::collection::vec(-9.0..9.0f64, 5..40), by in 0.1..10.0f64) {
            let moved: Vec<f64> = values.iter().map(|v| v * by + 3.0).collect();
            let (one, two) = (lag1(&values).expect("values"), lag1(&moved).expect("values"));
            prop_assert!((one.r1 - two.r1).abs() < 1e-9 && one.r1.abs() <= 1.0 + 1e-9);
            let p = ljung_box(&values, 3).expect("values").p;
            prop_assert!((0.0..=1.0).contains(&p));
        }
    }
}
