//! How names of a changing set are reached: from directories that were opened before the workers started. A link or mount put on
//! the path later affects nothing elsewhere; the operation that meets it fails.

use crate::EngineError;
use crate::ledger::tree as ours;
use fathom_state::{absolute, here};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The directory of a list's files may be reached through links, as the user named it.
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A file or directory of a set.
pub(crate) struct Spot {
    path: CString,
    /// Index of the open directory that contains it, if that existed, and where in the path the name below it begins. `None` in
    /// sets that are only read, which may be behind links: the whole path is used.
    below: Option<(Option<usize>, usize)>,
}

/// The directories that contain the spots of a set.
#[derive(Default)]
pub(crate) struct Bases {
    /// The files were given to us by the user, so their other hard links do not matter.
    pub given: bool,
    open: Vec<OwnedFd>,
    /// For a list: index by directory.
    known: HashMap<PathBuf, Option<usize>>,
    /// For a tree: the common prefix of all paths, and its root, which may not exist.
    root: Option<(PathBuf, Option<usize>)>,
}

impl Bases {
    /// For the tree below an absolute path. `is_it` checks the opened directory.
    pub fn of_tree(root: &Path, is_it: impl Fn(BorrowedFd<'_>) -> bool) -> Result<Self, EngineError> {
        let mut bases = Self::default();
        let found = match ours::open_root(root) {
            Ok(open) if !is_it(open.as_fd()) => {
                return Err(EngineError::file("use the tree", root, std::io::Error::other(ours::REPLACED)));
            }
            Ok(open) => Some(bases.push(open)),
            Err(EngineError::File { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        bases.root = Some((root.to_path_buf(), found));
        Ok(bases)
    }

    fn push(&mut self, open: OwnedFd) -> usize {
        self.open.push(open);
        self.open.len() - 1
    }

    /// The spot of an absolute path.
    pub fn spot(&mut self, path: &Path) -> Result<Spot, EngineError> {
        let (base, directory) = match &self.root {
            Some((root, base)) => (*base, root.clone()),
            None => {
                let parent = path.parent().unwrap_or(Path::new("/")).to_path_buf();
                (self.of_parent(&parent)?, parent)
            }
        };
        // The separator between a directory and its entry; `/` ends with one.
        let length = directory.as_os_str().len();
        let begin = if directory.as_os_str().as_bytes().ends_with(b"/") { length } else { length + 1 };
        Ok(Spot { path: c_path(path)?, below: Some((base, begin)) })
    }

    fn of_parent(&mut self, parent: &Path) -> Result<Option<usize>, EngineError> {
        if let Some(known) = self.known.get(parent) {
            return Ok(*known);
        }
        let found = match rustix::fs::openat(CWD, here(parent), DIRECTORY, Mode::empty()) {
            Ok(open) => Some(self.push(open)),
            // The operation that needs it reports the error.
            Err(Errno::NOENT) => None,
            Err(e) => return Err(EngineError::file("open", parent, e)),
        };
        self.known.insert(parent.to_path_buf(), found);
        Ok(found)
    }

    fn reached<'s>(&'s self, spot: &'s Spot) -> Option<(BorrowedFd<'s>, &'s CStr)> {
        let (Some(base), begin) = spot.below? else { return None };
        let name = CStr::from_bytes_with_nul(spot.path.as_bytes_with_nul().get(begin..)?).ok()?;
        Some((self.open.get(base)?.as_fd(), name))
    }

    /// Opens a file. Unless it was given to us or is new, a file with a second hard link is not opened for writing.
    ///
    /// # Errors
    /// Those of open(2); EMLINK for such a second hard link; and an error if the path below the opened directory (a tree's root, or a
    /// listed file's directory) crosses a symbolic link or a mount.
    pub fn open(&self, spot: &Spot, flags: OFlags, mode: u32) -> Result<OwnedFd, Errno> {
        if spot.below.is_none() {
            return rustix::fs::open(&*spot.path, flags, Mode::from_raw_mode(mode));
        }
        let (base, name) = self.reached(spot).ok_or(Errno::NOENT)?;
        // The call refuses a mode without O_CREAT.
        let mode = if flags.contains(OFlags::CREATE) { mode } else { 0 };
        let file = ours::open_below(base, name, flags, mode)?;
        // The other link may be in another user's directory. New or read-only files cannot be changed through it.
        let asks =
            !self.given && !flags.contains(OFlags::EXCL) && flags.intersects(OFlags::WRONLY | OFlags::RDWR);
        if asks && rustix::fs::fstat(&file)?.st_nlink > 1 { Err(Errno::MLINK) } else { Ok(file) }
    }

    /// The open parent directory of a name, and the name in it: for calls that create and remove names.
    pub fn parent<'s>(&'s self, spot: &'s Spot) -> Result<Parent<'s>, Errno> {
        let (base, name) = self.reached(spot).ok_or(Errno::NOENT)?;
        let bytes = name.to_bytes_with_nul();
        let Some(slash) = bytes.iter().rposition(|&b| b == b'/') else {
            return Ok(Parent { directory: At::Base(base), name });
        };
        let above = OsStr::from_bytes(&bytes[..slash]);
        let directory = At::Below(ours::open_below(base, above, DIRECTORY, 0)?);
        let name = CStr::from_bytes_with_nul(&bytes[slash + 1..]).map_err(|_| Errno::INVAL)?;
        Ok(Parent { directory, name })
    }

    /// Creates the missing parent directories of a spot in a tree.
    pub fn make_parents(&self, spot: &Spot) -> Result<(), Errno> {
        let (base, name) = self.reached(spot).ok_or(Errno::NOENT)?;
        let path = Path::new(OsStr::from_bytes(name.to_bytes()));
        let mut above: Vec<&Path> = path.ancestors().skip(1).filter(|p| !p.as_os_str().is_empty()).collect();
        above.reverse();
        let mut at: Option<OwnedFd> = None;
        for part in above.iter().filter_map(|p| p.file_name()) {
            let from = at.as_ref().map_or(base, |at| at.as_fd());
            match rustix::fs::mkdirat(from, part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(e) => return Err(e),
            }
            let below = ours::open_below(from, part, DIRECTORY, 0)?;
            at = Some(below);
        }
        Ok(())
    }
}

impl Spot {
    /// A spot that is reached by its path.
    pub fn by_path(path: &Path) -> Result<Self, EngineError> {
        Ok(Self { path: c_path(path)?, below: None })
    }

    pub fn path(&self) -> &CStr {
        &self.path
    }
}

/// An open directory and a name in it.
pub(crate) struct Parent<'s> {
    directory: At<'s>,
    pub name: &'s CStr,
}

enum At<'s> {
    Base(BorrowedFd<'s>),
    Below(OwnedFd),
}

impl Parent<'_> {
    pub fn directory(&self) -> BorrowedFd<'_> {
        match &self.directory {
            At::Base(base) => *base,
            At::Below(below) => below.as_fd(),
        }
    }
}

pub(super) fn c_path(path: &Path) -> Result<CString, EngineError> {
    let path = absolute(path);
    CString::new(path.as_os_str().as_bytes())
        .map_err(|e| EngineError::file("name", path, std::io::Error::from(e)))
}
