//! Errors that keep the engine from starting or finishing a phase. Failures of single operations are part of the result instead
//! ([`fathom_record::Ending::Failed`]).

use std::path::PathBuf;

/// An error of the engine; its message is a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The workload requests something that this engine cannot do.
    #[error("{place}: {message}")]
    Unsupported {
        /// Phase, group and thread.
        place: String,
        /// What is unsupported and why.
        message: String,
    },
    /// A file that fathom did not create is at a path to be written.
    #[error("{} exists and was not made by fathom, so it is left unchanged. Choose another name, or name this file on the command line to overwrite it", .0.display())]
    NotOurs(PathBuf),
    /// Something other than a regular file is at a path to be written; the text says what.
    #[error("{} is {}, not a regular file; fathom writes only to regular files", .0.display(), .1)]
    NotAFile(PathBuf, &'static str),
    /// A block device is at a path to be written, and nobody named it.
    #[error("{path} is a block device, which is written only if it is named: with --allow-write={path} (fathom run, fathom fio), or in FATHOM_ALLOW_WRITE", path = .0.display())]
    Device(PathBuf),
    /// A file given by the user backs a mounted file system.
    #[error("{} is the backing file of {}, which is in use: writing would destroy the file system mounted from it. Unmount it, or detach the device (losetup -d)", path.display(), device.display())]
    Image {
        /// The backing file.
        path: PathBuf,
        /// The loop device.
        device: PathBuf,
    },
    /// One of our kept files has gained a second hard link.
    #[error("{} has a second hard link, which may be another user's copy, so it is not written. Remove one of the links, or name this file on the command line to overwrite it", .0.display())]
    SecondName(PathBuf),
    /// The root of a tree is a directory that fathom did not create and may not change.
    #[error("{} exists and was not made by fathom, so it is left unchanged. Choose another path for the tree, or allow fathom to use it (existing = \"reuse\") or to replace it (existing = \"replace\", which removes only directories and files whose names are eight digits)", .0.display())]
    NotOurTree(PathBuf),
    /// The root of a tree exists and is not a directory.
    #[error("{} is not a directory, but a file set names it as the root of a tree; it is left unchanged. Choose another path for the tree, or set existing = \"replace\" to replace a plain file", .0.display())]
    NotATree(PathBuf),
    /// A tree to work on does not exist.
    #[error("the tree {} of file set {set:?} does not exist; lay it out first, with before = [{{ prepare = {set:?} }}]", .root.display())]
    NoTree {
        /// Root of the tree.
        root: PathBuf,
        /// Name of the file set.
        set: String,
    },
    /// A tree to be removed contains something that does not belong to it.
    #[error("{} {what}: it was not made by fathom, so the tree {} is not removed. Move it away, or choose another path for the tree", .path.display(), .root.display())]
    Foreign {
        /// Root of the tree.
        root: PathBuf,
        /// The foreign entry.
        path: PathBuf,
        /// Its kind: "is a symbolic link", ...
        what: &'static str,
    },
    /// An existing file or directory does not fit and must not be changed.
    #[error("{} {what}, and was not made by fathom, so it is not changed. Choose sizes that match, choose another path, or allow the change (foreign_writable = true)", .path.display())]
    WouldChange {
        /// The file or directory.
        path: PathBuf,
        /// "has 5 bytes instead of 10", "does not exist", ...
        what: String,
    },
    /// The files to be laid out do not fit.
    #[error("the files need {} more, but only {} are free in {}: choose smaller files, or free some space", gib(*.wanted), gib(*.free), .directory.display())]
    NoRoom {
        /// Directory they would be created in.
        directory: PathBuf,
        /// Additional bytes needed.
        wanted: u64,
        /// Bytes still available to this user.
        free: u64,
    },
    /// The journal of created files cannot be written; without it no file is created.
    #[error("cannot write the journal of created files in {}: {error}. Set XDG_STATE_HOME to a directory that you can write to", .directory.display())]
    Journal {
        /// The state directory.
        directory: PathBuf,
        /// Cause of the failure.
        error: std::io::Error,
    },
    /// A system call on a file failed.
    #[error("cannot {what} {}: {error}{}", .path.display(), advice(what, .error))]
    File {
        /// "create", "open", "remove", ...
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error returned by the kernel.
        error: std::io::Error,
    },
    /// A system call that concerns no file failed.
    #[error("cannot {what}: {error}")]
    System {
        /// "start a process", ...
        what: &'static str,
        /// Error returned by the kernel.
        error: std::io::Error,
    },
    /// A command of the workload failed.
    #[error("the command {command:?} ended with {outcome}")]
    Command {
        /// The command line.
        command: String,
        /// Exit status or error.
        outcome: String,
    },
}

impl EngineError {
    pub(crate) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
        error: impl Into<std::io::Error>,
    ) -> Self {
        Self::File { what, path: path.into(), error: error.into() }
    }

    pub(crate) fn system(what: &'static str, error: impl Into<std::io::Error>) -> Self {
        Self::System { what, error: error.into() }
    }
}

pub(crate) fn unsupported(place: &str, message: &str) -> EngineError {
    EngineError::Unsupported { place: place.into(), message: message.into() }
}

/// Advice for a kernel error of an action (`what`: "create", "read", ...); empty if there is none, otherwise begins with a full
/// stop.
pub(crate) fn advice(what: &str, error: &std::io::Error) -> &'static str {
    let reads =
        matches!(what, "read" | "read the directory" | "list" | "stat" | "look at" | "find the size of");
    match error.raw_os_error() {
        // Some network and FUSE file systems pass on whatever error their server returned.
        Some(libc::ENOSPC | libc::EDQUOT | libc::EROFS | libc::EFBIG) if reads => {
            ". A read cannot fail for this reason: the file system is at fault; see the kernel log"
        }
        Some(libc::ENOSPC) => ". The file system is full: free space or choose smaller files",
        Some(libc::EDQUOT) => ". The disk quota is used up",
        Some(libc::EROFS) => ". The file system is mounted read-only: choose another directory",
        Some(libc::EACCES) | Some(libc::EPERM) => ". Choose a directory that you can write to",
        Some(libc::EFBIG) => {
            ". The file would be larger than the file system or the resource limit (ulimit -f) allows"
        }
        Some(libc::EMFILE) | Some(libc::ENFILE) => ". Raise the limit of open files (ulimit -n)",
        Some(libc::EOPNOTSUPP) => {
            ". The file system or device does not offer this (completion_polling needs a device with polled queues)"
        }
        Some(libc::EXDEV) => ". Another file system is mounted there",
        Some(libc::ELOOP) => ". The path contains a symbolic link",
        Some(libc::EMLINK) => ". The file has a second hard link, which may be another user's copy",
        Some(libc::EIO) => ". The device reported an error; see the kernel log",
        Some(libc::ENODEV) | Some(libc::ENXIO) => ". The device or mount is gone",
        Some(libc::ESTALE) => ". The device or mount is gone, or another one has taken its path",
        _ => "",
    }
}

/// Formats bytes in the largest unit that is not exceeded.
fn gib(bytes: u64) -> String {
    const UNITS: [(&str, u32); 5] = [("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match UNITS.iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64),
        None => format!("{bytes} B"),
    }
}
