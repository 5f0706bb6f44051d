//! Bounded reads of the image: the only source of bytes. Every read is checked against the image's size first, so any number from the
//! disc is safe: an invalid one causes an error, never an oversized allocation.

use crate::error::{Error, Place, Result};
use crate::source::{ReadAt, SourceRead};
use crate::staged::Staged;
use std::io;

/// An image with its size and its logical block size.
#[derive(Debug)]
pub(crate) struct Disc<S> {
    source: S,
    size: u64,
    block: u32,
    /// Directory bytes read in advance.
    pub(crate) staged: Staged,
}

impl<S: ReadAt> Disc<S> {
    /// Blocks are 2048 bytes until [`Disc::set_block`] is called.
    pub(crate) fn new(source: S) -> Self {
        let size = source.size();
        Self { source, size, block: 2048, staged: Staged::default() }
    }

    pub(crate) fn set_block(&mut self, block: u32) {
        self.block = block;
    }

    pub(crate) fn source(&self) -> &S {
        &self.source
    }

    /// Logical block size in bytes.
    pub(crate) fn block(&self) -> u32 {
        self.block
    }

    /// Image size in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Whether a block number lies inside the image.
    pub(crate) fn has_block(&self, lbn: u64) -> bool {
        self.byte_of(lbn).is_some_and(|byte| byte < self.size)
    }

    /// First byte of a block.
    pub(crate) fn byte_of(&self, lbn: u64) -> Option<u64> {
        lbn.checked_mul(u64::from(self.block))
    }

    pub(crate) fn place(&self, byte: u64) -> Place {
        Place::of_byte(byte, self.block)
    }

    /// How many of the `length` bytes at `byte` are inside the image.
    pub(crate) fn available(&self, byte: u64, length: u64) -> u64 {
        self.size.saturating_sub(byte).min(length)
    }

    /// Fills `buf` from `byte` on.
    pub(crate) fn fill(&self, byte: u64, buf: &mut [u8]) -> Result<()> {
        let wanted = u64::try_from(buf.len()).unwrap_or(u64::MAX);
        if self.available(byte, wanted) < wanted {
            let what = format!("{wanted} bytes are asked for, but the image ends at byte {}", self.size);
            return Err(Error::Data { at: self.place(byte), what });
        }
        if self.staged.fill(byte, buf) {
            return Ok(());
        }
        self.read(byte, buf)
    }

    /// Like `fill`, but always from the source.
    pub(crate) fn read(&self, byte: u64, buf: &mut [u8]) -> Result<()> {
        let got =
            self.source.read_at(byte, buf).map_err(|source| Error::Io { at: self.place(byte), source })?;
        if got < buf.len() {
            let source = io::Error::from(io::ErrorKind::UnexpectedEof);
            return Err(Error::Io { at: self.place(byte), source });
        }
        Ok(())
    }

    /// Fills buffers one after the other, as far as the source reaches; see [`ReadAt::read_parts`].
    pub(crate) fn read_parts(&self, byte: u64, parts: &mut [Vec<u8>]) -> (u64, Option<io::Error>) {
        self.source.read_parts(byte, parts)
    }

    /// Number of concurrent reads; see [`ReadAt::at_once`].
    pub(crate) fn at_once(&self) -> usize {
        self.source.at_once()
    }

    /// Carries out several reads; see [`ReadAt::read_round`].
    pub(crate) fn read_round(
        &self,
        reads: Vec<SourceRead>,
        done: &mut dyn FnMut(SourceRead, u64, Option<io::Error>),
    ) {
        self.source.read_round(reads, done);
    }

    /// At most `length` bytes from `byte` on, fewer at the end of the image. `length` must be a limit of the caller, not a number from
    /// the disc.
    pub(crate) fn up_to(&self, byte: u64, length: u64) -> Result<Vec<u8>> {
        let there = usize::try_from(self.available(byte, length)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; there];
        self.fill(byte, &mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_beyond_the_image() {
        let disc = Disc::new(vec![7u8; 10]);
        assert_eq!(disc.up_to(8, 1 << 60).unwrap(), [7, 7]);
        assert_eq!(disc.up_to(u64::MAX, 5).unwrap(), []);
        let error = disc.fill(8, &mut [0; 3]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "block 0, byte 8: 3 bytes are asked for, but the image ends at byte 10"
        );
        assert!(disc.has_block(0) && !disc.has_block(1) && !disc.has_block(u64::MAX));
    }
}
