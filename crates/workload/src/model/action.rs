//! Steps between phases, outside every clock.

use crate::Duration;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One step before or after a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// sync(2): write back everything dirty.
    Sync,
    /// Write back and drop the pages of a file set (fsync, fadvise(DONTNEED)).
    Evict(String),
    /// Read a file set once so that it is in the page cache.
    Warm(String),
    /// Write every file of the set to its full size with its data, fsync.
    Prepare(String),
    /// Give every file of the set its full size and its space (fallocate) without writing it: it reads as zeros. Files that are large
    /// enough are left alone.
    Reserve(String),
    /// Reserve the space of every file of the set up to its full size without changing its size (fallocate, KEEP_SIZE): it grows as it is
    /// written. Missing files are created empty; files that are large enough are left alone.
    ReserveBehind(String),
    /// Give every file of the set its full size without its space (ftruncate): a hole, which reads as zeros. Files that are large enough
    /// are left alone.
    Extend(String),
    /// Create the missing directories among those the set names; existing ones are left alone.
    MakeDirectories(String),
    /// Remove the files of the set and create them empty.
    Recreate(String),
    /// Remove the files of the set that we created, unless the set is to be kept.
    Remove(String),
    /// Unmount and remount a file system of /etc/fstab, by its mount point.
    Remount(PathBuf),
    /// Wait.
    Sleep(Duration),
    /// Run a program with arguments; no shell is involved.
    Command(Vec<String>),
}
