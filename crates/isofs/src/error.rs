//! Errors of the reader, by what a caller can do about them, each with the place on the disc it speaks of. Conditions that do not
//! stop the reader are [`Finding`](crate::Finding)s instead.

use std::fmt;
use std::io;

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// A place on the disc: a logical block from the start of the medium, and a byte within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Logical block number (LBN), in blocks of the volume's own size; 2048 bytes as long as that is not known.
    pub lbn: u64,
    /// Byte within the block.
    pub offset: u32,
}

impl Place {
    /// The place of a byte of the image, in blocks of `block` bytes (0 counts as 2048).
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
    /// The medium or the file under the image refused.
    #[error("{at}: the image could not be read: {source}")]
    Io {
        /// Where the read began.
        at: Place,
        /// What the source said.
        source: io::Error,
    },
    /// No volume that can be read: another format, or one broken at its root.
    #[error("{at}: {what}")]
    Volume {
        /// The descriptor or record that decided it.
        at: Place,
        /// What was found and what was expected.
        what: String,
    },
    /// `Options::strict`, and the image has something that a lenient reader passes over.
    #[error("{0}; refused, because strict reading was asked for")]
    Strict(crate::Finding),
    /// A directory that contains itself (the ELOOP of a mount).
    #[error("{at}: this directory is its own ancestor; entering it would never end")]
    Loop {
        /// The directory's extent.
        at: Place,
    },
    /// The operation does not fit the kind of file (a listing of a regular file, the target of a directory).
    #[error("{at}: {what}")]
    Kind {
        /// The file's directory record.
        at: Place,
        /// What was asked of what.
        what: &'static str,
    },
    /// Data that are damaged or missing (the EIO of a mount).
    #[error("{at}: {what}")]
    Data {
        /// The damaged structure, or the file's directory record.
        at: Place,
        /// What is wrong with it.
        what: String,
    },
    /// Well-formed, but not readable by this build or by design (the ENOTSUP of a mount).
    #[error("{at}: {what}")]
    Unsupported {
        /// The structure that asks for it.
        at: Place,
        /// What is missing.
        what: String,
    },
    /// More than the options allow in one piece.
    #[error("{at}: {what}")]
    Limit {
        /// The structure that is too large.
        at: Place,
        /// The limit, and the option that moves it.
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
