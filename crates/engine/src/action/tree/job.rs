//! A tree to create or check, and what the threads that do it share.

use crate::{EngineError, Ledger};
use fathom_workload::tree::Layout;
use fathom_workload::{FileSet, Share, Workload};
use rustix::fd::OwnedFd;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Mutex, PoisonError};

/// How the tree is obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Its root is new and empty.
    Fresh {
        /// Files get no data.
        empty: bool,
    },
    /// It exists, is ours, and may be adjusted.
    ReuseOurs,
    /// It exists, is not ours, and was given to us for changes; new entries are recorded one by one.
    ReuseGiven,
    /// It exists and must fit as it is.
    ReuseForeign,
}

/// A tree to create or check.
pub(super) struct TreeJob<'a> {
    pub root: &'a Path,
    pub root_fd: OwnedFd,
    pub layout: &'a Layout,
    pub set: &'a FileSet,
    pub workload: &'a Workload,
    pub manner: Manner,
}

/// State shared by the threads.
pub(super) struct Common<'a, 'l> {
    pub job: &'a TreeJob<'a>,
    /// For files that are entered one by one.
    pub ledger: Mutex<&'l mut Ledger>,
    pub units: Vec<Range<usize>>,
    pub next: AtomicUsize,
    pub done: AtomicU64,
    pub bytes: AtomicU64,
    pub stop: AtomicBool,
}

impl TreeJob<'_> {
    /// Whether missing or unfit entries may be changed.
    pub fn may_change(&self) -> bool {
        self.manner != Manner::ReuseForeign
    }
}

impl Common<'_, '_> {
    /// Creates a file with its own ledger entry.
    pub fn create_entered(&self, path: &Path) -> Result<std::fs::File, EngineError> {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.create(path, self.job.set.mode)
    }

    /// Whether files that are too large are left alone.
    pub fn only_reads(&self) -> bool {
        self.job.set.share == Share::ReadOnly
    }
}

/// The name of a file or directory.
pub(super) fn name_of(number: u32) -> String {
    format!("{number:08}")
}
