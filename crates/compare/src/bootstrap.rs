//! The bootstrap, for summaries without an exact interval. It resamples the unit of replication (a run, a block) within its stratum (a
//! quad), never a request.
//!
//! Up to six units all resamples are enumerated; from eight on 10,000 are drawn from a ChaCha8 stream with a stored seed; seven units, or
//! fewer than two, are too few to bootstrap.

use crate::numbers::{mean, place, sorted, squares};
use crate::seeded::RandomStream;
use crate::unusable::Unusable;
use std::ops::Range;

/// Largest number of units whose resamples are all enumerated.
const MOST_ENUMERATED: usize = 6;
/// Smallest number of units for random resampling.
const FEWEST_DRAWN: usize = 8;

/// Settings of random resampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// Number of resamples.
    pub resamples: usize,
    /// Seed; stored with the result.
    pub seed: u64,
}

impl Resampling {
    /// 10,000 resamples from this seed.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self { resamples: 10_000, seed }
    }
}

/// The statistic over all resamples.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// Ascending.
    values: Vec<f64>,
    /// Whether these are all possible resamples.
    pub enumerated: bool,
}

impl Bootstrap {
    /// From resamples drawn elsewhere, ascending and not empty.
    pub(crate) fn of_drawn(values: Vec<f64>) -> Self {
        Self { values, enumerated: false }
    }

    /// The statistic of every resample, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Mean over resamples.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean(&self.values)
    }

    /// Standard deviation over resamples.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        (squares(&self.values) / self.values.len() as f64).sqrt()
    }

    /// The value at 1-based index `ceil(q B)` of the sorted resamples.
    #[must_use]
    pub fn percentile(&self, q: f64) -> f64 {
        self.values[place(q, self.values.len() as u64) as usize - 1]
    }

    /// The percentile interval at a confidence such as 0.95.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> [f64; 2] {
        let outside = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
        [self.percentile(outside), self.percentile(1.0 - outside)]
    }
}

/// Resamples one sample.
pub fn bootstrap(
    sample: &[f64],
    how: Resampling,
    mut statistic: impl FnMut(&[f64]) -> f64,
) -> Result<Bootstrap, Unusable> {
    let mut drawn = Vec::with_capacity(sample.len());
    bootstrap_strata(&[sample.len()], how, |units| {
        drawn.clear();
        drawn.extend(units.iter().map(|i| sample[*i]));
        statistic(&drawn)
    })
}

/// Resamples within strata. Units are numbered through all strata in order. The statistic receives the drawn numbers, from each stratum
/// as many as its size.
pub fn bootstrap_strata(
    sizes: &[usize],
    how: Resampling,
    mut statistic: impl FnMut(&[usize]) -> f64,
) -> Result<Bootstrap, Unusable> {
    let units: usize = sizes.iter().sum();
    let strata = strata(sizes);
    if (2..=MOST_ENUMERATED).contains(&units) {
        return Ok(Bootstrap { values: enumerated(&strata, &mut statistic), enumerated: true });
    }
    if units < FEWEST_DRAWN {
        return Err(Unusable::TooFew { what: "the bootstrap", needed: FEWEST_DRAWN, got: units });
    }
    let mut draws = RandomStream::from_seed(how.seed);
    let mut drawn = vec![0; units];
    let values: Vec<f64> = (0..how.resamples.max(1))
        .map(|_| {
            for (unit, stratum) in drawn.iter_mut().zip(&strata) {
                *unit = stratum.start + draws.below(stratum.len());
            }
            statistic(&drawn)
        })
        .collect();
    Ok(Bootstrap { values: sorted(&values), enumerated: false })
}

/// Index range of the units of each stratum.
fn strata(sizes: &[usize]) -> Vec<Range<usize>> {
    let mut from = 0;
    sizes
        .iter()
        .flat_map(|size| {
            let stratum = from..from + size;
            from += size;
            std::iter::repeat_n(stratum, *size)
        })
        .collect()
}

/// Enumerates all choices like an odometer.
fn enumerated(strata: &[Range<usize>], statistic: &mut impl FnMut(&[usize]) -> f64) -> Vec<f64> {
    let mut drawn: Vec<usize> = strata.iter().map(|s| s.start).collect();
    let mut values = vec![statistic(&drawn)];
    while let Some(wheel) = (0..drawn.len()).find(|i| drawn[*i] + 1 < strata[*i].end) {
        drawn[wheel] += 1;
        for i in 0..wheel {
            drawn[i] = strata[i].start;
        }
        values.push(statistic(&drawn));
    }
    sorted(&values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::median;

    #[test]
    fn four_values_are_enumerated() {
        let sample = [10.0, 11.0, 13.0, 18.0];
        let means = bootstrap(&sample, Resampling::seeded(0), mean).expect("4");
        assert_eq!((means.values().len(), means.enumerated), (256, true));
        assert!((means.mean() - 13.0).abs() < 1e-12 && (means.deviation() - 1.541104).abs() < 5e-7);
        assert_eq!(means.interval(0.95), [10.5, 16.25]);
        assert_eq!(
            bootstrap(&sample, Resampling::seeded(0), median).expect("4").interval(0.95),
            [10.0, 18.0]
        );
    }

    #[test]
    fn strata_are_kept_apart() {
        let found = bootstrap_strata(&[2, 3], Resampling::seeded(0), |units| {
            assert!(units[..2].iter().all(|i| *i < 2) && units[2..].iter().all(|i| (2..5).contains(i)));
            units.iter().sum::<usize>() as f64
        });
        assert_eq!(found.expect("5").values().len(), 4 * 27);
    }

    #[test]
    fn larger_samples_are_drawn_and_reproducible() {
        let sample: Vec<f64> = (0..20).map(f64::from).collect();
        let of_seed = |seed| bootstrap(&sample, Resampling::seeded(seed), mean).expect("20");
        assert_eq!(of_seed(1), of_seed(1));
        assert_ne!(of_seed(1), of_seed(2));
        let expected = (squares(&sample) / 20.0 / 20.0).sqrt();
        assert!((of_seed(1).deviation() / expected - 1.0).abs() < 0.05 && !of_seed(1).enumerated);
    }

    #[test]
    fn seven_and_one_are_too_few() {
        for n in [0, 1, 7] {
            let found = bootstrap(&vec![1.0; n], Resampling::seeded(0), mean);
            assert_eq!(found, Err(Unusable::TooFew { what: "the bootstrap", needed: 8, got: n }));
        }
    }
}
