//! Outliers by the median absolute deviation and by Tukey's fences. They are flagged so that the user can explain them (first run?
//! write-back at the same time? throttled?), never dropped: every method here that judges includes them.

use crate::numbers::median;
use crate::summary::Summary;
use crate::unusable::{Unusable, enough, finite};

/// Converts the median absolute deviation of normal noise to a standard deviation.
const MAD_TO_SIGMA: f64 = 1.4826;
/// Number of these deviations beyond which a value is flagged.
const FAR: f64 = 5.0;

/// Position relative to Tukey's fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// Within both.
    Inside,
    /// More than 1.5 interquartile ranges outside the quartiles.
    Mild,
    /// More than 3 interquartile ranges outside the quartiles.
    Severe,
}

/// One value's distance from the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// Its index in the sample, from 0.
    pub index: usize,
    /// `(x - median) / (1.4826 MAD)`; infinite if more than half of the sample is equal and this value is not.
    pub z: f64,
    /// Position relative to Tukey's fences.
    pub fence: Fence,
}

/// The values flagged by either rule, in sample order.
pub fn outliers(values: &[f64]) -> Result<Vec<Outlier>, Unusable> {
    Ok(distances(values)?.into_iter().filter(|o| o.z.abs() > FAR || o.fence != Fence::Inside).collect())
}

/// Every value's distance.
pub fn distances(values: &[f64]) -> Result<Vec<Outlier>, Unusable> {
    enough("a look for outliers", 4, values.len())?;
    finite(values)?;
    let centre = median(values);
    let mad = median(&values.iter().map(|v| (v - centre).abs()).collect::<Vec<f64>>());
    let Some(summary) = Summary::of(values) else { return Ok(Vec::new()) };
    let of = |(index, v): (usize, &f64)| {
        let distance = v - centre;
        // 0 / 0 is a value at the median of a sample whose majority is equal.
        let z = if distance == 0.0 { 0.0 } else { distance / (MAD_TO_SIGMA * mad) };
        Outlier { index, z, fence: fence(*v, &summary) }
    };
    Ok(values.iter().enumerate().map(of).collect())
}

/// Fences at `reach` interquartile ranges outside the quartiles.
fn fences(summary: &Summary, reach: f64) -> (f64, f64) {
    let range = summary.q3 - summary.q1;
    (summary.q1 - reach * range, summary.q3 + reach * range)
}

fn fence(value: f64, summary: &Summary) -> Fence {
    let beyond = |reach: f64| {
        let (low, high) = fences(summary, reach);
        value < low || value > high
    };
    match (beyond(3.0), beyond(1.5)) {
        (true, _) => Fence::Severe,
        (_, true) => Fence::Mild,
        _ => Fence::Inside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quads::examples::{SLOWER, quads};
    use proptest::prelude::*;

    #[test]
    fn side_b_of_the_first_example() {
        let b: Vec<f64> = quads(&SLOWER).iter().flat_map(|q| q.b).collect();
        let found = outliers(&b).expect("10 runs");
        assert_eq!(found.len(), 1);
        assert_eq!((b[found[0].index], found[0].fence), (470.3, Fence::Severe));
        assert!((found[0].z - -11.445265).abs() < 5e-7, "{found:?}");
        let summary = Summary::of(&b).expect("10 runs");
        assert!((summary.q1 - 495.925).abs() < 1e-9 && (summary.q3 - 498.625).abs() < 1e-9);
        let (mild, severe) = (fences(&summary, 1.5).0, fences(&summary, 3.0).0);
        assert!((mild - 491.875).abs() < 5e-7 && (severe - 487.825).abs() < 5e-7, "{mild} {severe}");
        let at = |v: f64| fence(v, &summary);
        assert_eq!(
            (at(491.9), at(491.85), at(487.85), at(487.8)),
            (Fence::Inside, Fence::Mild, Fence::Mild, Fence::Severe)
        );
    }

    #[test]
    fn equal_values_and_one_that_is_not() {
        assert_eq!(outliers(&[2.0; 9]).expect("9"), []);
        let found = outliers(&[2.0, 2.0, 2.0, 2.0, 2.0, 3.0]).expect("6");
        assert_eq!((found[0].index, found[0].z), (5, f64::INFINITY));
        assert!(outliers(&[1.0, 2.0]).is_err());
    }

    proptest! {
        #[test]
        fn unit_and_origin_do_not_matter(values in prop::collection::vec(-9.0..9.0f64, 4..30)) {
            // Powers of two keep every distance exact.
            let moved: Vec<f64> = values.iter().map(|v| -v * 4.0).collect();
            let (one, two) = (distances(&values).expect("values"), distances(&moved).expect("values"));
            for (one, two) in one.iter().zip(&two) {
                prop_assert!(one.z == -two.z || (one.z + two.z).abs() < 1e-6 * one.z.abs());
            }
        }
    }
}
