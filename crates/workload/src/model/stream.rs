//! A stream: one kind of I/O on one file, in one order. What stands inside the clock is part of the model.

use super::{
    Access, Backend, Beside, Buffers, Data, Donor, KeepWritten, Open, Pace, PassOver, PriorityShare,
    SyncEvery, SyncSeries, Verify, WrittenBy, is_default,
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
    /// The files of the set take turns, each in an order of its own, instead of being one region. With [`Pick::All`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
    /// Whose sequence of operations the workers draw from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sequence: Sequence,
    /// Read, write or both.
    pub direction: Direction,
    /// Order of offsets.
    #[serde(default, skip_serializing_if = "is_default")]
    pub access: Access,
    /// Record size: bytes per operation as asked of the system call.
    pub record: Record,
    /// First byte of the region it works on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Bytes,
    /// Length of the region; without it the size of the file set's files. A trailing part smaller than a record is not touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Bytes>,
    /// Offsets are multiples of this, counted from the start of the region; 0: of the (smallest) record size. With orders that draw
    /// each record by itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub align: Bytes,
    /// How much.
    #[serde(default, skip_serializing_if = "is_default")]
    pub amount: Amount,
    /// By which calls.
    #[serde(default, skip_serializing_if = "is_default")]
    pub backend: Backend,
    /// Operations in flight at once. Above 1 only with asynchronous back-ends (uring, aio, posix) and null.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub queue_depth: u32,
    /// Let the engine find the depth, from 1 up to `queue_depth`; without it the depth is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_depth: Option<AdaptiveDepth>,
    /// Completions that a wait is for when nothing more may begin, as far as so many are in flight.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub wait_for: u32,
    /// Once the queue was full nothing begins until no more than so many are in flight; without it, as soon as there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refill_at: Option<u32>,
    /// Most completions that are taken at once, and only when nothing more may begin; without it, all there are after every call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take_at_most: Option<u32>,
    /// Operations in flight do not overlap: one that would waits until those that it overlaps are done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub apart: bool,
    /// With several in flight, an fsync is one of them: it waits for none and none for it, and it covers what was complete when it began.
    /// Else it waits for those in flight, and the next ones for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync_in_queue: bool,
    /// What the I/O buffers are made of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub buffers: Buffers,
    /// How the file is opened.
    #[serde(default, skip_serializing_if = "is_default")]
    pub open: Open,
    /// fsync right after opening, outside the clock: earlier dirty pages are not ours.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync_before: bool,
    /// Read the first record once before the clock starts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warm_first_record: bool,
    /// What is inside the clock beside the operations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timed: Timed,
    /// fsync after the clock has stopped (and before an untimed close).
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync_after: bool,
    /// fsync inside the stream, every so many writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_every: Option<SyncEvery>,
    /// fsync of every file of the set now and then, as operations of the common sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_series: Option<SyncSeries>,
    /// No two workers work on the same record at the same time: an operation that would is drawn again. With a common sequence.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exclusive: bool,
    /// What is written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: Data,
    /// What is checked after reading.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify: Verify,
    /// What it has written is remembered, to be read back. Where something is, only that is checked of what is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_written: Option<KeepWritten>,
    /// It reads what another worker remembers to have written, instead of a region of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_by: Option<WrittenBy>,
    /// Pause and rate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pace: Pace,
    /// Rotate through a buffer area of this size instead of using one buffer; 0: one buffer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub buffer_area: Bytes,
    /// Walk a second buffer of this size before each operation so that the I/O buffer is not in the CPU's caches; 0: do not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub purge: Bytes,
    /// File locks held around operations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lock: Lock,
    /// Every so many reads, first read one byte at offset 0 and one at 4096; 0: never.
    #[serde(default, skip_serializing_if = "is_default")]
    pub disturb_every: u64,
    /// Before every pass but the first, drop what the page cache holds of its part of the file, as far as it is clean.
    #[serde(default, skip_serializing_if = "is_default")]
    pub evict_passes: bool,
    /// Keep offset and latency of every single operation.
    #[serde(default, skip_serializing_if = "is_default")]
    pub log_operations: bool,
    /// What it does when a stop rule of the phase ends it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when_stopped: WhenStopped,
    /// Its operations follow from this seed instead of the workload's; the data of files do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// A write that finds no space ends it as if its amount were done, instead of failing it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub until_full: bool,
    /// The program of the back-end beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// The file that the call move-extents takes blocks from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub donor: Option<Donor>,
    /// I/O priorities of single operations. With the back-ends uring and aio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityShare>,
    /// Errors of operations that do not end it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pass_over: PassOver,
}

impl Stream {
    /// A stream with everything not given at its default: sequential, one pass, buffered, nothing but the operations timed.
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
            apart: false,
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
            priorities: Vec::new(),
            pass_over: PassOver::default(),
        }
    }

    /// The seed of its operations, in a workload of this seed.
    #[must_use]
    pub fn seed_or(&self, seed: u64) -> u64 {
        self.seed.map_or(seed, |own| own.0)
    }
}

impl Stream {
    /// Whether its records, which change their sizes and go in no order, fill the region: each begins where no other of a pass lies, and
    /// is cut where one does. Where reads and writes have sizes of their own they do not, but for trims.
    #[must_use]
    pub fn fills(&self) -> bool {
        self.access == Access::Permuted
            && match self.record {
                Record::Fixed(_) => false,
                Record::ByKind { .. } => self.direction.trims(),
                Record::Between { .. } | Record::Split(_) => true,
            }
    }

    /// The fewest bytes that it can work on: the largest record, or the least one where records are cut to what is left.
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

/// How the files of a set take turns. Each is worked on as if it were alone: `start`, `length`, `access` and a pass are those of every
/// file. A file that has done its part of a pass drops out until all have, but see [`Turns::drop_out`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turns {
    /// Which file comes next: an order of the numbers of the files.
    pub order: Access,
    /// Operations of a turn, syncs included; 0: a file is done before the next one comes.
    pub operations: u64,
    /// At most so many files take turns at once: the next one comes when another is done; 0: all.
    #[serde(skip_serializing_if = "is_default")]
    pub open: u32,
}

impl Default for Turns {
    fn default() -> Self {
        Self { order: Access::Sequential, operations: 1, open: 0 }
    }
}

impl Turns {
    /// Whether a file that has done its part of a pass drops out until all have. Where some are more popular than others it begins anew
    /// instead, and a pass is as much as all files have.
    #[must_use]
    pub fn drop_out(&self) -> bool {
        use Access::{Cycle, Same, Strided, Uniform};
        let some_more_often = self.order.draws_each() && self.order != Uniform;
        !(some_more_often || matches!(self.order, Cycle { .. } | Same(_) | Strided { .. }))
    }
}

/// Whose sequence of operations a worker draws from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sequence {
    /// Its own.
    #[default]
    Own,
    /// One sequence for all workers that execute the stream: sequential access goes on where another worker left off, a mix by
    /// completions counts those of all, and the amount is that of all together.
    Common,
}

/// Reading, writing, a mix, or giving back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Read only.
    Read,
    /// Write only.
    Write,
    /// Both.
    Mix(Mix),
    /// Give the records back: a hole in a regular file, a discard on a block device. No data move.
    Trim,
    /// Each record is given back, then written. An amount counts the records.
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

    /// Whether records are given back.
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
    /// The same with what was handed out instead of what is done: the shares are exact whatever is in flight.
    ReadsPerWriteIssued(f64),
}

/// Bytes per operation. Where they change, the last of a sequential stream before the end of its region has what is left, in whole units.
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
    /// Reads and writes have sizes of their own. Where places are drawn, they are multiples of the least size of their kind.
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

    /// The unit offsets are multiples of: the smallest size.
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
    /// So many passes.
    Passes(u64),
    /// So many operations.
    Operations(u64),
    /// At least so many bytes.
    Bytes(Bytes),
    /// No end of its own: a stop rule of the phase must end it.
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
    /// After this time the best depth so far is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<Duration>,
    /// The best depth so far is taken, too, when the search has done the stream's amount once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub once: bool,
    /// The search is counted, too, and begins anew below a depth that does not keep its goal any more.
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
    /// The least depth beyond which doubling gains less than so many percent operations per second.
    Knee {
        /// Least gain that counts.
        gain_percent: f64,
    },
}

/// What is inside the clock beside the operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timed {
    /// Opening the file.
    pub open: bool,
    /// An fsync (fflush and fsync, msync) after the operations.
    pub fsync: bool,
    /// With `fsync`: it is one syncfs of the file system of its first file instead.
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
    /// It leaves; the operation in flight is not counted.
    #[default]
    Leave,
    /// It fixes its figures and goes on, uncounted, to the end of its amount.
    FinishUncounted,
    /// It pays no attention.
    Ignore,
}
