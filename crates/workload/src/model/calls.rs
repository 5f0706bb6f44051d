//! Back-ends whose operations move no data: calls about files, and computing. Reads and writes of such a stream are counted as such, and
//! stand for one call each.

use crate::{Duration, Stream};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use super::Backend;

/// A call about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileCall {
    /// fallocate of each record: a write also extends the file (mode 0), a read leaves its size (`FALLOC_FL_KEEP_SIZE`).
    Allocate,
    /// ftruncate to each write's offset. Streams that write only.
    Truncate,
    /// EXT4_IOC_MOVE_EXT: the blocks of each write change places with those of the stream's donor, and the data stay. Streams that write only.
    MoveExtents,
    /// open with O_CREAT: each file once a pass. It is closed before the next operation, outside its latency.
    Create,
    /// Asking for the attributes: each file (or directory) once a pass.
    Stat(StatCall),
    /// unlink: each file once.
    Remove,
    /// mkdir: each name once.
    MakeDirectory,
    /// rmdir: each name once.
    RemoveDirectory,
}

/// The call that asks for attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatCall {
    /// stat.
    #[default]
    Stat,
    /// lstat.
    Lstat,
    /// statx of all that it knows.
    Statx,
}

impl FileCall {
    /// Whether it is about the name of a file, which is not open: one operation for each file.
    #[must_use]
    pub fn is_by_name(self) -> bool {
        !matches!(self, Self::Allocate | Self::Truncate | Self::MoveExtents)
    }

    /// Whether each name allows it once, and a second time is an error.
    #[must_use]
    pub fn is_once(self) -> bool {
        matches!(self, Self::Remove | Self::MakeDirectory | Self::RemoveDirectory)
    }

    /// Whether it changes something, whatever the direction of the stream says.
    #[must_use]
    pub fn changes(self) -> bool {
        !matches!(self, Self::Stat(_))
    }
}

/// The file that a stream gets its blocks from, with the call move-extents. It gets those of the stream's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Donor {
    /// The file set that it is the only file of.
    pub fileset: String,
    /// Its space is allocated in each operation, and given back behind it; without it once, up to the file's size, when the stream's files
    /// are opened.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub each: bool,
}

/// Computing for so long, instead of a call. How much of a CPU that takes, the stream's pause before each operation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compute {
    /// How long an operation computes.
    pub time: Duration,
    /// Sorting numbers, over and over, instead of a loop that does nothing: it takes the CPU's memory, too.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub sort: bool,
}

/// A program that runs beside other streams, and is ended with its stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// What is started; without a slash it is looked for in `PATH`.
    pub program: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// From asking it to end (SIGTERM) to ending it (SIGKILL).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub grace: Duration,
    /// What it prints is appended to this name with `.stdout` and `.stderr`; without it, it prints where fathom does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
}

impl Backend {
    /// Whether an operation stands for bytes: of those that compute or wait for a program, none are moved.
    #[must_use]
    pub fn counts_bytes(&self) -> bool {
        !matches!(self, Self::Compute(_) | Self::Beside)
    }

    /// Whether operations move data between a file and memory.
    #[must_use]
    pub fn moves_data(&self) -> bool {
        !matches!(self, Self::Null | Self::Calls(_) | Self::Compute(_) | Self::Beside)
    }

    /// Whether there are files that it works on.
    #[must_use]
    pub fn has_files(&self) -> bool {
        !matches!(self, Self::Null | Self::Compute(_) | Self::Beside)
    }

    /// Whether operations are about names of files, one for each.
    #[must_use]
    pub fn is_by_name(&self) -> bool {
        matches!(self, Self::Calls(call) if call.is_by_name())
    }

    /// Whether several operations can be in flight, and their submission is timed by itself.
    #[must_use]
    pub fn is_asynchronous(&self) -> bool {
        matches!(self, Self::Uring(_) | Self::Aio { .. } | Self::Posix)
    }
}

impl Stream {
    /// Whether its files are changed: it writes, or its calls change them.
    #[must_use]
    pub fn changes_files(&self) -> bool {
        match self.backend {
            Backend::Calls(call) => call.changes(),
            _ => self.direction != super::Direction::Read,
        }
    }
}
