//! Drawing from random variables: the sequence follows from the seed alone, whatever the machine.

use crate::{RandomVariable, Row, Shape};
use rand_distr::Distribution as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A random variable with its generator.
pub struct Sampler {
    variable: RandomVariable,
    rng: Xoshiro256PlusPlus,
}

impl Sampler {
    /// A sampler whose sequence is fixed by `seed`; `None` if the variable's parameters are outside their ranges.
    #[must_use]
    pub fn new(variable: &RandomVariable, seed: u64) -> Option<Self> {
        let mut this = Self { variable: variable.clone(), rng: Xoshiro256PlusPlus::seed_from_u64(seed) };
        this.raw()?;
        this.rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Some(this)
    }

    /// The next value: drawn, rounded, bounded.
    pub fn draw(&mut self) -> f64 {
        let mut value = self.raw().unwrap_or(0.0);
        if self.variable.round > 0 {
            let unit = self.variable.round as f64;
            value = (value / unit).round() * unit;
        }
        if let Some(min) = self.variable.min {
            value = value.max(min);
        }
        self.variable.max.map_or(value, |max| value.min(max))
    }

    /// The next value as a count or size: truncated, never negative.
    pub fn draw_u64(&mut self) -> u64 {
        self.draw().max(0.0) as u64
    }

    fn unit(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// `None` if the parameters are outside their ranges.
    fn raw(&mut self) -> Option<f64> {
        use rand_distr::{Exp, Gamma, LogNormal, Normal, Triangular, Weibull};
        let shape = self.variable.shape.clone();
        Some(match shape {
            Shape::Uniform { low, high } if low <= high => low + self.unit() * (high - low),
            Shape::Uniform { .. } => return None,
            Shape::Gamma { shape, mean } => Gamma::new(shape, mean / shape).ok()?.sample(&mut self.rng),
            Shape::Erlang { shape, rate } => {
                Gamma::new(f64::from(shape), 1.0 / rate).ok()?.sample(&mut self.rng)
            }
            Shape::Exponential { mean } if mean > 0.0 => Exp::new(1.0 / mean).ok()?.sample(&mut self.rng),
            Shape::Exponential { .. } => return None,
            Shape::Normal { mean, sigma } => Normal::new(mean, sigma).ok()?.sample(&mut self.rng),
            Shape::LogNormal { mu, sigma } => LogNormal::new(mu, sigma).ok()?.sample(&mut self.rng),
            Shape::Triangular { low, high, mode } => {
                Triangular::new(low, high, mode).ok()?.sample(&mut self.rng)
            }
            Shape::Weibull { shape, scale } => Weibull::new(scale, shape).ok()?.sample(&mut self.rng),
            Shape::Table(rows) => self.table_value(&rows)?,
        })
    }

    fn table_value(&mut self, rows: &[Row]) -> Option<f64> {
        let total: f64 = rows.iter().map(|r| r.percent).sum();
        let mut left = self.unit() * total;
        let within = self.unit();
        for row in rows {
            if left < row.percent {
                return Some(row.low + within * (row.high - row.low));
            }
            left -= row.percent;
        }
        rows.last().map(|r| r.low + within * (r.high - r.low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(shape: Shape) -> f64 {
        let v = RandomVariable { shape, round: 0, min: None, max: None };
        let mut s = Sampler::new(&v, 1).unwrap();
        (0..20_000).map(|_| s.draw()).sum::<f64>() / 20_000.0
    }

    #[test]
    fn means_are_the_distributions_own() {
        let near = |got: f64, want: f64| assert!((got / want - 1.0).abs() < 0.05, "{got} against {want}");
        near(mean(Shape::Uniform { low: 10.0, high: 30.0 }), 20.0);
        near(mean(Shape::Gamma { shape: 1.5, mean: 4096.0 }), 4096.0);
        near(mean(Shape::Erlang { shape: 3, rate: 0.5 }), 6.0);
        near(mean(Shape::Exponential { mean: 7.0 }), 7.0);
        near(mean(Shape::Normal { mean: 100.0, sigma: 10.0 }), 100.0);
        near(mean(Shape::Triangular { low: 0.0, high: 3.0, mode: 1.5 }), 1.5);
        near(
            mean(Shape::Table(vec![
                Row { percent: 50.0, low: 0.0, high: 10.0 },
                Row { percent: 50.0, low: 10.0, high: 20.0 },
            ])),
            10.0,
        );
    }

    #[test]
    fn rounding_and_bounds_apply_in_that_order() {
        let shape = Shape::Uniform { low: 1000.0, high: 1000.0 };
        let v = RandomVariable { shape, round: 512, min: None, max: Some(900.0) };
        assert_eq!(Sampler::new(&v, 1).unwrap().draw(), 900.0);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let v = |shape| RandomVariable { shape, round: 0, min: None, max: None };
        assert!(Sampler::new(&v(Shape::Gamma { shape: -1.0, mean: 1.0 }), 1).is_none());
        assert!(Sampler::new(&v(Shape::Exponential { mean: 0.0 }), 1).is_none());
        assert!(Sampler::new(&v(Shape::Table(vec![])), 1).is_none());
    }
}
