//! Drawing from random variables: the sequence follows from the seed alone, on any machine. [`Drawing`] is the distribution, for numbers
//! from any source; [`Sampler`] is a variable with its own generator.

mod drawing;
mod gamma;
#[cfg(test)]
mod tests;

pub use drawing::Drawing;
pub(crate) use gamma::StandardGamma;

use super::generators::Rand48;
use crate::{Generator, RandomVariable};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A random variable with its generator.
#[derive(Clone, Debug)]
pub struct Sampler {
    drawing: Drawing,
    source: NumberSource,
}

#[derive(Clone, Debug)]
enum NumberSource {
    Seeded(Xoshiro256PlusPlus),
    Rand48(Rand48),
}

impl Sampler {
    /// A sampler whose sequence is fixed by `seed` and the variable's generator; `None` if the variable's parameters are out of range. It
    /// does not share its stream: callers that share one keep the state elsewhere and draw with [`Drawing::draw_with`].
    #[must_use]
    pub fn new(variable: &RandomVariable, seed: u64) -> Option<Self> {
        let source = match variable.generator {
            Generator::Seeded => NumberSource::Seeded(Xoshiro256PlusPlus::seed_from_u64(seed)),
            Generator::Rand48(state) => NumberSource::Rand48(Rand48::new(state)),
            Generator::ProcessRand48 => NumberSource::Rand48(Rand48::default()),
        };
        Some(Self { drawing: Drawing::new(variable)?, source })
    }

    /// The next value: drawn, rounded, bounded.
    pub fn draw(&mut self) -> f64 {
        match &mut self.source {
            NumberSource::Seeded(rng) => self.drawing.draw_with(|| unit_of(rng.next_u64())),
            NumberSource::Rand48(rand48) => self.drawing.draw_with(|| rand48.unit()),
        }
    }

    /// The next value as a count or size: truncated, never negative.
    pub fn draw_u64(&mut self) -> u64 {
        self.draw() as u64
    }
}

/// The top 53 of 64 random bits as a number in 0..1.
#[must_use]
pub fn unit_of(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
