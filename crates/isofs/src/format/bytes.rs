//! Numbers in byte slices: little-endian, big-endian, and both in a row, as ISO 9660 records most of them. A field not fully inside its
//! slice is `None`, so a short structure cannot be misread.

/// `N` bytes at `at`.
#[must_use]
pub fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// 16 bits, little-endian.
#[must_use]
pub fn le16(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

/// 16 bits, big-endian.
#[must_use]
pub fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_be_bytes)
}

/// 32 bits, little-endian.
#[must_use]
pub fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

/// 32 bits, big-endian.
#[must_use]
pub fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_be_bytes)
}

/// 64 bits, little-endian.
#[must_use]
pub fn le64(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

/// A number recorded twice: little-endian, then big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Both<T> {
    /// The little-endian half.
    pub le: T,
    /// The big-endian half.
    pub be: T,
}

impl<T: Copy + PartialEq> Both<T> {
    /// Whether both halves are equal.
    #[must_use]
    pub fn agree(&self) -> bool {
        self.le == self.be
    }

    /// The little-endian half, or the big-endian one if only that is plausible: writers that fill one half fill the first.
    #[must_use]
    pub fn choose(&self, possible: impl Fn(T) -> bool) -> T {
        if !possible(self.le) && possible(self.be) { self.be } else { self.le }
    }
}

/// 16 bits, little-endian then big-endian.
#[must_use]
pub fn both16(bytes: &[u8], at: usize) -> Option<Both<u16>> {
    Some(Both { le: le16(bytes, at)?, be: be16(bytes, at.checked_add(2)?)? })
}

/// 32 bits, little-endian then big-endian.
#[must_use]
pub fn both32(bytes: &[u8], at: usize) -> Option<Both<u32>> {
    Some(Both { le: le32(bytes, at)?, be: be32(bytes, at.checked_add(4)?)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_across_the_end_is_none() {
        let bytes = [1, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(both32(&bytes, 0), Some(Both { le: 1, be: 1 }));
        assert_eq!(both32(&bytes, 1), None);
        assert_eq!(le64(&bytes, usize::MAX), None);
        assert_eq!(le16(&bytes, 6), Some(0x100));
    }

    #[test]
    fn the_little_endian_half_wins_unless_it_is_impossible() {
        let halves = Both { le: 900, be: 7 };
        assert!(!halves.agree());
        assert_eq!(
            (halves.choose(|_| true), halves.choose(|v| v < 100), halves.choose(|_| false)),
            (900, 7, 900)
        );
    }
}
