//! Single I/O calls: file, range, time and duration. Kept only to be joined with the requests that reached the device; a bounded
//! number per worker, in shared memory, so that a killed worker's calls survive.
//!
//! Cost: uses the loops with rare features (`hot::rare`), plus five plain stores into memory that is written once: 10 to 20 ns
//! per operation, page faults included.

use crate::EngineError;
use crate::clock::Clock;
use crate::shared_memory::{Mapped, Sharable};
use fathom_record::OpKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One noted call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Start, ns of CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// Duration, ns. With several in flight: from its preparation until its completion was reaped.
    pub latency_ns: u64,
    /// A read, a write, or a sync.
    pub op: OpKind,
    /// Index of its file in [`Calls::paths`].
    pub file: u32,
    /// Index of the worker.
    pub worker: u32,
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Bytes; 0 for a sync.
    pub bytes: u64,
}

/// The noted calls of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Paths of the files that were worked on.
    pub paths: Vec<PathBuf>,
    /// The calls, in order of their start.
    pub calls: Vec<Call>,
    /// Number of calls that exceeded the space reserved for them.
    pub dropped: u64,
    /// Thread of each worker, as our PID namespace numbers it; 0 if it never started.
    pub threads: Vec<u32>,
}

/// A call in shared memory. One worker writes it; the parent reads it after the worker has ended.
#[derive(Default)]
pub(crate) struct CallEntry {
    begun: AtomicU64,
    ended: AtomicU64,
    offset: AtomicU64,
    /// Bytes, shifted left by the two bits of the kind.
    bytes_and_kind: AtomicU64,
    /// Index of the file in its set; the index of the set is in the upper half (flows).
    file: AtomicU64,
}

// SAFETY: only atomics, for which 0 is a valid value.
unsafe impl Sharable for CallEntry {}

const READ: u64 = 0;
const WRITE: u64 = 1;
const SYNC: u64 = 2;

/// Space for the calls of all workers.
pub(crate) struct CallLog {
    entries: Mapped<CallEntry>,
    counts: Mapped<AtomicU64>,
    threads: Mapped<AtomicU64>,
    per_worker: usize,
}

/// One worker's part of the call log.
#[derive(Clone, Copy)]
pub(crate) struct WorkerLog<'a> {
    entries: &'a [CallEntry],
    count: &'a AtomicU64,
}

/// A call to note.
pub(crate) struct Noted {
    pub op: OpKind,
    /// Offset in the file.
    pub offset: u64,
    pub bytes: u64,
    /// Index of the set (flows), and of the file in it.
    pub file: (usize, usize),
    /// Start, in ticks.
    pub begun: u64,
    pub ended: u64,
}

impl CallLog {
    /// Reserves space for `per_worker` calls of each worker.
    pub fn new(workers: usize, per_worker: usize) -> Result<Self, EngineError> {
        Ok(Self {
            entries: Mapped::new(workers.saturating_mul(per_worker))?,
            counts: Mapped::new(workers)?,
            threads: Mapped::new(workers)?,
            per_worker,
        })
    }

    pub fn worker_log(&self, worker: usize) -> WorkerLog<'_> {
        let from = worker * self.per_worker;
        WorkerLog { entries: &self.entries[from..from + self.per_worker], count: &self.counts[worker] }
    }

    /// The calling thread is this worker.
    pub fn runs_here(&self, worker: usize) {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        self.threads[worker].store(u64::from(thread.cast_unsigned()), Relaxed);
    }

    /// All noted calls, in order. `path_of` maps (worker, set, file) to a path.
    pub fn read(&self, clock: Clock, path_of: impl Fn(usize, usize, usize) -> Option<PathBuf>) -> Calls {
        let (now, now_ns) = clock.mark();
        let threads = self.threads.iter().map(|thread| thread.load(Relaxed) as u32).collect();
        let mut calls = Calls { threads, ..Calls::default() };
        let mut numbers = std::collections::HashMap::new();
        for (worker, count) in self.counts.iter().enumerate() {
            let count = usize::try_from(count.load(Relaxed)).unwrap_or(usize::MAX);
            calls.dropped += count.saturating_sub(self.per_worker) as u64;
            for entry in &self.worker_log(worker).entries[..count.min(self.per_worker)] {
                let place = entry.file.load(Relaxed);
                let key = (worker, (place >> 32) as usize, place as u32 as usize);
                let file = match numbers.get(&key) {
                    Some(&file) => file,
                    None => {
                        let path = path_of(key.0, key.1, key.2).unwrap_or_default();
                        let file = calls.paths.iter().position(|p| *p == path).unwrap_or_else(|| {
                            calls.paths.push(path);
                            calls.paths.len() - 1
                        });
                        numbers.insert(key, file);
                        file
                    }
                };
                let (begun, packed) = (entry.begun.load(Relaxed), entry.bytes_and_kind.load(Relaxed));
                calls.calls.push(Call {
                    start_ns: now_ns.saturating_sub(clock.between(begun, now)),
                    latency_ns: clock.between(begun, entry.ended.load(Relaxed)),
                    op: match packed & 3 {
                        WRITE => OpKind::Write,
                        SYNC => OpKind::Sync,
                        _ => OpKind::Read,
                    },
                    file: file as u32,
                    worker: worker as u32,
                    offset: entry.offset.load(Relaxed),
                    bytes: packed >> 2,
                });
            }
        }
        calls.calls.sort_by_key(|c| c.start_ns);
        calls
    }
}

impl WorkerLog<'_> {
    /// Notes a call. Kinds other than reads, writes and syncs move no file data and are skipped.
    pub fn note(&self, noted: &Noted) {
        let kind = match noted.op {
            OpKind::Read => READ,
            OpKind::Write => WRITE,
            OpKind::Sync | OpKind::FinalSync => SYNC,
            _ => return,
        };
        let count = self.count.load(Relaxed);
        self.count.store(count + 1, Relaxed);
        let Some(entry) = self.entries.get(count as usize) else { return };
        entry.begun.store(noted.begun, Relaxed);
        entry.ended.store(noted.ended, Relaxed);
        entry.offset.store(noted.offset, Relaxed);
        entry.bytes_and_kind.store(noted.bytes << 2 | kind, Relaxed);
        entry.file.store((noted.file.0 as u64) << 32 | noted.file.1 as u64 & 0xffff_ffff, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noted_calls_are_sorted_and_dropped_ones_are_counted() {
        let log = CallLog::new(2, 2).unwrap();
        let clock = Clock::monotonic();
        let now = clock.now();
        let noted =
            |op, file, begun| Noted { op, offset: 8192, bytes: 4096, file, begun, ended: begun + 500 };
        log.worker_log(1).note(&noted(OpKind::Read, (3, 4), now - 1000));
        log.worker_log(0).note(&noted(OpKind::Write, (0, 1), now - 2000));
        log.worker_log(0).note(&noted(OpKind::Stat, (0, 1), now - 1900));
        log.worker_log(0).note(&noted(OpKind::Sync, (0, 1), now - 500));
        log.worker_log(0).note(&noted(OpKind::Write, (0, 1), now - 400));
        log.runs_here(1);
        let calls = log.read(clock, |worker, set, file| Some(format!("/{worker}/{set}/{file}").into()));
        let here = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        assert_eq!(calls.threads, [0, here]);
        assert_eq!((calls.calls.len(), calls.dropped, calls.paths.len()), (3, 1, 2));
        let found: Vec<_> = calls.calls.iter().map(|c| (c.op, c.worker, c.bytes, c.latency_ns)).collect();
        assert_eq!(
            found,
            [(OpKind::Write, 0, 4096, 500), (OpKind::Read, 1, 4096, 500), (OpKind::Sync, 0, 4096, 500)]
        );
        assert_eq!(calls.paths[calls.calls[1].file as usize], PathBuf::from("/1/3/4"));
        assert!(calls.calls.iter().all(|c| c.start_ns.abs_diff(now) < 1_000_000_000));
    }
}
