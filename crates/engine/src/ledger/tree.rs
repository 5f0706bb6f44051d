//! Trees of numbered directories and files: opening their entries, and removing them. No full path is used, as another user could
//! redirect it: every step goes from an open directory to a name in it, never through a link or onto another file system. Only
//! names of our scheme are touched, and a tree is scanned completely before any of it is removed.

use crate::EngineError;
use fathom_state::here;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

/// Message for a file that was replaced since the first check.
pub const REPLACED: &str = "something else lies there now";
/// Granularity of file time stamps.
pub(super) const STEP: Duration = Duration::from_millis(20);
/// Clock difference allowed for file servers.
pub(super) const SERVERS: Duration = Duration::from_secs(60);
/// f_type of NFS, SMB (two), CIFS, Ceph, 9P, AFS and FUSE.
const REMOTE: [u64; 8] =
    [0x6969, 0x517b, 0xfe53_4d42, 0xff53_4d42, 0x00c3_6400, 0x0102_1997, 0x5346_414f, 0x6573_5546];

/// Maximum depth of our trees: slightly more than a layout has, because flows add directories.
const MOST_LEVELS: usize = fathom_workload::tree::Layout::MOST_LEVELS as usize + 2;

/// Whether a name follows our scheme: a number from 1 on, with eight digits, or more above 99999999.
pub(crate) fn is_our_name(name: &[u8]) -> bool {
    let digits = !name.is_empty() && name.iter().all(u8::is_ascii_digit);
    digits && (name.len() == 8 || (name.len() > 8 && name.len() <= 10 && name[0] != b'0'))
}

/// Opens a name below an open directory without following links or leaving the mount.
///
/// # Errors
/// The kernel's; also if a link or a mount is in the way.
pub fn open_below(
    directory: BorrowedFd<'_>,
    name: impl rustix::path::Arg + Copy,
    flags: OFlags,
    mode: u32,
) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode);
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match rustix::fs::openat2(directory, name, flags, mode, resolve) {
        // Linux before 5.6, and sandboxes that block the call.
        Err(Errno::NOSYS | Errno::PERM) => open_step_by_step(directory, name, flags, mode),
        other => other,
    }
}

fn open_step_by_step(
    directory: BorrowedFd<'_>,
    name: impl rustix::path::Arg,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let name = name.into_c_str()?;
    let name = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    let device = rustix::fs::fstat(directory)?.st_dev;
    let same = |file: OwnedFd| {
        if rustix::fs::fstat(&file)?.st_dev == device { Ok(file) } else { Err(Errno::XDEV) }
    };
    let mut at: Option<OwnedFd> = None;
    if let Some(parents) = name.parent() {
        for part in parents.components() {
            let from = at.as_ref().map_or(directory, OwnedFd::as_fd);
            at = Some(same(rustix::fs::openat(from, part.as_os_str(), DIRECTORY, Mode::empty())?)?);
        }
    }
    let from = at.as_ref().map_or(directory, OwnedFd::as_fd);
    same(rustix::fs::openat(from, name.file_name().ok_or(Errno::INVAL)?, flags, mode)?)
}

const DIRECTORY: OFlags =
    OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::RDONLY);

/// Opens the root of a tree, which must not be a link.
pub(crate) fn open_root(root: &Path) -> Result<OwnedFd, EngineError> {
    rustix::fs::openat(CWD, here(root), DIRECTORY, Mode::empty())
        .map_err(|e| EngineError::file("open", root, e))
}

/// Opens a directory of a tree.
pub(crate) fn open_directory(root: BorrowedFd<'_>, path: &str) -> Result<OwnedFd, Errno> {
    if path.is_empty() {
        return rustix::io::fcntl_dupfd_cloexec(root, 0);
    }
    open_below(root, path, DIRECTORY, 0)
}

/// Whether an open file or directory was created after `since`.
pub(super) fn is_new(file: BorrowedFd<'_>, since: SystemTime) -> io::Result<bool> {
    let about = File::from(file.try_clone_to_owned()?).metadata()?;
    let kind = rustix::fs::fstatfs(file).map_or(0, |about| about.f_type as u64 & 0xffff_ffff);
    let slack = if REMOTE.contains(&kind) { SERVERS } else { STEP };
    Ok(about.created().or_else(|_| about.modified()).is_ok_and(|made| made + slack >= since))
}

/// Opens a directory that was created after `since`. If it is not empty, another user has replaced it, or another rank has
/// started to work in it, in which case its contents are as new. The top of a tree is not shared.
pub(super) fn just_made(
    above: BorrowedFd<'_>,
    name: &OsStr,
    since: SystemTime,
    is_tree: bool,
) -> io::Result<OwnedFd> {
    let how = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = match rustix::fs::openat(above, name, how, Mode::empty()) {
        // A umask can deny even its owner read permission.
        Err(Errno::ACCESS) => return Ok(rustix::fs::openat(above, name, how | OFlags::PATH, Mode::empty())?),
        opened => opened?,
    };
    let is_dots = |name: &[u8]| matches!(name, b"." | b"..");
    let is_empty = Dir::read_from(&open)?.all(|entry| entry.is_ok_and(|e| is_dots(e.file_name().to_bytes())));
    let is_mounted = rustix::fs::fstat(&open)?.st_dev != rustix::fs::fstat(above)?.st_dev;
    let may_be_it = is_empty || !is_tree && is_new(open.as_fd(), since)?;
    if may_be_it && !is_mounted { Ok(open) } else { Err(io::Error::other(REPLACED)) }
}

/// Whether a path is in the tree of this root, reached without links or mounts, and is a file or directory.
pub(super) fn lies_in(root: &Path, inside: &Path) -> bool {
    let Ok(root) = open_root(root) else { return false };
    let Ok(found) = open_below(root.as_fd(), inside, OFlags::PATH, 0) else { return false };
    rustix::fs::fstat(&found).is_ok_and(|about| {
        matches!(FileType::from_raw_mode(about.st_mode), FileType::RegularFile | FileType::Directory)
    })
}

/// Threads that remove files. Where a file system waits for the device on each removal (as ext4 mounted with `discard` does),
/// eight were seven times as fast as one, whatever the number of CPUs.
const THREADS: usize = 8;

/// Removes a tree that the user named, no matter who created it. If it contains any name outside our scheme, nothing is removed.
///
/// # Errors
/// Names what is not ours, or what could not be removed.
pub(super) fn remove_named(path: &Path) -> Result<(), EngineError> {
    let failed = |e: Errno| EngineError::file("open", path, e);
    let above = path.parent().ok_or_else(|| failed(Errno::INVAL))?;
    let above = rustix::fs::openat(CWD, here(above), ABOVE, Mode::empty()).map_err(failed)?;
    remove(above.as_fd(), path, |_| true)
}

/// The path to a tree is not part of it, and may contain links.
const ABOVE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Removes a tree in an open directory, if its root is the right one. If it contains anything that is not ours, nothing is
/// removed.
///
/// # Errors
/// Names what is not ours, or what could not be removed.
pub(super) fn remove(
    above: BorrowedFd<'_>,
    path: &Path,
    is_it: impl Fn(BorrowedFd<'_>) -> bool,
) -> Result<(), EngineError> {
    let failed = |e: Errno| EngineError::file("remove", path, e);
    let name = path.file_name().ok_or_else(|| failed(Errno::INVAL))?;
    let root = rustix::fs::openat(above, name, DIRECTORY, Mode::empty());
    let root = root.map_err(|e| EngineError::file("open", path, e))?;
    if !is_it(root.as_fd()) {
        return Err(EngineError::file("remove", path, std::io::Error::other(REPLACED)));
    }
    let mut look = Walk { root: path, at: path.to_path_buf(), levels: 0, removes: false, leaves: Vec::new() };
    look.walk(root.as_fd())?;
    let (leaves, next) = (look.leaves, AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let work = || {
            while let Some(leaf) = leaves.get(next.fetch_add(1, Relaxed)) {
                // What remains is found again and reported below.
                let _ = remove_leaf(path, root.as_fd(), leaf);
            }
        };
        for _ in 1..THREADS.min(leaves.len()) {
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut rest = Walk { root: path, at: path.to_path_buf(), levels: 0, removes: true, leaves: Vec::new() };
    rest.walk(root.as_fd())?;
    drop(root);
    rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR).map_err(failed)
}

/// Removes the files of a directory without subdirectories, and the directory.
fn remove_leaf(tree: &Path, root: BorrowedFd<'_>, leaf: &Path) -> Result<(), EngineError> {
    let at = tree.join(leaf);
    let failed = |e: Errno| EngineError::file("open", &at, e);
    let (Some(above), Some(name)) = (leaf.parent(), leaf.file_name()) else { return Ok(()) };
    let parent = match above.as_os_str().is_empty() {
        true => rustix::io::fcntl_dupfd_cloexec(root, 0),
        false => open_below(root, above, DIRECTORY, 0),
    };
    let parent = parent.map_err(failed)?;
    let directory = open_below(parent.as_fd(), name, DIRECTORY, 0).map_err(failed)?;
    let mut files =
        Walk { root: tree, at: at.clone(), levels: MOST_LEVELS, removes: true, leaves: Vec::new() };
    files.walk(directory.as_fd())?;
    rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR).map_err(failed)
}

/// One pass through a tree: scanning or removing.
struct Walk<'a> {
    root: &'a Path,
    at: PathBuf,
    levels: usize,
    removes: bool,
    /// Directories that contain files but no directories, by their paths below the root.
    leaves: Vec<PathBuf>,
}

impl Walk<'_> {
    fn walk(&mut self, directory: BorrowedFd<'_>) -> Result<(), EngineError> {
        // Read to the end first: removing entries while reading a directory may hide others from the reader.
        let names = self.names(directory)?;
        if self.levels > 0 && !names.is_empty() && names.iter().all(|n| n.1 == FileType::RegularFile) {
            self.leaves.extend(self.at.strip_prefix(self.root).map(Path::to_path_buf));
        }
        for (name, kind) in names {
            self.at.push(std::ffi::OsStr::from_bytes(name.as_bytes()));
            if !is_our_name(name.as_bytes()) {
                return Err(self.foreign("has a name that fathom does not use"));
            }
            match kind {
                FileType::RegularFile => {
                    if self.removes {
                        self.unlink(directory, &name, AtFlags::empty())?;
                    }
                }
                FileType::Directory => {
                    if self.levels == MOST_LEVELS {
                        return Err(self.foreign("is deeper than any tree of fathom"));
                    }
                    let inner = match open_below(directory, name.as_c_str(), DIRECTORY, 0) {
                        Ok(inner) => inner,
                        Err(Errno::XDEV) => return Err(self.foreign("is a mount point")),
                        Err(e) => return Err(EngineError::file("open", &self.at, e)),
                    };
                    self.levels += 1;
                    self.walk(inner.as_fd())?;
                    self.levels -= 1;
                    if self.removes {
                        self.unlink(directory, &name, AtFlags::REMOVEDIR)?;
                    }
                }
                FileType::Symlink => return Err(self.foreign("is a symbolic link")),
                _ => return Err(self.foreign("is neither a file nor a directory")),
            }
            self.at.pop();
        }
        Ok(())
    }

    fn names(&self, directory: BorrowedFd<'_>) -> Result<Vec<(CString, FileType)>, EngineError> {
        let failed = |e: Errno| EngineError::file("read the directory", &self.at, e);
        let mut names = Vec::new();
        for entry in Dir::read_from(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let mut kind = entry.file_type();
            // Some file systems do not report the type while listing.
            if kind == FileType::Unknown {
                let about = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
                kind = FileType::from_raw_mode(about.st_mode);
            }
            names.push((name.to_owned(), kind));
        }
        Ok(names)
    }

    fn unlink(&self, directory: BorrowedFd<'_>, name: &CString, how: AtFlags) -> Result<(), EngineError> {
        match rustix::fs::unlinkat(directory, name.as_c_str(), how) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            // A file with something mounted on it.
            Err(Errno::BUSY) => Err(self.foreign("is a mount point")),
            Err(e) => Err(EngineError::file("remove", &self.at, e)),
        }
    }

    fn foreign(&self, what: &'static str) -> EngineError {
        EngineError::Foreign { root: self.root.into(), path: self.at.clone(), what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn our_names_are_numbers_of_eight_digits() {
        for ours in ["00000001", "12345678", "123456789", "2147483647"] {
            assert!(is_our_name(ours.as_bytes()), "{ours}");
        }
        for other in ["", "1", "0000001", "000000001", "0000000a", "00000001 ", "12345678901"] {
            assert!(!is_our_name(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn older_kernels_are_walked_step_by_step_by_the_same_rules() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("00000001/00000002")).unwrap();
        fs::write(root.join("00000001/00000002/00000003"), "x").unwrap();
        std::os::unix::fs::symlink(root.join("00000001"), root.join("00000009")).unwrap();
        let fd = open_root(root).unwrap();
        let read = OFlags::RDONLY | OFlags::NOFOLLOW;
        let opened = |path: &str| {
            let old = open_step_by_step(fd.as_fd(), path, read, Mode::empty()).map(drop);
            assert_eq!(old.is_ok(), open_below(fd.as_fd(), path, OFlags::RDONLY, 0).is_ok(), "{path}");
            old.is_ok()
        };
        assert!(opened("00000001/00000002/00000003") && opened("00000001"));
        assert!(!opened("00000009/00000002/00000003") && !opened("00000009") && !opened("00000004"));
    }
}
