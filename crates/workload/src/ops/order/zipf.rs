//! Zipf: rank k (from 1) with a weight of 1 / k^theta.

use super::falling::Weights;

/// Sums up to this length are added term by term; longer ones use an integral.
const ADDED: u64 = 32;
/// The integral is used from this rank on: there the first omitted term is below 1e-16 of the sum for any theta that gives such ranks a
/// noticeable weight.
const SMOOTH_FROM: u64 = 512;

pub(in crate::ops) struct Zipf {
    theta: f64,
}

impl Zipf {
    /// `None` if theta is not above 0.
    pub(super) fn new(theta: f64) -> Option<Self> {
        (theta > 0.0 && theta.is_finite()).then_some(Self { theta })
    }
}

impl Weights for Zipf {
    #[inline]
    fn weight(&self, rank: u64) -> f64 {
        ((rank + 1) as f64).powf(-self.theta)
    }

    fn mass(&self, from: u64, to: u64) -> f64 {
        if to - from <= ADDED {
            return (from..to).rev().map(|rank| self.weight(rank)).sum();
        }
        if from < SMOOTH_FROM {
            let border = SMOOTH_FROM.min(to);
            let first: f64 = (from..border).rev().map(|rank| self.weight(rank)).sum();
            return if border < to { self.mass(border, to) + first } else { first };
        }
        // Euler-Maclaurin formula for the sum over a <= k < b: the integral, minus half the difference of the ends, plus the differences
        // of the first and third derivative over 12 and -720.
        let (a, b, theta) = ((from + 1) as f64, (to + 1) as f64, self.theta);
        let (at_a, at_b) = (a.powf(-theta), b.powf(-theta));
        let log = ((to - from) as f64 / a).ln_1p();
        let power = 1.0 - theta;
        // (b^power - a^power) / power, also where the power is close to 0.
        let integral = a * at_a * if power == 0.0 { log } else { (power * log).exp_m1() / power };
        let slope = |x: f64, at: f64| -theta * at / x;
        let third = |x: f64, at: f64| -theta * (theta + 1.0) * (theta + 2.0) * at / (x * x * x);
        integral + (at_a - at_b) / 2.0 + (slope(b, at_b) - slope(a, at_a)) / 12.0
            - (third(b, at_b) - third(a, at_a)) / 720.0
    }

    fn curvature(&self, rank: u64) -> f64 {
        let x = (rank + 1) as f64;
        self.theta * (self.theta + 1.0) * x.powf(-self.theta) / (x * x)
    }
}

#[cfg(test)]
mod tests {
    use super::super::falling::tests::{is_bounded_by_its_curvature, matches_its_weights, sums_its_weights};
    use super::*;

    #[test]
    fn sums_are_exact_to_twelve_digits() {
        for theta in [1e-9, 0.3, 0.99, 1.0, 1.0 + 1e-9, 1.1, 2.5] {
            sums_its_weights(&Zipf { theta });
        }
    }

    #[test]
    fn the_quick_test_accepts_no_more_than_the_exact_one() {
        for theta in [0.3, 1.0, 2.5] {
            is_bounded_by_its_curvature(|| Zipf { theta });
        }
    }

    #[test]
    fn ranks_come_as_often_as_zipf_says() {
        for n in [1, 2, 10, 1000, 1 << 36] {
            for theta in [0.5, 0.99, 1.0, 1.2] {
                matches_its_weights(|| Zipf { theta }, n);
            }
        }
    }

    #[test]
    fn the_zeta_function_is_met() {
        // The sum of 1 / k^2 is pi^2 / 6.
        let sum = Zipf { theta: 2.0 }.mass(0, 1 << 50);
        assert!((sum - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-14, "{sum}");
    }

    #[test]
    fn extremes_are_drawn_from() {
        use super::super::falling::Falling;
        use rand_xoshiro::rand_core::SeedableRng as _;
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for theta in [f64::MIN_POSITIVE, 1e-17, 50.0, 1e300] {
            for n in [1, 1000, i64::MAX as u64] {
                let falling = Falling::new(Zipf { theta }, n).unwrap();
                assert!((0..1000).all(|_| falling.draw(&mut rng) < n), "{theta} {n}");
            }
        }
        assert!([0.0, -1.0, f64::NAN, f64::INFINITY].into_iter().all(|theta| Zipf::new(theta).is_none()));
    }
}
