//! How Filebench maps 64 random bits to a number below a bound, and to the offset of a random read or write.

/// `bits / u64::MAX` of `range`, rounded down; `range` itself if all bits that a double can represent are set.
#[must_use]
pub fn scaled(bits: u64, range: u64) -> u64 {
    (bits as f64 / u64::MAX as f64 * range as f64) as u64
}

/// Offset of an I/O of `io_bytes` inside `range_bytes`: scaled to the offsets where it fits, then rounded down to a multiple of its size.
/// So the last block is never visited if the range is a whole number of blocks. 0 where nothing fits.
#[must_use]
pub fn block_offset(bits: u64, range_bytes: u64, io_bytes: u64) -> u64 {
    let offset = scaled(bits, range_bytes.saturating_sub(io_bytes));
    offset - offset % io_bytes.max(1)
}

#[cfg(test)]
mod tests {
    use super::super::Mt19937;
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Offsets of Filebench 1.5 with one thread; with a buffer area it draws the buffer position first.
    #[test]
    fn the_first_offsets_of_filebench() {
        let mut g = Mt19937::new(Mt19937::FIRST_SEED);
        let seen = [786_432, 458_752, 0, 589_824, 393_216, 917_504];
        assert_eq!(seen, [(); 6].map(|()| block_offset(g.next_u64(), MIB, 65536)));
        let mut g = Mt19937::new(Mt19937::FIRST_SEED);
        let every_other = [(); 4].map(|()| {
            g.next_u64();
            block_offset(g.next_u64(), MIB, 65536)
        });
        assert_eq!(every_other, [458_752, 589_824, 917_504, 393_216]);
    }

    #[test]
    fn the_borders() {
        assert_eq!(block_offset(u64::MAX, MIB, 65536), MIB - 65536);
        assert_eq!(block_offset(u64::MAX - 4095, MIB, 65536), MIB - 131_072);
        assert_eq!([block_offset(u64::MAX, 512, 4096), block_offset(9, 512, 0), scaled(0, MIB)], [0, 0, 0]);
    }
}
