//! Pareto with h of at least 0.5: the ranks below k of n still get (k / n)^a of the operations, with a = ln(1 - h) / ln(h), but a is 1 or
//! more, so that the last ranks are the popular ones.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

pub(in crate::ops) struct Rising {
    /// 1 / a, above 0 and at most 1.
    root: f64,
}

impl Rising {
    /// `None` if h is not at least 0.5 and below 1.
    pub(super) fn new(h: f64) -> Option<Self> {
        (0.5..1.0).contains(&h).then(|| Self { root: h.ln() / (-h).ln_1p() })
    }

    /// A rank below `n`.
    pub(super) fn draw(&self, n: u64, rng: &mut Xoshiro256PlusPlus) -> u64 {
        /// Bits of a uniform number in a double.
        const BITS: u32 = 53;
        let uniform = (rng.next_u64() >> (u64::BITS - BITS)) as f64 / (1u64 << BITS) as f64;
        ((uniform.powf(self.root) * n as f64) as u64).min(n - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::chi_square;
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng as _;

    #[test]
    fn ranks_come_as_often_as_pareto_says() {
        for h in [0.5, 0.55, 0.618, 0.9, 0.99] {
            for n in [1, 2, 10, 1000] {
                let (ranks, mut rng) = (Rising::new(h).unwrap(), Xoshiro256PlusPlus::seed_from_u64(n));
                let mut counts = vec![0; n as usize];
                (0..100_000).for_each(|_| counts[ranks.draw(n, &mut rng) as usize] += 1);
                let below = |k: u64| (k as f64 / n as f64).powf((1.0 - h).ln() / h.ln());
                let expected: Vec<f64> = (0..n).map(|k| below(k + 1) - below(k)).collect();
                chi_square(&counts, &expected);
            }
        }
    }

    #[test]
    fn extremes_are_drawn_from() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for h in [0.5, 1.0 - f64::EPSILON] {
            let ranks = Rising::new(h).unwrap();
            for n in [1, i64::MAX as u64] {
                assert!((0..1000).all(|_| ranks.draw(n, &mut rng) < n), "{h} {n}");
            }
        }
        assert!([0.0, 0.499, 1.0, 2.0, f64::NAN].into_iter().all(|h| Rising::new(h).is_none()));
    }
}
