//! Why block events cannot be watched, each with what to do about it.

use std::io;
use std::path::PathBuf;

/// What stood in the way of watching.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// There is no tracefs.
    #[error(
        "block events cannot be watched: tracefs is not mounted here; as root, `mount -t tracefs tracefs /sys/kernel/tracing` mounts it"
    )]
    NotMounted,
    /// There is one, but not for us.
    #[error(
        "block events cannot be watched: {} may be used by root only; run as root, or let your group in once with `mount -o remount,gid=GROUP,mode=750 {}`",
        .0.display(), .0.display()
    )]
    NotAllowed(PathBuf),
    /// A kernel without the trace points.
    #[error(
        "block events cannot be watched: {} has no events/block/{event}; the kernel needs CONFIG_BLK_DEV_IO_TRACE or CONFIG_EVENT_TRACING with the block trace points",
        .tracefs.display()
    )]
    NoEvent {
        /// Where it was looked for.
        tracefs: PathBuf,
        /// What is missing.
        event: &'static str,
    },
    /// A clock that cannot be joined with our own times.
    #[error("block events cannot be watched: the trace clock `mono` is not among those of this kernel ({0})")]
    NoClock(String),
    /// A description this program cannot read.
    #[error("block events cannot be watched: {} does not describe what is expected there: {what}", .file.display())]
    Format {
        /// The description.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Nothing to watch.
    #[error("block events cannot be watched: there is no block device below the path")]
    NoDevice,
    /// One at a time: the rings are one set.
    #[error("block events are being watched already: stop the watch that runs before another is started")]
    Busy,
    /// The kernel refused something that should have worked.
    #[error("block events cannot be watched: {}: {why}", .file.display())]
    Io {
        /// On which file or directory.
        file: PathBuf,
        /// What it said.
        why: io::Error,
    },
    /// The kernel does not take the programs that count requests in it.
    #[error("requests cannot be counted in the kernel by BPF: {0}")]
    Programs(String),
    /// The observer's thread could not be made, or ended by a fault of the sink.
    #[error("block events cannot be watched: the observer's thread {0}")]
    Thread(String),
}

impl WatchError {
    pub(super) fn io(file: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        move |why| Self::Io { file, why }
    }
}
