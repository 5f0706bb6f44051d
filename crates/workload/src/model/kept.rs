//! Reading back written data: what a stream remembers of its writes, and who reads it. Extents are recorded as they are written, so a
//! clock, another worker or a mix may end or change the writing at any time.

use super::{Access, Direction, Does, ListedOp, Mix, Pace, RateOf, Stream, is_default};
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// What a stream remembers: every extent that it has written, until it is read back. Of overlapping writes only the newest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeepWritten {
    /// Read back in the order of the offsets, file by file; otherwise in the order of the writes.
    #[serde(skip_serializing_if = "is_default")]
    pub by_offset: bool,
    /// Read back while writing, as soon as this many extents are remembered; 0: do not. Extents left at the end stay for another stream
    /// to read back.
    #[serde(skip_serializing_if = "is_default")]
    pub after: u64,
    /// Extents read back at a time; 0: the same as `after`.
    #[serde(skip_serializing_if = "is_default")]
    pub batch: u64,
    /// Read back the rest of a pass before the next one begins.
    #[serde(skip_serializing_if = "is_default")]
    pub each_pass: bool,
    /// With `each_pass`: bytes of a pass; 0: as much as fits into the region.
    #[serde(skip_serializing_if = "is_default")]
    pub pass: Bytes,
    /// With `each_pass`: skip a sync that is scheduled when a pass is done.
    #[serde(skip_serializing_if = "is_default")]
    pub forgets_sync: bool,
    /// End after this many operations, including those read back on the way; 0: when its own are done. Reading back the rest does not
    /// count.
    #[serde(skip_serializing_if = "is_default")]
    pub most: u64,
    /// With `each_pass`: end with the pass in which this many bytes have been moved, including those read back; 0: when its own are done.
    #[serde(skip_serializing_if = "is_default")]
    pub moves: Bytes,
    /// With `moves`: minimum number of passes.
    #[serde(skip_serializing_if = "is_default")]
    pub passes: u64,
    /// Trim blocks after they were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<TrimWritten>,
}

impl KeepWritten {
    /// Whether the stream reads back while there is more to write.
    #[must_use]
    pub fn reads_back(&self) -> bool {
        self.after > 0 || self.each_pass
    }
}

/// Which of its written blocks a stream trims, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrimWritten {
    /// Trim after every this many writes.
    pub after: u64,
    /// Maximum number of blocks trimmed at a time, oldest first; 0: the same as `after`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub batch: u64,
    /// Percentage of the blocks written, drawn from the seed.
    pub percent: u8,
    /// Trimmed blocks are read back and must be zeros; otherwise they are not read back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub zeros: bool,
}

/// The worker whose writes are read back: all that it still remembers at the end of its phase, each extent once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenBy {
    /// Number of its phase, from 0. It precedes the phase of the stream that reads back.
    pub phase: u32,
    /// Its number in that phase, from 0.
    pub worker: u32,
}

impl Stream {
    /// Which operations are subject to the rate, if there is one. A stream whose only reads are read-backs while writing applies it to
    /// its writes: it reads back at once.
    #[must_use]
    pub fn rate_of(&self) -> RateOf {
        if self.reads_only_back() { RateOf::Writes } else { self.pace.rate_of }
    }

    /// Number of later operations after which a stream that reads back while it writes assumes a write to be done: the number in flight,
    /// where nothing keeps the queue from filling.
    #[must_use]
    pub fn full_queue(&self) -> u32 {
        let full =
            self.backend.is_asynchronous() && self.pace == Pace::default() && self.adaptive_depth.is_none();
        if full { self.queue_depth } else { 1 }
    }

    /// Whether any of its operations trims blocks.
    #[must_use]
    pub fn trims(&self) -> bool {
        let listed = |op: &ListedOp| op.does == Some(Does::Trim);
        self.direction.trims()
            || self.keep_written.is_some_and(|kept| kept.trim.is_some())
            || matches!(&self.access, Access::Listed(list) if list.iter().any(listed))
    }

    /// Whether it writes, and reads only to read back while it writes.
    #[must_use]
    pub fn reads_only_back(&self) -> bool {
        self.keep_written.is_some_and(|kept| kept.reads_back())
            && self.direction == Direction::Mix(Mix::ReadPercent(0))
    }
}
