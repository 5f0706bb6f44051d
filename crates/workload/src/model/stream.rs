//! A stream: one kind of I/O on one file, in one order. The model also fixes what is inside the clock.

use super::{
    Access, Backend, Beside, Buffers, Data, Donor, KeepWritten, Open, Pace, PassOver, PriorityShare,
    SyncEvery, SyncSeries, Verify, WrittenBy, ZonedDevice, is_default,
};
use crate::{Bytes, Duration, Seed};
use serde::{Deserialize, Serialize};

/// One stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// File set it works on.
    pub fileset: String,
    /// Which file of the set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pick: Pick,
    /// The files of the set take turns, each with its own order, instead of forming one region. With [`Pick::All`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
    /// The sequence of operations the workers draw from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sequence: Sequence,
    /// Read, write or both.
    pub direction: Direction,
    /// Order of offsets.
    #[serde(default, skip_serializing_if = "is_default")]
    pub access: Access,
    /// Record size: bytes per operation as passed to the system call.
    pub record: Record,
    /// First byte of the region it works on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Bytes,
    /// Length of the region; `None`: the size of the file set's files. A trailing part smaller than a record is not touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Bytes>,
    /// Offsets are multiples of this, counted from the start of the region; 0: multiples of the (smallest) record size. With orders that
    /// draw each record independently.
    #[serde(default, skip_serializing_if = "is_default")]
    pub align: Bytes,
    /// How much it does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub amount: Amount,
    /// The calls that do the I/O.
    #[serde(default, skip_serializing_if = "is_default")]
    pub backend: Backend,
    /// Operations in flight at once. Above 1 only with asynchronous back-ends (uring, aio, posix) and null.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub queue_depth: u32,
    /// Let the engine find the depth, from 1 up to `queue_depth`; without it the depth is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_depth: Option<AdaptiveDepth>,
    /// Completions to wait for when the queue is full, limited by the number in flight.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub wait_for: u32,
    /// Once the queue was full, submit nothing until at most this many are in flight; `None`: submit as soon as there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refill_at: Option<u32>,
    /// Maximum number of completions reaped at once, and only when nothing more may be submitted; `None`: all available after every call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take_at_most: Option<u32>,
    /// Operations in flight do not overlap: one that would waits until the overlapping ones are done.
    #[serde(rename = "apart", default, skip_serializing_if = "is_default")]
    pub no_overlap: bool,
    /// With several in flight, an fsync is one of them: it is not ordered against the others, and covers what was complete when it began.
    /// Otherwise it waits for those in flight, and later operations wait for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync_in_queue: bool,
    /// What the I/O buffers are made of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub buffers: Buffers,
    /// How the file is opened.
    #[serde(default, skip_serializing_if = "is_default")]
    pub open: Open,
    /// fsync right after opening, outside the clock, so that earlier dirty pages are not charged to this stream.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync_before: bool,
    /// Read the first record once before the clock starts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warm_first_record: bool,
    /// What the clock includes besides the operations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timed: Timed,
    /// fsync after the clock has stopped (and before an untimed close).
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync_after: bool,
    /// fsync inside the stream after every given number of writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_every: Option<SyncEvery>,
    /// fsync of every file of the set at intervals, as operations of the common sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_series: Option<SyncSeries>,
    /// No two workers use the same record at the same time: a conflicting operation is drawn again. With a common sequence.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exclusive: bool,
    /// Contents of written data.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: Data,
    /// What is checked after reading.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify: Verify,
    /// Remember written extents to read them back. If anything is remembered, only those extents are checked on reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_written: Option<KeepWritten>,
    /// Read what another worker remembers having written, instead of the stream's region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_by: Option<WrittenBy>,
    /// Pause and rate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pace: Pace,
    /// Rotate through a buffer area of this size instead of using one buffer; 0: one buffer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub buffer_area: Bytes,
    /// Walk a second buffer of this size before each operation to evict the I/O buffer from the CPU's caches; 0: do not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub purge: Bytes,
    /// File locks held around operations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lock: Lock,
    /// Before every n-th read, first read one byte at offset 0 and one at 4096; 0: never.
    #[serde(default, skip_serializing_if = "is_default")]
    pub disturb_every: u64,
    /// Before every pass but the first, drop the clean page cache pages of its part of the file.
    #[serde(default, skip_serializing_if = "is_default")]
    pub evict_passes: bool,
    /// Keep offset and latency of every operation.
    #[serde(default, skip_serializing_if = "is_default")]
    pub log_operations: bool,
    /// What it does when a stop rule of the phase ends it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when_stopped: WhenStopped,
    /// Seed of its operations instead of the workload's; file contents do not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// A write that fails with ENOSPC ends it as if its amount were done, instead of being an error.
    #[serde(default, skip_serializing_if = "is_default")]
    pub until_full: bool,
    /// The program run by the back-end beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// The file that the call move-extents takes blocks from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub donor: Option<Donor>,
    /// The file is a zoned block device, or is treated as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zoned_device: Option<ZonedDevice>,
    /// I/O priorities of single operations. With the back-ends uring and aio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityShare>,
    /// Errors that do not end it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pass_over: PassOver,
}

impl Stream {
    /// A stream with defaults for all else: sequential, one pass, buffered, only the operations timed.
    #[must_use]
    pub fn new(fileset: &str, direction: Direction, record: Bytes) -> Self {
        Self {
            fileset: fileset.into(),
            pick: Pick::default(),
            turns: None,
            sequence: Sequence::default(),
            direction,
            access: Access::default(),
            record: Record::Fixed(record),
            start: Bytes(0),
            length: None,
            align: Bytes(0),
            amount: Amount::default(),
            backend: Backend::default(),
            queue_depth: 1,
            adaptive_depth: None,
            wait_for: 1,
            refill_at: None,
            take_at_most: None,
            sync_in_queue: false,
            no_overlap: false,
            buffers: Buffers::default(),
            open: Open::default(),
            sync_before: false,
            warm_first_record: false,
            timed: Timed::default(),
            sync_after: false,
            sync_every: None,
            sync_series: None,
            exclusive: false,
            data: Data::default(),
            verify: Verify::default(),
            keep_written: None,
            written_by: None,
            pace: Pace::default(),
            buffer_area: Bytes(0),
            purge: Bytes(0),
            lock: Lock::default(),
            disturb_every: 0,
            evict_passes: false,
            log_operations: false,
            when_stopped: WhenStopped::default(),
            seed: None,
            until_full: false,
            beside: None,
            donor: None,
            zoned_device: None,
            priorities: Vec::new(),
            pass_over: PassOver::default(),
        }
    }

    /// The seed of its operations, given the workload's seed.
    #[must_use]
    pub fn seed_or(&self, seed: u64) -> u64 {
        self.seed.map_or(seed, |own| own.0)
    }
}

impl Stream {
    /// Whether its records, of varying size in random order, fill the region without overlap: each begins where no other of a pass lies
    /// and is cut where the next one begins. Separate sizes for reads and writes do not fill it, except for trims.
    #[must_use]
    pub fn fills(&self) -> bool {
        self.access == Access::Permuted
            && match self.record {
                Record::Fixed(_) => false,
                Record::ByKind { .. } => self.direction.trims(),
                Record::Between { .. } | Record::Split(_) => true,
            }
    }

    /// The smallest region it can work on: the largest record, or the smallest one where records are cut to what is left.
    #[must_use]
    pub fn least_region(&self) -> Bytes {
        let changing = matches!(self.record, Record::Between { .. } | Record::Split(_));
        let in_sequence = matches!(self.access, Access::Sequential | Access::SequentialByKind);
        let cuts = changing && (in_sequence || self.fills());
        if cuts { self.record.unit() } else { self.record.largest() }
    }
}

/// Which file of its set a worker uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// Worker i uses file i, modulo the number of files.
    #[default]
    ByWorker,
    /// All workers use this file.
    One(u32),
    /// The files of the set, all of one size, are one region: file 0 first, then file 1 and so on. An operation that would cross the
    /// end of a file is cut there. Every worker opens every file.
    All,
}

/// How the files of a set take turns. Each is worked on as if it were alone: `start`, `length`, `access` and a pass apply to each file. A
/// file that has done its part of a pass drops out until all have, but see [`Turns::drop_out`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turns {
    /// Order of the files, over their numbers.
    pub order: Access,
    /// Operations per turn, syncs included; 0: a file is finished before the next one.
    pub operations: u64,
    /// Maximum number of files taking turns at once: the next one joins when another is done; 0: all.
    #[serde(skip_serializing_if = "is_default")]
    pub open: u32,
}

impl Default for Turns {
    fn default() -> Self {
        Self { order: Access::Sequential, operations: 1, open: 0 }
    }
}

impl Turns {
    /// Whether a file that has done its part of a pass drops out until all have. With popular files it starts over instead, and a pass is
    /// as much as all files hold.
    #[must_use]
    pub fn drop_out(&self) -> bool {
        use Access::{Cycle, Same, Strided, Uniform};
        let some_more_often = self.order.draws_each() && self.order != Uniform;
        !(some_more_often || matches!(self.order, Cycle { .. } | Same(_) | Strided { .. }))
    }
}

/// The sequence of operations a worker draws from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sequence {
    /// Its own.
    #[default]
    Own,
    /// One sequence for all workers that execute the stream: sequential access continues where another worker left off, a mix by
    /// completions counts those of all, and the amount is their total.
    Common,
}

/// Reading, writing, a mix, or trimming.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Read only.
    Read,
    /// Write only.
    Write,
    /// Both.
    Mix(Mix),
    /// Trim the records: punch a hole in a regular file, discard on a block device. No data move.
    Trim,
    /// Each record is trimmed, then written. An amount counts the records.
    TrimWrite,
}

impl Direction {
    /// Whether data are read.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Mix(_))
    }

    /// Whether data are written.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Mix(_) | Self::TrimWrite)
    }

    /// Whether records are trimmed.
    #[must_use]
    pub fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::TrimWrite)
    }
}

/// How reads and writes alternate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mix {
    /// Each operation is a read with this probability in percent.
    ReadPercent(u8),
    /// Read if (reads done + 1) / (writes done + 1) is below this ratio, else write: depends on completions, not on chance.
    ReadsPerWrite(f64),
    /// The same counting issued instead of completed operations: the shares are exact whatever is in flight.
    ReadsPerWriteIssued(f64),
}

/// Bytes per operation. With varying sizes, the last record of a sequential stream before the end of its region is cut to what is left,
/// in whole units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// Always the same.
    Fixed(Bytes),
    /// Uniform over the multiples of `min` from `min` to `max`.
    Between {
        /// Smallest.
        min: Bytes,
        /// Largest.
        max: Bytes,
    },
    /// Sizes with weights.
    Split(Vec<(Bytes, f64)>),
    /// Separate sizes for reads and writes. Drawn offsets are multiples of the smallest size of their kind.
    ByKind {
        /// Of reads.
        read: Box<Record>,
        /// Of writes.
        write: Box<Record>,
    },
}

impl Record {
    /// The largest size it can yield.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        match self {
            Self::Fixed(b) => *b,
            Self::Between { max, .. } => *max,
            Self::Split(sizes) => sizes.iter().map(|s| s.0).max().unwrap_or_default(),
            Self::ByKind { read, write } => read.largest().max(write.largest()),
        }
    }

    /// Offsets are multiples of this: the smallest size.
    #[must_use]
    pub fn unit(&self) -> Bytes {
        match self {
            Self::Fixed(b) => *b,
            Self::Between { min, .. } => *min,
            Self::Split(sizes) => sizes.iter().map(|s| s.0).min().unwrap_or_default(),
            Self::ByKind { read, write } => read.unit().min(write.unit()),
        }
    }
}

/// How much a stream does before it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// N operations, N being the number of whole records in its region.
    #[default]
    Pass,
    /// A number of passes.
    Passes(u64),
    /// A number of operations.
    Operations(u64),
    /// At least this many bytes.
    Bytes(Bytes),
    /// Unlimited: a stop rule of the phase must end it.
    Endless,
}

/// How the engine finds a queue depth while it runs. It starts at 1; each window is one trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveDepth {
    /// What it looks for.
    pub goal: DepthGoal,
    /// Length of a trial.
    #[serde(default = "trial")]
    pub window: Duration,
    /// Longest search; after it the best depth so far is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<Duration>,
    /// The search also ends, with the best depth so far, once it has done the stream's amount.
    #[serde(default, skip_serializing_if = "is_default")]
    pub once: bool,
    /// The search is counted as well, and resumes below a depth that no longer meets its goal.
    #[serde(default, skip_serializing_if = "is_default")]
    pub goes_on: bool,
}

fn trial() -> Duration {
    Duration(200_000_000)
}

/// What an adaptive queue depth looks for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DepthGoal {
    /// The largest depth at which this percentile of the latency stays within the limit.
    Latency {
        /// Percentile, above 0 and at most 100.
        percentile: f64,
        /// Limit.
        at_most: Duration,
    },
    /// The smallest depth beyond which doubling gains less than this percentage of operations per second.
    Knee {
        /// Smallest gain that counts, in percent.
        gain_percent: f64,
    },
}

/// What the clock includes besides the operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timed {
    /// Opening the file.
    pub open: bool,
    /// An fsync (fflush and fsync, msync) after the operations.
    pub fsync: bool,
    /// With `fsync`: one syncfs of the first file's file system instead.
    #[serde(skip_serializing_if = "is_default")]
    pub syncfs: bool,
    /// Closing the file.
    pub close: bool,
}

/// File locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lock {
    /// None.
    #[default]
    No,
    /// The whole file, from open to close.
    File,
    /// Each record around its operation.
    Record,
}

/// What a stopped worker does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenStopped {
    /// It exits; the operation in flight is not counted.
    #[default]
    Leave,
    /// It freezes its figures and continues, uncounted, to the end of its amount.
    FinishUncounted,
    /// It ignores the stop.
    Ignore,
}
