//! How Filebench makes 64 random bits a number below a bound, and of that the offset of a random read or write.

/// The share of `range` that the bits are of the largest 64-bit number, rounded down; `range` itself if all bits that a double
/// can see are set.
#[must_use]
pub fn scaled(bits: u64, range: u64) -> u64 {
    (bits as f64 / u64::MAX as f64 * range as f64) as u64
}

/// Offset of an I/O of `io_bytes` inside `range_bytes`: scaled to what leaves room for it, then down to a multiple of its size.
/// So the last block is never visited when the range is whole blocks. 0 where there is no room.
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

    /// Offsets of Filebench 1.5, one thread; with a buffer area it draws the place in the buffer first.
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
