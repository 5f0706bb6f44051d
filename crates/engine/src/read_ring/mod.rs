//! Reads of one file through io_uring for callers without a workload. Any number of threads submit rounds of reads; a ring with
//! registered buffers keeps as many of them in flight as it has buffers, and passes the bytes to each round as they arrive. No
//! caller memory is ever passed to the kernel, so this is safe to use and needs no runtime; the unsafe code is in [`ring`].
//!
//! A round is submitted in order, as far as buffers are free. Of the waiting threads, one waits in the kernel for all.

mod ring;
mod round;

use ring::{Desk, Ring, Slot};
use rustix::fd::OwnedFd;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum memory for the buffers of a ring: half of what most systems let any user lock (8 MiB).
const MEMORY: usize = 4 << 20;
/// Buffer sizes are multiples of this: the machine's page size and any device's sector size.
const PAGE: usize = 4096;
/// Maximum number of reads in flight.
pub const MOST_DEPTH: u16 = 1024;
/// Number of retries when the kernel cannot take a read.
const TRIES: u32 = 1000;

/// Parameters of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Maximum number of reads in flight, from 1 to [`MOST_DEPTH`].
    pub depth: u16,
    /// The longest expected read. Longer ones, and those that exceed the buffer memory, are split.
    pub longest: usize,
    /// Required alignment of offsets and lengths: 1, or for a file opened with O_DIRECT a power of two up to a page. Unaligned
    /// reads include some bytes around them.
    pub unit: usize,
}

impl Geometry {
    /// Bytes of each buffer.
    fn slot_bytes(&self) -> usize {
        // The bytes around an unaligned read.
        let longest = if self.unit > 1 { self.longest.saturating_add(2 * PAGE) } else { self.longest };
        let share = MEMORY / usize::from(self.depth.max(1)) / PAGE * PAGE;
        longest.min(MEMORY).next_multiple_of(PAGE).min(share).max(PAGE)
    }
}

/// One read of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: usize,
}

/// Progress of a round.
#[derive(Debug)]
pub enum Event<'b> {
    /// Bytes have arrived.
    Bytes {
        /// Index of the read in the round.
        read: usize,
        /// Offset of these bytes within the read.
        at: usize,
        /// The data.
        bytes: &'b [u8],
    },
    /// A read is over; reported exactly once per read.
    Over {
        /// Index of the read in the round.
        read: usize,
        /// Number of valid bytes from its beginning; bytes reported beyond that do not count.
        got: usize,
        /// Why it is incomplete; `None` at the end of the file.
        error: Option<io::Error>,
    },
}

/// Statistics of a ring so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCounts {
    /// Number of submission calls.
    pub submissions: u64,
    /// Number of submitted reads.
    pub reads: u64,
    /// The number of those that continue a short read or retry one.
    pub again: u64,
    /// Maximum number in flight.
    pub deepest: u32,
}

/// State shared by all threads, behind the lock.
#[derive(Debug)]
struct Inside {
    desk: Desk,
    free: Vec<Slot>,
    /// A thread is waiting in the kernel: it alone takes completions, or it might wait for one that is gone.
    waiting: bool,
    /// The error when the kernel took no more reads at all. Slots not returned by then are never reused.
    broken: Option<i32>,
    counts: RingCounts,
}

/// A file that is read through a ring. See the module.
#[derive(Debug)]
pub struct ReadRing {
    ring: Ring,
    inside: Mutex<Inside>,
    /// A completion has arrived, or a slot is free.
    came: Condvar,
    geometry: Geometry,
}

impl ReadRing {
    /// Creates a ring for an open file.
    ///
    /// # Errors
    /// A sentence: why there is no such ring here, and what helps.
    pub fn new(file: OwnedFd, geometry: Geometry) -> Result<Self, String> {
        let Geometry { depth, unit, .. } = geometry;
        if !(1..=MOST_DEPTH).contains(&depth) || !unit.is_power_of_two() || unit > PAGE {
            return Err(format!("no ring has {depth} buffers for reads in units of {unit} bytes"));
        }
        let (ring, desk, free) = Ring::new(file, depth, geometry.slot_bytes())?;
        let inside = Inside { desk, free, waiting: false, broken: None, counts: RingCounts::default() };
        Ok(Self { ring, inside: Mutex::new(inside), came: Condvar::new(), geometry })
    }

    /// The parameters it was created with.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Bytes of each buffer, that is, the longest single read of the kernel.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.ring.slot_bytes()
    }

    /// The statistics so far.
    #[must_use]
    pub fn counts(&self) -> RingCounts {
        self.lock().counts
    }

    /// Executes several reads at once and reports their bytes as they arrive, in any order. Returns when all are over.
    pub fn round(&self, wanted: &[Wanted], report: &mut dyn FnMut(Event<'_>)) {
        round::Round::new(self, wanted).run(report);
    }

    /// One read into the caller's memory. Returns the number of bytes from the first on, and the error unless the file ended.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> (usize, Option<io::Error>) {
        let mut came = (0, None);
        let bytes = into.len();
        self.round(&[Wanted { offset, bytes }], &mut |event| match event {
            Event::Bytes { at, bytes, .. } => {
                if let Some(place) = into.get_mut(at..at + bytes.len()) {
                    place.copy_from_slice(bytes);
                }
            }
            Event::Over { got, error, .. } => came = (got, error),
        });
        came
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submits the queued reads. Those that the kernel cannot take now are retried.
    fn submit(&self, inside: &mut Inside) {
        let mut tries = 0;
        while let Err(error) = self.ring.submit(&mut inside.desk) {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            match errno {
                libc::EINTR => {}
                libc::EAGAIN | libc::EBUSY | libc::ENOMEM if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(Duration::from_millis(1));
                }
                _ => {
                    inside.broken = Some(errno);
                    self.came.notify_all();
                    break;
                }
            }
            // It may be full because no completions were taken.
            if !inside.waiting && self.ring.reap(&mut inside.desk) > 0 {
                self.came.notify_all();
            }
        }
        inside.counts.submissions += 1;
        let deepest = u32::try_from(inside.desk.in_flight()).unwrap_or(u32::MAX);
        inside.counts.deepest = inside.counts.deepest.max(deepest);
    }

    /// Waits until something may have changed: a read has completed, or a slot is free.
    fn settle<'a>(&'a self, mut inside: MutexGuard<'a, Inside>) -> MutexGuard<'a, Inside> {
        if inside.broken.is_some() {
            return inside;
        }
        if !inside.waiting && self.ring.reap(&mut inside.desk) > 0 {
            self.came.notify_all();
            return inside;
        }
        // With nothing in flight, another thread holds a slot and will signal when it returns it.
        if inside.waiting || inside.desk.in_flight() == 0 {
            return self.came.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        inside.waiting = true;
        drop(inside);
        let waited = self.ring.wait();
        let mut inside = self.lock();
        inside.waiting = false;
        if let Err(error) = waited {
            match error.raw_os_error().unwrap_or(libc::EIO) {
                libc::EINTR | libc::EAGAIN | libc::EBUSY | libc::ENOMEM => {}
                errno => inside.broken = Some(errno),
            }
        }
        self.ring.reap(&mut inside.desk);
        self.came.notify_all();
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_whole_pages_and_together_no_more_than_may_be_locked() {
        let bytes = |depth, longest, unit| Geometry { depth, longest, unit }.slot_bytes();
        assert_eq!((bytes(1, 1 << 20, 1), bytes(32, 1 << 20, 1)), (1 << 20, 128 << 10));
        assert_eq!(bytes(1, 1 << 20, 512), (1 << 20) + 2 * PAGE, "with what is read around it");
        assert_eq!((bytes(1, 0, 1), bytes(8, 5000, 1), bytes(1, usize::MAX, 4096)), (PAGE, 2 * PAGE, MEMORY));
        for depth in 1..=MOST_DEPTH {
            let bytes = bytes(depth, 1 << 20, 1);
            assert!(bytes % PAGE == 0 && bytes >= PAGE && bytes * usize::from(depth) <= MEMORY, "{depth}");
        }
    }
}
