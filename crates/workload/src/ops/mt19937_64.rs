//! MT19937-64, the 64-bit Mersenne Twister (Nishimura and Matsumoto, 2000), seeded by a key array. IOzone draws its random order from it,
//! and a drop-in must visit the same records in the same order; nothing else uses it.

const N: usize = 312;
const M: usize = 156;
const MATRIX: u64 = 0xB502_6F5A_A966_19E9;
const UPPER: u64 = 0xFFFF_FFFF_8000_0000;
const LOWER: u64 = 0x7FFF_FFFF;

/// The 64-bit Mersenne Twister.
pub struct Mt19937_64 {
    state: [u64; N],
    at: usize,
}

impl Mt19937_64 {
    fn from_seed(seed: u64) -> Self {
        let mut state = [0; N];
        state[0] = seed;
        for i in 1..N {
            let last = state[i - 1];
            state[i] = 6_364_136_223_846_793_005u64.wrapping_mul(last ^ (last >> 62)).wrapping_add(i as u64);
        }
        Self { state, at: N }
    }

    /// Seeds by a key array like the authors' init_by_array64. An empty key counts as `[0]`.
    #[must_use]
    pub fn from_key(key: &[u64]) -> Self {
        let key = if key.is_empty() { &[0] } else { key };
        let mut this = Self::from_seed(19_650_218);
        let s = &mut this.state;
        let (mut i, mut j) = (1, 0);
        for _ in 0..N.max(key.len()) {
            let mixed = (s[i - 1] ^ (s[i - 1] >> 62)).wrapping_mul(3_935_559_000_370_003_845);
            s[i] = (s[i] ^ mixed).wrapping_add(key[j]).wrapping_add(j as u64);
            i += 1;
            j = (j + 1) % key.len();
            if i >= N {
                s[0] = s[N - 1];
                i = 1;
            }
        }
        for _ in 0..N - 1 {
            let mixed = (s[i - 1] ^ (s[i - 1] >> 62)).wrapping_mul(2_862_933_555_777_941_757);
            s[i] = (s[i] ^ mixed).wrapping_sub(i as u64);
            i += 1;
            if i >= N {
                s[0] = s[N - 1];
                i = 1;
            }
        }
        s[0] = 1 << 63;
        this
    }

    fn refill(&mut self) {
        for i in 0..N {
            let x = (self.state[i] & UPPER) | (self.state[(i + 1) % N] & LOWER);
            let twist = if x & 1 == 1 { MATRIX } else { 0 };
            self.state[i] = self.state[(i + M) % N] ^ (x >> 1) ^ twist;
        }
        self.at = 0;
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        if self.at == N {
            self.refill();
        }
        let mut x = self.state[self.at];
        self.at += 1;
        x ^= (x >> 29) & 0x5555_5555_5555_5555;
        x ^= (x << 17) & 0x71D6_7FFF_EDA6_0000;
        x ^= (x << 37) & 0xFFF7_EEE0_0000_0000;
        x ^ (x >> 43)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs published by the authors for this key.
    #[test]
    fn the_authors_first_outputs() {
        let mut g = Mt19937_64::from_key(&[0x12345, 0x23456, 0x34567, 0x45678]);
        assert_eq!(g.next_u64(), 7_266_447_313_870_364_031);
        assert_eq!(g.next_u64(), 4_946_485_549_665_804_864);
        assert_eq!(g.next_u64(), 16_945_909_448_695_747_420);
    }
}
