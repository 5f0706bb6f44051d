//! The state of a file set that flows use: intended file sizes, which files exist and are open, which directory is listed next. The
//! executor knows the paths and contents.

use super::pool::Pool;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file set. `A` is an array of words visible to all threads.
pub struct Set<A> {
    /// Its files.
    pub files: Pool<A>,
    /// Its leaf directories.
    pub leaves: Pool<A>,
    /// Intended size of each file.
    pub bytes: Vec<u64>,
    /// Open count of each file.
    opens: A,
    /// Directories listed so far.
    listed: A,
    directories: u64,
}

impl<A: Deref<Target = [AtomicU64]>> Set<A> {
    /// A set of files with these sizes and of leaf directories, of which those exist that the functions select, in a number of
    /// directories. `make` allocates an array of zeroed words visible to all threads.
    ///
    /// # Errors
    /// If `make` fails.
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

    /// Counts an open of a file.
    pub fn opened(&self, file: usize) {
        self.opens[file].fetch_add(1, Ordering::AcqRel);
    }

    /// Counts a close of a file.
    pub fn closed(&self, file: usize) {
        self.opens[file].fetch_sub(1, Ordering::AcqRel);
    }

    /// Number of times a file is currently open.
    pub fn open_count(&self, file: usize) -> u64 {
        self.opens[file].load(Ordering::Acquire)
    }

    /// The next directory to list; `None` if there is none.
    pub fn next_directory(&self) -> Option<usize> {
        let turn = self.listed[0].fetch_add(1, Ordering::Relaxed);
        turn.checked_rem(self.directories).map(|at| at as usize)
    }

    /// Size of its largest file.
    pub fn largest_bytes(&self) -> u64 {
        self.bytes.iter().copied().max().unwrap_or(0)
    }
}
