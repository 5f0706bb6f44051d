//! xoroshiro128+ with the rotations 55, 14, 36 (Blackman and Vigna, 2016), seeded like SysBench 1.0: from the C library's generator. With
//! one thread its random offsets are reproducible, and a drop-in must visit the same ones.

use super::GlibcRandom;

/// xoroshiro128+ as SysBench uses it.
#[derive(Clone, Debug)]
pub struct Xoroshiro128Plus {
    state: [u64; 2],
}

impl Xoroshiro128Plus {
    /// Seeded from the next four outputs of the C library's generator, the first of each pair in the high half.
    pub fn from_random(random: &mut GlibcRandom) -> Self {
        let mut word = || {
            let high = u64::from(random.next());
            high << 32 | u64::from(random.next())
        };
        Self { state: [word(), word()] }
    }

    /// The stream of the first thread of `sysbench --rand-seed=seed`.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        Self::from_random(&mut GlibcRandom::new(seed))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [first, second] = self.state;
        let mixed = first ^ second;
        self.state = [first.rotate_left(55) ^ mixed ^ (mixed << 14), mixed.rotate_left(36)];
        first.wrapping_add(second)
    }

    /// The next number in 0..1: the top 52 bits as the mantissa of a number in 1..2, minus 1.
    pub fn unit(&mut self) -> f64 {
        const ONE: u64 = 1023 << 52;
        f64::from_bits(ONE | (self.next_u64() >> 12)) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// File and offset of each read of `sysbench fileio --file-num=2 --file-total-size=16M --file-test-mode=rndrd --events=20 --time=0
    /// --rand-seed=7 run`, from strace.
    const SEEN: [(u64, u64); 20] = [
        (1, 655_360),
        (0, 6_832_128),
        (0, 1_703_936),
        (1, 4_243_456),
        (0, 2_654_208),
        (0, 6_733_824),
        (1, 5_144_576),
        (0, 4_341_760),
        (1, 4_521_984),
        (1, 7_864_320),
        (0, 2_555_904),
        (0, 4_587_520),
        (1, 1_851_392),
        (1, 2_228_224),
        (0, 983_040),
        (1, 5_701_632),
        (0, 6_078_464),
        (1, 475_136),
        (0, 2_949_120),
        (1, 5_292_032),
    ];

    #[test]
    fn the_first_offsets_of_sysbench() {
        let mut g = Xoroshiro128Plus::new(7);
        for (i, seen) in SEEN.into_iter().enumerate() {
            let block = (g.unit() * 1024.0) as u64;
            assert_eq!((block / 512, block % 512 * 16384), seen, "read {i}");
            g.unit(); // every event draws one more number, for the histogram
        }
    }
}
