//! Pareto, also called self-similar (Gray and others, SIGMOD 1994): of any leading share x of the ranks, the first h of it gets 1 - h of
//! its operations. So the ranks below k of n get (k / n)^a, with a = ln(1 - h) / ln(h): the same as floor(n * u^(1 / a)) for a uniform u,
//! but drawn from these probabilities, which avoids the power.

use super::falling::Weights;

pub(in crate::ops) struct Pareto {
    /// The exponent a, between 0 and 1.
    power: f64,
}

impl Pareto {
    /// `None` if h is not between 0 and 0.5.
    pub(super) fn new(h: f64) -> Option<Self> {
        (h > 0.0 && h < 0.5).then(|| Self { power: (-h).ln_1p() / h.ln() })
    }
}

impl Weights for Pareto {
    fn weight(&self, rank: u64) -> f64 {
        self.mass(rank, rank + 1)
    }

    /// to^a - from^a; the factor n^-a is common to all ranks.
    fn mass(&self, from: u64, to: u64) -> f64 {
        if from == 0 {
            return (to as f64).powf(self.power);
        }
        let start = from as f64;
        start.powf(self.power) * (self.power * ((to - from) as f64 / start).ln_1p()).exp_m1()
    }

    /// The weight is the mean of the derivative of x^a over a step, so its second derivative is at most the third derivative of x^a.
    fn curvature(&self, rank: u64) -> f64 {
        let x = rank as f64;
        self.power * (1.0 - self.power) * (2.0 - self.power) * x.powf(self.power) / (x * x * x)
    }
}

#[cfg(test)]
mod tests {
    use super::super::falling::tests::{is_bounded_by_its_curvature, matches_its_weights, sums_its_weights};
    use super::*;

    #[test]
    fn sums_are_exact_to_twelve_digits() {
        for h in [0.01, 0.2, 0.4, 0.499] {
            sums_its_weights(&Pareto::new(h).unwrap());
        }
    }

    #[test]
    fn the_quick_test_accepts_no_more_than_the_exact_one() {
        for h in [0.05, 0.2, 0.4] {
            is_bounded_by_its_curvature(|| Pareto::new(h).unwrap());
        }
    }

    #[test]
    fn ranks_come_as_often_as_pareto_says() {
        for n in [1, 2, 10, 1000, 1 << 36] {
            for h in [0.05, 0.2, 0.45] {
                matches_its_weights(|| Pareto::new(h).unwrap(), n);
            }
        }
    }

    #[test]
    fn the_first_share_has_the_other_share_of_the_operations_at_every_scale() {
        let p = Pareto::new(0.2).unwrap();
        for n in [1000, 1_000_000, 1_000_000_000] {
            assert!((p.mass(0, n / 5) / p.mass(0, n) - 0.8).abs() < 1e-12);
        }
    }

    #[test]
    fn extremes_are_drawn_from() {
        use super::super::falling::Falling;
        use rand_xoshiro::rand_core::SeedableRng as _;
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for h in [f64::MIN_POSITIVE, 1e-17, 0.5 - 1e-16] {
            for n in [1, 1000, i64::MAX as u64] {
                let falling = Falling::new(Pareto::new(h).unwrap(), n).unwrap();
                assert!((0..1000).all(|_| falling.draw(&mut rng) < n), "{h} {n}");
            }
        }
        assert!([0.0, 0.5, -1.0, 1.0, f64::NAN].into_iter().all(|h| Pareto::new(h).is_none()));
    }
}
