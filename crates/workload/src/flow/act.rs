//! Classification of flow operations: reads, writes, syncs, metadata, waits. The result rows of engine and simulator use it.

use crate::Act;

/// Which totals an operation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Operations on files and directories.
    Io,
    /// Asynchronous I/O.
    Async,
    /// Waiting for other workers and waking them.
    Sync,
    /// Computing, sleeping, limiting, finishing.
    Other,
    /// Not counted.
    None,
}

impl Class {
    /// Whether it is I/O, asynchronous or not.
    #[inline(always)]
    #[must_use]
    pub fn is_io(self) -> bool {
        matches!(self, Self::Io | Self::Async)
    }
}

/// Kinds of file operations that are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// Opens or creates a file.
    Open,
    /// Closes a file.
    Close,
    /// Removes a file.
    Delete,
    /// Queries attributes.
    Stat,
    /// Syncs a file.
    Sync,
}

impl Act {
    /// Which totals it belongs to.
    #[must_use]
    pub fn class(self) -> Class {
        use Act::{
            AsyncWait, AsyncWrite, Block, Delay, Draw, FinishOnBytes, FinishOnCount, LimitBandwidth,
            LimitEvents, LimitIops, LimitOps, Say, SemaphorePost, SemaphoreWait, Sequence, Spin, Wake,
        };
        match self {
            AsyncWrite | AsyncWait => Class::Async,
            Block | Wake | SemaphoreWait | SemaphorePost => Class::Sync,
            Spin | Delay | LimitEvents | LimitIops | LimitOps | LimitBandwidth | FinishOnCount
            | FinishOnBytes => Class::Other,
            Say | Draw | Sequence => Class::None,
            _ => Class::Io,
        }
    }

    /// Its kind; `None` if it is no file operation, or not counted separately.
    #[must_use]
    pub fn kind(self) -> Option<Kind> {
        use Act::{
            Append, AppendRandomLength, AsyncWrite, Close, Create, Delete, Open, Read, ReadWholeFile, Stat,
            Sync, SyncSet, Write, WriteWholeFile,
        };
        Some(match self {
            Read | ReadWholeFile => Kind::Read,
            Write | WriteWholeFile | Append | AppendRandomLength | AsyncWrite => Kind::Write,
            Open | Create => Kind::Open,
            Close => Kind::Close,
            Delete => Kind::Delete,
            Stat => Kind::Stat,
            Sync | SyncSet => Kind::Sync,
            _ => return None,
        })
    }

    /// Whether it changes a file or the names in a set.
    #[must_use]
    pub fn changes(self) -> bool {
        self.writes()
            || matches!(self, Self::Create | Self::Delete | Self::MakeDirectory | Self::RemoveDirectory)
    }

    /// Whether it writes data.
    #[must_use]
    pub fn writes(self) -> bool {
        self.kind() == Some(Kind::Write)
    }

    /// Whether it reads data.
    #[must_use]
    pub fn reads(self) -> bool {
        self.kind() == Some(Kind::Read)
    }
}
