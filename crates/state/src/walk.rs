//! The path from `/` to a directory, step by step: each name is looked up in a directory that is already open and trusted, so no
//! other user can replace anything on the way. Links are followed if only this user and root can have created them.

use crate::{Untrusted, trust};
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

/// The kernel's limit.
const MOST_LINKS: usize = 40;

const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const READ: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a directory; `None` if it does not exist. With `make`, missing parts are created for this user alone.
pub(crate) fn open(path: &Path, make: bool) -> Result<Option<OwnedFd>, Untrusted> {
    let path = std::path::absolute(path).map_err(|e| Untrusted::io(path, e))?;
    let mut way = Way::begin()?;
    let mut rest = names(&path);
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            way.up();
            continue;
        }
        let Some((found, about)) = way.look(&name, make)? else { return Ok(None) };
        let at = way.path.join(&name);
        match FileType::from_raw_mode(about.st_mode) {
            FileType::Directory => way.down(found, &name, &about)?,
            FileType::Symlink => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(Untrusted::Strange { path, what: "leads through too many links" });
                }
                trust::owned(&at, &about)?;
                let target = rustix::fs::readlinkat(&found, "", Vec::new());
                let target = target.map_err(|e| Untrusted::io(&at, e))?.into_bytes();
                let target = PathBuf::from(OsString::from_vec(target));
                if target.is_absolute() {
                    way = Way::begin()?;
                }
                let mut names = names(&target);
                names.append(&mut rest);
                rest = names;
            }
            other => {
                let found = trust::name_of(other);
                return Err(Untrusted::Kind { path: at, found, expected: crate::error::DIRECTORY });
            }
        }
    }
    way.end().map(Some)
}

fn names(path: &Path) -> VecDeque<OsString> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

/// Open directories from `/` on; the last is the current one.
struct Way {
    open: Vec<OwnedFd>,
    path: PathBuf,
}

impl Way {
    fn begin() -> Result<Self, Untrusted> {
        let path = PathBuf::from("/");
        let failed = |e: Errno| Untrusted::io("/", e);
        let root = rustix::fs::openat(CWD, "/", LOOK, Mode::empty()).map_err(failed)?;
        trust::on_the_way(&path, &rustix::fs::fstat(&root).map_err(failed)?)?;
        Ok(Self { open: vec![root], path })
    }

    fn here(&self) -> &OwnedFd {
        // Never empty: `up` keeps `/`.
        &self.open[self.open.len() - 1]
    }

    fn look(&self, name: &OsStr, make: bool) -> Result<Option<(OwnedFd, rustix::fs::Stat)>, Untrusted> {
        let failed = |e: Errno| Untrusted::io(self.path.join(name), e);
        let mut found = self.opened(name);
        if make && found.as_ref().is_err_and(|e| *e == Errno::NOENT) {
            match rustix::fs::mkdirat(self.here(), name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(e) => return Err(failed(e)),
            }
            found = self.opened(name);
        }
        match found {
            Ok(found) => {
                let about = rustix::fs::fstat(&found).map_err(failed)?;
                Ok(Some((found, about)))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(failed(e)),
        }
    }

    /// Try it as a directory first, which triggers automounts.
    fn opened(&self, name: &OsStr) -> Result<OwnedFd, Errno> {
        match rustix::fs::openat(self.here(), name, LOOK | OFlags::DIRECTORY, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) => rustix::fs::openat(self.here(), name, LOOK, Mode::empty()),
            other => other,
        }
    }

    fn down(&mut self, directory: OwnedFd, name: &OsStr, about: &rustix::fs::Stat) -> Result<(), Untrusted> {
        let at = self.path.join(name);
        trust::on_the_way(&at, about)?;
        self.open.push(directory);
        self.path = at;
        Ok(())
    }

    fn up(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
            self.path.pop();
        }
    }

    /// The current directory, opened for reading and for looking up names.
    fn end(self) -> Result<OwnedFd, Untrusted> {
        let failed = |e: Errno| Untrusted::io(&self.path, e);
        let about = rustix::fs::fstat(self.here()).map_err(failed)?;
        trust::last(&self.path, &about)?;
        rustix::fs::openat(self.here(), OsStr::from_bytes(b"."), READ, Mode::empty()).map_err(failed)
    }
}
