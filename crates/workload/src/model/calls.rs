//! Back-ends whose operations move no data: file calls and computing. Reads and writes of such a stream are counted as usual, one call
//! each.

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
    /// EXT4_IOC_MOVE_EXT: swaps the blocks of each write with those of the stream's donor; the data stay. Streams that write only.
    MoveExtents,
    /// open with O_CREAT: each file once a pass. It is closed before the next operation, outside its latency.
    Create,
    /// Query the attributes: each file (or directory) once a pass.
    Stat(StatCall),
    /// unlink: each file once.
    Remove,
    /// mkdir: each name once.
    MakeDirectory,
    /// rmdir: each name once.
    RemoveDirectory,
}

/// The call that queries attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatCall {
    /// stat.
    #[default]
    Stat,
    /// lstat.
    Lstat,
    /// statx with every field it supports.
    Statx,
}

impl FileCall {
    /// Whether it works on a file's name rather than an open file: one operation per file.
    #[must_use]
    pub fn is_by_name(self) -> bool {
        !matches!(self, Self::Allocate | Self::Truncate | Self::MoveExtents)
    }

    /// Whether it can succeed only once per name.
    #[must_use]
    pub fn is_once(self) -> bool {
        matches!(self, Self::Remove | Self::MakeDirectory | Self::RemoveDirectory)
    }

    /// Whether it modifies something, whatever the stream's direction.
    #[must_use]
    pub fn changes(self) -> bool {
        !matches!(self, Self::Stat(_))
    }
}

/// The file whose blocks a stream takes with the call move-extents. It receives the blocks of the stream's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Donor {
    /// The file set, of which it must be the only file.
    pub fileset: String,
    /// Its space is allocated in each operation and freed after it; otherwise once, up to the file's size, when the stream's files are
    /// opened.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub each: bool,
}

/// Computing for a given time instead of making a call. The stream's pause before each operation sets the share of a CPU it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compute {
    /// Computing time of one operation.
    pub time: Duration,
    /// Sort numbers repeatedly instead of running an empty loop: this also loads the CPU's caches and memory.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub sort: bool,
}

/// A program that runs beside other streams and is terminated with its stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// Executable; without a slash it is looked up in `PATH`.
    pub program: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Time between SIGTERM and SIGKILL.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub grace: Duration,
    /// Its output is appended to this name plus `.stdout` and `.stderr`; without it, the program inherits fathom's output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
}

/// What the operations of a back-end are.
struct Nature {
    counts_bytes: bool,
    moves_data: bool,
    has_files: bool,
    is_asynchronous: bool,
}

impl Backend {
    /// A match without a default, so that the compiler asks about a new back-end.
    fn nature(&self) -> Nature {
        let one_by_one =
            Nature { counts_bytes: true, moves_data: true, has_files: true, is_asynchronous: false };
        match self {
            Self::Psync(_) | Self::Pvsync2(_) | Self::Stdio { .. } | Self::Mmap { .. } | Self::Splice => {
                one_by_one
            }
            Self::Uring(_) | Self::Nvme(_) | Self::Aio { .. } | Self::Posix => {
                Nature { is_asynchronous: true, ..one_by_one }
            }
            Self::Calls(_) => Nature { moves_data: false, ..one_by_one },
            Self::Null => Nature { moves_data: false, has_files: false, ..one_by_one },
            Self::Compute(_) | Self::Beside => {
                Nature { counts_bytes: false, moves_data: false, has_files: false, ..one_by_one }
            }
        }
    }

    /// Whether an operation counts the bytes of its record: null does, although it moves none; computing and waiting for a program
    /// do not.
    #[must_use]
    pub fn counts_bytes(&self) -> bool {
        self.nature().counts_bytes
    }

    /// Whether operations move data between a file and memory.
    #[must_use]
    pub fn moves_data(&self) -> bool {
        self.nature().moves_data
    }

    /// Whether it works on files: they are made, opened and checked before the run.
    #[must_use]
    pub fn has_files(&self) -> bool {
        self.nature().has_files
    }

    /// The options of its ring; `None` for back-ends without one.
    #[must_use]
    pub fn ring(&self) -> Option<&super::Uring> {
        match self {
            Self::Uring(options) | Self::Nvme(options) => Some(options),
            _ => None,
        }
    }

    /// Whether operations are on file names, one per file.
    #[must_use]
    pub fn is_by_name(&self) -> bool {
        matches!(self, Self::Calls(call) if call.is_by_name())
    }

    /// Whether several operations can be in flight and submission is timed separately.
    #[must_use]
    pub fn is_asynchronous(&self) -> bool {
        self.nature().is_asynchronous
    }
}

impl Stream {
    /// Whether it changes its files, by writing or by its calls.
    #[must_use]
    pub fn changes_files(&self) -> bool {
        match self.backend {
            Backend::Calls(call) => call.changes(),
            _ => self.direction != super::Direction::Read,
        }
    }
}
