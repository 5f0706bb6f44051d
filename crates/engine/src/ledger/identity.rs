//! What tells a file from another of the same path.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The time of birth (ns since 1970; 0 where the file system keeps none) is needed because file systems give the number of a removed
/// file to the next new one, often at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub device: u64,
    pub inode: u64,
    pub born_ns: u64,
}

/// An entry of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub identity: Identity,
    /// It is the root of a tree: what it holds under our names is ours too, without an entry of its own.
    pub tree: bool,
}

impl Identity {
    pub fn of(path: &Path) -> Option<Self> {
        let about = fs::symlink_metadata(path).ok()?;
        let born = about.created().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        let born_ns = born.and_then(|b| u64::try_from(b.as_nanos()).ok()).unwrap_or(0);
        Some(Self { device: about.dev(), inode: about.ino(), born_ns })
    }
}

/// Whether the directory of a file that is not there is on the device where the file was made.
pub(super) fn parent_is_on(path: &Path, device: u64) -> bool {
    path.parent().and_then(|p| fs::metadata(p).ok()).is_some_and(|m| m.dev() == device)
}

pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}
