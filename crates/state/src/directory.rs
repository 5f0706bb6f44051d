//! A directory for data that one run leaves for the next. It was reached safely ([`crate::walk`]), and every file in it is
//! opened, created, renamed and removed through its descriptor.

use crate::{Untrusted, trust, walk};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Maximum number of bytes read from one file. A list of a million kept files is smaller.
const MOST_BYTES: u64 = 512 << 20;

/// Opening a path that may be a pipe must not block.
const CAREFULLY: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// A directory that only this user and root can change.
#[derive(Debug)]
pub struct Directory {
    open: OwnedFd,
    path: PathBuf,
}

/// Result of an attempt to lock a file.
#[derive(Debug)]
pub enum Locked {
    /// Locked until it is closed, or the file system does not support locks.
    Ours(File),
    /// Another process holds the lock.
    ByAnother,
}

impl Directory {
    /// Opens the directory; `None` if it does not exist.
    ///
    /// # Errors
    /// If another user can change it, or a directory above it.
    pub fn open(path: &Path) -> Result<Option<Self>, Untrusted> {
        Ok(walk::open(path, false)?.map(|open| Self { open, path: path.into() }))
    }

    /// Opens the directory. Missing parts of the path are created first, for this user alone.
    ///
    /// # Errors
    /// As [`Directory::open`]; or if it cannot be created.
    pub fn make(path: &Path) -> Result<Self, Untrusted> {
        let open = walk::open(path, true)?;
        let open = open.ok_or_else(|| Untrusted::io(path, io::ErrorKind::NotFound))?;
        Ok(Self { open, path: path.into() })
    }

    /// A second handle to the same directory.
    ///
    /// # Errors
    /// If no descriptors are left.
    pub fn again(&self) -> io::Result<Self> {
        Ok(Self { open: self.open.try_clone()?, path: self.path.clone() })
    }

    /// Its path, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of its entries, sorted; names that are not UTF-8 are skipped, as none of them is ours.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = Dir::read_from(&self.open) else { return Vec::new() };
        let name =
            |e: Result<rustix::fs::DirEntry, Errno>| Some(e.ok()?.file_name().to_str().ok()?.to_owned());
        let mut names: Vec<String> = entries.filter_map(name).filter(|n| n != "." && n != "..").collect();
        names.sort_unstable();
        names
    }

    /// Opens a file in it; `None` if it does not exist.
    ///
    /// # Errors
    /// If it is not a regular file, or others can change it.
    pub fn file(&self, name: &str) -> Result<Option<File>, Untrusted> {
        self.opened(name, OFlags::RDONLY)
    }

    fn opened(&self, name: &str, how: OFlags) -> Result<Option<File>, Untrusted> {
        let at = self.path.join(name);
        match rustix::fs::openat(&self.open, name, how | CAREFULLY, Mode::RUSR | Mode::WUSR) {
            Ok(file) => {
                let about = rustix::fs::fstat(&file).map_err(|e| Untrusted::io(&at, e))?;
                trust::file(&at, &about)?;
                Ok(Some(file.into()))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP) => {
                Err(Untrusted::Kind { path: at, found: "a symbolic link", expected: "a file" })
            }
            Err(Errno::NXIO) => {
                Err(Untrusted::Kind { path: at, found: "a named pipe or socket", expected: "a file" })
            }
            Err(e) => Err(Untrusted::io(at, e)),
        }
    }

    /// The text of a file in it; `None` if it does not exist.
    ///
    /// # Errors
    /// As for [`Directory::file`].
    pub fn text(&self, name: &str) -> Result<Option<String>, Untrusted> {
        let Some(file) = self.file(name)? else { return Ok(None) };
        let at = || self.path.join(name);
        let mut bytes = Vec::new();
        let length = file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|e| Untrusted::io(at(), e))?;
        if length as u64 > MOST_BYTES {
            return Err(Untrusted::Strange {
                path: at(),
                what: "is larger than anything that fathom keeps there",
            });
        }
        // A line that is not UTF-8 is not ours, so its checksum fails.
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Creates a file that must not exist yet, for this user alone, to be appended to.
    ///
    /// # Errors
    /// If it exists or cannot be created.
    pub fn create(&self, name: &str) -> Result<File, Untrusted> {
        let how = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let made = rustix::fs::openat(&self.open, name, how | CAREFULLY, Mode::RUSR | Mode::WUSR);
        made.map(File::from).map_err(|e| Untrusted::io(self.path.join(name), e))
    }

    /// Creates or replaces a file atomically: writes and syncs a temporary file and renames it. After a power cut there is the old
    /// text or the new one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn replace(&self, name: &str, text: &str) -> Result<(), Untrusted> {
        let beside = format!("{name}.{}", crate::owner::own_name());
        let written = self.create(&beside).and_then(|mut file| {
            let written = file.write_all(text.as_bytes()).and_then(|()| Ok(rustix::fs::fdatasync(&file)?));
            written.map_err(|e| Untrusted::io(self.path.join(&beside), e))?;
            self.rename(&beside, name)
        });
        written.inspect_err(|_| self.remove(&beside))
    }

    /// Renames a file in it.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), Untrusted> {
        rustix::fs::renameat(&self.open, from, &self.open, to)
            .map_err(|e| Untrusted::io(self.path.join(to), e))
    }

    /// Removes a file in it, if it exists.
    pub fn remove(&self, name: &str) {
        let _ = rustix::fs::unlinkat(&self.open, name, AtFlags::empty());
    }

    /// Syncs the directory itself, that is, names created or changed in it.
    ///
    /// # Errors
    /// If the kernel cannot.
    pub fn sync(&self) -> Result<(), Untrusted> {
        rustix::fs::fsync(&self.open).map_err(|e| Untrusted::io(&self.path, e))
    }

    /// Locks a file in it, creating it if necessary; blocks while another process holds the lock.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn wait_for_lock(&self, name: &str) -> Result<File, Untrusted> {
        let file = self.opened(name, OFlags::RDWR | OFlags::CREATE)?;
        let file = file.ok_or_else(|| Untrusted::io(self.path.join(name), io::ErrorKind::NotFound))?;
        // Without lock support (some network file systems) files are still written atomically.
        let _ = rustix::fs::flock(&file, FlockOperation::LockExclusive);
        Ok(file)
    }

    /// Tries to lock a file in it; `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn try_lock(&self, name: &str) -> Result<Option<Locked>, Untrusted> {
        // Open for writing: network file systems refuse to lock read-only files.
        let Some(file) = self.opened(name, OFlags::RDWR)? else { return Ok(None) };
        Ok(Some(match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) | Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => Locked::Ours(file),
            Err(_) => Locked::ByAnother,
        }))
    }

    /// Whether a name in it still refers to this open file.
    #[must_use]
    pub fn still_is(&self, name: &str, file: &File) -> bool {
        let numbers = |about: rustix::fs::Stat| (about.st_dev, about.st_ino);
        let there = rustix::fs::statat(&self.open, name, AtFlags::SYMLINK_NOFOLLOW).map(numbers);
        there.is_ok_and(|there| rustix::fs::fstat(file.as_fd()).map(numbers) == Ok(there))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn permit(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its permissions");
    }

    fn refused(path: &Path) -> String {
        Directory::open(path).expect_err("not trusted").to_string()
    }

    #[test]
    fn what_is_missing_is_made_for_this_user_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a/b");
        assert!(Directory::open(&path).expect("no objection").is_none());
        let made = Directory::make(&path).expect("made");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o700);
        let mut file = made.create("f").expect("a file");
        file.write_all(b"text").expect("written");
        assert_eq!(made.text("f").expect("read").as_deref(), Some("text"));
        assert_eq!(fs::metadata(path.join("f")).expect("there").permissions().mode() & 0o777, 0o600);
        assert!(made.create("f").is_err());
        made.replace("f", "other").expect("replaced");
        assert_eq!(
            (made.text("f").expect("read").as_deref(), made.names()),
            (Some("other"), vec!["f".into()])
        );
        assert!(!made.still_is("f", &file));
        made.remove("f");
        assert!(made.text("f").expect("no objection").is_none());
    }

    #[test]
    fn a_directory_that_others_can_change_is_not_used_nor_what_lies_below_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let (open, inside) = (dir.path().join("open"), dir.path().join("open/inside"));
        fs::create_dir_all(&inside).expect("directories");
        permit(&open, 0o777);
        assert!(refused(&open).contains("can be written by others (mode 0777)"));
        assert!(refused(&inside).contains("open can be written by others"));
        // Other users cannot rename our files in a sticky directory; but it must not hold our files itself.
        permit(&open, 0o1777);
        assert!(refused(&open).contains("mode 1777"));
        assert!(Directory::open(&inside).expect("no objection").is_some());
        permit(&inside, 0o720);
        if trust::user() == 0 {
            assert!(refused(&inside).contains("mode 0720"));
        }
    }

    #[test]
    fn links_of_ours_are_followed_and_endless_ones_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("real/state")).expect("directories");
        symlink("real", at("near")).expect("a link");
        symlink(at("near"), at("far")).expect("a link");
        symlink("../near/state", at("real/up")).expect("a link");
        symlink("round", at("round")).expect("a link");
        for path in ["near/state", "far/state", "far/up", "real/../near/state/."] {
            assert!(Directory::open(&at(path)).expect(path).is_some());
        }
        assert!(refused(&at("round")).contains("too many links"));
        fs::write(at("plain"), "").expect("a file");
        assert!(refused(&at("plain/state")).contains("plain is a file, not a directory"));
    }

    #[test]
    fn what_is_no_file_is_an_error_and_nothing_waits() {
        let dir = tempfile::tempdir().expect("a directory");
        permit(dir.path(), 0o700);
        let state = Directory::make(dir.path()).expect("ours");
        let name = |name: &str| {
            std::ffi::CString::new(dir.path().join(name).as_os_str().as_bytes()).expect("a name")
        };
        for (path, kind) in [("pipe", FIFO), ("socket", SOCKET)] {
            rustix::fs::mknodat(rustix::fs::CWD, name(path), kind, Mode::RWXU, 0).expect("made");
        }
        symlink("/dev/zero", dir.path().join("link")).expect("a link");
        fs::create_dir(dir.path().join("directory")).expect("a directory");
        fs::write(dir.path().join("open"), "text").expect("a file");
        permit(&dir.path().join("open"), 0o666);
        for (name, words) in [
            ("pipe", "is a named pipe, not a file"),
            ("socket", "socket, not a file"),
            ("link", "is a symbolic link, not a file"),
            ("directory", "is a directory, not a file"),
            ("open", "can be written by others"),
        ] {
            let error = state.text(name).expect_err(name).to_string();
            assert!(error.contains(words), "{error}");
            assert!(state.try_lock(name).is_err());
        }
    }

    const FIFO: rustix::fs::FileType = rustix::fs::FileType::Fifo;
    const SOCKET: rustix::fs::FileType = rustix::fs::FileType::Socket;
}
