//! What of a file set flows go by: how large its files are meant to be, which of them exist and are open, which directory is listed
//! next. Where the files are and what is in them is the executor's.

use super::pool::Pool;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file set. `A` is an array of words that all threads see.
pub struct Set<A> {
    /// Its files.
    pub files: Pool<A>,
    /// Its leaf directories.
    pub leaves: Pool<A>,
    /// Bytes that each file is meant to have.
    pub bytes: Vec<u64>,
    /// How often each file is open now.
    opens: A,
    /// Directories listed so far.
    listed: A,
    directories: u64,
}

impl<A: Deref<Target = [AtomicU64]>> Set<A> {
    /// A set of files of these sizes and of so many leaf directories, of which those exist that the functions say, in so many
    /// directories. `make` makes arrays of so many words of zero that all threads see.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn new<E>(
        bytes: Vec<u64>,
        file_exists: impl Fn(usize) -> bool,
        (leaves, leaf_exists): (usize, impl Fn(usize) -> bool),
        directories: usize,
        make: impl Fn(usize) -> Result<A, E>,
    ) -> Result<Self, E> {
        Ok(Self {
            files: Pool::new(bytes.len(), file_exists, &make)?,
            leaves: Pool::new(leaves, leaf_exists, &make)?,
            opens: make(bytes.len())?,
            listed: make(1)?,
            directories: directories as u64,
            bytes,
        })
    }

    /// A file is opened once more.
    pub fn opened(&self, file: usize) {
        self.opens[file].fetch_add(1, Ordering::AcqRel);
    }

    /// A file that was opened is closed.
    pub fn closed(&self, file: usize) {
        self.opens[file].fetch_sub(1, Ordering::AcqRel);
    }

    /// How often a file is open.
    pub fn open_count(&self, file: usize) -> u64 {
        self.opens[file].load(Ordering::Acquire)
    }

    /// The directory whose turn it is to be listed; `None` if there is none.
    pub fn next_directory(&self) -> Option<usize> {
        let turn = self.listed[0].fetch_add(1, Ordering::Relaxed);
        turn.checked_rem(self.directories).map(|at| at as usize)
    }

    /// Size of its largest file.
    pub fn largest_bytes(&self) -> u64 {
        self.bytes.iter().copied().max().unwrap_or(0)
    }
}
