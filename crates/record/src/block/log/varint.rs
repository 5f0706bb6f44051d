//! Varints of the event log: seven bits a byte, least significant first, the top bit set in all but the last. Signed numbers
//! are zigzag-encoded (0, -1, 1, -2 ...) so that small ones of either sign are short.

/// Longest encoding of 64 bits.
const MAX_BYTES: usize = 10;

/// Why a number could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VarintError {
    /// The slice ends inside it.
    Short,
    /// It has more than 64 bits.
    Long,
}

pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, fold(value));
}

fn fold(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

pub(crate) fn unfold(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Takes a number from the front of `bytes` and advances it.
pub(crate) fn take(bytes: &mut &[u8]) -> Result<u64, VarintError> {
    let mut value = 0u64;
    for (n, &byte) in bytes.iter().enumerate().take(MAX_BYTES) {
        if n == MAX_BYTES - 1 && byte > 1 {
            return Err(VarintError::Long);
        }
        value |= u64::from(byte & 0x7f) << (7 * n);
        if byte < 0x80 {
            *bytes = &bytes[n + 1..];
            return Ok(value);
        }
    }
    Err(if bytes.len() < MAX_BYTES { VarintError::Short } else { VarintError::Long })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_take_the_bytes_the_page_promises() {
        for (value, bytes) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u64::MAX, 10)] {
            let mut out = Vec::new();
            put(&mut out, value);
            assert_eq!(out.len(), bytes, "{value}");
            assert_eq!(take(&mut out.as_slice()), Ok(value));
        }
        for value in [0, -1, 1, -2, i64::MIN, i64::MAX] {
            assert_eq!(unfold(fold(value)), value);
        }
        assert_eq!((fold(0), fold(-1), fold(1), fold(-2)), (0, 1, 2, 3));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        assert_eq!(take(&mut [0x80u8].as_slice()), Err(VarintError::Short));
        assert_eq!(take(&mut [].as_slice()), Err(VarintError::Short));
        assert_eq!(take(&mut [0xffu8; 10].as_slice()), Err(VarintError::Long));
        assert_eq!(
            take(&mut [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2].as_slice()),
            Err(VarintError::Long)
        );
    }
}
