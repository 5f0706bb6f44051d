//! Why block events cannot be watched, and what to do about it.

use std::io;
use std::path::PathBuf;

/// Reason why watching failed.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// No tracefs is mounted.
    #[error(
        "block events cannot be watched: tracefs is not mounted here; as root, `mount -t tracefs tracefs /sys/kernel/tracing` mounts it"
    )]
    NotMounted,
    /// tracefs exists, but this user may not use it.
    #[error(
        "block events cannot be watched: {} may be used by root only; run as root, or let your group in once with `mount -o remount,gid=GROUP,mode=750 {}`",
        .0.display(), .0.display()
    )]
    NotAllowed(PathBuf),
    /// The kernel lacks the trace points.
    #[error(
        "block events cannot be watched: {} has no events/block/{event}; the kernel needs CONFIG_BLK_DEV_IO_TRACE or CONFIG_EVENT_TRACING with the block trace points",
        .tracefs.display()
    )]
    NoEvent {
        /// The tracefs that was searched.
        tracefs: PathBuf,
        /// The missing trace point.
        event: &'static str,
    },
    /// The trace clock cannot be compared with our own timestamps.
    #[error("block events cannot be watched: the trace clock `mono` is not among those of this kernel ({0})")]
    NoClock(String),
    /// A format description that cannot be parsed.
    #[error("block events cannot be watched: {} does not describe what is expected there: {what}", .file.display())]
    Format {
        /// The description's path.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The stack has no device to watch.
    #[error("block events cannot be watched: there is no block device below the path")]
    NoDevice,
    /// Another watch is running: there is one set of rings.
    #[error("block events are being watched already: stop the watch that runs before another is started")]
    Busy,
    /// An unexpected I/O error.
    #[error("block events cannot be watched: {}: {why}", .file.display())]
    Io {
        /// The file or directory.
        file: PathBuf,
        /// The kernel's error.
        why: io::Error,
    },
    /// The kernel refused the BPF programs that count requests.
    #[error("BPF cannot count requests in the kernel: {0}")]
    Programs(String),
    /// The kernel refused the BPF programs that note where threads wait.
    #[error("BPF cannot record where in the kernel the slowest calls wait: {0}")]
    Sleeps(String),
    /// The observer's thread could not be started, or the sink panicked.
    #[error("block events cannot be watched: the observer's thread {0}")]
    Thread(String),
}

impl WatchError {
    pub(super) fn io(file: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        move |why| Self::Io { file, why }
    }
}
