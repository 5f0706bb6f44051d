//! Errors of the reader, grouped by how a caller can react, each with its position on the disc. Conditions that do not stop the reader
//! are [`Finding`](crate::Finding)s instead.

use std::fmt;
use std::io;

/// Result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A position on the disc: a logical block from the start of the medium, and a byte within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Logical block number (LBN), in blocks of the volume's own size; 2048 bytes while that is unknown.
    pub lbn: u64,
    /// Byte within the block.
    pub offset: u32,
}

impl Place {
    /// The position of a byte of the image, in blocks of `block` bytes (0 counts as 2048).
    #[must_use]
    pub fn of_byte(byte: u64, block: u32) -> Self {
        let block = if block == 0 { 2048 } else { block };
        let offset = u32::try_from(byte % u64::from(block)).unwrap_or(0);
        Self { lbn: byte / u64::from(block), offset }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {}, byte {}", self.lbn, self.offset)
    }
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A read of the medium or the image file failed.
    #[error("{at}: the image could not be read: {source}")]
    Io {
        /// Start of the read.
        at: Place,
        /// The source's error.
        source: io::Error,
    },
    /// No readable volume: another format, or one with a damaged root.
    #[error("{at}: {what}")]
    Volume {
        /// The descriptor or record that is wrong.
        at: Place,
        /// Found and expected content.
        what: String,
    },
    /// With `Options::strict`: the image has a defect that a lenient reader ignores.
    #[error("{0}; refused, because strict reading was asked for")]
    Strict(crate::Finding),
    /// A directory that contains itself (ELOOP on a mount).
    #[error("{at}: this directory is its own ancestor; entering it would never end")]
    Loop {
        /// The directory's extent.
        at: Place,
    },
    /// The operation does not apply to this kind of file (listing a regular file, the target of a directory).
    #[error("{at}: {what}")]
    Kind {
        /// The file's directory record.
        at: Place,
        /// The operation and the kind it needs.
        what: &'static str,
    },
    /// Damaged or missing data (EIO on a mount).
    #[error("{at}: {what}")]
    Data {
        /// The damaged structure, or the file's directory record.
        at: Place,
        /// The defect.
        what: String,
    },
    /// Well-formed, but not readable by this build or by design (ENOTSUP on a mount).
    #[error("{at}: {what}")]
    Unsupported {
        /// The structure that requires it.
        at: Place,
        /// The missing feature.
        what: String,
    },
    /// Larger than the options allow.
    #[error("{at}: {what}")]
    Limit {
        /// The structure that is too large.
        at: Place,
        /// The limit, and the option that sets it.
        what: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_blocks_of_the_volumes_own_size() {
        assert_eq!(Place::of_byte(5000, 2048), Place { lbn: 2, offset: 904 });
        assert_eq!(Place::of_byte(5000, 512), Place { lbn: 9, offset: 392 });
        assert_eq!(Place::of_byte(5000, 0).to_string(), "block 2, byte 904");
    }
}
