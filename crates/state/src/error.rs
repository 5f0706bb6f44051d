//! Why a path or a file of earlier runs is not used.

use std::io;
use std::path::PathBuf;

/// Kind expected of each component on the path to a file.
pub(crate) const DIRECTORY: &str = "a directory";

/// A path that is not trusted: it is left alone and its contents are ignored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Untrusted {
    /// Another user owns it, or a directory above it.
    #[error("{path} belongs to user {owner}", path = path.display())]
    Owner {
        /// The file or directory owned by that user.
        path: PathBuf,
        /// User id of the owner.
        owner: u32,
    },
    /// Another user may change it.
    #[error("{path} can be written by others (mode {mode:04o})", path = path.display())]
    Writable {
        /// The writable file or directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It has an unexpected kind.
    #[error("{path} is {found}, not {expected}", path = path.display())]
    Kind {
        /// The file or directory.
        path: PathBuf,
        /// Kind found: "a named pipe".
        found: &'static str,
        /// Kind expected: "a file".
        expected: &'static str,
    },
    /// Too many levels of links, or a file too large to be ours.
    #[error("{path} {what}", path = path.display())]
    Strange {
        /// The file or directory.
        path: PathBuf,
        /// The problem, as the rest of a sentence.
        what: &'static str,
    },
    /// The kernel refused.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Error returned by the kernel.
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
            // The kernel has an error number for this case.
            Untrusted::Kind { expected: DIRECTORY, .. } => rustix::io::Errno::NOTDIR.into(),
            other => Self::new(io::ErrorKind::PermissionDenied, other),
        }
    }
}
