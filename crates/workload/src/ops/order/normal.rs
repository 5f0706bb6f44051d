//! Normal distribution around the middle of the region, without a permutation, so that near ranks are near on the device.

use rand_distr::Distribution as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Largest deviation, in percent of the region. There 38 % of the draws fall inside; a wider one is hardly distinguishable from uniform
/// and rejects ever more draws.
pub(crate) const WIDEST_PERCENT: f64 = 100.0;

pub(in crate::ops) struct Normal {
    middle: f64,
    deviation: f64,
}

impl Normal {
    /// `None` if the deviation is not above 0 and at most [`WIDEST_PERCENT`].
    pub(super) fn new(deviation_percent: f64, n: u64) -> Option<Self> {
        let inside = deviation_percent > 0.0 && deviation_percent <= WIDEST_PERCENT;
        let n = n as f64;
        inside.then(|| Self { middle: n / 2.0, deviation: n * (deviation_percent / 100.0) })
    }

    /// The next record below `n`. About 4 ns (a ziggurat) while few draws fall outside.
    #[inline]
    pub(super) fn draw(&self, n: u64, rng: &mut Xoshiro256PlusPlus) -> u64 {
        loop {
            let unit: f64 = rand_distr::StandardNormal.sample(rng);
            let place = self.middle + unit * self.deviation;
            // The cast would turn a negative value into 0. With more than 2^53 records, the last ones may round up to n.
            if place >= 0.0 && (place as u64) < n {
                return place as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::chi_square;
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng as _;

    /// The integral of the normal density from 0 to x, by Simpson's rule.
    fn half(x: f64) -> f64 {
        let density = |t: f64| (-t * t / 2.0).exp();
        let step = x / 1000.0;
        let sum: f64 = (0..1000)
            .map(|i| f64::from(i) * step)
            .map(|t| (density(t) + 4.0 * density(t + step / 2.0) + density(t + step)) * step / 6.0)
            .sum();
        sum / std::f64::consts::TAU.sqrt()
    }

    #[test]
    fn records_come_as_often_as_the_bell_says() {
        for n in [1u64, 2, 10, 1000, 1 << 36] {
            for percent in [3.0, 20.0, 100.0] {
                let normal = Normal::new(percent, n).unwrap();
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
                let cells = n.min(50);
                let mut counts = vec![0u32; cells as usize];
                for _ in 0..100_000 {
                    counts[(u128::from(normal.draw(n, &mut rng)) * u128::from(cells) / u128::from(n))
                        as usize] += 1;
                }
                let below = |cell: u64| half((cell as f64 / cells as f64 - 0.5) * 100.0 / percent);
                let whole = below(cells) - below(0);
                let expected: Vec<f64> =
                    (0..cells).map(|cell| (below(cell + 1) - below(cell)) / whole).collect();
                chi_square(&counts, &expected);
            }
        }
    }

    #[test]
    fn extremes_are_drawn_from() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        for percent in [f64::MIN_POSITIVE, 1e-20, 100.0] {
            for n in [1, 3, i64::MAX as u64, u64::MAX] {
                let normal = Normal::new(percent, n).unwrap();
                assert!((0..1000).all(|_| normal.draw(n, &mut rng) < n));
            }
        }
        assert!(
            [0.0, -1.0, 100.1, f64::NAN, f64::INFINITY].into_iter().all(|p| Normal::new(p, 10).is_none())
        );
    }
}
