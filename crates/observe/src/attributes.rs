//! File attributes (`chattr`, `lsattr`) that change what a read or write costs. statx does not report them.

use rustix::fd::OwnedFd;
use rustix::fs::{FsWord, IFlags, Mode, OFlags};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// At most this many files are examined: a tree of millions would take longer than the phase.
const MOST_FILES: usize = 64;
/// FS_ENCRYPT_FL, which rustix does not name.
const ENCRYPTED: IFlags = IFlags::from_bits_retain(0x800);
/// FS_INDEX_FL: ext3 and ext4 find names in the directory by an index.
const INDEXED: IFlags = IFlags::from_bits_retain(0x1000);
/// `f_type` of btrfs.
const BTRFS: FsWord = 0x9123_683e;
/// EXT4_SUPER_MAGIC, which ext2 and ext3 share.
const EXT: FsWord = 0xef53;

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
        let Some((_, flags)) = open(path) else { continue };
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

/// Opens a file and reads its attributes.
fn open(path: &Path) -> Option<(OwnedFd, IFlags)> {
    // Opening a pipe must not block.
    let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(path, how, Mode::empty()).ok()?;
    let flags = rustix::fs::ioctl_getflags(&file).ok()?;
    Some((file, flags))
}

/// Size of a directory that the file system searches from its start; 0 if it has an index.
fn unindexed_bytes(directory: &Path) -> u64 {
    let size = || {
        let (file, flags) = open(directory)?;
        let ext = rustix::fs::fstatfs(&file).ok()?.f_type == EXT;
        let bytes = rustix::fs::fstat(&file).ok()?.st_size;
        (ext && !flags.contains(INDEXED)).then_some(bytes)
    };
    size().and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
}

/// Whether btrfs writes each block of a file to a new place.
pub(crate) fn is_copied_on_write(path: &Path) -> bool {
    open(path).is_some_and(|(file, flags)| {
        let btrfs = rustix::fs::fstatfs(&file).is_ok_and(|about| about.f_type == BTRFS);
        btrfs && !flags.contains(IFlags::NOCOW)
    })
}
