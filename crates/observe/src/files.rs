//! The kernel's files behind a small trait: production reads the running machine, tests read a tree in a temporary directory. It covers
//! only what this crate needs; a missing file is an ordinary result.

use crate::attributes;
use std::ffi::CString;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

/// Identifies the mount of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MountKey {
    /// The id in /proc/self/mountinfo; `None` before Linux 5.8.
    pub mount_id: Option<u64>,
    /// Major and minor number of the file's device; an anonymous one (major 0) for btrfs, overlay, tmpfs, NFS.
    pub device: (u32, u32),
}

/// Space and inode figures of a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Allocation unit.
    pub block_bytes: u64,
    /// Size of the file system.
    pub total_bytes: u64,
    /// Space still available to an ordinary user.
    pub free_bytes: u64,
    /// Space in use. Less than total - free if a part is reserved.
    pub used_bytes: u64,
    /// Maximum number of files (inodes), 0 if there is no limit.
    pub files_total: u64,
    /// Number of those available to an ordinary user.
    pub files_free: u64,
}

/// Length and allocation of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSize {
    /// Length in bytes.
    pub length_bytes: u64,
    /// Allocated bytes: less than the length if the file has holes.
    pub allocated_bytes: u64,
}

impl FileSize {
    fn of(about: &std::fs::Metadata) -> Self {
        /// Unit of `st_blocks`, whatever the file system's block size.
        const UNIT_BYTES: u64 = 512;
        Self {
            length_bytes: about.len(),
            allocated_bytes: std::os::unix::fs::MetadataExt::blocks(about).saturating_mul(UNIT_BYTES),
        }
    }

    /// The size of a file on the running machine.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        path.metadata().map(|about| Self::of(&about))
    }
}

/// Read access to the kernel's files.
pub trait KernelFiles {
    /// The whole text of a small file.
    fn read(&self, path: &Path) -> io::Result<String>;
    /// The target of a symbolic link, as stored.
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;
    /// The path with all symbolic links resolved.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    /// Names in a directory, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// The mount that holds a path.
    fn mount_of(&self, path: &Path) -> io::Result<MountKey>;
    /// The number of the block device at a path; `None` if it is something else.
    fn block_device_at(&self, _path: &Path) -> Option<(u32, u32)> {
        None
    }
    /// Whether the file system never overwrites blocks of this file: btrfs, unless the file has the attribute C. `None` if the file
    /// cannot be opened.
    fn is_copied_on_write(&self, _path: &Path) -> Option<bool> {
        None
    }
    /// How long a system call that does nothing takes, ns; `None` if that cannot be measured.
    fn empty_call_ns(&self) -> Option<u64> {
        None
    }
    /// The space of the file system that holds a path.
    fn space_of(&self, path: &Path) -> io::Result<Space>;
    /// Length and allocation of a file.
    fn size_of(&self, path: &Path) -> io::Result<FileSize>;

    /// A file's trimmed text; `None` if it cannot be read or is empty.
    fn trimmed(&self, path: &Path) -> Option<String> {
        self.read(path).ok().map(|t| t.trim().to_string()).filter(|t| !t.is_empty())
    }
}

/// Reads a small file of the kernel with as few calls as possible, because a phase reads a hundred of them. A sysfs attribute is at
/// most a page and comes in one piece. A file of procfs may come in several.
fn small_file(path: &Path, in_one_piece: bool) -> io::Result<Vec<u8>> {
    const PIECE: usize = 16 << 10;
    let mut file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        bytes.resize(before + PIECE, 0);
        let read = file.read(&mut bytes[before..]);
        bytes.truncate(before + read.as_ref().map_or(0, |length| *length));
        let length = match read {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if length == 0 || (in_one_piece && length < PIECE) {
            return Ok(bytes);
        }
    }
}

/// Directories of links to devices.
const OF_LINKS: [&str; 3] = ["/sys/dev/block", "/sys/class/block", "/sys/class/bdi"];

/// Resolves a link in a directory of sysfs whose links all lead to a device, without looking at each directory on the way.
fn device_link(path: &Path) -> Option<PathBuf> {
    let parent = path.parent().filter(|parent| OF_LINKS.iter().any(|dir| *parent == Path::new(dir)))?;
    let mut resolved = parent.to_path_buf();
    for part in std::fs::read_link(path).ok()?.components() {
        match part {
            Component::ParentDir => {
                resolved.pop();
            }
            part => resolved.push(part),
        }
    }
    Some(resolved)
}

/// The running machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Live;

impl KernelFiles for Live {
    fn read(&self, path: &Path) -> io::Result<String> {
        // Some sysfs attributes contain arbitrary bytes from the hardware.
        let has_attributes = ["/sys/block", "/sys/class", "/sys/dev", "/sys/devices", "/sys/fs"];
        let is_attribute =
            has_attributes.iter().any(|dir| path.starts_with(dir)) && !path.starts_with("/sys/fs/cgroup");
        small_file(path, is_attribute).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::read_link(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        device_link(path).map_or_else(|| path.canonicalize(), Ok)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        sorted_names(path)
    }

    fn block_device_at(&self, path: &Path) -> Option<(u32, u32)> {
        let about = path.metadata().ok().filter(|about| about.file_type().is_block_device())?;
        Some((rustix::fs::major(about.rdev()), rustix::fs::minor(about.rdev())))
    }

    fn is_copied_on_write(&self, path: &Path) -> Option<bool> {
        attributes::is_copied_on_write(path)
    }

    /// Reads nothing from /dev/null: the way into the kernel and back, with all that looks at system calls there. The median of some
    /// rounds.
    fn empty_call_ns(&self) -> Option<u64> {
        const ROUNDS: usize = 9;
        const CALLS: u32 = 16;
        let null = std::fs::File::open("/dev/null").ok()?;
        let mut rounds = [0; ROUNDS];
        for round in &mut rounds {
            let begin = std::time::Instant::now();
            for _ in 0..CALLS {
                std::os::unix::fs::FileExt::read_at(&null, &mut [], 0).ok()?;
            }
            *round = u64::try_from(begin.elapsed().as_nanos()).ok()? / u64::from(CALLS);
        }
        rounds.sort_unstable();
        Some(rounds[ROUNDS / 2])
    }

    fn mount_of(&self, path: &Path) -> io::Result<MountKey> {
        let c_path = c_string(path)?;
        let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
        // SAFETY: `statx` is a plain structure of integers, so all zeros is valid.
        let mut found: libc::statx = unsafe { std::mem::zeroed() };
        // SAFETY: a NUL-terminated string that outlives the call, and a valid buffer for the result.
        let done =
            unsafe { libc::statx(libc::AT_FDCWD, c_path.as_ptr(), libc::AT_NO_AUTOMOUNT, mask, &mut found) };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
        let mount_id = (found.stx_mask & libc::STATX_MNT_ID != 0).then_some(found.stx_mnt_id);
        Ok(MountKey { mount_id, device: (found.stx_dev_major, found.stx_dev_minor) })
    }

    fn space_of(&self, path: &Path) -> io::Result<Space> {
        let c_path = c_string(path)?;
        // SAFETY: `statvfs` is a plain structure of integers, so all zeros is valid.
        let mut found: libc::statvfs64 = unsafe { std::mem::zeroed() };
        // SAFETY: a NUL-terminated string that outlives the call, and a valid buffer for the result.
        if unsafe { libc::statvfs64(c_path.as_ptr(), &mut found) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let unit = if found.f_frsize > 0 { found.f_frsize } else { found.f_bsize };
        Ok(Space {
            block_bytes: unit,
            total_bytes: found.f_blocks.saturating_mul(unit),
            free_bytes: found.f_bavail.saturating_mul(unit),
            used_bytes: found.f_blocks.saturating_sub(found.f_bfree).saturating_mul(unit),
            files_total: found.f_files,
            files_free: found.f_favail,
        })
    }

    fn size_of(&self, path: &Path) -> io::Result<FileSize> {
        FileSize::read(path)
    }
}

/// Names in a real directory, sorted.
pub(crate) fn sorted_names(path: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Converts a path for a system call.
pub(crate) fn c_string(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_machine_answers() {
        let dir = tempfile::tempdir().expect("a directory");
        let space = Live.space_of(dir.path()).expect("statvfs");
        assert!(space.block_bytes > 0 && space.free_bytes <= space.total_bytes);
        Live.mount_of(dir.path()).expect("statx");
        assert!(Live.trimmed(Path::new("/proc/self/stat")).is_some());
        assert_eq!(Live.trimmed(Path::new("/proc/no such file")), None);
    }

    #[test]
    fn a_small_file_is_read_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("attribute");
        for length in [0, 5, 16_383, 16_384, 16_385, 100_000] {
            let text = "a".repeat(length);
            std::fs::write(&path, &text).expect("written");
            for in_one_piece in [false, true] {
                assert_eq!(small_file(&path, in_one_piece).expect("read"), text.as_bytes(), "{length}");
            }
        }
    }

    /// Symbols of the kernel come in many pieces.
    #[test]
    fn a_file_in_pieces_is_read_whole() {
        let path = Path::new("/proc/kallsyms");
        let Ok(wanted) = std::fs::read(path) else { return };
        assert_eq!(small_file(path, false).expect("read").len(), wanted.len());
    }

    #[test]
    fn the_link_of_a_device_is_resolved_as_by_the_kernel() {
        for dir in OF_LINKS {
            for name in sorted_names(Path::new(dir)).expect("sysfs") {
                let link = Path::new(dir).join(name);
                assert_eq!(device_link(&link), link.canonicalize().ok(), "{}", link.display());
            }
        }
        assert_eq!(device_link(Path::new("/sys/dev/block/999:999")), None);
        assert_eq!(device_link(Path::new("/proc/self")), None);
    }

    #[test]
    fn a_path_that_is_not_there_is_an_error() {
        let nowhere = Path::new("/no such directory/at all");
        assert_eq!(Live.mount_of(nowhere).expect_err("no").kind(), io::ErrorKind::NotFound);
        assert_eq!(Live.space_of(nowhere).expect_err("no").kind(), io::ErrorKind::NotFound);
        assert_eq!(Live.mount_of(Path::new("a\0b")).expect_err("no").kind(), io::ErrorKind::InvalidInput);
    }
}
