//! MT19937, the 32-bit Mersenne Twister (Matsumoto and Nishimura, 1998), with the seeding of its first version: a multiplicative
//! generator. Filebench uses it to choose which files exist and random offsets. Later seedings mix better and give other numbers.

const N: usize = 624;
const M: usize = 397;
const MATRIX: u32 = 0x9908_B0DF;
const UPPER: u32 = 0x8000_0000;
const LOWER: u32 = 0x7FFF_FFFF;

/// The 32-bit Mersenne Twister.
#[derive(Clone, Debug)]
pub struct Mt19937 {
    state: [u32; N],
    at: usize,
}

impl Mt19937 {
    /// Default seed of the authors' first program, and the one Filebench always uses.
    pub const FIRST_SEED: u32 = 4357;

    /// Filled with s\[0\] = seed, s\[i\] = 69069 * s\[i-1\] mod 2^32.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        let mut state = [seed; N];
        for i in 1..N {
            state[i] = state[i - 1].wrapping_mul(69069);
        }
        Self { state, at: N }
    }

    fn refill(&mut self) {
        for i in 0..N {
            let x = (self.state[i] & UPPER) | (self.state[(i + 1) % N] & LOWER);
            let twist = if x & 1 == 1 { MATRIX } else { 0 };
            self.state[i] = self.state[(i + M) % N] ^ (x >> 1) ^ twist;
        }
        self.at = 0;
    }

    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.at == N {
            self.refill();
        }
        let mut x = self.state[self.at];
        self.at += 1;
        x ^= x >> 11;
        x ^= (x << 7) & 0x9D2C_5680;
        x ^= (x << 15) & 0xEFC6_0000;
        x ^ (x >> 18)
    }

    /// The next 64 bits: two outputs, the first in the high half.
    pub fn next_u64(&mut self) -> u64 {
        let high = u64::from(self.next_u32());
        high << 32 | u64::from(self.next_u32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observed with Filebench 1.5.
    #[test]
    fn the_first_numbers_of_filebench() {
        let mut g = Mt19937::new(Mt19937::FIRST_SEED);
        assert_eq!(g.next_u64(), 0xd13c_8af5_ffc2_7482);
        assert_eq!(g.next_u64(), 0x82a6_958b_21ac_240a);
    }
}
