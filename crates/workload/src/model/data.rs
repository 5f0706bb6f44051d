//! What the written bytes are, and what is checked when they are read back.

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
    /// These bytes again and again, from the beginning of every record on. At least one.
    Repeated {
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Zero except for the first `length` bytes of every `stride` bytes, which hold `byte`. IOzone's own data is
    /// {stride 4096, length 8}. One buffer is written again and again.
    Marked {
        /// The value.
        byte: u8,
        /// Distance of marks.
        stride: Bytes,
        /// Bytes of each mark.
        length: Bytes,
    },
    /// Incompressible except for a given share, with a given share of records that repeat.
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
        /// How many different records there are among them, in a file and across files; 0: 16.
        #[serde(default, skip_serializing_if = "super::is_default")]
        distinct: u32,
        /// What the compressible part of every 4096 bytes repeats from its beginning on; none: zero.
        #[serde(default, skip_serializing_if = "super::is_default")]
        filler: Vec<u8>,
    },
    /// Every 8-byte word is a function of its position in the file and a tag, so that a misplaced, stale or torn block shows.
    Positioned {
        /// Distinguishes generations of data; the files of a set differ by themselves.
        tag: u64,
    },
    /// Blocks that check themselves: random bytes, then four bytes of their CRC-32 (zlib's), then eight of the block's offset in its
    /// file, both little-endian. Records are made of whole blocks.
    Checksummed {
        /// Size of a block.
        block: Bytes,
    },
    /// Blocks with a header and a checksum, or a pattern, as fio's verify writes them. Records are made of whole blocks.
    Sealed(Sealed),
}

/// What is checked on reading. A mismatch ends the worker with the place of the first wrong byte.
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
