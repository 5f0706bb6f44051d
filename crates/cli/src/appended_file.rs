//! A file that is appended to in several steps. Between steps, the owner of its directory (or root) can replace it, so
//! a step continues only on the file that this run began.

use fathom_state::Identity;
use rustix::fd::{AsFd as _, OwnedFd};
use std::fs::File;
use std::io::{Error, Result, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Proof of which file the first step created or adopted.
pub struct AppendedFile {
    identity: Identity,
    /// Kept open during the run if the file system offers no lasting proof.
    held: Option<OwnedFd>,
}

impl AppendedFile {
    pub fn of(file: &File) -> Result<Self> {
        let identity = Identity::of_new(file.as_fd())?;
        let held = if identity.is_unproven() { Some(file.as_fd().try_clone_to_owned()?) } else { None };
        Ok(Self { identity, held })
    }

    /// Reopens the file by name to append; fails if the name leads to another file.
    fn again(&self, path: &Path) -> Result<File> {
        let file =
            File::options().append(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
        let is_it = match &self.held {
            Some(held) => Identity::is_held(held, file.as_fd()),
            None => self.identity.is(file.as_fd()),
        };
        if is_it { Ok(file) } else { Err(Error::other("something else lies there now")) }
    }

    /// Checks that the name still leads to this file.
    pub fn check(&self, path: &Path) -> Result<()> {
        self.again(path).map(drop)
    }

    pub fn append(&self, path: &Path, text: &[u8]) -> Result<File> {
        let mut file = self.again(path)?;
        file.write_all(text)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_the_file_that_was_begun_is_gone_on_with() {
        let dir = tempfile::tempdir().expect("a directory");
        let (path, other) = (dir.path().join("log"), dir.path().join("other"));
        let file = File::create_new(&path).expect("a file");
        let proven = AppendedFile::of(&file).expect("looked at");
        let held = AppendedFile { identity: proven.identity, held: Some(file.into()) };
        fs::write(&other, "other").expect("a file");
        for begun in [&proven, &held] {
            drop(begun.append(&path, b"x").expect("the same"));
        }
        assert_eq!(fs::read_to_string(&path).expect("there"), "xx");
        fs::rename(&path, dir.path().join("aside")).expect("renamed");
        fs::rename(&other, &path).expect("renamed");
        for begun in [&proven, &held] {
            let error = begun.append(&path, b"x").expect_err("another");
            assert_eq!(error.to_string(), "something else lies there now");
        }
        assert_eq!(fs::read_to_string(&path).expect("there"), "other");
    }
}
