//! Why a place or a file of earlier runs is not used.

use std::io;
use std::path::PathBuf;

/// What is expected on the way to a file.
pub(crate) const DIRECTORY: &str = "a directory";

/// It is left alone, and nothing it says is done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Untrusted {
    /// Somebody else owns it, or a directory above it.
    #[error("{path} belongs to user {owner}", path = path.display())]
    Owner {
        /// What belongs to them.
        path: PathBuf,
        /// Their number.
        owner: u32,
    },
    /// Somebody else may change it.
    #[error("{path} can be written by others (mode {mode:04o})", path = path.display())]
    Writable {
        /// What can be written.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Something else than was expected.
    #[error("{path} is {found}, not {expected}", path = path.display())]
    Kind {
        /// What it is about.
        path: PathBuf,
        /// "a named pipe".
        found: &'static str,
        /// "a file".
        expected: &'static str,
    },
    /// Links that lead to links, or a file too large to be ours.
    #[error("{path} {what}", path = path.display())]
    Strange {
        /// What it is about.
        path: PathBuf,
        /// What is strange, as the rest of a sentence.
        what: &'static str,
    },
    /// The kernel refused.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// What it is about.
        path: PathBuf,
        /// Its answer.
        error: io::Error,
    },
}

impl Untrusted {
    pub(crate) fn io(path: impl Into<PathBuf>, error: impl Into<io::Error>) -> Self {
        Self::Io { path: path.into(), error: error.into() }
    }
}

impl From<Untrusted> for io::Error {
    fn from(error: Untrusted) -> Self {
        match error {
            Untrusted::Io { error, .. } => error,
            // The kernel has a number for this one.
            Untrusted::Kind { expected: DIRECTORY, .. } => rustix::io::Errno::NOTDIR.into(),
            other => Self::new(io::ErrorKind::PermissionDenied, other),
        }
    }
}
