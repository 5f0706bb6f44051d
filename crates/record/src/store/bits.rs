//! `u64` in SQLite. An SQLite integer is signed; a `u64` is stored with the same 64 bits, so nothing is ever refused or cut. No
//! count of bytes, operations or nanoseconds comes near 2^63, so in practice the columns read as they should; a negative number
//! there means "add 2^64" (docs/formats/store.md says so).

/// A `u64` as SQLite holds it.
pub(super) fn int(value: u64) -> i64 {
    value.cast_signed()
}

/// The way back.
pub(super) fn uint(value: i64) -> u64 {
    value.cast_unsigned()
}

/// The FNV-1a hash (128 bits) of a text as hexadecimal digits: finds equal documents quickly. It proves nothing; whoever looks a
/// document up by it compares the text as well.
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

/// A short name for a text of this hash: equal texts have equal names, and two of a store's workloads hardly ever share one.
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
