//! zisofs, both versions: the header of a compressed file, its table of block pointers, and the ZF entry of the directory. Numbers only;
//! `codec` decompresses.

use super::bytes::{le32, le64};
use super::codec::Codec;

const MAGIC_1: [u8; 8] = [0x37, 0xE4, 0x53, 0x96, 0xC9, 0xDB, 0xD6, 0x07];
const MAGIC_2: [u8; 8] = [0xEF, 0x22, 0x55, 0xA1, 0xBC, 0x1B, 0x95, 0xA0];

/// Length of the longest header with defined content; longer ones only pad before the pointers.
pub const HEADER: usize = 24;

/// The ZF or Z2 entry of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Version of the entry: 1 or 2.
    pub version: u8,
    /// Two letters of the algorithm.
    pub algorithm: [u8; 2],
    /// Header size in 4-byte words.
    pub header_words: u8,
    /// Logarithm of the block size.
    pub block_log2: u8,
    /// Size of the file when decompressed.
    pub size: u64,
}

/// A compressed file's own header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Compressor; `None` for an undefined number.
    pub codec: Option<Codec>,
    /// Start of the pointer table.
    pub header_bytes: u64,
    /// Logarithm of the block size, 15 to 17.
    pub block_log2: u8,
    /// Size when decompressed.
    pub size: u64,
    /// Bytes of a pointer: 4 or 8.
    pub pointer_bytes: u8,
}

/// Parses the first bytes of a file; `None` if it is not compressed.
///
/// # Errors
/// A header with the right magic and invalid content.
pub fn header(bytes: &[u8]) -> Option<Result<Header, &'static str>> {
    match *bytes.first_chunk()? {
        MAGIC_1 => Some(first(bytes)),
        MAGIC_2 => Some(second(bytes)),
        _ => None,
    }
}

fn first(bytes: &[u8]) -> Result<Header, &'static str> {
    let cut = "a zisofs header that is cut off";
    let size = le32(bytes, 8).ok_or(cut)?.into();
    let (&words, &block_log2) = bytes.get(12).zip(bytes.get(13)).ok_or(cut)?;
    let header = Header {
        codec: Some(Codec::Zlib),
        header_bytes: u64::from(words) * 4,
        block_log2,
        size,
        pointer_bytes: 4,
    };
    check(header, 16)
}

fn second(bytes: &[u8]) -> Result<Header, &'static str> {
    let cut = "a zisofs header that is cut off";
    let &[version, words, algorithm, block_log2] = bytes.get(8..).and_then(<[u8]>::first_chunk).ok_or(cut)?;
    if version != 0 {
        return Err("a zisofs header of an unknown version");
    }
    let header = Header {
        codec: Codec::of_id(algorithm),
        header_bytes: u64::from(words) * 4,
        block_log2,
        size: le64(bytes, 12).ok_or(cut)?,
        pointer_bytes: 8,
    };
    check(header, 24)
}

fn check(header: Header, least: u64) -> Result<Header, &'static str> {
    if !(15..=17).contains(&header.block_log2) {
        return Err("a zisofs block size that is not 32, 64 or 128 KiB");
    }
    if header.header_bytes < least {
        return Err("a zisofs header that says it is shorter than it is");
    }
    Ok(header)
}

impl Header {
    /// Block size in bytes.
    #[must_use]
    pub fn block(&self) -> u64 {
        1 << self.block_log2
    }

    /// Number of blocks.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.size.div_ceil(self.block())
    }

    /// Decompressed size of block `index`.
    #[must_use]
    pub fn block_bytes(&self, index: u64) -> u64 {
        let start = index.saturating_mul(self.block());
        self.size.saturating_sub(start).min(self.block())
    }

    /// Position of pointer `index` in the compressed file.
    #[must_use]
    pub fn pointer_at(&self, index: u64) -> Option<u64> {
        index.checked_mul(self.pointer_bytes.into())?.checked_add(self.header_bytes)
    }

    /// The two pointers at the start of `bytes`.
    #[must_use]
    pub fn pointers(&self, bytes: &[u8]) -> Option<(u64, u64)> {
        if self.pointer_bytes == 4 {
            Some((le32(bytes, 0)?.into(), le32(bytes, 4)?.into()))
        } else {
            Some((le64(bytes, 0)?, le64(bytes, 8)?))
        }
    }

    /// End of the pointer table.
    #[must_use]
    pub fn data_at(&self) -> Option<u64> {
        self.pointer_at(self.blocks().checked_add(1)?)
    }

    /// Validates two pointers: they are in order, after the table and inside a file of `stored` bytes, and no further apart than an
    /// incompressible block.
    ///
    /// # Errors
    /// The rule that is violated.
    pub fn check_pointers(&self, (from, to): (u64, u64), stored: u64) -> Result<u64, &'static str> {
        let length = to.checked_sub(from).ok_or("zisofs block pointers that fall")?;
        if to > stored {
            return Err("a zisofs block beyond the end of its file");
        }
        if length > 0 && self.data_at().is_none_or(|data| from < data) {
            return Err("a zisofs block inside its own pointers");
        }
        if length > self.block() * 2 {
            return Err("a zisofs block larger than any compressor makes it");
        }
        Ok(length)
    }

    /// Whether the directory's entry and the file's header agree. Letter case is ignored: the specification gives some of them in both
    /// cases.
    #[must_use]
    pub fn agrees_with(&self, claim: &Claim) -> bool {
        let version = if self.pointer_bytes == 4 { 1 } else { 2 };
        claim.version == version
            && claim.size == self.size
            && claim.block_log2 == self.block_log2
            && u64::from(claim.header_words) * 4 == self.header_bytes
            && self.codec.is_none_or(|codec| codec.letters().eq_ignore_ascii_case(&claim.algorithm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_header(size: u32, words: u8, log2: u8) -> Vec<u8> {
        let mut bytes = MAGIC_1.to_vec();
        bytes.extend(size.to_le_bytes());
        bytes.extend([words, log2, 0, 0]);
        bytes
    }

    #[test]
    fn a_header_of_version_1() {
        let header = header(&first_header(100_000, 4, 15)).unwrap().unwrap();
        assert_eq!((header.block(), header.blocks(), header.block_bytes(3)), (32768, 4, 100_000 - 3 * 32768));
        assert_eq!((header.pointer_at(4), header.data_at()), (Some(32), Some(36)));
        let claim = Claim { version: 1, algorithm: *b"pz", header_words: 4, block_log2: 15, size: 100_000 };
        assert!(header.agrees_with(&claim) && !header.agrees_with(&Claim { size: 1, ..claim }));
    }

    #[test]
    fn headers_that_cannot_be() {
        assert_eq!(header(b"hello, world"), None);
        assert!(header(&first_header(1, 4, 31)).unwrap().is_err());
        assert!(header(&first_header(1, 0, 15)).unwrap().is_err());
        assert!(header(&first_header(1, 4, 15)[..10]).unwrap().is_err());
        assert!(header(&MAGIC_2).unwrap().is_err());
    }

    #[test]
    fn pointers_stay_in_their_file() {
        let header = header(&first_header(u32::MAX, 4, 17)).unwrap().unwrap();
        let data = header.data_at().unwrap();
        assert_eq!(header.check_pointers((data, data), data), Ok(0));
        assert!(header.check_pointers((data, data - 1), data).is_err());
        assert!(header.check_pointers((data, data + 5), data + 4).is_err());
        assert!(header.check_pointers((16, 20), data).is_err());
        assert!(header.check_pointers((data, data + (1 << 20)), u64::MAX).is_err());
    }
}
