//! What happened in one phase of a run, by repetition and worker: how much was done, how long it took, the latencies, and what
//! the kernel's counters said in that time. The engine fills [`Worker`]s; `observe` fills [`Physical`] and [`Residency`]; the
//! program combines them in a [`Repetition`].

use crate::cache::{CacheCourse, CacheTruth, Cold};
use crate::imported::names;
use crate::{
    BlockLayer, Figure, Finding, Halts, Histogram, InFlight, LockWaits, Origin, PageCacheEvents, PassedOver,
    Physical, Residency, Row, SlowCalls,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Coordinates of a phase in a table or on a surface. `None` where one does not apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axes {
    /// Size of each worker's file in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// Record (block) size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_bytes: Option<u64>,
    /// Number of streams running at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<u64>,
    /// Operations in flight per stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u64>,
    /// Further coordinates: "cache" = "direct", "fsync" = "each" and so on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// One phase: a part of a run between two barriers, executed one or more times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Position in the run, from 0.
    pub seq: u32,
    /// The field's standard term: "write", "rewrite", "read", "random read", ...
    pub name: String,
    /// Its coordinates.
    pub axes: Axes,
    /// Whether file data was read. With `writes` it decides which figures are headline figures.
    pub reads: bool,
    /// Whether file data was written.
    pub writes: bool,
    /// Whether an fsync (or msync, or O_SYNC) is inside the timed interval.
    pub sync_in_clock: bool,
    /// Whether O_DIRECT was requested.
    pub direct: bool,
    /// Its executions, in order.
    pub repetitions: Vec<Repetition>,
}

/// One complete execution of a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// 0, 1, 2, ...
    pub n: u32,
    /// From the start of the run to the release of the last worker, ns.
    pub started_ns: u64,
    /// The parent's clock, ns: from the release of the last worker until every worker has exited.
    pub elapsed_ns: u64,
    /// Latest minus earliest first operation of the workers, ns: how simultaneous the start was.
    pub start_skew_ns: u64,
    /// What each process or thread did.
    pub workers: Vec<Worker>,
    /// Counters sampled while it ran.
    pub intervals: Vec<Interval>,
    /// Warm-up after the release, ns; its operations are not counted.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub ramp_ns: u64,
    /// Whether the figures reached a steady state; `None` if it was not requested and there were too few intervals to judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyState>,
    /// Groups with their own steady-state stop rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady_groups: Vec<SteadyGroup>,
    /// Latencies by I/O priority, if operations had one and it was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityStat>,
    /// Where the slowest calls waited in the kernel, if that was noted: one entry per kind of call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow_calls: Vec<SlowCalls>,
    /// Page-cache events of the kernel, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCacheEvents>,
    /// Waits of the measured threads for locks, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_waits: Option<LockWaits>,
    /// How long measured threads were stopped, if that was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halts: Option<Halts>,
    /// The machine's own stalls during the repetition: see [`Jitter`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Intended state of the page cache for the files at the start.
    #[serde(default)]
    pub cache: CacheIntent,
    /// Holes and unwritten extents of the regions read (or else written) at the start, if the file system reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extents: Option<Extents>,
    /// What the block layer moved in that time.
    pub physical: Physical,
    /// What block events showed, if the user may see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockLayer>,
    /// Why the figures are what they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Memory or device, in bytes and as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth: Option<CacheTruth>,
    /// Dirty and write-back data over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<CacheCourse>,
    /// What was done beforehand to drop the files from memory, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<Cold>,
    /// Page-cache residency of the files just before the start, if the kernel reports it.
    pub resident_before: Option<Residency>,
    /// The same just after the end.
    pub resident_after: Option<Residency>,
    /// Figures that another program printed; then there are no workers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
}

/// What one process or thread did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// Name of the worker's group in the workload.
    pub group: String,
    /// Index within the phase, from 0.
    pub index: u32,
    /// First operation, in ns after the release of the first worker.
    pub start_ns: u64,
    /// The timed interval as the workload defines it (the operations; with open, fsync, close if requested), ns. Rates are
    /// computed from this.
    pub elapsed_ns: u64,
    /// File data moved by the counted operations.
    pub bytes: u64,
    /// Counted operations.
    pub ops: u64,
    /// Bytes moved after the stop flag and not counted (writers that finish their file untimed).
    pub uncounted_bytes: u64,
    /// CPU time in user mode from the first operation until the clock stopped, pauses included.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel, likewise.
    pub cpu_system_ns: u64,
    /// What the kernel counted for its thread, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_counts: Option<ThreadCounts>,
    /// When the last operation, fsync and close returned.
    pub marks: Marks,
    /// Operations in flight when a stop rule fired; waited for and counted.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub drained_ops: u64,
    /// Operations of the warm-up, counted nowhere else.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub ramp_ops: u64,
    /// Queue depth that an adaptive stream settled on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_depth: Option<u32>,
    /// With a rate: the longest stretch of consecutive late operations, ns.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub behind_ns: u64,
    /// Latencies by kind of operation.
    pub stats: Vec<OpStat>,
    /// Breakdown by operation of its flow, in the flow's order; empty for a stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
    /// How it ended.
    pub ending: Ending,
    /// Errors that it passed over, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<PassedOver>,
    /// How full its queue was, for back-ends that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<InFlight>,
    /// Every single operation, if the workload requested it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub op_log: Vec<OpLogEntry>,
    /// Its own interval series, if the workload requested it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<WorkerInterval>,
}

/// What the kernel counts for a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadCounts {
    /// Context switches, voluntary (it waited) and involuntary (its time slice ended).
    pub switches: u64,
    /// Page faults that waited for I/O.
    pub major_faults: u64,
    /// Page faults that needed no I/O.
    pub minor_faults: u64,
    /// Time runnable without a processor, ns: others ran, or the control group's quota was used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_wait_ns: Option<u64>,
}

/// What one worker did in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerInterval {
    /// End of the interval, ns after the release of the first worker.
    pub end_ns: u64,
    /// Its length, ns.
    pub width_ns: u64,
    /// By kind of operation; kinds without operations are left out.
    pub moved: Vec<OpTotal>,
}

/// Operations of one kind in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpTotal {
    /// Kind of operation.
    pub op: OpKind,
    /// Operations finished in the interval.
    pub ops: u64,
    /// File data they moved.
    pub bytes: u64,
    /// Sum of their latencies, ns.
    pub sum_ns: u64,
}

/// The three end points of a buffered write: return of the last write, of fsync and of close. All in ns after the worker's
/// first operation; 0 if it did not happen. They are taken whether or not they are inside the timed interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Return of the last counted operation.
    pub last_op_ns: u64,
    /// Return of the fsync that follows the operations.
    pub fsync_ns: u64,
    /// Return of the close that follows.
    pub close_ns: u64,
}

/// One of the [`Marks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Return of the last counted operation.
    LastOp,
    /// Return of the fsync that follows.
    Fsync,
    /// Return of the close that follows.
    Close,
}

/// A kind of operation, for latency statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpKind {
    /// Any call that reads file data.
    Read,
    /// Any call that writes file data.
    Write,
    /// fsync, fdatasync, msync.
    Sync,
    /// open or create.
    Open,
    /// close.
    Close,
    /// stat.
    Stat,
    /// unlink.
    Delete,
    /// A read or write of a stream with a rate, timed from its scheduled start instead of its issue: the latency seen by a user
    /// who does not wait for the previous operation. Service times are under the operation's own kind.
    Response,
    /// Asynchronous reads: from preparation until handed to the kernel ("slat"). With io_uring that is the entry into the call
    /// that submitted it, with aio the return of io_submit.
    ReadSubmission,
    /// Asynchronous reads: from there until the program could see the completion ("clat"). Both add up to `Read` ("lat").
    ReadCompletion,
    /// As [`OpKind::ReadSubmission`], for writes.
    WriteSubmission,
    /// As [`OpKind::ReadCompletion`], for writes.
    WriteCompletion,
    /// The final fsync of each file, for streams that also sync while running; those syncs are `Sync`.
    FinalSync,
    /// Deallocation of a range: a punched hole or a discard on a block device. No data moves; the bytes are the size of the
    /// range.
    Trim,
}

impl OpKind {
    /// Every kind, in the order in which tables show them.
    pub const ALL: [Self; 14] = [
        Self::Read,
        Self::Write,
        Self::Sync,
        Self::Open,
        Self::Close,
        Self::Stat,
        Self::Delete,
        Self::Response,
        Self::ReadSubmission,
        Self::ReadCompletion,
        Self::WriteSubmission,
        Self::WriteCompletion,
        Self::FinalSync,
        Self::Trim,
    ];

    /// Whether it times part of a read or write, or one from another starting point: not a separate operation.
    #[must_use]
    pub fn is_part(self) -> bool {
        matches!(
            self,
            Self::Response
                | Self::ReadSubmission
                | Self::ReadCompletion
                | Self::WriteSubmission
                | Self::WriteCompletion
        )
    }

    /// The word used in tables and exports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Open => "open",
            Self::Close => "close",
            Self::Stat => "stat",
            Self::Delete => "delete",
            Self::Response => "response",
            Self::ReadSubmission => "read-submission",
            Self::ReadCompletion => "read-completion",
            Self::WriteSubmission => "write-submission",
            Self::WriteCompletion => "write-completion",
            Self::FinalSync => "final-sync",
            Self::Trim => "trim",
        }
    }
}

/// Statistics of one kind of operation in one worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpStat {
    /// Which operation.
    pub op: OpKind,
    /// How many succeeded.
    pub ops: u64,
    /// File data they moved.
    pub bytes: u64,
    /// Service times in ns (from just before the call to its return).
    pub latency: Histogram,
}

/// How a worker ended. Whatever it did before counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// All its operations were done.
    #[default]
    Completed,
    /// Ended by a stop rule (time, another worker done first).
    Stopped,
    /// Ended by a signal to the run.
    Interrupted,
    /// An operation failed; the operations before it count.
    Failed(OpError),
}

/// An operation that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpError {
    /// The failed call: "write", "open", "verify", ...
    pub call: String,
    /// The file.
    pub path: String,
    /// Offset in the file, if meaningful.
    pub offset: Option<u64>,
    /// Number of operations that succeeded before.
    pub after_ops: u64,
    /// The kernel's error number; 0 if the error is not the kernel's.
    pub errno: i32,
    /// The expected and the found value, if a check compared two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<(u64, u64)>,
    /// The whole sentence for the user.
    pub message: String,
}

/// One operation of an operation log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpLogEntry {
    /// Offset in the file.
    pub offset: u64,
    /// Bytes requested.
    pub bytes: u32,
    /// Service time in ns.
    pub latency_ns: u64,
    /// Time of issue, ns after the worker began to count; 0 in records of older versions.
    #[serde(default)]
    pub start_ns: u64,
}

/// A sample of the counters of all workers together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// End of the interval, ns after the release of the first worker.
    pub end_ns: u64,
    /// Its length, ns.
    pub width_ns: u64,
    /// Operations finished in it.
    pub ops: u64,
    /// File data moved in it.
    pub bytes: u64,
    /// Latencies of the operations finished in it, by kind of operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<(OpKind, Histogram)>,
    /// File data moved in it, by kind of operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<(OpKind, u64)>,
}

/// How much the machine stalls any program, measured beside the phase: stalls that are not the storage's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Jitter {
    /// Gaps between successive clock readings in short spins, ns: CPU stalls (interrupts, the hypervisor).
    pub gaps: Histogram,
    /// How late timed sleeps ended, ns: the scheduler, timers and sleeping CPUs.
    pub wakes: Histogram,
    /// Time spent spinning, ns.
    pub watched_ns: u64,
}

/// Intended content of the page cache for a phase's files at its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheIntent {
    /// Left as found.
    #[default]
    AsFound,
    /// Nothing cached.
    Cold,
    /// Everything cached.
    Warm,
}

impl CacheIntent {
    /// Every intent.
    pub const ALL: [Self; 3] = [Self::AsFound, Self::Cold, Self::Warm];

    /// The word in the store and in exports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AsFound => "as-found",
            Self::Cold => "cold",
            Self::Warm => "warm",
        }
    }
}

/// Holes and unwritten extents in a phase's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// Bytes examined: the regions the streams work on.
    pub bytes: u64,
    /// Of those, holes: no blocks are allocated.
    pub hole_bytes: u64,
    /// Of those, allocated extents that were never written.
    pub unwritten_bytes: u64,
    /// Bytes of holes and unwritten extents filled with data beforehand.
    pub filled_bytes: u64,
}

/// Whether a figure reached a steady state; see [`crate::steady`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    /// Whether both criteria held in the last window.
    pub reached: bool,
    /// Whether it was requested as a stop rule; otherwise it was judged afterwards from the intervals.
    pub asked: bool,
    /// "operations", "bytes" or "latency".
    pub figure: String,
    /// Length of a round, ns.
    pub round_ns: u64,
    /// The figure in each round, per second (latency: mean, ns).
    pub rounds: Vec<f64>,
    /// Rounds in the window.
    pub window: u32,
    /// Mean over the last window.
    pub mean: f64,
    /// Largest minus smallest in the last window, in percent of the mean.
    pub range_percent: f64,
    /// Change of the fitted line over the last window, in percent of the mean.
    pub slope_percent: f64,
}

/// Latencies of a worker's reads or writes of one I/O priority.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PriorityStat {
    /// Index of the worker.
    pub worker: u32,
    /// Whether these are writes; otherwise reads.
    pub write: bool,
    /// Class (above the low 13 bits) and level; 0: the thread's own priority.
    pub priority: u16,
    /// Total latencies.
    pub latency: Histogram,
    /// Latencies from submission to completion.
    pub completion: Histogram,
}

/// Result of waiting for some workers to become steady.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyGroup {
    /// Indices of the workers.
    pub workers: Vec<u32>,
    /// Whether they became steady and were ended by that.
    pub reached: bool,
    /// The figure judged: "operations", "bytes" or "latency".
    pub figure: String,
    /// Length of a round, ns.
    pub round_ns: u64,
    /// Rounds in the window.
    pub window: u32,
    /// Operations per second of each round.
    pub operations: Vec<f64>,
    /// Bytes per second of each round.
    pub bytes: Vec<f64>,
    /// Mean latency of each round, ns; 0 if nothing finished.
    pub latencies: Vec<f64>,
}

impl Worker {
    /// Bytes per second inside the timed interval; `None` if nothing was timed.
    #[must_use]
    pub fn bytes_per_s(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.bytes as f64 * 1e9 / self.elapsed_ns as f64)
    }

    /// Operations per second inside the timed interval; `None` if nothing was timed.
    #[must_use]
    pub fn ops_per_s(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.ops as f64 * 1e9 / self.elapsed_ns as f64)
    }
}

impl Worker {
    /// Bytes per second from the first operation to a mark; `None` if it was never reached. Data written after the stop flag is
    /// flushed by an fsync outside the timed interval, so it counts as part of that fsync's work.
    #[must_use]
    pub fn bytes_per_s_to(&self, mark: Mark, sync_in_clock: bool) -> Option<f64> {
        let ns = match mark {
            Mark::LastOp => self.marks.last_op_ns,
            Mark::Fsync => self.marks.fsync_ns,
            Mark::Close => self.marks.close_ns,
        };
        let late = if mark == Mark::LastOp || sync_in_clock { 0 } else { self.uncounted_bytes };
        (ns > 0).then(|| self.bytes.saturating_add(late) as f64 * 1e9 / ns as f64)
    }
}

impl Repetition {
    /// Number of workers that wrote; all of them if no operation was counted.
    #[must_use]
    pub fn writers(&self) -> usize {
        let writes = |w: &&Worker| w.stats.iter().any(|s| s.op == crate::OpKind::Write && s.ops > 0);
        match self.workers.iter().filter(writes).count() {
            0 => self.workers.len(),
            some => some,
        }
    }

    /// The intervals in which operations were made: those that end before a final fsync inside the timed interval began.
    pub fn operating_intervals(&self) -> impl Iterator<Item = &Interval> {
        let until = |w: &Worker| {
            if w.elapsed_ns > w.marks.last_op_ns
                && w.marks.fsync_ns > w.marks.last_op_ns
                && w.marks.last_op_ns > 0
            {
                w.start_ns.saturating_add(w.marks.last_op_ns)
            } else {
                u64::MAX
            }
        };
        let end = self.workers.iter().map(until).max().unwrap_or(u64::MAX);
        self.intervals.iter().filter(move |i| i.end_ns <= end)
    }

    /// Counted bytes of all workers.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.workers.iter().fold(0, |sum, w| sum.saturating_add(w.bytes))
    }

    /// Counted operations of all workers.
    #[must_use]
    pub fn ops(&self) -> u64 {
        self.workers.iter().fold(0, |sum, w| sum.saturating_add(w.ops))
    }

    /// Sum of the workers' own rates, bytes per second ("children see"); for an imported run, the printed figure.
    #[must_use]
    pub fn bytes_per_s(&self) -> Option<f64> {
        let rates: Vec<f64> = self.workers.iter().filter_map(Worker::bytes_per_s).collect();
        if rates.is_empty() { self.imported(names::THROUGHPUT) } else { Some(rates.iter().sum()) }
    }

    /// Sum of the workers' own rates, operations per second; for an imported run, the printed figure.
    #[must_use]
    pub fn ops_per_s(&self) -> Option<f64> {
        let rates: Vec<f64> = self.workers.iter().filter_map(Worker::ops_per_s).collect();
        if rates.is_empty() { self.imported(names::OPERATIONS) } else { Some(rates.iter().sum()) }
    }

    /// Counted bytes over the parent's clock, bytes per second ("parent sees"): includes stragglers and untimed clean-up.
    #[must_use]
    pub fn parent_bytes_per_s(&self) -> Option<f64> {
        let counted = (self.elapsed_ns > 0).then(|| self.bytes() as f64 * 1e9 / self.elapsed_ns as f64);
        counted.or_else(|| self.imported(names::PARENT))
    }

    /// Latencies of one kind of operation over all workers.
    #[must_use]
    pub fn latency(&self, op: OpKind) -> Histogram {
        let mut all = Histogram::default();
        for stat in self.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == op) {
            all.merge(&stat.latency);
        }
        all
    }

    /// The first worker's failure, if any.
    #[must_use]
    pub fn error(&self) -> Option<&OpError> {
        self.workers.iter().find_map(|w| match &w.ending {
            Ending::Failed(e) => Some(e),
            _ => None,
        })
    }
}

impl Phase {
    /// Median of a figure over the repetitions.
    fn median(&self, figure: impl Fn(&Repetition) -> Option<f64>) -> Option<f64> {
        let mut values: Vec<f64> = self.repetitions.iter().filter_map(figure).collect();
        values.sort_by(f64::total_cmp);
        match values.len() {
            0 => None,
            n if n % 2 == 1 => Some(values[n / 2]),
            n => Some((values[n / 2 - 1] + values[n / 2]) / 2.0),
        }
    }

    /// Throughput in bytes/s: median over the repetitions of the sum of the workers' rates.
    #[must_use]
    pub fn bytes_per_s(&self) -> Option<f64> {
        self.median(Repetition::bytes_per_s)
    }

    /// Operations per second, likewise.
    #[must_use]
    pub fn ops_per_s(&self) -> Option<f64> {
        self.median(Repetition::ops_per_s)
    }

    /// Throughput in bytes/s up to a mark: median over the repetitions of the sum of the workers' rates. `None` if a worker
    /// that moved data never reached it.
    #[must_use]
    pub fn bytes_per_s_to(&self, mark: Mark) -> Option<f64> {
        self.median(|r| {
            let moved = || r.workers.iter().filter(|w| w.bytes > 0);
            moved().next()?;
            moved().map(|w| w.bytes_per_s_to(mark, self.sync_in_clock)).sum()
        })
    }

    /// Whether an operation failed in any repetition, so that the figures cover only part of the work.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.repetitions.iter().any(|r| r.error().is_some())
    }

    /// Latencies of the main operation over all repetitions.
    #[must_use]
    pub fn latency(&self) -> Histogram {
        self.latency_of(self.main_op())
    }

    /// Latencies of one kind of operation over all repetitions.
    #[must_use]
    pub fn latency_of(&self, op: OpKind) -> Histogram {
        let mut all = Histogram::default();
        for r in &self.repetitions {
            all.merge(&r.latency(op));
        }
        all
    }

    /// Where the data came from or went to. See [`Origin`].
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin::of_phase(self)
    }

    /// The last repetition that was served as the phase was, if one was; else the last that moved data.
    #[must_use]
    pub fn typical(&self) -> Option<&Repetition> {
        let regime = self.origin().regime;
        let moved = || self.repetitions.iter().rev().filter(|r| r.bytes() > 0);
        moved().find(|r| Origin::of(self, r).regime == regime).or_else(|| moved().next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(workers: Vec<Worker>) -> Phase {
        Phase {
            seq: 0,
            name: "write".into(),
            axes: Axes::default(),
            reads: false,
            writes: true,
            sync_in_clock: false,
            direct: false,
            repetitions: vec![Repetition { workers, ..Repetition::default() }],
        }
    }

    #[test]
    fn during_the_final_fsync_there_are_no_operations() {
        let interval = |n: u64| Interval { end_ns: n * 100, width_ns: 100, ..Interval::default() };
        let mut repetition = Repetition {
            workers: vec![Worker { elapsed_ns: 1000, ..writer(320, 1000) }],
            intervals: (1..=10).map(interval).collect(),
            ..Repetition::default()
        };
        assert_eq!(repetition.operating_intervals().count(), 3);
        repetition.workers[0].elapsed_ns = 320;
        assert_eq!(repetition.operating_intervals().count(), 10, "the fsync was not timed");
    }

    fn writer(last_op_ns: u64, fsync_ns: u64) -> Worker {
        let marks = Marks { last_op_ns, fsync_ns, close_ns: fsync_ns };
        Worker { bytes: 1000, elapsed_ns: last_op_ns, marks, ..Worker::default() }
    }

    #[test]
    fn the_three_figures_of_a_write_are_sums_over_the_workers() {
        let phase = phase(vec![writer(1_000_000_000, 2_000_000_000), writer(500_000_000, 1_000_000_000)]);
        assert_eq!(phase.bytes_per_s_to(Mark::LastOp), Some(3000.0));
        assert_eq!(phase.bytes_per_s_to(Mark::Fsync), Some(1500.0));
        assert_eq!(phase.bytes_per_s_to(Mark::Close), Some(1500.0));
    }

    #[test]
    fn a_mark_one_worker_never_reached_is_none() {
        let phase = phase(vec![writer(1_000_000_000, 2_000_000_000), writer(500_000_000, 0)]);
        assert_eq!(phase.bytes_per_s_to(Mark::Fsync), None);
        assert_eq!(self::phase(Vec::new()).bytes_per_s_to(Mark::LastOp), None);
    }

    #[test]
    fn what_was_written_untimed_is_part_of_the_fsync() {
        let late = Worker { uncounted_bytes: 1000, ..writer(1_000_000_000, 2_000_000_000) };
        let mut phase = phase(vec![late]);
        assert_eq!(phase.bytes_per_s_to(Mark::LastOp), Some(1000.0));
        assert_eq!(phase.bytes_per_s_to(Mark::Fsync), Some(1000.0));
        phase.sync_in_clock = true;
        assert_eq!(phase.bytes_per_s_to(Mark::Fsync), Some(500.0));
    }
}
