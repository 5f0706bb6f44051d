//! Memory shared by the parent and its workers (threads and processes): the control words of a phase, and a slot per worker with
//! counters and histograms. It is an anonymous shared mapping, so a worker's results survive its death.
//!
//! Each slot has one writer. The parent reads counters while the worker runs (relaxed atomics), and the rest after the worker is
//! done.

use crate::EngineError;
use crate::calls::{CallLog, WorkerLog};
use crate::fault::{FailedCall, Fault};
use crate::kind_stats::{KindStats, add};
use crate::usage::{ProcessorWait, Usage};
use fathom_record::InFlight;
use fathom_workload::drive::Taken;
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Why the workers should stop; 0 while they should not. `STOP_SOME`: only some workers; each has its own reason in
/// [`Live::stop`].
pub(crate) const STOP_SOME: u32 = 1;
pub(crate) const STOP_FIRST_DONE: u32 = 2;
/// A phase rule watched by the parent: steady state.
pub(crate) const STOP_RULE: u32 = 3;
pub(crate) const STOP_INTERRUPT: u32 = 4;

/// Control words of a phase.
#[repr(C, align(128))]
pub(crate) struct Control {
    /// Number of workers that are prepared.
    pub ready: AtomicU32,
    /// 1 when the workers may start (each at its own `start_at`).
    pub go: AtomicU32,
    /// Number of workers whose clock has stopped.
    pub clocked: AtomicU32,
    /// 1 when the parent has read its counters at that point.
    pub seen: AtomicU32,
    /// Number of workers that are done.
    pub done: AtomicU32,
    /// Incremented whenever a clock stops or a worker is done; the parent's futex.
    pub event: AtomicU32,
    /// See the STOP_ constants.
    pub stop: AtomicU32,
    /// 1: a failing worker does not stop the others.
    pub fail_alone: AtomicU32,
    /// Amount taken so far from the phase's shared amount.
    pub taken: Taken,
    /// Number of workers that have found their queue depth; they start counting together.
    pub settled: AtomicU32,
}

impl Control {
    /// Why the worker of `live` should stop. Its own word is read only after [`STOP_SOME`] was set.
    #[inline(always)]
    pub fn stop_of(&self, live: &Live) -> u32 {
        match self.stop.load(Ordering::Relaxed) {
            STOP_SOME => live.stop.load(Ordering::Acquire),
            why => why,
        }
    }

    /// Stops the phase because its first worker is done, unless a stronger reason has ended it.
    pub fn raise_first_done(&self) {
        let raised = |now: u32| (now <= STOP_SOME).then_some(STOP_FIRST_DONE);
        let _ = self.stop.fetch_update(Ordering::AcqRel, Ordering::Relaxed, raised);
    }
}

/// How a worker ended, as a number for shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum End {
    /// Killed before it could end.
    Gone = 0,
    Completed = 1,
    Stopped = 2,
    Interrupted = 3,
    Failed = 4,
}

/// State that a worker and the parent share while the worker runs.
#[repr(C, align(128))]
pub(crate) struct Live {
    /// Start time in ticks; 0: at once.
    pub start_at: AtomicU64,
    /// When the worker began to count, in ticks; 0 during its warm-up.
    pub counting_at: AtomicU64,
    /// Progress, for workers in a ratio to this one: see `hot::ratio`.
    pub progress: AtomicU64,
    /// Bytes moved in the warm-up, if the warm-up ends by bytes.
    pub warmed: AtomicU64,
    /// Stop reason of this worker; see [`STOP_SOME`].
    pub stop: AtomicU32,
    /// 1 when its clock has stopped.
    pub clocked: AtomicU32,
    /// See [`End`]. Set last, with release: a thread that reads it with acquire may read the figures.
    pub end: AtomicU32,
}

/// What flows count beside reads and writes: written by one worker, read by the parent and by the other workers of its process.
#[repr(C, align(128))]
pub(crate) struct Tally {
    /// Operations on files and directories that neither read nor write data, and the bytes counted for them.
    io_ops: AtomicU64,
    io_bytes: AtomicU64,
    /// All counted operations, including waiting and computing.
    all: AtomicU64,
}

impl Tally {
    /// Counts an operation that is in a kind's statistics.
    #[inline(always)]
    pub fn count(&self) {
        add(&self.all, 1);
    }

    /// Counts an I/O operation that is in no kind's statistics.
    #[inline(always)]
    pub fn count_io(&self, bytes: u64) {
        add(&self.all, 1);
        add(&self.io_ops, 1);
        add(&self.io_bytes, bytes);
    }

    pub fn io_ops(&self) -> u64 {
        self.io_ops.load(Ordering::Relaxed)
    }

    pub fn io_bytes(&self) -> u64 {
        self.io_bytes.load(Ordering::Relaxed)
    }

    pub fn all(&self) -> u64 {
        self.all.load(Ordering::Relaxed)
    }

    /// Clears everything at the end of the warm-up. Called by the worker itself.
    pub fn reset(&self) {
        [&self.io_ops, &self.io_bytes, &self.all].iter().for_each(|n| n.store(0, Ordering::Relaxed));
    }
}

/// Results that a worker writes and the parent reads after it is done.
#[repr(C, align(128))]
pub(crate) struct Figures {
    /// Release, and start of counting (end of the warm-up), in ticks.
    pub released_ticks: u64,
    pub start_ticks: u64,
    pub ramp_ops: u64,
    pub drained_ops: u64,
    /// Queue depth that an adaptive stream settled on; 0 for others.
    pub settled_depth: u32,
    /// Longest delay behind the schedule, with a rate.
    pub behind_ns: u64,
    pub elapsed_ns: u64,
    pub uncounted_bytes: u64,
    /// Resource usage of its thread; `None`: it did not count.
    pub used: Option<Usage>,
    pub processor_wait: ProcessorWait,
    pub last_op_ns: u64,
    pub fsync_ns: u64,
    pub close_ns: u64,
    /// Duration of the open and close calls; 0 if not made.
    pub open_call_ns: u64,
    pub close_call_ns: u64,
    pub fault_call: FailedCall,
    pub fault_errno: i32,
    pub fault_offset: u64,
    pub fault_file: u32,
    pub fault_expected: u64,
    pub fault_found: u64,
    /// Flows: the operation that failed, and its file set and file as far as known; each plus one, 0 for none.
    pub fault_row: u32,
    pub fault_set: u32,
    pub fault_entry: u32,
    /// Number of used entries in the operation log.
    pub logged: u64,
    pub passed: Passed,
    pub in_flight: InFlight,
}

/// Errors that a stream tolerated.
#[repr(C)]
pub(crate) struct Passed {
    /// All of them, including those of the warm-up.
    pub errors: u64,
    /// Failed operations that would have been counted.
    pub reads: u64,
    pub writes: u64,
    pub trims: u64,
    /// The first fault, if any, and the number of operations done before it.
    pub first: Fault,
    pub after_ops: u64,
}

#[repr(C, align(128))]
struct WorkerSlot {
    live: Live,
    figures: UnsafeCell<Figures>,
    tally: Tally,
    stats: KindStats,
}

/// The mapping: control, slots, operation logs.
pub(crate) struct Shared {
    base: NonNull<c_void>,
    length: usize,
    workers: usize,
    log_entries: usize,
    calls: Option<CallLog>,
}

// SAFETY: the mapping is plain memory; access is by atomics, or by one writer per slot with the parent reading after `end` is
// set (release/acquire) or the process is gone.
unsafe impl Send for Shared {}
// SAFETY: see above.
unsafe impl Sync for Shared {}

const fn round_up(value: usize, to: usize) -> usize {
    value.div_ceil(to) * to
}

impl Shared {
    /// A new mapping for `workers` workers, with `log_entries` log entries for each.
    pub fn new(workers: usize, log_entries: usize) -> Result<Self, EngineError> {
        let too_large = || {
            EngineError::system(
                "get memory for the operation logs",
                std::io::Error::from_raw_os_error(libc::ENOMEM),
            )
        };
        let log_bytes =
            log_entries.checked_mul(size_of::<fathom_record::OpLogEntry>()).ok_or_else(too_large)?;
        let per_worker = log_bytes.checked_add(size_of::<WorkerSlot>() + 128).ok_or_else(too_large)?;
        let all = workers
            .checked_mul(per_worker)
            .and_then(|b| b.checked_add(size_of::<Control>() + 4096))
            .ok_or_else(too_large)?;
        let length = round_up(all, 4096);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                length,
                rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
                rustix::mm::MapFlags::SHARED,
            )
        }
        .map_err(|e| EngineError::system("get shared memory for the results", e))?;
        let base = NonNull::new(base).ok_or_else(|| {
            EngineError::system(
                "get shared memory for the results",
                std::io::Error::from_raw_os_error(libc::ENOMEM),
            )
        })?;
        Ok(Self { base, length, workers, log_entries, calls: None })
    }

    /// Adds space for `per_worker` calls of each worker; 0 for none.
    pub fn with_calls(mut self, per_worker: usize) -> Result<Self, EngineError> {
        if per_worker > 0 {
            self.calls = Some(CallLog::new(self.workers, per_worker)?);
        }
        Ok(self)
    }

    /// The noted calls, if enabled.
    pub fn calls(&self) -> Option<&CallLog> {
        self.calls.as_ref()
    }

    /// The calling worker's part of the noted calls.
    pub fn call_log(&self, worker: usize) -> Option<WorkerLog<'_>> {
        let log = self.calls.as_ref()?;
        log.runs_here(worker);
        Some(log.worker_log(worker))
    }

    pub fn control(&self) -> &Control {
        // SAFETY: the mapping starts with a Control; zeroes are a valid one.
        unsafe { &*self.base.as_ptr().cast::<Control>() }
    }

    fn slot(&self, worker: usize) -> &WorkerSlot {
        assert!(worker < self.workers, "slot {worker} of {}", self.workers);
        let offset = size_of::<Control>() + worker * size_of::<WorkerSlot>();
        // SAFETY: inside the mapping by the assertion and the length computed in `new`; aligned (the mapping is page-aligned, sizes
        // are multiples of 128); zeroes are valid for every field; what is not atomic is in an UnsafeCell.
        unsafe { &*self.base.as_ptr().cast::<u8>().add(offset).cast::<WorkerSlot>() }
    }

    /// Stops these workers because one of them is done; the others go on.
    pub fn end_company(&self, workers: &[usize]) {
        for worker in workers {
            self.live(*worker).stop.fetch_max(STOP_FIRST_DONE, Ordering::AcqRel);
        }
        self.control().stop.fetch_max(STOP_SOME, Ordering::AcqRel);
    }

    /// State that worker and parent share while the worker runs.
    pub fn live(&self, worker: usize) -> &Live {
        &self.slot(worker).live
    }

    /// Those of the first `count` workers that count: records of the others belong to their warm-up and will be cleared.
    pub fn counting(&self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).filter(|&w| self.live(w).counting_at.load(Ordering::Acquire) > 0)
    }

    /// A worker's statistics: it writes them, the parent may read them at any time.
    pub fn stats(&self, worker: usize) -> &KindStats {
        &self.slot(worker).stats
    }

    /// A worker's counters beside its statistics, with the same access rules.
    pub fn tally(&self, worker: usize) -> &Tally {
        &self.slot(worker).tally
    }

    /// I/O operations of a worker so far, and their bytes.
    pub fn totals(&self, worker: usize) -> (u64, u64) {
        let (stats, tally) = (self.stats(worker), self.tally(worker));
        let ops = stats.data_ops() + tally.io_ops();
        let bytes = stats.data_bytes();
        (ops, bytes + tally.io_bytes())
    }

    /// A worker's figures, for reading.
    ///
    /// # Safety
    /// The worker must be done (its `end` is set, or its process or thread is gone).
    pub unsafe fn figures(&self, worker: usize) -> &Figures {
        // SAFETY: there is no writer any more, by the caller's promise.
        unsafe { &*self.slot(worker).figures.get() }
    }

    /// A worker's figures, for their single writer.
    ///
    /// # Safety
    /// Only the worker itself may call this, once, and `figures` must not be called before it is done.
    #[expect(
        clippy::mut_from_ref,
        reason = "shared memory with one writer per slot; see the safety contract"
    )]
    pub unsafe fn figures_mut(&self, worker: usize) -> &mut Figures {
        // SAFETY: exclusive by the caller's promise.
        unsafe { &mut *self.slot(worker).figures.get() }
    }

    /// The worker's operation log, for its single writer (same contract as [`Shared::figures_mut`]) or for the parent afterwards.
    pub fn log_pointer(&self, worker: usize) -> *mut fathom_record::OpLogEntry {
        assert!(worker < self.workers, "the log of worker {worker} of {}", self.workers);
        let log_bytes = round_up(self.log_entries * size_of::<fathom_record::OpLogEntry>(), 128);
        debug_assert!(
            size_of::<Control>() + self.workers * (size_of::<WorkerSlot>() + log_bytes) <= self.length,
            "the logs end within the mapping"
        );
        let offset = size_of::<Control>() + self.workers * size_of::<WorkerSlot>() + worker * log_bytes;
        // SAFETY: inside the mapping by the length computed in `new`.
        unsafe { self.base.as_ptr().cast::<u8>().add(offset).cast() }
    }

    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Capacity of each operation log.
    pub fn log_entries(&self) -> usize {
        self.log_entries
    }

    /// Copies the used part of a worker's operation log.
    ///
    /// # Safety
    /// As for [`Shared::figures`].
    pub unsafe fn log(&self, worker: usize) -> Vec<fathom_record::OpLogEntry> {
        // SAFETY: by the caller's promise.
        let logged = unsafe { self.figures(worker) }.logged as usize;
        debug_assert!(logged <= self.log_entries, "{logged} entries in a log of {}", self.log_entries);
        let used = logged.min(self.log_entries);
        // SAFETY: `used` entries were written by the worker, which is done.
        unsafe { std::slice::from_raw_parts(self.log_pointer(worker), used) }.to_vec()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; no reference outlives self.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr(), self.length) };
    }
}

/// Sleeps while `word` is `value`, at most `timeout_ns`.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, timeout_ns: u64) {
    let timeout = rustix::thread::futex::Timespec {
        tv_sec: (timeout_ns / 1_000_000_000) as i64,
        tv_nsec: (timeout_ns % 1_000_000_000) as _,
    };
    // The caller checks again after a wake, a changed value, a signal or a time-out.
    let _ = rustix::thread::futex::wait(word, rustix::thread::futex::Flags::empty(), value, Some(&timeout));
}

/// Adds one and wakes all waiters.
pub(crate) fn add_and_wake(word: &AtomicU32) {
    word.fetch_add(1, Ordering::AcqRel);
    wake_all(word);
}

/// Wakes all waiters.
pub(crate) fn wake_all(word: &AtomicU32) {
    let _ = rustix::thread::futex::wake(word, rustix::thread::futex::Flags::empty(), i32::MAX as u32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::OpKind;

    #[test]
    fn slots_do_not_overlap_and_start_empty() {
        let shared = Shared::new(3, 10).unwrap();
        let read = |worker| &shared.stats(worker)[OpKind::Read];
        read(1).touch();
        read(1).record(500, 4096);
        read(1).record(300, 4096);
        let histogram = read(1).histogram();
        assert_eq!((histogram.min_ns(), histogram.max_ns()), (300, 500));
        assert_eq!((read(1).ops(), read(1).bytes(), read(1).sum_ns()), (2, 8192, 800));
        assert_eq!(read(0).ops() + read(2).ops(), 0);
        // SAFETY: there is no writer any more.
        assert!(unsafe { shared.log(2) }.is_empty());
        assert!(Shared::new(3, usize::MAX / 4).is_err(), "a log that cannot be is an error");
    }
}
