//! The GNU C library's `random()` (and its identical `rand()`) in its default state, without `initstate`: additive feedback over 31
//! words. SysBench seeds its threads from it, and Filebench uses it to choose which files exist. It is reproduced rather than called
//! because the library's state is global to the process.

const WORDS: usize = 31;
/// Distance between the two words that are added.
const SEPARATION: usize = 3;
/// Outputs discarded after seeding: ten per word.
const DISCARDED: usize = 10 * WORDS;

/// glibc's `random()`.
#[derive(Clone, Debug)]
pub struct GlibcRandom {
    words: [u32; WORDS],
    /// Index of the oldest word, which the next output replaces.
    oldest: usize,
}

impl GlibcRandom {
    /// State after `srandom(seed)`. A program that never seeds has seed 1; 0 counts as 1.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        let mut words = [0; WORDS];
        // The library computes in signed words, where seeds from 2^31 on are negative.
        let mut word = seed.max(1) as i32;
        for slot in &mut words {
            *slot = word as u32;
            // 16807 * word mod 2^31-1, without overflow (Schrage).
            word = 16807 * (word % 127_773) - 2836 * (word / 127_773);
            if word < 0 {
                word += i32::MAX;
            }
        }
        let mut this = Self { words, oldest: SEPARATION };
        for _ in 0..DISCARDED {
            this.next();
        }
        this
    }

    /// The next 31 bits.
    #[expect(clippy::should_implement_trait, reason = "it never ends; an Option around it would be noise")]
    pub fn next(&mut self) -> u32 {
        let recent = (self.oldest + WORDS - SEPARATION) % WORDS;
        let sum = self.words[self.oldest].wrapping_add(self.words[recent]);
        self.words[self.oldest] = sum;
        self.oldest = (self.oldest + 1) % WORDS;
        sum >> 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unseeded_programs_draw_these() {
        let mut g = GlibcRandom::new(1);
        assert_eq!([g.next(), g.next(), g.next()], [1_804_289_383, 846_930_886, 1_681_692_777]);
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn the_c_library_draws_the_same() {
        for seed in [0, 1, 7, 42, 127_773, i32::MAX as u32, 1 << 31, u32::MAX] {
            let mut ours = GlibcRandom::new(seed);
            // SAFETY: srand has no precondition. Nothing else in this test program uses the library's generator.
            unsafe { libc::srand(seed) };
            for i in 0..2000 {
                // SAFETY: rand has no precondition.
                let theirs = unsafe { libc::rand() };
                assert_eq!(i64::from(ours.next()), i64::from(theirs), "seed {seed}, number {i}");
            }
        }
    }
}
