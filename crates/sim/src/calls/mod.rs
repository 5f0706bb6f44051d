//! The system calls of the simulated kernel: what happens between a thread that reads, writes or syncs and the block queue.

mod direct;
mod mapped;
mod metadata;
mod missing;
mod names;
mod read;
mod sync;
mod write;

pub(crate) use mapped::{Ahead, Table};

use crate::block::Who;
use crate::files::FileNumber;
use crate::machine::Machine;

/// An open file as a call sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    /// The file.
    pub file: FileNumber,
    /// Where the state of its read-ahead is kept. Who shares the open file shares that.
    pub open: u32,
    /// Who calls.
    pub who: Who,
    /// Opened with O_DIRECT: past the page cache.
    pub direct: bool,
    /// Reads look after the time of the last access: opened without O_NOATIME.
    pub access_time: bool,
    /// Read-ahead is off on it.
    pub no_readahead: bool,
    /// Of the file when it was opened, if it may go since; see [`Machine::forget`].
    pub generation: Option<u32>,
}

/// A call could not do all of what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    /// Bytes that it could have moved.
    pub moved: u64,
}

impl Machine {
    /// Whether all that was in a file has gone since it was opened: it was removed, and another one of its name was made.
    pub(crate) fn is_gone(&self, handle: Handle) -> bool {
        handle.generation.is_some_and(|g| g != self.files.borrow().get(handle.file).generation)
    }
}
