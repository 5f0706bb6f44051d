//! An entry of the ledger: a file, directory or tree that is ours, and whether it still is what lies at its path.

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
    /// It is the root of a tree: what it holds under our names is ours too, without an entry of its own.
    pub tree: bool,
    /// Where the file system keeps nothing that tells a file from a later one of the same number, it is held open: its number is not
    /// given to another as long as it is. What was kept is held from when it is first found to be ours: it will change under our hands.
    held: OnceLock<Arc<OwnedFd>>,
    /// Whether it lay at its path when it was first looked for.
    was_there: OnceLock<bool>,
}

impl Entry {
    /// Of what we have just made, open.
    ///
    /// # Errors
    /// If it cannot be looked at, or has to be held open and cannot be.
    pub fn of_new(file: BorrowedFd<'_>, tree: bool) -> Result<Self, Errno> {
        let identity = Identity::of_new(file)?;
        let entry = Self::seen(identity, tree);
        if identity.is_unproven() {
            let _ = entry.held.set(Arc::new(held(file)?));
        }
        Ok(entry)
    }

    /// Of what is to be kept, at rest; `None` if nothing lies there, or something else than what is known to be ours.
    pub fn at_rest(path: &Path, tree: bool, known: Option<&Self>) -> Option<Self> {
        let file = rustix::fs::openat(CWD, here(path), LOOK, Mode::empty()).ok()?;
        let is_it = known.is_none_or(|known| known.is(file.as_fd()));
        // What is ours until it is changed does not become ours for ever.
        let identity = match known {
            Some(known) if known.identity.changes() => Identity::until_changed(file.as_fd()).ok(),
            _ => Identity::at_rest(file.as_fd()),
        };
        Some(Self::seen(identity.filter(|_| is_it)?, tree))
    }

    /// Marks it as one that stays, if it is a file and still what lies at a path.
    pub fn mark(&self, path: &Path) {
        if let Ok(file) = rustix::fs::openat(CWD, here(path), LOOK, Mode::empty())
            && self.is(file.as_fd())
            && rustix::fs::fstat(&file).is_ok_and(|about| FileType::from_raw_mode(about.st_mode).is_file())
        {
            kept_mark::set(file.as_fd());
        }
    }

    /// As a journal or the list of kept files tells it.
    pub fn told(identity: Identity, tree: bool) -> Self {
        Self { identity, tree, held: OnceLock::new(), was_there: OnceLock::new() }
    }

    /// Of what lies there now.
    pub fn seen(identity: Identity, tree: bool) -> Self {
        Self { was_there: OnceLock::from(true), ..Self::told(identity, tree) }
    }

    /// Of a file that is somebody's, and ours until somebody else changes it.
    ///
    /// # Errors
    /// If it cannot be looked at, or not be held open.
    pub fn until_changed(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        let entry = Self::seen(Identity::until_changed(file)?, false);
        let _ = entry.held.set(Arc::new(held(file)?));
        Ok(entry)
    }

    /// What a held entry is now that it is at rest again, if that is not what it was.
    pub fn changed(&self, path: &Path) -> Option<Self> {
        self.held.get().filter(|_| self.identity.changes())?;
        let now = Self::at_rest(path, self.tree, Some(self))?;
        (now.identity != self.identity).then_some(now)
    }

    /// Whether it is an open file.
    pub fn is(&self, file: BorrowedFd<'_>) -> bool {
        self.held.get().is_some_and(|held| Identity::is_held(held, file)) || self.identity.is(file)
    }

    /// Whether another file lay at its path when it was first looked for.
    pub fn was_replaced(&self) -> bool {
        self.was_there.get() == Some(&false)
    }

    /// Whether it is what lies at a path.
    pub fn is_at(&self, path: &Path) -> bool {
        self.lies_at(path).unwrap_or(false)
    }

    /// Likewise, but what cannot be looked at is not said to be gone.
    ///
    /// # Errors
    /// If the kernel does not tell.
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

    /// Removes it. Directory and name are taken apart once, so that whoever bends the path meanwhile changes nothing elsewhere.
    ///
    /// # Errors
    /// If something else lies there, the kernel refuses, or a tree holds something that is not ours.
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

/// As many files as a set has may be held: where the limit is met, it is raised as far as this user may.
fn held(file: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // Opened anew it keeps nobody from making the file system read-only, as a second descriptor of what is written would.
    let again = format!("/proc/self/fd/{}", file.as_raw_fd());
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

/// Whether a file is not there and cannot come back: what is left of the directories above it is on the device where it was made, or its
/// file system was an image that went with the directory it lay in.
pub(super) fn is_gone_from(path: &Path, device: u64) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // An error that says less may pass.
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
