//! What acts of flows count as: reads, writes, syncs, metadata, waits; the rows of engine and simulator are made by it.

use crate::Act;

/// Which totals an operation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Operations on files and directories.
    Io,
    /// Asynchronous I/O.
    Async,
    /// Waiting for, and waking, others.
    Sync,
    /// Computing, sleeping, limiting, finishing.
    Other,
    /// What counts nothing.
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

/// The kinds of operations on files that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Data are read.
    Read,
    /// Data are written.
    Write,
    /// A file is opened, or created.
    Open,
    /// A file is closed.
    Close,
    /// A file is removed.
    Delete,
    /// A file is asked about.
    Stat,
    /// A file is brought to the device.
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

    /// What it counts as; `None` for what is no operation on a file, or one that is not told apart.
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

    /// Whether it changes a file or the names of a set.
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
