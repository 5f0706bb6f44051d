//! Decompresses blocks in parallel. The caller takes one block after the other; helpers on free processors take some of them. A helper
//! that gets no processor in time costs nothing: blocks it has not begun are done without it.

use crate::format::codec::Codec;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How long a helper stays without work.
const STAYS: Duration = Duration::from_secs(1);

/// A block to be decompressed.
#[derive(Debug)]
pub(crate) struct UnpackJob {
    pub(crate) packed: Vec<u8>,
    pub(crate) bytes: usize,
}

/// The blocks of one read.
struct Batch {
    jobs: Vec<UnpackJob>,
    codec: Codec,
    /// Index of the next block not taken.
    next: AtomicUsize,
    done: Mutex<Done>,
    all: Condvar,
}

struct Done {
    unpacked: Vec<Option<Vec<u8>>>,
    left: usize,
}

impl Batch {
    fn new(jobs: Vec<UnpackJob>, codec: Codec) -> Self {
        let left = jobs.len();
        let done = Mutex::new(Done { unpacked: vec![None; left], left });
        Self { jobs, codec, next: AtomicUsize::new(0), done, all: Condvar::new() }
    }

    /// Takes one block after the other until none is left.
    fn work(&self) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(at) else { return };
            // A panicking decoder in a helper must not block the read: reading that block alone panics again in its caller.
            let unpack = AssertUnwindSafe(|| self.codec.unpack(&job.packed, job.bytes).ok());
            let unpacked = catch_unwind(unpack).ok().flatten();
            let mut done = lock(&self.done);
            if let Some(place) = done.unpacked.get_mut(at) {
                *place = unpacked;
            }
            done.left -= 1;
            if done.left == 0 {
                self.all.notify_all();
            }
        }
    }

    /// Waits for all blocks and returns them.
    fn finish(&self) -> Vec<Option<Vec<u8>>> {
        let done = self.all.wait_while(lock(&self.done), |done| done.left > 0);
        std::mem::take(&mut done.unwrap_or_else(PoisonError::into_inner).unpacked)
    }
}

/// The helpers of this process, and their work.
struct Pool {
    wanted: VecDeque<Arc<Batch>>,
    helpers: usize,
    idle: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { wanted: VecDeque::new(), helpers: 0, idle: 0 });
static WORK: Condvar = Condvar::new();
/// Number of reads that are decompressing.
static READS: AtomicUsize = AtomicUsize::new(0);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Decompresses blocks on the processors that other reads leave free, including the caller's own.
pub(crate) fn unpack(jobs: Vec<UnpackJob>, codec: Codec) -> Vec<Option<Vec<u8>>> {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    let processors = *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    let reads = READS.fetch_add(1, Ordering::Relaxed) + 1;
    let helpers = processors.saturating_sub(reads).min(jobs.len().saturating_sub(1));
    let unpacked = unpack_with(helpers, processors, jobs, codec);
    READS.fetch_sub(1, Ordering::Relaxed);
    unpacked
}

fn unpack_with(helpers: usize, most: usize, jobs: Vec<UnpackJob>, codec: Codec) -> Vec<Option<Vec<u8>>> {
    let batch = Arc::new(Batch::new(jobs, codec));
    if helpers > 0 {
        ask(&batch, helpers, most);
    }
    batch.work();
    if helpers > 0 {
        lock(&POOL).wanted.retain(|other| !Arc::ptr_eq(other, &batch));
    }
    batch.finish()
}

/// Requests helpers; starts new ones only if none is idle.
fn ask(batch: &Arc<Batch>, helpers: usize, most: usize) {
    let mut pool = lock(&POOL);
    for nth in 0..helpers {
        pool.wanted.push_back(Arc::clone(batch));
        if nth < pool.idle {
            WORK.notify_one();
        } else if pool.helpers + 1 < most
            && std::thread::Builder::new().name("unpack".into()).spawn(help).is_ok()
        {
            pool.helpers += 1;
        }
    }
}

/// Main loop of a helper.
fn help() {
    let mut pool = lock(&POOL);
    loop {
        if let Some(batch) = pool.wanted.pop_front() {
            drop(pool);
            batch.work();
            pool = lock(&POOL);
            continue;
        }
        pool.idle += 1;
        let waited = WORK.wait_timeout(pool, STAYS);
        let (again, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        pool = again;
        pool.idle -= 1;
        if waited.timed_out() && pool.wanted.is_empty() {
            pool.helpers -= 1;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn job(n: u8) -> UnpackJob {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&vec![n; 32 << 10]).unwrap();
        UnpackJob { packed: encoder.finish().unwrap(), bytes: 32 << 10 }
    }

    #[test]
    fn blocks_come_in_their_order_whoever_did_them() {
        for helpers in [0, 1, 3] {
            let readers: Vec<_> = (0..4_u8)
                .map(|reader| {
                    std::thread::spawn(move || {
                        for round in 0..20_u8 {
                            let first = reader.wrapping_mul(50) + round;
                            let mut jobs: Vec<UnpackJob> = (0..8).map(|n| job(first + n)).collect();
                            jobs[3].packed.truncate(9); // damaged: left out, the others are decompressed
                            let got = unpack_with(helpers, 4, jobs, Codec::Zlib);
                            for (n, block) in (0..8_u8).zip(got) {
                                assert_eq!(block, (n != 3).then(|| vec![first + n; 32 << 10]));
                            }
                        }
                    })
                })
                .collect();
            readers.into_iter().for_each(|reader| reader.join().unwrap());
        }
        let pool = lock(&POOL);
        assert!(pool.helpers < 4 && pool.wanted.is_empty());
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        assert!(unpack(Vec::new(), Codec::Zlib).is_empty());
        assert_eq!(unpack(vec![job(1)], Codec::Zlib), [Some(vec![1; 32 << 10])]);
    }
}
