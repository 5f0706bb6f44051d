//! PELT: the piecewise-constant fit with least squared error and a penalty per change, with pruning. A fast overview of a history: it has
//! no p-value and reports drift as changes; E-divisive decides.

use crate::numbers::{mean, median};
use crate::unusable::{Unusable, finite};

/// Converts the median absolute deviation of normal noise to a standard deviation.
const MAD_TO_SIGMA: f64 = 1.4826;

/// Penalty per change in units of ln n: one series of white noise in 200 is cut.
pub const PENALTY: f64 = 4.0;

/// Noise of a series from the median absolute deviation of its successive differences, which a few changes do not affect.
pub fn noise(values: &[f64]) -> Result<f64, Unusable> {
    crate::unusable::enough("the noise of a series", 3, values.len())?;
    finite(values)?;
    let steps: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
    let centre = median(&steps);
    let away: Vec<f64> = steps.iter().map(|s| (s - centre).abs()).collect();
    Ok(MAD_TO_SIGMA * median(&away) / std::f64::consts::SQRT_2)
}

/// A fit: the starts of its levels, and its cost in units of the noise squared.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Index of the first point of each new level, from 0.
    pub changes: Vec<usize>,
    /// Squared error of all levels plus the penalties.
    pub cost: f64,
}

/// The best fit with the usual penalty, 4 ln n per change, and estimated noise.
pub fn fit(values: &[f64]) -> Result<Fit, Unusable> {
    let sigma = noise(values)?;
    if sigma == 0.0 {
        return Err(Unusable::NoSpread { what: "PELT, in the differences of neighbours," });
    }
    fit_with(values, sigma, PENALTY * (values.len() as f64).ln())
}

/// The best fit for a given noise and penalty.
pub fn fit_with(values: &[f64], sigma: f64, penalty: f64) -> Result<Fit, Unusable> {
    crate::unusable::enough("PELT", 1, values.len())?;
    finite(values)?;
    let error = squared_errors(values, sigma);
    let n = values.len();
    let mut cost = vec![-penalty];
    let mut last_change = vec![0];
    let mut candidates = vec![0];
    for end in 1..=n {
        let priced: Vec<(usize, f64)> =
            candidates.iter().map(|start| (*start, cost[*start] + error(*start, end))).collect();
        let (start, least) =
            priced.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::INFINITY));
        cost.push(least + penalty);
        last_change.push(start);
        // Prune a start that already exceeds the best cost by the penalty: it can never win again.
        candidates =
            priced.into_iter().filter(|(_, c)| *c <= least + penalty).map(|(start, _)| start).collect();
        candidates.push(end);
    }
    let mut changes = Vec::new();
    let mut end = n;
    while last_change[end] > 0 {
        end = last_change[end];
        changes.push(end);
    }
    changes.reverse();
    Ok(Fit { changes, cost: cost[n] })
}

/// Squared error of any range about its mean, in units of sigma squared, in constant time.
fn squared_errors(values: &[f64], sigma: f64) -> impl Fn(usize, usize) -> f64 {
    // Centred first, so that large levels do not lose small steps.
    let centre = mean(values);
    let (mut sums, mut squares) = (vec![0.0], vec![0.0]);
    for (i, v) in values.iter().enumerate() {
        let v = (v - centre) / sigma;
        sums.push(sums[i] + v);
        squares.push(squares[i] + v * v);
    }
    move |from, to| {
        let total = sums[to] - sums[from];
        (squares[to] - squares[from] - total * total / (to - from) as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded::RandomStream;
    use proptest::prelude::*;

    const EXAMPLE: [f64; 12] = [100.0, 101.0, 99.0, 100.0, 102.0, 100.0, 97.0, 96.0, 98.0, 97.0, 96.0, 97.0];

    #[test]
    fn the_costs_of_the_example() {
        let error = squared_errors(&EXAMPLE, 1.0);
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 5e-7, "{found} instead of {expected}")
        };
        near(error(0, 12), 44.916667);
        near(error(0, 6), 5.333333);
        near(error(6, 12), 2.833333);
        let price = PENALTY * 12f64.ln();
        near(price, 9.939627);
        let found = fit_with(&EXAMPLE, 1.0, price).expect("12 points");
        assert_eq!(found.changes, [6]);
        near(found.cost, 18.106293);
    }

    #[test]
    fn white_noise_is_rarely_cut_and_a_step_is_found() {
        let mut draws = RandomStream::from_seed(41);
        let mut series = |step: f64| -> Vec<f64> {
            (0..60).map(|i| draws.normal() + if i >= 40 { step } else { 0.0 }).collect()
        };
        let cut = (0..400).filter(|_| !fit(&series(0.0)).expect("60").changes.is_empty()).count();
        let hit = (0..400)
            .filter(|_| fit(&series(3.0)).expect("60").changes.iter().any(|c| c.abs_diff(40) <= 1))
            .count();
        assert!(cut <= 16 && hit >= 376, "{cut} {hit}");
        assert!(fit(&[1.0; 20]).is_err() && fit(&[1.0, 2.0]).is_err() && fit_with(&[], 1.0, 1.0).is_err());
    }

    /// Tries every segmentation of a short series.
    fn by_force(values: &[f64], penalty: f64) -> f64 {
        let error = squared_errors(values, 1.0);
        let n = values.len();
        let cost = |code: u32| {
            let inner = (1..n).filter(|i| code >> (i - 1) & 1 == 1);
            let bounds: Vec<usize> = std::iter::once(0).chain(inner).chain([n]).collect();
            bounds.windows(2).map(|b| error(b[0], b[1])).sum::<f64>() + penalty * (bounds.len() - 2) as f64
        };
        (0..1u32 << (n - 1)).map(cost).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn pruning_loses_nothing(values in prop::collection::vec(-5.0..5.0f64, 1..12), penalty in 0.1..20.0f64) {
            let found = fit_with(&values, 1.0, penalty).expect("values");
            prop_assert!((found.cost - by_force(&values, penalty)).abs() < 1e-9);
        }
    }
}
