//! The system calls of the simulated kernel: what happens between a thread that reads, writes or syncs and the block queue.

mod direct;
mod mapped;
mod metadata;
mod missing;
mod names;
mod read;
mod sync;
mod write;

pub(crate) use mapped::{MappingAdvice, PageTable};

use crate::block::Submitter;
use crate::files::FileNumber;
use crate::machine::Machine;

/// An open file as a call sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    /// The open file's number.
    pub file: FileNumber,
    /// Index of its read-ahead state, shared by all users of the open file.
    pub open: u32,
    /// The calling task.
    pub who: Submitter,
    /// Opened with O_DIRECT: bypasses the page cache.
    pub direct: bool,
    /// Reads update the access time: opened without O_NOATIME.
    pub access_time: bool,
    /// Read-ahead is off for it.
    pub no_readahead: bool,
    /// Generation of the file at open, if the file may be removed later; see [`Machine::forget`].
    pub generation: Option<u32>,
}

/// A call could not move all requested bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShortTransfer {
    /// Bytes that fit.
    pub moved: u64,
}

impl Machine {
    /// Whether the content of a file is gone since it was opened: it was removed, and another file of the same name was created.
    pub(crate) fn is_gone(&self, handle: Handle) -> bool {
        handle.generation.is_some_and(|g| g != self.files.borrow().get(handle.file).generation)
    }
}
