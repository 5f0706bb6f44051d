//! The blocks that fio's verify writes and checks: their checksum, the position of the header, and their contents.

use super::is_default;
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// Format of the blocks of [`super::Data::Sealed`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sealed {
    /// Size of a block.
    pub block: Bytes,
    /// Checksum in the header; `None`: no header, and every byte is the pattern's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<Sum>,
    /// Header layout.
    #[serde(skip_serializing_if = "is_default")]
    pub header: Header,
    /// Offset of the header in the block; 0: at its beginning.
    #[serde(skip_serializing_if = "is_default")]
    pub header_at: Bytes,
    /// Bytes repeated from the beginning of the block on; empty: random bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pattern: Vec<u8>,
    /// Positions in the pattern at which eight of its bytes hold the file offset where the pattern began, little-endian.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<u32>,
    /// The pattern restarts after this many bytes of a record, whatever its blocks; 0: with every block.
    #[serde(skip_serializing_if = "is_default")]
    pub anew_every: Bytes,
    /// Percentage of zeros, instead of random bytes, at the end of each write, to make it compressible. Below 100.
    #[serde(skip_serializing_if = "is_default")]
    pub zeros_percent: u8,
}

/// A header layout, named after the fio version that writes and checks it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Header {
    /// 40 bytes.
    #[default]
    #[serde(rename = "fio-3.33")]
    Fio3_33,
    /// 48 bytes.
    #[serde(rename = "fio-3.42")]
    Fio3_42,
}

impl Header {
    /// Its size without the checksum of the block.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Fio3_33 => 40,
            Self::Fio3_42 => 48,
        }
    }
}

/// The checksum in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sum {
    /// None.
    Meta,
    /// None; the rest of the block is the pattern, which is checked.
    Pattern,
    /// MD5.
    Md5,
    /// CRC-64 (Jones).
    Crc64,
    /// CRC-32 (zlib's polynomial, highest bit first, initial value 0).
    Crc32,
    /// CRC-32C without the final inversion.
    Crc32c,
    /// CRC-16 (ARC).
    Crc16,
    /// CRC-7 (MMC).
    Crc7,
    /// SHA-1, each of its five words in little-endian order.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
    /// SHA3-224.
    #[serde(rename = "sha3-224")]
    Sha3With224,
    /// SHA3-256.
    #[serde(rename = "sha3-256")]
    Sha3With256,
    /// SHA3-384.
    #[serde(rename = "sha3-384")]
    Sha3With384,
    /// SHA3-512.
    #[serde(rename = "sha3-512")]
    Sha3With512,
    /// XXH32 with seed 1.
    Xxhash,
}

impl Sum {
    /// Its number in headers.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Meta => 1,
            Self::Md5 => 2,
            Self::Crc64 => 3,
            Self::Crc32 => 4,
            Self::Crc32c => 5,
            Self::Crc16 => 7,
            Self::Crc7 => 8,
            Self::Sha256 => 9,
            Self::Sha512 => 10,
            Self::Sha3With224 => 11,
            Self::Sha3With256 => 12,
            Self::Sha3With384 => 13,
            Self::Sha3With512 => 14,
            Self::Xxhash => 15,
            Self::Sha1 => 16,
            Self::Pattern => 17,
        }
    }

    /// Bytes reserved for it in a header.
    #[must_use]
    pub fn area(self) -> u64 {
        match self {
            Self::Meta | Self::Pattern => 0,
            Self::Crc7 => 1,
            Self::Crc16 => 2,
            Self::Crc32 | Self::Crc32c | Self::Xxhash => 4,
            Self::Crc64 => 8,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha3With224 => 28,
            Self::Sha3With256 => 32,
            Self::Sha3With384 => 48,
            Self::Sha256 | Self::Sha3With512 => 64,
            Self::Sha512 => 128,
        }
    }
}

impl Sealed {
    /// Size of a header including the checksum.
    #[must_use]
    pub fn header_bytes(&self) -> u64 {
        self.sum.map_or(0, |sum| self.header.bytes() + sum.area())
    }

    /// Fills a block with the pattern, if there is one. `offset` is the block's offset in its file, `within` its offset in the record.
    pub fn fill(&self, block: &mut [u8], offset: u64, within: u64) {
        if self.pattern.is_empty() {
            return;
        }
        if self.anew_every.0 == 0 {
            return self.repeat(block, offset, 0);
        }
        let every = self.anew_every.0;
        let mut rest = block;
        let (mut offset, mut within) = (offset, within);
        while !rest.is_empty() {
            let begun = within % every;
            let bytes = rest.len().min(usize::try_from(every - begun).unwrap_or(usize::MAX));
            let (piece, behind) = rest.split_at_mut(bytes);
            self.repeat(piece, offset.wrapping_sub(begun), begun);
            (offset, within) = (offset.wrapping_add(bytes as u64), within.wrapping_add(bytes as u64));
            rest = behind;
        }
    }

    /// Writes the pattern that began at `began`, starting at its byte `from`.
    fn repeat(&self, block: &mut [u8], began: u64, from: u64) {
        let mut pattern = std::borrow::Cow::Borrowed(&self.pattern[..]);
        let word = began.to_le_bytes();
        for &at in &self.offsets {
            let Some(place) = pattern.to_mut().get_mut(at as usize..) else { continue };
            let bytes = place.len().min(word.len());
            place[..bytes].copy_from_slice(&word[..bytes]);
        }
        let phase = (from % pattern.len() as u64) as usize;
        let (first, others) = block.split_at_mut((pattern.len() - phase).min(block.len()));
        first.copy_from_slice(&pattern[phase..phase + first.len()]);
        for piece in others.chunks_mut(pattern.len()) {
            piece.copy_from_slice(&pattern[..piece.len()]);
        }
    }

    /// Validation error, if any.
    pub(crate) fn error(&self) -> Option<String> {
        let (whole, at) = (self.header_bytes(), self.header_at.0);
        if self.block.0 == 0 {
            return Some("a sealed block has 0 bytes".into());
        }
        if self.sum.is_none() && self.pattern.is_empty() {
            return Some("sealed data have a sum, a pattern, or both".into());
        }
        if self.sum == Some(Sum::Pattern) && self.pattern.is_empty() {
            return Some("sum = \"pattern\" needs a pattern".into());
        }
        if self.block.0 < whole {
            return Some(format!(
                "a sealed block of {} has no room for its header of {whole} bytes",
                self.block
            ));
        }
        // The header swaps places with the bytes there.
        if at > 0 && (at < whole || at > self.block.0 - whole) {
            return Some(format!(
                "a header of {whole} bytes does not fit at byte {at} of a block of {}: place it at 0, or at {whole} or later with its end inside the block",
                self.block
            ));
        }
        if self.zeros_percent >= 100 {
            return Some("zeros_percent of sealed data must be below 100".into());
        }
        if self.zeros_percent > 0 && !self.pattern.is_empty() {
            return Some(
                "zeros_percent applies to random bytes, and sealed data with a pattern have none".into(),
            );
        }
        let too_far = |at: &u32| u64::from(*at) + 8 > self.pattern.len() as u64;
        self.offsets.iter().any(too_far).then(|| "an offset in a pattern needs 8 of its bytes".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_may_run_on_through_the_blocks_of_a_record() {
        let sealed = Sealed {
            block: Bytes(8),
            pattern: b"a\0\0\0\0\0\0\0\0bc".to_vec(),
            offsets: vec![1],
            anew_every: Bytes(14),
            ..Sealed::default()
        };
        let mut record = [7; 32];
        for (i, block) in record.chunks_mut(8).enumerate() {
            sealed.fill(block, 0x2000 + 8 * i as u64, 8 * i as u64);
        }
        let of = |low: u8, bytes: usize| {
            let one = [b'a', low, 0x20, 0, 0, 0, 0, 0, 0, b'b', b'c'];
            one.iter().cycle().take(bytes).copied().collect::<Vec<u8>>()
        };
        assert_eq!(record.to_vec(), [of(0, 14), of(14, 14), of(28, 4)].concat());
    }

    #[test]
    fn patterns_restart_with_every_block_and_contain_its_offset() {
        let sealed = Sealed {
            block: Bytes(16),
            pattern: vec![0xab, 0, 0, 0, 0, 0, 0, 0, 0],
            offsets: vec![1],
            ..Sealed::default()
        };
        let mut block = [7; 16];
        sealed.fill(&mut block, 0x1000, 64);
        assert_eq!(block, [0xab, 0, 0x10, 0, 0, 0, 0, 0, 0, 0xab, 0, 0x10, 0, 0, 0, 0]);
        assert_eq!(sealed.error(), None);
        assert!(Sealed { offsets: vec![2], ..sealed.clone() }.error().is_some());
        assert!(Sealed { sum: Some(Sum::Crc32c), ..sealed.clone() }.error().is_some(), "no room");
        assert!(Sealed { zeros_percent: 50, ..sealed.clone() }.error().is_some(), "it has a pattern");
        let random = Sealed {
            pattern: Vec::new(),
            offsets: Vec::new(),
            sum: Some(Sum::Meta),
            block: Bytes(64),
            ..sealed.clone()
        };
        for (zeros_percent, fits) in [(0, true), (99, true), (100, false)] {
            assert_eq!(Sealed { zeros_percent, ..random.clone() }.error().is_none(), fits, "{zeros_percent}");
        }
        let roomy = Sealed { sum: Some(Sum::Crc32c), block: Bytes(512), ..sealed };
        for (at, fits) in [(0, true), (43, false), (44, true), (468, true), (469, false)] {
            assert_eq!(Sealed { header_at: Bytes(at), ..roomy.clone() }.error().is_none(), fits, "{at}");
        }
        assert!(Sealed::default().error().is_some());
    }
}
