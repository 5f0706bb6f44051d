//! Reading back what was written: what a stream remembers of its writes, and who reads it. Which blocks those are is known when they are
//! written and not before, so a clock, another worker or a mix may end or change the writing as it likes.

use super::{Access, Direction, Does, ListedOp, Mix, Pace, RateOf, Stream, is_default};
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// What a stream remembers: every extent that it has written, until it was read back. Of writes that overlap only the newest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeepWritten {
    /// Reading back goes in the order of the offsets, file by file; without it in the order of the writing.
    #[serde(skip_serializing_if = "is_default")]
    pub by_offset: bool,
    /// The stream reads back while it writes, as soon as so many extents are there; 0: it does not. What is left at its end stays for
    /// another one.
    #[serde(skip_serializing_if = "is_default")]
    pub after: u64,
    /// So many of them at a time; 0: as many as `after` says.
    #[serde(skip_serializing_if = "is_default")]
    pub batch: u64,
    /// What is left of a pass is read back before the next one begins.
    #[serde(skip_serializing_if = "is_default")]
    pub each_pass: bool,
    /// With `each_pass`: bytes of a pass; 0: all that fits into what is worked on.
    #[serde(skip_serializing_if = "is_default")]
    pub pass: Bytes,
    /// With `each_pass`: a sync that is due when a pass is done is left out.
    #[serde(skip_serializing_if = "is_default")]
    pub forgets_sync: bool,
    /// The stream ends after so many operations, with those that read back meanwhile; 0: when its own are done. What is left to be read
    /// back is no part of them.
    #[serde(skip_serializing_if = "is_default")]
    pub most: u64,
    /// With `each_pass`: the stream ends with the pass after which so many bytes have been moved, with those that were read back; 0: when
    /// its own are done.
    #[serde(skip_serializing_if = "is_default")]
    pub moves: Bytes,
    /// With `moves`: passes that are made in any case.
    #[serde(skip_serializing_if = "is_default")]
    pub passes: u64,
    /// Blocks are given back after they were written.
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

/// Which of the blocks that a stream has written it gives back, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrimWritten {
    /// After this number of writes, each time.
    pub after: u64,
    /// At most this number at a time, oldest first; 0: as many as `after` says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub batch: u64,
    /// Percentage of the blocks written, drawn from the seed.
    pub percent: u8,
    /// They are read back, and must be zeros; without it they are not read back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub zeros: bool,
}

/// The worker whose writes are read back: all that it remembers at the end of its phase, each extent once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenBy {
    /// Number of its phase, the first being 0. It is one before that of the stream that reads back.
    pub phase: u32,
    /// Its number in that phase, the first being 0.
    pub worker: u32,
}

impl Stream {
    /// Which operations have the rate, if there is one. Of who reads nothing but what it reads back while it writes, it is that of the
    /// writes: what is read back is read at once.
    #[must_use]
    pub fn rate_of(&self) -> RateOf {
        if self.reads_only_back() { RateOf::Writes } else { self.pace.rate_of }
    }

    /// After how many operations who reads back while it writes takes a write to be done: as many as are in flight, where nothing keeps
    /// the queue from being full.
    #[must_use]
    pub fn full_queue(&self) -> u32 {
        let full =
            self.backend.is_asynchronous() && self.pace == Pace::default() && self.adaptive_depth.is_none();
        if full { self.queue_depth } else { 1 }
    }

    /// Whether any of its operations gives blocks back.
    #[must_use]
    pub fn trims(&self) -> bool {
        let listed = |op: &ListedOp| op.does == Some(Does::Trim);
        self.direction.trims()
            || self.keep_written.is_some_and(|kept| kept.trim.is_some())
            || matches!(&self.access, Access::Listed(list) if list.iter().any(listed))
    }

    /// Whether it writes, and reads nothing but what it reads back while it writes.
    #[must_use]
    pub fn reads_only_back(&self) -> bool {
        self.keep_written.is_some_and(|kept| kept.reads_back())
            && self.direction == Direction::Mix(Mix::ReadPercent(0))
    }
}
