//! What keeps the engine from starting or finishing a phase. Failures of single operations are not here: they are part of the
//! result ([`fathom_record::Ending::Failed`]).

use std::path::PathBuf;

/// An error of the engine; its message is a sentence for a person.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The workload asks for something that this engine cannot do.
    #[error("{place}: {message}")]
    Unsupported {
        /// Which phase, group, thread.
        place: String,
        /// What and why.
        message: String,
    },
    /// A file that we did not make stands where we would write.
    #[error("{} exists and was not made by fathom; it is left as it is. Choose another name, or name this file on the command line to have it overwritten", .0.display())]
    NotOurs(PathBuf),
    /// Something that is not a regular file stands where we would write.
    #[error("{} is {}, not a regular file; fathom writes only to regular files", .0.display(), .1)]
    NotAFile(PathBuf, &'static str),
    /// A file that was given to us is below a file system that is in use.
    #[error("{} is not written: {} stands on it and is in use, so what is mounted from it would be destroyed. Unmount it, or take the device away (losetup -d)", path.display(), device.display())]
    Image {
        /// The file.
        path: PathBuf,
        /// The loop device.
        device: PathBuf,
    },
    /// A kept file of ours has got a second name.
    #[error("{} has a second name (a hard link), which may be somebody's copy, so it is not written. Remove one of the names, or name the file for it", .0.display())]
    SecondName(PathBuf),
    /// A tree that we did not make stands where we would make one.
    #[error("{} exists and was not made by fathom; it is left as it is. Choose another place for the tree, or say that it may be used as it is (existing = \"reuse\") or replaced (existing = \"replace\", which removes nothing but directories and files named by eight digits)", .0.display())]
    NotOurTree(PathBuf),
    /// Something that is not a directory stands where a tree is to be.
    #[error("{} is not a directory, but a file set says that it is the root of a tree; it is left as it is. Choose another place for the tree, or, to have a plain file replaced, say so (existing = \"replace\")", .0.display())]
    NotATree(PathBuf),
    /// A tree that is to be worked on is not there.
    #[error("the tree {} of file set {set:?} is not there; lay it out first, with before = [{{ prepare = {set:?} }}]", .root.display())]
    NoTree {
        /// Its root.
        root: PathBuf,
        /// The set.
        set: String,
    },
    /// A tree that is to go holds something that is not of a tree.
    #[error("{} {what}: it was not made by fathom, so the tree {} is not removed. Move it away, or choose another place for the tree", .path.display(), .root.display())]
    Foreign {
        /// The tree.
        root: PathBuf,
        /// What is in it.
        path: PathBuf,
        /// What it is: "is a symbolic link", ...
        what: &'static str,
    },
    /// What was found in place does not do as it is, and may not be changed.
    #[error("{} {what}, and was not made by fathom, so it is not changed. Choose sizes that it has, another place, or say that it may be changed (foreign_writable = true)", .path.display())]
    WouldChange {
        /// The file or directory.
        path: PathBuf,
        /// "has 5 bytes instead of 10", "is not there", ...
        what: String,
    },
    /// What is to be laid out is more than there is room for.
    #[error("the files to be laid out need {} more, and {} are free in {}: choose smaller files, or free some space", gib(*.wanted), gib(*.free), .directory.display())]
    NoRoom {
        /// Where they are to lie.
        directory: PathBuf,
        /// Bytes they take more than there are of them.
        wanted: u64,
        /// Bytes that this user may still take.
        free: u64,
    },
    /// The journal of the files that we make cannot be kept; without it none is made.
    #[error("cannot keep the journal of the files that are made, in {}: {error}. Let XDG_STATE_HOME name a directory that you may write to", .directory.display())]
    Journal {
        /// The state directory.
        directory: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A system call on a file failed.
    #[error("cannot {what} {}: {error}{}", .path.display(), advice(what, .error))]
    File {
        /// "create", "open", "remove", ...
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        error: std::io::Error,
    },
    /// A system call without a file failed.
    #[error("cannot {what}: {error}")]
    System {
        /// "start a process", ...
        what: &'static str,
        /// The kernel's answer.
        error: std::io::Error,
    },
    /// A command of the workload failed.
    #[error("the command {command:?} ended with {outcome}")]
    Command {
        /// Its words.
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

/// What to do about an error of the kernel when something (`what`: "create", "read", ...) was tried, where there is something to do; begins with
/// a full stop.
pub(crate) fn advice(what: &str, error: &std::io::Error) -> &'static str {
    let reads =
        matches!(what, "read" | "read the directory" | "list" | "stat" | "look at" | "find the size of");
    match error.raw_os_error() {
        // Some file systems of the network and of FUSE pass on whatever their server told.
        Some(libc::ENOSPC | libc::EDQUOT | libc::EROFS | libc::EFBIG) if reads => {
            ". A read cannot fail for this reason: the file system is at fault; see the kernel log"
        }
        Some(libc::ENOSPC) => ". The file system is full: free space or choose smaller files",
        Some(libc::EDQUOT) => ". The disk quota is used up",
        Some(libc::EROFS) => ". The file system is mounted read-only: choose another directory",
        Some(libc::EACCES) | Some(libc::EPERM) => ". Choose a directory that you may write to",
        Some(libc::EFBIG) => {
            ". The file would be larger than the file system or the resource limit (ulimit -f) allows"
        }
        Some(libc::EMFILE) | Some(libc::ENFILE) => ". Raise the limit of open files (ulimit -n)",
        Some(libc::EOPNOTSUPP) => {
            ". The file system or device does not offer this (completion_polling needs a device with polled queues)"
        }
        Some(libc::EXDEV) => ". Something is mounted there",
        Some(libc::ELOOP) => ". A symbolic link is in the way",
        Some(libc::EMLINK) => ". The file has a second name, which may be somebody's copy",
        Some(libc::EIO) => ". The device reported an error; see the kernel log",
        Some(libc::ENODEV) | Some(libc::ENXIO) => ". The device or mount has gone",
        Some(libc::ESTALE) => ". The device or mount has gone, or something else lies there now",
        _ => "",
    }
}

/// In the largest unit of which there is one.
fn gib(bytes: u64) -> String {
    const UNITS: [(&str, u32); 5] = [("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match UNITS.iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64),
        None => format!("{bytes} B"),
    }
}
