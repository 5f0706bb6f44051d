//! File attributes (`chattr`, `lsattr`) that change what a read or write costs. statx does not report them.

use rustix::fd::OwnedFd;
use rustix::fs::{IFlags, Mode, OFlags};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// At most this many files are examined: a tree of millions would take longer than the phase.
const MOST_FILES: usize = 64;
/// FS_ENCRYPT_FL, which rustix does not name.
const ENCRYPTED: IFlags = IFlags::from_bits_retain(0x800);
/// FS_INDEX_FL: ext3 and ext4 find names in the directory by an index.
const INDEXED: IFlags = IFlags::from_bits_retain(0x1000);
/// `f_type` of btrfs.
const BTRFS: u64 = 0x9123_683e;
/// EXT4_SUPER_MAGIC, which ext2 and ext3 share.
const EXT: u64 = 0xef53;

/// How many of a phase's files have each attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Files examined.
    pub files: u64,
    /// Files with the attribute S: each write waits for the device.
    pub sync: u64,
    /// Files with the attribute j: data go into the journal of ext3 and ext4 first.
    pub journalled: u64,
    /// Files with the attribute E: the file system encrypts them.
    pub encrypted: u64,
    /// Files with the attribute C: btrfs keeps no checksums of their data.
    pub without_checksums: u64,
    /// Size of the largest directory of ext2, ext3 or ext4 that holds some of the files and has no index; 0 if there is none.
    pub unindexed_directory_bytes: u64,
}

/// Examines the first files of a phase. Files that cannot be opened, or whose file system has no attributes, do not count.
#[must_use]
pub fn of(paths: &[PathBuf]) -> Attributes {
    let mut found = Attributes::default();
    for path in paths.iter().take(MOST_FILES) {
        let Some(file) = open(path) else { continue };
        let Ok(flags) = rustix::fs::ioctl_getflags(&file) else { continue };
        found.files += 1;
        found.sync += u64::from(flags.contains(IFlags::SYNC));
        found.journalled += u64::from(flags.contains(IFlags::JOURNALING));
        found.encrypted += u64::from(flags.contains(ENCRYPTED));
        found.without_checksums += u64::from(flags.contains(IFlags::NOCOW));
    }
    let directories: HashSet<&Path> = paths.iter().take(MOST_FILES).filter_map(|p| p.parent()).collect();
    found.unindexed_directory_bytes = directories.into_iter().map(unindexed_bytes).max().unwrap_or(0);
    found
}

fn open(path: &Path) -> Option<OwnedFd> {
    // Opening a pipe must not block.
    let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    rustix::fs::open(path, how, Mode::empty()).ok()
}

/// Size of a directory that the file system searches from its start; 0 if it has an index, or is a single block and needs none.
fn unindexed_bytes(directory: &Path) -> u64 {
    let size = || {
        let file = open(directory)?;
        let about = rustix::fs::fstat(&file).ok()?;
        let searched = about.st_size > i64::from(about.st_blksize as u32)
            && is_on(&file, EXT)?
            && !rustix::fs::ioctl_getflags(&file).ok()?.contains(INDEXED);
        searched.then_some(about.st_size)
    };
    size().and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
}

/// Whether btrfs writes each block of a file to a new place.
pub(crate) fn is_copied_on_write(path: &Path) -> Option<bool> {
    let file = open(path)?;
    let btrfs = is_on(&file, BTRFS)?;
    Some(btrfs && !rustix::fs::ioctl_getflags(&file).ok()?.contains(IFlags::NOCOW))
}

/// Whether a file lies on a file system of this type.
fn is_on(file: &OwnedFd, magic: u64) -> Option<bool> {
    // The kernel's word has another sign and width on other processors.
    Some(rustix::fs::fstatfs(file).ok()?.f_type as u64 & 0xffff_ffff == magic)
}
