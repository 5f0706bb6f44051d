//! A ledger entry: a file, directory or tree that is ours, and whether it is still the one at its path.

use super::tree;
use crate::EngineError;
use fathom_state::{IMAGE_DIRECTORY, Identity, here, kept_mark};
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, OnceLock};

const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A file or directory that is ours.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub identity: Identity,
    /// Root of a tree: its contents with names of our scheme are ours too, without separate entries.
    pub tree: bool,
    /// Held open where the file system offers no proof of identity, so that its inode number cannot be reused. A kept file is
    /// held from the time it is first recognised, as this run will change it.
    /// Never set by a worker, which may have its own file table.
    held: OnceLock<Arc<OwnedFd>>,
    /// Whether it was at its path on the first check.
    was_there: OnceLock<bool>,
}

impl Entry {
    /// Entry of an open file just created.
    ///
    /// # Errors
    /// If it cannot be inspected, or must be held open and cannot be.
    pub fn of_new(file: BorrowedFd<'_>, tree: bool) -> Result<Self, Errno> {
        let identity = Identity::of_new(file)?;
        let entry = Self::seen(identity, tree);
        if identity.is_unproven() {
            let _ = entry.held.set(Arc::new(held(file)?));
        }
        Ok(entry)
    }

    /// Entry of a file to be kept, at rest; `None` if nothing is there, or something other than the known entry.
    pub fn at_rest(path: &Path, tree: bool, known: Option<&Self>) -> Option<Self> {
        let file = rustix::fs::openat(CWD, here(path), LOOK, Mode::empty()).ok()?;
        let is_it = known.is_none_or(|known| known.is(file.as_fd()));
        // A file that is ours until changed does not become ours permanently.
        let identity = match known {
            Some(known) if known.identity.changes() => Identity::until_changed(file.as_fd()).ok(),
            _ => Identity::at_rest(file.as_fd()),
        };
        Some(Self::seen(identity.filter(|_| is_it)?, tree))
    }

    /// Marks it as kept, if it is a file and still the one at a path.
    pub fn mark(&self, path: &Path) {
        if let Ok(file) = rustix::fs::openat(CWD, here(path), LOOK, Mode::empty())
            && self.is(file.as_fd())
            && rustix::fs::fstat(&file).is_ok_and(|about| FileType::from_raw_mode(about.st_mode).is_file())
        {
            kept_mark::set(file.as_fd());
        }
    }

    /// Entry from a journal or the list of kept files.
    pub fn recorded(identity: Identity, tree: bool) -> Self {
        Self { identity, tree, held: OnceLock::new(), was_there: OnceLock::new() }
    }

    /// Entry of what is there now.
    pub fn seen(identity: Identity, tree: bool) -> Self {
        Self { was_there: OnceLock::from(true), ..Self::recorded(identity, tree) }
    }

    /// Entry of a foreign file that is ours until another program changes it.
    ///
    /// # Errors
    /// If it cannot be inspected or held open.
    pub fn until_changed(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        let entry = Self::seen(Identity::until_changed(file)?, false);
        let _ = entry.held.set(Arc::new(held(file)?));
        Ok(entry)
    }

    /// The entry of a held file now that it is at rest again, if it differs.
    pub fn changed(&self, path: &Path) -> Option<Self> {
        self.held.get().filter(|_| self.identity.changes())?;
        let now = Self::at_rest(path, self.tree, Some(self))?;
        (now.identity != self.identity).then_some(now)
    }

    /// Whether it is this open file.
    pub fn is(&self, file: BorrowedFd<'_>) -> bool {
        self.held.get().is_some_and(|held| Identity::is_held(held, file)) || self.identity.is(file)
    }

    /// Whether another file was at its path on the first check.
    pub fn was_replaced(&self) -> bool {
        self.was_there.get() == Some(&false)
    }

    /// Whether it is the file at a path.
    pub fn is_at(&self, path: &Path) -> bool {
        self.lies_at(path).unwrap_or(false)
    }

    /// As [`Self::is_at`], but a file that cannot be inspected is an error instead of `false`.
    ///
    /// # Errors
    /// If the kernel does not report its attributes.
    pub fn lies_at(&self, path: &Path) -> Result<bool, Errno> {
        let file = match rustix::fs::openat(CWD, here(path), LOOK, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(false),
            Err(e) => return Err(e),
        };
        let held = self.held.get().is_some_and(|held| Identity::is_held(held, file.as_fd()));
        let is_it = held || self.identity.tells(file.as_fd())?;
        let _ = self.was_there.set(is_it);
        if is_it && self.identity.changes() {
            let _ = self.held.set(Arc::new(file));
        }
        Ok(is_it)
    }

    /// Removes it. The path is split into directory and name once, so a path changed in between affects nothing elsewhere.
    ///
    /// # Errors
    /// If something else is there, the kernel refuses, or a tree contains something that is not ours.
    pub fn remove(&self, path: &Path) -> Result<(), EngineError> {
        let failed = |e: Errno| EngineError::file("remove", path, e);
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(failed(Errno::INVAL));
        };
        let above_flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = rustix::fs::openat(CWD, here(above), above_flags, Mode::empty()).map_err(failed)?;
        if self.tree {
            return tree::remove(above.as_fd(), path, |root| self.is(root));
        }
        let file = rustix::fs::openat(&above, name, LOOK, Mode::empty()).map_err(failed)?;
        if !self.is(file.as_fd()) {
            return Err(EngineError::file("remove", path, std::io::Error::other(tree::REPLACED)));
        }
        let about = rustix::fs::fstat(&file).map_err(failed)?;
        let is_directory = FileType::from_raw_mode(about.st_mode) == FileType::Directory;
        let how = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        rustix::fs::unlinkat(&above, name, how).map_err(failed)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.identity, self.tree) == (other.identity, other.tree)
    }
}

/// Duplicates the descriptor. A set may need one per file, so the limit of open files is raised as far as this user may.
fn held(file: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // Reopened, because a second writable descriptor would keep the file system from being remounted read-only.
    let again = format!("/proc/thread-self/fd/{}", file.as_raw_fd());
    let open = || match rustix::fs::open(&again, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT) => rustix::io::fcntl_dupfd_cloexec(file, 0),
        opened => opened,
    };
    open().or_else(|e| {
        let limit = getrlimit(Resource::Nofile);
        if e != Errno::MFILE || limit.current == limit.maximum {
            return Err(e);
        }
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
        open()
    })
}

/// Whether a file does not exist and cannot reappear: the remaining directories above it are on the device where it was created,
/// or its file system was an image that was removed with its directory.
pub(super) fn is_gone_from(path: &Path, device: u64) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // A less specific error may be temporary.
    let is_told = |e: &std::io::Error| matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    if !here(path).symlink_metadata().is_err_and(|e| is_told(&e)) {
        return false;
    }
    let mut below = path;
    for above in path.ancestors().skip(1) {
        match std::fs::metadata(here(above)) {
            Err(e) if is_told(&e) => below = above,
            Err(_) => return false,
            Ok(meta) => return meta.dev() == device || holds_an_image(below),
        }
    }
    false
}

fn holds_an_image(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(IMAGE_DIRECTORY.as_bytes())
}
