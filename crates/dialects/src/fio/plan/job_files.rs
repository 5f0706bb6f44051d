//! The files of a job as laid out.

use super::FilePart;
use super::stretch::Stretch;
use fathom_workload::{Access, Stream};
use std::path::PathBuf;

/// The files of a job as laid out.
#[derive(Clone, Debug)]
pub struct JobFiles {
    /// Paths of the files of each clone.
    pub files: Vec<Vec<PathBuf>>,
    /// Part of the files for each clone.
    pub parts: Vec<FilePart>,
    /// Whether a clone has several files.
    pub several: bool,
    /// Sizes of these in bytes, by clone.
    pub sizes: Vec<Vec<u64>>,
    /// Preparation and cleanup.
    pub ready: Ready,
}

impl JobFiles {
    /// Blocks of the smallest size in a pass of the first clone.
    pub fn blocks(&self, stream: &Stream) -> u64 {
        let Some(part) = self.parts.first() else { return 0 };
        let alone = [part.start.saturating_add(part.length)];
        let ends = self.sizes.first().map_or(alone.as_slice(), Vec::as_slice);
        let block = stream.record.unit().0.max(1);
        ends.iter().map(|end| end.saturating_sub(part.start) / block).fold(0, u64::saturating_add)
    }

    /// Number of blocks after which fio finds none, if stripes do not divide the part evenly.
    pub(super) fn stops_after(&self, stream: &Stream) -> Option<u64> {
        let part = self.parts.first().filter(|_| self.sizes.is_empty())?;
        let striped = matches!(stream.access, Access::Striped { by_kind: false, .. });
        Stretch::of(part).stops_after(stream).filter(|blocks| striped && *blocks > 0)
    }

    /// Bytes in a pass of the first clone.
    pub fn bytes_of_a_pass(&self) -> u64 {
        let Some(part) = self.parts.first() else { return 0 };
        let alone = [part.start.saturating_add(part.length)];
        let ends = self.sizes.first().map_or(alone.as_slice(), Vec::as_slice);
        ends.iter().map(|end| end.saturating_sub(part.start)).fold(0, u64::saturating_add)
    }
}

/// Preparation and cleanup of files.
#[derive(Clone, Debug)]
pub struct Ready {
    /// How missing files are created.
    pub make: Make,
    /// State of the page cache at the start.
    pub memory: Memory,
    /// Whether files are kept at the end.
    pub keep: bool,
    /// Whether files that fathom did not create may be written.
    pub foreign: bool,
}

/// How missing or short files are created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// Not at all: the engine makes no system calls.
    Nothing,
    /// Written in full before the start.
    Write,
    /// Space is allocated.
    Reserve,
    /// Extended to their size without allocating space.
    Extend,
    /// Created as directories.
    Directories,
    /// Space is allocated beyond the end, and the files grow into it.
    ReserveBehind,
    /// Empty at the start; they grow.
    Empty,
}

/// State of the page cache at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Unchanged.
    AsFound,
    /// Files are evicted: `invalidate=1`.
    Dropped,
    /// Files are read into it: `pre_read=1`.
    Read,
}
