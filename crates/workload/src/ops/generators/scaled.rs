//! How Filebench maps 64 random bits to a number below a bound.

/// `bits / u64::MAX` of `range`, rounded down; `range` itself if all bits that a double can represent are set.
#[must_use]
pub fn scaled(bits: u64, range: u64) -> u64 {
    (bits as f64 / u64::MAX as f64 * range as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders() {
        assert_eq!(
            [scaled(0, 9), scaled(u64::MAX, 9), scaled(u64::MAX / 2, 9), scaled(u64::MAX, 0)],
            [0, 9, 4, 0]
        );
    }
}
