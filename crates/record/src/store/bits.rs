//! `u64` in SQLite. An SQLite integer is signed; a `u64` is stored with the same 64 bits, so nothing is ever refused or
//! truncated. No real count of bytes, operations or nanoseconds comes near 2^63, so in practice the columns read as expected; a
//! negative number there means "add 2^64" (see docs/formats/store.md).

/// A `u64` as SQLite holds it.
pub(super) fn int(value: u64) -> i64 {
    value.cast_signed()
}

/// The inverse of `int`.
pub(super) fn uint(value: i64) -> u64 {
    value.cast_unsigned()
}

/// The FNV-1a hash (128 bits) of a text in hexadecimal: finds equal documents quickly. It proves nothing, so a lookup must also
/// compare the text.
pub(super) fn digest(text: &str) -> String {
    format!("{:032x}", hash_of_text(text))
}

/// The hash itself.
#[must_use]
pub fn hash_of_text(text: &str) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

/// A short name for a text with this hash: equal texts have equal names, and two workloads of a store hardly ever share one.
#[must_use]
pub fn name_of_hash(hash: u128) -> String {
    format!("{:08x}", hash & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_u64_comes_back() {
        for value in [0, 1, 1 << 53, u64::MAX >> 1, 1 << 63, u64::MAX] {
            assert_eq!(uint(int(value)), value);
        }
    }

    #[test]
    fn equal_texts_have_equal_short_names() {
        let name = |text: &str| name_of_hash(hash_of_text(text));
        assert_eq!(name("a"), "4e4a8964");
        assert_ne!(name("a"), name("b"));
        assert_eq!(name("").len(), 8);
    }

    #[test]
    fn the_digest_is_fnv_1a() {
        assert_eq!(digest(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(digest("a"), "d228cb696f1a8caf78912b704e4a8964");
    }
}
