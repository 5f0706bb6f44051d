//! The contents of written data, and the checks when it is read back.

use super::Sealed;
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// Contents of written records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    /// Incompressible and different in every 512 bytes of every record: storage that compresses or deduplicates gains nothing.
    #[default]
    Unique,
    /// All zero bytes.
    Zero,
    /// One byte value everywhere.
    Byte(u8),
    /// These bytes, at least one, repeated from the beginning of every record.
    Repeated {
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Zero except for the first `length` bytes of every `stride` bytes, which hold `byte`. IOzone's own data is {stride 4096, length 8}.
    /// A single buffer is written repeatedly.
    Marked {
        /// The value.
        byte: u8,
        /// Distance of marks.
        stride: Bytes,
        /// Bytes of each mark.
        length: Bytes,
    },
    /// A given share of each record is compressible, and the rest is not. A given share of the records repeats.
    Reducible {
        /// Percent of each record that is compressible, 0..=100: zero, or what `filler` says.
        #[serde(default, skip_serializing_if = "super::is_default")]
        compressible_percent: u8,
        /// Percent of records whose contents occur elsewhere too, 0..=100.
        #[serde(default, skip_serializing_if = "super::is_default")]
        duplicate_percent: u8,
        /// Of those, percent that repeat inside the same file (the rest repeat across files).
        #[serde(default, skip_serializing_if = "super::is_default")]
        within_percent: u8,
        /// Number of distinct records among them, in a file and across files; 0: 16.
        #[serde(default, skip_serializing_if = "super::is_default")]
        distinct: u32,
        /// Bytes repeated in the compressible part of every 4096 bytes, from its beginning; empty: zeros.
        #[serde(default, skip_serializing_if = "super::is_default")]
        filler: Vec<u8>,
    },
    /// Every 8-byte word is a function of its position in the file and a tag, so that a misplaced, stale or torn block shows.
    Positioned {
        /// Distinguishes generations of data; the files of a set differ anyway.
        tag: u64,
    },
    /// Self-checking blocks: random bytes, then four bytes of their CRC-32 (zlib's), then eight of the block's offset in its file, both
    /// little-endian. Records consist of whole blocks.
    Checksummed {
        /// Size of a block.
        block: Bytes,
    },
    /// Blocks with a header and a checksum, or a pattern, as fio's verify writes them. Records consist of whole blocks.
    Sealed(Sealed),
}

/// What is checked on reading. A mismatch ends the worker and reports the position of the first wrong byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verify {
    /// Nothing.
    #[default]
    No,
    /// The marks of [`Data::Marked`] only; inside the clock but outside the latency.
    Marks,
    /// Every byte.
    Full,
}
