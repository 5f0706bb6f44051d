//! Everything one worker needs to run its stream.

use crate::pools::Pool;
use fathom_workload::drive::{Quota, in_flight};
use fathom_workload::ops::{Place, Region};
use fathom_workload::{Raise, Stream, Thread};
use std::path::PathBuf;

/// Everything one worker needs to run its stream.
#[derive(Clone)]
pub(crate) struct StreamPlan<'a> {
    pub group: String,
    pub index: usize,
    pub stream: &'a Stream,
    /// Workers with this stream, including itself.
    pub alike: u32,
    /// Which files are ours.
    pub ledger: &'a crate::Ledger,
    pub path: PathBuf,
    /// Index of the file in its set.
    pub file: u32,
    /// Permission bits if the open creates the file.
    pub mode: u32,
    /// The file to exchange extents with.
    pub donor: Option<Donor>,
    pub region: Region,
    /// Largest record in bytes.
    pub largest: usize,
    pub seed: u64,
    pub place: Place,
    /// CPU that it is pinned to.
    pub cpu: Option<usize>,
    /// CPUs that it may use; empty: all.
    pub among: &'a [u32],
    /// It starts so long after the release that a stop may come first.
    pub delayed: bool,
    /// CPU on which it waits for the start.
    pub start_cpu: Option<usize>,
    pub nice: i32,
    /// I/O priority, user and group, locked memory.
    pub thread: &'a Thread,
    pub time_ns: Option<u64>,
    /// The time limit applies to its group alone.
    pub own_time: bool,
    pub ramp_ns: u64,
    /// Bytes that end its warm-up, or that of its company; 0: it ends by time.
    pub ramp_bytes: u64,
    pub ramp_together: bool,
    /// Workers of the phase that search for a queue depth.
    pub searching: u32,
    /// Workers in a ratio to it, including itself; and whether the time of all ends together.
    pub peers: std::sync::Arc<[usize]>,
    pub peers_end_together: bool,
    /// Amount shared by all workers of the phase.
    pub quota: Quota,
    pub raise: Option<Raise>,
    /// Workers of its company, including itself, if any; and whether it ends only those.
    pub company: Option<std::sync::Arc<[usize]>>,
    pub ends_company: bool,
    /// For a stream over all files of its set.
    pub pool: Option<Pool<'a>>,
    /// File of its operation log, if that is not in the record, and the number of such workers.
    pub spool: Option<(&'a std::fs::File, usize)>,
    /// The zones of its file, if it is about them.
    pub zones: Option<&'a crate::zoned::ZoneTable>,
    /// Where it saves what it has written, for reading back.
    pub keeps: Option<&'a std::fs::File>,
    /// Where the extents that it reads back were saved.
    pub reads_back: Option<&'a std::fs::File>,
}

/// A file that donates its blocks.
#[derive(Clone)]
pub(crate) struct Donor {
    pub path: PathBuf,
    /// Bytes allocated to it at once; `None`: those of each operation.
    pub bytes: Option<u64>,
}

impl StreamPlan<'_> {
    /// Queue depth, limited by the number of operations.
    pub fn depth(&self) -> u32 {
        in_flight(self.stream, self.pool.is_some(), self.region, self.seed, self.place)
    }
}
