//! Reproducible randomness: a ChaCha8 stream from a seed. Results store the seed; the same seed gives the same resamples on every
//! machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

pub(crate) struct RandomStream(ChaCha8Rng);

impl RandomStream {
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A uniform number below `n`, which must not be 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        loop {
            let drawn = self.0.next_u64();
            // The biased tail is shorter than n, so its exact size is rarely needed.
            if drawn < u64::MAX - n || drawn < u64::MAX - u64::MAX % n {
                return (drawn % n) as usize;
            }
        }
    }

    /// Fisher-Yates: every arrangement is equally likely.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Uniform in (0, 1): 53 bits plus half a step, so neither end occurs.
    #[cfg(test)]
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A standard normal number (Box-Muller).
    #[cfg(test)]
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_and_all_alike() {
        let (mut one, mut two) = (RandomStream::from_seed(5), RandomStream::from_seed(5));
        let mut seen = [0u32; 6];
        for _ in 0..6000 {
            let drawn = one.below(6);
            assert_eq!(drawn, two.below(6));
            seen[drawn] += 1;
        }
        // The standard deviation is 29.
        assert!(seen.iter().all(|n| (880..1120).contains(n)), "{seen:?}");
        let mut items: Vec<usize> = (0..50).collect();
        one.shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
