//! A stream: one kind of I/O on one file, in one order. What stands inside the clock is part of the model.

use super::{Data, Verify, is_default};
use crate::{Bytes, Duration};
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
    /// Operations in flight at once. Above 1 only with asynchronous back-ends (uring, aio) and null.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub queue_depth: u32,
    /// Let the engine find the depth, from 1 up to `queue_depth`; without it the depth is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_depth: Option<AdaptiveDepth>,
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
    /// Keep offset and latency of every single operation.
    #[serde(default, skip_serializing_if = "is_default")]
    pub log_operations: bool,
    /// What it does when a stop rule of the phase ends it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when_stopped: WhenStopped,
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
            pace: Pace::default(),
            buffer_area: Bytes(0),
            purge: Bytes(0),
            lock: Lock::default(),
            disturb_every: 0,
            log_operations: false,
            when_stopped: WhenStopped::default(),
        }
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
        use Access::{Normal, Pareto, Same, Strided, Zipf, Zoned};
        !matches!(
            self.order,
            Normal { .. } | Pareto { .. } | Same(_) | Strided { .. } | Zipf { .. } | Zoned(_)
        )
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

/// Reading, writing, or a mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Read only.
    Read,
    /// Write only.
    Write,
    /// Both.
    Mix(Mix),
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

/// Order of offsets. N is the number of whole records in the region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// 0, 1, 2, ... N-1, and again from 0.
    #[default]
    Sequential,
    /// As [`Access::Sequential`], reads and writes each in an order of their own: two cursors that do not see each other.
    SequentialByKind,
    /// N-1, N-2, ... 0.
    Backward,
    /// The same record every time.
    Same(u64),
    /// Record p, then p + step, and so on; when p + 1 + step >= N - 1 the next lap starts one record later than the last (at
    /// record 0 if N <= step). Laps overlap: it is not a permutation.
    Strided {
        /// Distance in records.
        step: u64,
    },
    /// A position anywhere in the region, rounded down to a multiple of the record size, which need not divide the region.
    Scaled(Scaled),
    /// Each record exactly once a pass, in the order of a swap shuffle (record i changes places with record r mod N for
    /// i = 0..N-1) drawn from MT19937-64 seeded by this key; the same in every pass and for every worker.
    Shuffled {
        /// Seed array of the generator.
        key: Vec<u64>,
    },
    /// Each record exactly once a pass, in an order keyed by the seed, the worker and the pass; no memory, no set-up.
    Permuted,
    /// Any record, uniformly, with repeats.
    Uniform,
    /// Record k (of a permutation keyed by the seed) with probability proportional to 1 / k^theta.
    Zipf {
        /// The exponent, above 0.
        theta: f64,
    },
    /// Self-similar: the share `1 - h` of the operations goes to the share `h` of the records (of a permutation keyed by the seed), and
    /// so on inside that share.
    Pareto {
        /// The share, above 0 and below 0.5 (0.2 is "80 % to 20 %").
        h: f64,
    },
    /// Normally distributed around the middle of the region; what falls outside is drawn again.
    Normal {
        /// Standard deviation in percent of the region.
        deviation_percent: f64,
    },
    /// Zones one after the other, each with its share of the operations; uniform inside a zone. Both columns add up to 100.
    Zoned(Vec<Zone>),
    /// Each record of an order begins a run of so many operations: on itself and those that follow it, up to the end of the region.
    Runs {
        /// Where runs begin.
        order: Box<Access>,
        /// Operations of a run.
        operations: u64,
        /// All of a run are on its first record.
        #[serde(default, skip_serializing_if = "is_default")]
        same: bool,
    },
    /// In ascending order, so many bytes in a row, then so many are left out, and so on; from the beginning again at the end.
    Striped {
        /// Bytes in a row; a multiple of the record size.
        run: Bytes,
        /// Bytes left out.
        gap: Bytes,
    },
    /// Record 0, then the one so many records behind the end of the last (-2 goes backward). What lies outside begins anew: at record 0,
    /// or, going backward, as many records before the end.
    Skipping {
        /// Records between the end of one and the begin of the next.
        records: i64,
    },
    /// Strips of records with gaps between them, one after the other, and again from the first.
    Strips {
        /// Records of a strip, above 0.
        records: u64,
        /// Records between two strips.
        gap: u64,
        /// Operations before it goes on to the next strip, above 0; a strip is gone round as often as that takes.
        operations: u64,
        /// No order inside a strip, but no record twice before all have had their turn.
        #[serde(default, skip_serializing_if = "is_default")]
        random: bool,
    },
    /// The listed operations, in order; record size and region are taken from the list.
    Listed(Vec<ListedOp>),
}

/// Where the positions of [`Access::Scaled`] come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scaled {
    /// xoroshiro128+ (rotations 55, 14, 36) whose state is four numbers of the C library's random() after srandom(this); without it
    /// a generator that follows from the workload's seed. With a common sequence it is the first worker's; the others have their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub libc_seed: Option<u32>,
    /// Numbers that are drawn and dropped after every operation, syncs included.
    #[serde(skip_serializing_if = "is_default")]
    pub dropped: u8,
}

/// A part of the region and how often it is visited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Share of the operations, in percent.
    pub operations_percent: f64,
    /// Share of the region, in percent.
    pub region_percent: f64,
}

impl Access {
    /// Whether it is a list of operations that says when each is due.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        matches!(self, Self::Listed(list) if list.first().is_some_and(|op| op.due.is_some()))
    }
}

/// One operation of a given list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedOp {
    /// Offset in the file.
    pub offset: u64,
    /// Length in bytes; a sync has none.
    pub bytes: u32,
    /// Which file of the set, for a stream over all of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file: u32,
    /// What it does; without it, what the direction of the stream says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub does: Option<Does>,
    /// When it is due, from the start of the stream, or from the end of the pass before: an open loop, as with a rate. All operations of
    /// a list say it, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Duration>,
    /// Time to compute before it, not counted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub think: Duration,
}

/// What a listed operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    /// Read.
    Read,
    /// Write.
    Write,
    /// fsync.
    Sync,
    /// fdatasync.
    DataSync,
}

impl Does {
    /// Whether it moves no data.
    #[must_use]
    pub fn syncs(self) -> bool {
        matches!(self, Self::Sync | Self::DataSync)
    }
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
}

impl Record {
    /// The largest size it can yield.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        match self {
            Self::Fixed(b) => *b,
            Self::Between { max, .. } => *max,
            Self::Split(sizes) => sizes.iter().map(|s| s.0).max().unwrap_or_default(),
        }
    }

    /// The unit offsets are multiples of: the smallest size.
    #[must_use]
    pub fn unit(&self) -> Bytes {
        match self {
            Self::Fixed(b) => *b,
            Self::Between { min, .. } => *min,
            Self::Split(sizes) => sizes.iter().map(|s| s.0).min().unwrap_or_default(),
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

/// The calls that do the I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// No call at all: what the generator itself costs.
    Null,
    /// One system call after the other.
    Psync(SyncCall),
    /// preadv2 and pwritev2 with one vector and flags for each call.
    Pvsync2(Pvsync2),
    /// The C library's buffered streams (fread, fwrite) with a buffer of this size; 0: the record size.
    Stdio {
        /// Buffer size given to setvbuf.
        #[serde(default)]
        buffer: Bytes,
    },
    /// io_uring.
    Uring(Uring),
    /// Linux native asynchronous I/O (io_submit, io_getevents): asynchronous in fact only with O_DIRECT.
    Aio {
        /// How many operations one io_submit carries; 0: all that are free, or a few at a time while others are in flight.
        #[serde(default, skip_serializing_if = "is_default")]
        batch: u32,
    },
    /// The file mapped shared (writes) or private (reads), records copied in or out.
    Mmap {
        /// How what was written is flushed.
        #[serde(default)]
        flush: MapFlush,
        /// Flush after so many written records: the range from the first to the last byte they wrote. What is left of them at the end
        /// is flushed when the file is synced or closed.
        #[serde(default = "every", skip_serializing_if = "is_every")]
        flush_every: u64,
        /// MAP_POPULATE: the kernel fills the page tables (and reads the file) while mapping.
        #[serde(default, skip_serializing_if = "is_default")]
        populate: bool,
        /// madvise advice given after mapping, by its Linux number: 0 normal, 1 random, 2 sequential, 3 willneed, 4 dontneed,
        /// 14 hugepage, 20 cold, 21 pageout, 22 populate_read, 23 populate_write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        advice: Option<u8>,
    },
}

fn every() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_every(n: &u64) -> bool {
    *n == 1
}

impl Default for Backend {
    fn default() -> Self {
        Self::Psync(SyncCall::Pread)
    }
}

/// How io_uring is used. The defaults are what costs least for one submitting thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Uring {
    /// How many operations one io_uring_enter submits at most; 0: all that are free, or a few at a time while others are in flight.
    #[serde(skip_serializing_if = "is_default")]
    pub batch: u32,
    /// Register the file, so that the kernel need not look it up for every operation.
    pub registered_file: bool,
    /// Register the buffers, so that the kernel need not pin their pages for every operation.
    pub registered_buffers: bool,
    /// SINGLE_ISSUER, COOP_TASKRUN and DEFER_TASKRUN: completions are run when this thread waits for them, not by interrupting it.
    pub deferred: bool,
    /// A kernel thread polls the submission queue (SQPOLL); it needs a CPU of its own.
    #[serde(skip_serializing_if = "is_default")]
    pub submission_polling: bool,
    /// Completions are polled at the device (IOPOLL): O_DIRECT only, and the device's queues must support it.
    #[serde(skip_serializing_if = "is_default")]
    pub completion_polling: bool,
}

impl Default for Uring {
    fn default() -> Self {
        Self {
            batch: 0,
            registered_file: true,
            registered_buffers: true,
            deferred: true,
            submission_polling: false,
            completion_polling: false,
        }
    }
}

/// Flavours of synchronous calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncCall {
    /// read and write at the file position, lseek where the next offset is elsewhere.
    Read,
    /// pread and pwrite.
    #[default]
    Pread,
}

/// Flags of every preadv2 and pwritev2 (RWF_ in linux/fs.h). Those that only mean something when writing are not given to reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pvsync2 {
    /// RWF_HIPRI: poll for the completion; O_DIRECT only.
    #[serde(skip_serializing_if = "is_default")]
    pub high_priority: bool,
    /// RWF_DSYNC: this write is durable when the call returns, as with O_DSYNC.
    #[serde(skip_serializing_if = "is_default")]
    pub dsync: bool,
    /// RWF_SYNC: likewise as with O_SYNC.
    #[serde(skip_serializing_if = "is_default")]
    pub sync: bool,
    /// RWF_NOWAIT: fail instead of waiting; a call that would have waited is repeated without the flag, inside the clock.
    #[serde(skip_serializing_if = "is_default")]
    pub nowait: bool,
    /// RWF_DONTCACHE (Linux 6.14): through the page cache, but leave nothing there.
    #[serde(skip_serializing_if = "is_default")]
    pub uncached: bool,
    /// RWF_ATOMIC (Linux 6.11): the write is whole or not at all after a loss of power; O_DIRECT on devices that can.
    #[serde(skip_serializing_if = "is_default")]
    pub atomic: bool,
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

/// What I/O buffers are made of. They are always populated before the clock starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Buffers {
    /// Size of the pages.
    #[serde(skip_serializing_if = "is_default")]
    pub pages: Pages,
    /// NUMA node they lie on.
    #[serde(skip_serializing_if = "is_default")]
    pub node: Node,
}

/// Pages of I/O buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// Buffers of 2 MiB and more are aligned to 2 MiB with the advice to use transparent huge pages; smaller ones have base pages.
    #[default]
    Auto,
    /// Base pages, also where the kernel would make huge ones of itself.
    Base,
    /// Reserved huge pages (MAP_HUGETLB); an error if too few are reserved.
    Huge,
}

/// NUMA node of I/O buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Node {
    /// That of the CPU the worker runs on when it prepares.
    #[default]
    Local,
    /// This one.
    Number(u32),
    /// That of the device under the file; local where the device has none.
    Device,
}

/// msync after written records of a mapped file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapFlush {
    /// None.
    #[default]
    No,
    /// msync(MS_ASYNC).
    Async,
    /// msync(MS_SYNC).
    Sync,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Open {
    /// O_CREAT.
    pub create: bool,
    /// O_TRUNC.
    pub truncate: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC and its kin.
    pub sync: OpenSync,
    /// O_RDWR even for a stream that only reads.
    pub read_write: bool,
    /// O_NOATIME: reads do not look after the time of the last access. For the owner of the file and root only.
    #[serde(skip_serializing_if = "is_default")]
    pub no_access_time: bool,
    /// What the kernel is told of the order of the accesses right after opening: it changes how far it reads ahead.
    #[serde(skip_serializing_if = "is_default")]
    pub advice: Advice,
}

/// posix_fadvise of the whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// None.
    #[default]
    No,
    /// POSIX_FADV_NORMAL: what somebody advised before is taken back.
    Normal,
    /// POSIX_FADV_SEQUENTIAL: Linux reads ahead twice as far.
    Sequential,
    /// POSIX_FADV_RANDOM: Linux reads what is asked for, and nothing ahead.
    Random,
    /// POSIX_FADV_NOREUSE: what is read is not kept in memory at the cost of other pages (Linux 6.3).
    NoReuse,
}

/// Synchronous-write flags of open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenSync {
    /// None.
    #[default]
    No,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
    /// O_RSYNC | O_SYNC.
    Rsync,
}

/// What is inside the clock beside the operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timed {
    /// Opening the file.
    pub open: bool,
    /// An fsync (fflush and fsync, msync) after the operations.
    pub fsync: bool,
    /// Closing the file.
    pub close: bool,
}

/// fsync inside a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncEvery {
    /// After so many writes.
    pub writes: u64,
    /// fdatasync instead of fsync.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data_only: bool,
    /// It is part of the write before it, and of that write's latency, instead of an operation of its own. With `writes = 1`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inside: bool,
    /// None after the last write of the amount: only between writes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub between: bool,
}

/// fsync of every file of a set: each is an operation, handed out to whichever worker asks next. Nothing else is handed out until all
/// of a series are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyncSeries {
    /// After so many reads and writes, if something was written since the last series; 0: never.
    pub requests: u64,
    /// fdatasync instead of fsync.
    #[serde(skip_serializing_if = "is_default")]
    pub data_only: bool,
    /// Once more when the amount is done.
    #[serde(skip_serializing_if = "is_default")]
    pub at_end: bool,
    /// The syncs of a series count towards the amount.
    #[serde(skip_serializing_if = "is_default")]
    pub counted: bool,
}

/// Pause and rate of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pace {
    /// Computing, or sleeping, before each read and write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// Upper limit of operations per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// After so many bytes, fsync and pause; the pause is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
}

/// Computing between operations, or sleeping. There is none before a sync, which follows the write that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Think {
    /// How long.
    pub time: Duration,
    /// Whether it stays inside the clock; if not it is subtracted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counted: bool,
    /// The CPU is given away meanwhile; otherwise it is a busy loop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asleep: bool,
    /// With `asleep`: it begins with a busy loop of this length.
    #[serde(default, skip_serializing_if = "is_default")]
    pub busy: Duration,
    /// Only before every so many operations: with 4, before the fourth, the eighth and so on.
    #[serde(default = "every", skip_serializing_if = "is_every")]
    pub every: u64,
}

impl Default for Think {
    fn default() -> Self {
        Self { time: Duration(0), counted: false, asleep: false, busy: Duration(0), every: 1 }
    }
}

/// When operations are due, whether or not the ones before are done: an open loop. Late ones are issued at once and not dropped; their
/// response time counts from when they were due.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Operations per second and worker.
    pub operations_per_s: f64,
    /// How they are spaced.
    #[serde(default, skip_serializing_if = "is_default")]
    pub arrivals: Arrivals,
    /// The rate is that of all workers together: who is free takes what is due next.
    #[serde(default, skip_serializing_if = "is_default")]
    pub common: bool,
}

/// Gaps between operations of a stream with a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// All the same.
    #[default]
    Even,
    /// Exponentially distributed, as of many independent users.
    Poisson,
}

/// Bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// Bytes of a burst.
    pub bytes: Bytes,
    /// Pause after it.
    pub pause: Duration,
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
