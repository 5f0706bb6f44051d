//! The op stream of a stream over all files of a set (`pick = "all"`), and the state its workers share when they draw from one common
//! sequence: the sequential position, operations handed out and completed, the next file of a series of syncs.
//!
//! Workers that share nothing draw without coordination: uniform reads of an endless amount touch no shared cache line. Everything else
//! is decided under a lock held for about ten instructions.

use super::generators::Xoroshiro128Plus;
use super::order::{FOR_MIX, FOR_ORDER, below};
use super::{Done, Op, OpCode, Place, Source, derive_seed};
use crate::{Access, Amount, Direction, Mix, Record, Sequence, Stream, SyncSeries};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// State shared by the workers of a common sequence. All zeros is the initial state, so it may lie in freshly mapped memory.
#[repr(C, align(128))]
#[derive(Default)]
pub struct Common {
    lock: AtomicU32,
    /// Whether something was written since the last series of syncs.
    dirty: AtomicU32,
    /// Whether the final series was begun.
    last_series: AtomicU32,
    /// Files of the current series still to be handed out.
    series_left: AtomicU32,
    /// Requests of sequential access handed out.
    cursor: AtomicU64,
    /// Reads and writes handed out.
    issued: AtomicU64,
    /// Reads handed out.
    issued_reads: AtomicU64,
    /// Part of the amount already taken.
    taken: AtomicU64,
    completed: Completed,
    /// Start of the next operation of a common rate, in the executor's own unit; 0 before the first.
    pub due: AtomicU64,
}

/// On a separate cache line: it is written after every operation of a mix by completions.
#[repr(C, align(128))]
#[derive(Default)]
struct Completed {
    reads: AtomicU64,
    writes: AtomicU64,
}

impl Common {
    /// Runs `decide` exclusively. If the lock holder was killed, the other workers get `None` after some seconds instead of waiting for
    /// ever.
    fn locked<T>(&self, decide: impl FnOnce() -> Option<T>) -> Option<T> {
        const SPINS: u32 = 100;
        const MOST_TRIES: u32 = 10_000_000;
        let mut tries = 0u32;
        while self.lock.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            tries += 1;
            if tries > MOST_TRIES {
                return None;
            }
            if tries.is_multiple_of(SPINS) {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
        let decided = decide();
        self.lock.store(0, Ordering::Release);
        decided
    }
}

/// The files of a set as one region: `files` of `file_bytes` each, back to back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRegion {
    /// Number of files.
    pub count: u32,
    /// Bytes used of each file.
    pub file_bytes: u64,
}

#[derive(Clone, Copy)]
struct PooledRange {
    file: u32,
    offset: u64,
    bytes: u32,
}

/// Source of positions.
enum PositionSource {
    /// Sequential; requests per file and in total.
    Sequential { per_file: u64, all: u64 },
    /// Records by index.
    Records { rng: Xoshiro256PlusPlus, records: u64 },
    /// Byte offsets, rounded down.
    Scaled { rng: Units, dropped: u8 },
}

/// Numbers in [0, 1).
enum Units {
    Seeded(Xoshiro256PlusPlus),
    Libc(Xoroshiro128Plus),
}

impl Units {
    #[inline]
    fn unit(&mut self) -> f64 {
        match self {
            Self::Seeded(rng) => (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64,
            Self::Libc(rng) => rng.unit(),
        }
    }
}

/// Iterates over the operations of one worker of a stream over all files of a set.
pub struct PoolOps<'a> {
    common: &'a Common,
    /// The record each worker is using (1 + position in the region; 0: none), with this worker's own range; empty if workers may share
    /// records.
    busy: &'a [AtomicU64],
    own: std::ops::Range<usize>,
    files: FileRegion,
    record: u32,
    positions: PositionSource,
    direction: Direction,
    mix: Xoshiro256PlusPlus,
    /// Operations of the amount; `None`: endless.
    amount: Option<u64>,
    /// Without a common sequence: the part of the amount this worker has taken.
    series: SyncSeries,
    shared: bool,
    /// Nothing is shared and nothing limited: no lock is needed.
    free: bool,
    /// The mix depends on the completions of all workers.
    by_completions: bool,
}

impl<'a> PoolOps<'a> {
    /// The operations of the worker at `place` over `files`; `None` if the stream is not over all files of a set, has no fixed record
    /// size, or has an order that such a stream cannot have.
    ///
    /// `common` is shared by all workers that draw from the sequence, or private to this one. `busy` is needed for [`Stream::exclusive`]
    /// only: one entry per operation that a worker may have in flight, `own` being this worker's.
    #[must_use]
    pub fn new(
        stream: &Stream,
        files: FileRegion,
        seed: u64,
        place: Place,
        common: &'a Common,
        busy: (&'a [AtomicU64], std::ops::Range<usize>),
    ) -> Option<Self> {
        let seed = stream.seed_or(seed);
        let Record::Fixed(record) = stream.record else { return None };
        let record = u32::try_from(record.0).ok().filter(|&r| r > 0 && files.file_bytes > 0)?;
        let per_file = files.file_bytes.div_ceil(u64::from(record));
        let all = per_file.checked_mul(files.count.into()).filter(|&n| n > 0)?;
        let seeded = Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, place, FOR_ORDER));
        let positions = match &stream.access {
            Access::Sequential => PositionSource::Sequential { per_file, all },
            Access::Uniform => PositionSource::Records { rng: seeded, records: all },
            Access::Scaled(how) => {
                let first = stream.sequence == Sequence::Own || place.worker == 0;
                let rng = match how.libc_seed {
                    Some(seed) if first => Units::Libc(Xoroshiro128Plus::new(seed)),
                    _ => Units::Seeded(seeded),
                };
                PositionSource::Scaled { rng, dropped: how.dropped }
            }
            _ => return None,
        };
        let amount = match stream.amount {
            Amount::Pass => Some(all),
            Amount::Passes(n) => Some(all.saturating_mul(n)),
            Amount::Operations(n) => Some(n),
            Amount::Bytes(b) => Some(b.0.div_ceil(u64::from(record))),
            Amount::Endless => None,
        };
        let series = stream.sync_series.unwrap_or_default();
        let shared = stream.sequence == Sequence::Common;
        let syncs = stream.direction != Direction::Read && series.requests > 0 || series.at_end;
        let by_issue = matches!(stream.direction, Direction::Mix(Mix::ReadsPerWriteIssued(_)));
        let random = !matches!(positions, PositionSource::Sequential { .. });
        Some(Self {
            common,
            busy: if stream.exclusive { busy.0 } else { &[] },
            own: busy.1,
            files,
            record,
            free: random && amount.is_none() && !syncs && !stream.exclusive && !by_issue,
            positions,
            direction: stream.direction,
            mix: Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, place, FOR_MIX)),
            amount,
            series,
            shared,
            by_completions: matches!(stream.direction, Direction::Mix(Mix::ReadsPerWrite(_))),
        })
    }

    /// Total operations of all workers; `None` if endless or unknown.
    #[must_use]
    pub fn amount(&self) -> Option<u64> {
        self.amount
    }

    /// The extent of the next read or write.
    #[inline]
    fn extent(&mut self) -> PooledRange {
        let FileRegion { count, file_bytes } = self.files;
        let (file, offset) = match &mut self.positions {
            PositionSource::Sequential { per_file, all } => {
                let n = self.common.cursor.fetch_add(1, Ordering::Relaxed) % *all;
                (n / *per_file, n % *per_file * u64::from(self.record))
            }
            PositionSource::Records { rng, records } => {
                let n = below(rng, *records);
                let per_file = *records / u64::from(count);
                (n / per_file, n % per_file * u64::from(self.record))
            }
            PositionSource::Scaled { rng, .. } => {
                let region = file_bytes * u64::from(count);
                let at = (rng.unit() * region as f64) as u64;
                let at = at - at % u64::from(self.record);
                (at / file_bytes, at % file_bytes)
            }
        };
        let bytes = u64::from(self.record).min(file_bytes - offset) as u32;
        PooledRange { file: file as u32, offset, bytes }
    }

    /// Called after every operation, syncs included.
    #[inline]
    fn drop_numbers(&mut self) {
        if let PositionSource::Scaled { rng, dropped } = &mut self.positions {
            for _ in 0..*dropped {
                rng.unit();
            }
        }
    }

    #[inline]
    fn is_read(&mut self, done: &Done) -> bool {
        match self.direction {
            Direction::Read => true,
            // Trims do not run over all files in a row: see `check`.
            Direction::Write | Direction::Trim | Direction::TrimWrite => false,
            Direction::Mix(Mix::ReadPercent(p)) => below(&mut self.mix, 100) < u64::from(p),
            Direction::Mix(Mix::ReadsPerWrite(ratio)) => {
                let (reads, writes) = if self.shared {
                    let done = &self.common.completed;
                    (done.reads.load(Ordering::Relaxed), done.writes.load(Ordering::Relaxed))
                } else {
                    (done.reads, done.writes)
                };
                (reads + 1) as f64 / ((writes + 1) as f64) < ratio
            }
            Direction::Mix(Mix::ReadsPerWriteIssued(ratio)) => {
                let reads = self.common.issued_reads.load(Ordering::Relaxed);
                let writes = self.common.issued.load(Ordering::Relaxed) - reads;
                (reads + 1) as f64 / ((writes + 1) as f64) < ratio
            }
        }
    }

    /// The next operation of the sequence; called with the lock held.
    fn decide(&mut self, done: &Done) -> Option<Op> {
        let common = self.common;
        let used_up = self.amount.is_some_and(|n| common.taken.load(Ordering::Relaxed) >= n);
        let left = common.series_left.load(Ordering::Relaxed);
        if left > 0 && !(used_up && self.series.counted) {
            return Some(self.sync_of(left));
        }
        if used_up {
            let begin = self.series.at_end && common.last_series.swap(1, Ordering::Relaxed) == 0;
            return begin.then(|| self.sync_of(self.files.count));
        }
        let issued = common.issued.load(Ordering::Relaxed);
        let due = self.series.requests > 0 && issued > 0 && issued.is_multiple_of(self.series.requests);
        if due && common.dirty.swap(0, Ordering::Relaxed) != 0 {
            return Some(self.sync_of(self.files.count));
        }
        let mut extent = self.extent();
        // Bounded for the one-in-a-million case that other workers hold all the records left: sharing a record beats waiting for ever.
        for _ in 0..1000 {
            if self.claim(extent) {
                break;
            }
            extent = self.extent();
        }
        let read = self.is_read(done);
        if read {
            common.issued_reads.fetch_add(1, Ordering::Relaxed);
        } else {
            common.dirty.store(1, Ordering::Relaxed);
        }
        common.issued.store(issued + 1, Ordering::Relaxed);
        common.taken.fetch_add(1, Ordering::Relaxed);
        Some(op(extent, read))
    }

    /// The sync of a series in which `left` files are left.
    fn sync_of(&self, left: u32) -> Op {
        self.common.series_left.store(left - 1, Ordering::Relaxed);
        if self.series.counted {
            self.common.taken.fetch_add(1, Ordering::Relaxed);
        }
        Op {
            kind: OpCode::Sync { data_only: self.series.data_only },
            file: self.files.count - left,
            offset: 0,
            bytes: 0,
            think_ns: 0,
        }
    }

    /// Marks the record as used by this worker, unless another worker uses it.
    fn claim(&self, extent: PooledRange) -> bool {
        if self.busy.is_empty() {
            return true;
        }
        let wanted = mark(self.files, extent.file, extent.offset);
        if self.busy.iter().any(|b| b.load(Ordering::Acquire) == wanted) {
            return false;
        }
        if let Some(place) = self.busy[self.own.clone()].iter().find(|b| b.load(Ordering::Relaxed) == 0) {
            place.store(wanted, Ordering::Release);
        }
        true
    }
}

/// Encoding of a position in `busy`.
fn mark(files: FileRegion, file: u32, offset: u64) -> u64 {
    u64::from(file) * files.file_bytes + offset + 1
}

fn op(extent: PooledRange, read: bool) -> Op {
    Op {
        kind: if read { OpCode::Read } else { OpCode::Write },
        file: extent.file,
        offset: extent.offset,
        bytes: extent.bytes,
        think_ns: 0,
    }
}

impl Source for PoolOps<'_> {
    #[inline]
    fn next(&mut self, done: &Done) -> Option<Op> {
        let next = if self.free {
            let extent = self.extent();
            let read = self.is_read(done);
            Some(op(extent, read))
        } else {
            let common = self.common;
            common.locked(|| self.decide(done))
        };
        self.drop_numbers();
        next
    }

    fn refill(&mut self, _drawn: Option<&Op>) {
        // The amount is shared by all workers, and the first one to start counting must not reset it for the others: a warm-up and a
        // common amount exclude each other (see `check`).
        if !self.shared {
            self.common.taken.store(0, Ordering::Relaxed);
        }
    }

    #[inline]
    fn completed(&mut self, op: &Op) {
        if self.shared && self.by_completions {
            match op.kind {
                OpCode::Read => self.common.completed.reads.fetch_add(1, Ordering::Relaxed),
                OpCode::Write => self.common.completed.writes.fetch_add(1, Ordering::Relaxed),
                OpCode::Sync { .. } | OpCode::Trim | OpCode::Evict => 0,
            };
        }
        if !self.busy.is_empty() && !matches!(op.kind, OpCode::Sync { .. }) {
            let done = mark(self.files, op.file, op.offset);
            let own = &self.busy[self.own.clone()];
            if let Some(place) = own.iter().find(|b| b.load(Ordering::Relaxed) == done) {
                place.store(0, Ordering::Release);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Scaled};

    fn stream(direction: Direction, access: Access, amount: Amount, series: Option<SyncSeries>) -> Stream {
        Stream {
            pick: crate::Pick::All,
            sequence: Sequence::Common,
            access,
            amount,
            sync_series: series,
            ..Stream::new("f", direction, Bytes(16384))
        }
    }

    /// One letter per operation, for a worker that completes each before it asks for the next.
    fn letters(stream: &Stream, files: FileRegion) -> String {
        let common = Common::default();
        let mut ops = PoolOps::new(stream, files, 1, Place::default(), &common, (&[], 0..0)).unwrap();
        let mut done = Done::default();
        std::iter::from_fn(|| {
            let op = ops.next(&done)?;
            ops.completed(&op);
            Some(match op.kind {
                OpCode::Read => {
                    done.reads += 1;
                    'R'
                }
                OpCode::Write => {
                    done.writes += 1;
                    'W'
                }
                OpCode::Trim | OpCode::Evict => 'T',
                OpCode::Sync { .. } => char::from_digit(op.file, 36).unwrap_or('?'),
            })
        })
        .take(100_000)
        .collect()
    }

    const MIX: Direction = Direction::Mix(Mix::ReadsPerWrite(1.5));
    /// Like MIX, by issued operations.
    const EXACT: Direction = Direction::Mix(Mix::ReadsPerWriteIssued(1.5));
    const COUNTED: SyncSeries = SyncSeries { requests: 100, data_only: false, at_end: false, counted: true };

    #[test]
    fn sysbench_of_today_counts_its_syncs() {
        let s = stream(MIX, Access::Scaled(Scaled::default()), Amount::Operations(320), Some(COUNTED));
        let seen = letters(&s, FileRegion { count: 4, file_bytes: 16 << 20 });
        let round = format!("{}0123", "RWRWR".repeat(20));
        assert_eq!(seen, format!("{round}{round}{round}RWRWRRWR"));
    }

    #[test]
    fn sysbench_of_2004_does_not_and_ends_with_a_series() {
        let series = SyncSeries { counted: false, at_end: true, ..COUNTED };
        let s = stream(EXACT, Access::Scaled(Scaled::default()), Amount::Operations(10_000), Some(series));
        let seen = letters(&s, FileRegion { count: 16, file_bytes: 1 << 20 });
        let count = |c: char| seen.chars().filter(|&s| s == c).count();
        assert_eq!((count('R'), count('W')), (6000, 4000));
        assert_eq!(seen.len() - 10_000, 100 * 16);
        assert!(seen.ends_with("0123456789abcdef"));
    }

    #[test]
    fn reads_are_never_followed_by_a_series() {
        let s = stream(Direction::Read, Access::Sequential, Amount::Operations(250), Some(COUNTED));
        assert_eq!(letters(&s, FileRegion { count: 2, file_bytes: 1 << 20 }), "R".repeat(250));
    }

    #[test]
    fn a_cursor_runs_over_all_files_and_wraps() {
        let s = stream(Direction::Write, Access::Sequential, Amount::Operations(5), None);
        let common = Common::default();
        let files = FileRegion { count: 2, file_bytes: 20_000 };
        let mut ops = PoolOps::new(&s, files, 1, Place::default(), &common, (&[], 0..0)).unwrap();
        let seen: Vec<_> =
            std::iter::from_fn(|| ops.next(&Done::default())).map(|o| (o.file, o.offset, o.bytes)).collect();
        assert_eq!(seen, [(0, 0, 16384), (0, 16384, 3616), (1, 0, 16384), (1, 16384, 3616), (0, 0, 16384)]);
    }

    /// `--rand-seed=7` on two files of 8 MiB, from strace.
    #[test]
    fn the_offsets_of_one_thread_are_sysbenchs_own() {
        let scaled = Access::Scaled(Scaled { libc_seed: Some(7), dropped: 1 });
        let s = stream(Direction::Read, scaled, Amount::Operations(3), None);
        let common = Common::default();
        let files = FileRegion { count: 2, file_bytes: 8 << 20 };
        let mut ops = PoolOps::new(&s, files, 1, Place::default(), &common, (&[], 0..0)).unwrap();
        let seen: Vec<_> =
            std::iter::from_fn(|| ops.next(&Done::default())).map(|o| (o.file, o.offset)).collect();
        assert_eq!(seen, [(1, 655_360), (0, 6_832_128), (0, 1_703_936)]);
    }

    #[test]
    fn no_two_workers_work_on_one_record() {
        let s = Stream {
            exclusive: true,
            ..stream(Direction::Write, Access::Scaled(Scaled::default()), Amount::Operations(64), None)
        };
        let files = FileRegion { count: 2, file_bytes: 2 * 16384 };
        let (common, busy) = (Common::default(), [const { AtomicU64::new(0) }; 4]);
        let worker = |n: u32| {
            let place = Place { worker: n, ..Place::default() };
            PoolOps::new(&s, files, 1, place, &common, (&busy, n as usize..n as usize + 1)).unwrap()
        };
        let mut workers: Vec<PoolOps> = (0..4).map(worker).collect();
        for _ in 0..16 {
            let held: Vec<Op> = workers.iter_mut().map(|w| w.next(&Done::default()).unwrap()).collect();
            let mut places: Vec<_> = held.iter().map(|o| (o.file, o.offset)).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), 4, "four workers hold the four records");
            workers.iter_mut().zip(&held).for_each(|(w, op)| w.completed(op));
        }
        assert!(workers[0].next(&Done::default()).is_none());
    }

    #[test]
    fn four_threads_take_an_amount_exactly() {
        let s = stream(MIX, Access::Scaled(Scaled::default()), Amount::Operations(5000), Some(COUNTED));
        let (files, common) = (FileRegion { count: 8, file_bytes: 1 << 20 }, Common::default());
        let s = Stream { direction: EXACT, ..s };
        let (taken, reads) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (s, common, taken, reads) = (&s, &common, &taken, &reads);
                scope.spawn(move || {
                    let place = Place { worker, ..Place::default() };
                    let mut ops = PoolOps::new(s, files, 1, place, common, (&[], 0..0)).unwrap();
                    while let Some(op) = ops.next(&Done::default()) {
                        ops.completed(&op);
                        taken.fetch_add(1, Ordering::Relaxed);
                        reads.fetch_add(u64::from(op.kind == OpCode::Read), Ordering::Relaxed);
                    }
                });
            }
        });
        // 46 times 100 and 8, and 32 more: 4632 reads and writes, with the same number of reads as with one thread.
        assert_eq!((taken.into_inner(), reads.into_inner()), (5000, 2779));
    }
}
