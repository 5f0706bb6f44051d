//! File attributes (`chattr`, `lsattr`) that change what a read or write costs. statx does not report them.

use rustix::fs::{IFlags, Mode, OFlags};
use std::path::PathBuf;

/// At most this many files are examined: a tree of millions would take longer than the phase.
const MOST_FILES: usize = 64;
/// FS_ENCRYPT_FL, which rustix does not name.
const ENCRYPTED: IFlags = IFlags::from_bits_retain(0x800);

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
}

/// Examines the first files of a phase. Files that cannot be opened, or whose file system has no attributes, do not count.
#[must_use]
pub fn of(paths: &[PathBuf]) -> Attributes {
    let mut found = Attributes::default();
    for path in paths.iter().take(MOST_FILES) {
        // Opening a pipe must not block.
        let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let Ok(file) = rustix::fs::open(path, how, Mode::empty()) else { continue };
        let Ok(flags) = rustix::fs::ioctl_getflags(&file) else { continue };
        found.files += 1;
        found.sync += u64::from(flags.contains(IFlags::SYNC));
        found.journalled += u64::from(flags.contains(IFlags::JOURNALING));
        found.encrypted += u64::from(flags.contains(ENCRYPTED));
        found.without_checksums += u64::from(flags.contains(IFlags::NOCOW));
    }
    found
}
