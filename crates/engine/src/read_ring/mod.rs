//! Reads of one file through io_uring for those who read without a workload: any number of threads hand over rounds of reads, a ring with
//! registered buffers keeps as many of them with the kernel as it has buffers for, and each round is told of its bytes as they come. Nothing
//! of the caller's is ever lent to the kernel, so this is safe to use and needs no runtime; what is unsafe is in [`ring`].
//!
//! A round goes to the kernel in the order it was given in, as much of it at a time as there is room. Of the threads that wait one waits
//! in the kernel, for all.

mod ring;
mod round;

use ring::{Desk, Ring, Slot};
use rustix::fd::OwnedFd;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Memory that the buffers of a ring take together at most: half of what most systems let anybody lock (8 MiB).
const MEMORY: usize = 4 << 20;
/// What buffers are multiples of: the pages of the machine, and the sectors of any device.
const PAGE: usize = 4096;
/// Reads with the kernel at once, at most.
pub const MOST_DEPTH: u16 = 1024;
/// Times that the kernel is asked again which has no room to take a read.
const TRIES: u32 = 1000;

/// How a ring is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Most reads with the kernel at once, from 1 to [`MOST_DEPTH`].
    pub depth: u16,
    /// The longest read that is expected. Longer ones, and those that the memory has no buffers for, go in parts.
    pub longest: usize,
    /// What the file wants offsets and lengths to be multiples of: 1, or for a file opened with O_DIRECT a power of two up to a page.
    /// Reads of other places take some bytes around them.
    pub unit: usize,
}

impl Geometry {
    /// Bytes of each buffer.
    fn slot_bytes(&self) -> usize {
        // What is read around a read that is not aligned.
        let longest = if self.unit > 1 { self.longest.saturating_add(2 * PAGE) } else { self.longest };
        let share = MEMORY / usize::from(self.depth.max(1)) / PAGE * PAGE;
        longest.min(MEMORY).next_multiple_of(PAGE).min(share).max(PAGE)
    }
}

/// What one read of a round asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// First byte in the file.
    pub offset: u64,
    /// How many.
    pub bytes: usize,
}

/// What a round is told.
#[derive(Debug)]
pub enum Event<'b> {
    /// Bytes that came.
    Bytes {
        /// Number of the read in the round.
        read: usize,
        /// Which of its bytes is the first of these.
        at: usize,
        /// They themselves.
        bytes: &'b [u8],
    },
    /// A read is over. Each is, once.
    Over {
        /// Number of the read in the round.
        read: usize,
        /// Its first so many bytes came; what was told of others behind them does not count.
        got: usize,
        /// Why not more; nothing where the file ends.
        error: Option<io::Error>,
    },
}

/// What a ring did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCounts {
    /// Times that reads were handed to the kernel.
    pub submissions: u64,
    /// Reads that were handed over.
    pub reads: u64,
    /// Of these, what was left of a read that came short, or one that was to be tried again.
    pub again: u64,
    /// Most of them with the kernel at once.
    pub deepest: u32,
}

/// What all threads share, behind the lock.
#[derive(Debug)]
struct Inside {
    desk: Desk,
    free: Vec<Slot>,
    /// Somebody waits in the kernel: he alone takes what comes, or he would wait for something that is gone.
    waiting: bool,
    /// What the kernel said when it took no more reads at all. Slots that it has not given back by then are never used again.
    broken: Option<i32>,
    counts: RingCounts,
}

/// A file that is read through a ring. See the module.
#[derive(Debug)]
pub struct ReadRing {
    ring: Ring,
    inside: Mutex<Inside>,
    /// Something has come back, or a slot is free.
    came: Condvar,
    geometry: Geometry,
}

impl ReadRing {
    /// A ring for an open file.
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

    /// How it was asked for.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Bytes of each buffer: of the longest read that the kernel is asked for.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.ring.slot_bytes()
    }

    /// What it did so far.
    #[must_use]
    pub fn counts(&self) -> RingCounts {
        self.lock().counts
    }

    /// Carries out several reads at once and tells of their bytes as they come, in any order. Returns when all are over.
    pub fn round(&self, wanted: &[Wanted], tell: &mut dyn FnMut(Event<'_>)) {
        round::Round::new(self, wanted).run(tell);
    }

    /// One read, into memory of the caller's: how many bytes came from the first on, and why not more if it was not the end.
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

    /// Gives the kernel what was queued. What it has no room for now it is asked to take again.
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
            // It may have no room because nobody takes what it has done.
            if !inside.waiting && self.ring.reap(&mut inside.desk) > 0 {
                self.came.notify_all();
            }
        }
        inside.counts.submissions += 1;
        let deepest = u32::try_from(inside.desk.in_flight()).unwrap_or(u32::MAX);
        inside.counts.deepest = inside.counts.deepest.max(deepest);
    }

    /// Lets time pass until something may have changed: a read has come back, a slot is free.
    fn settle<'a>(&'a self, mut inside: MutexGuard<'a, Inside>) -> MutexGuard<'a, Inside> {
        if inside.broken.is_some() {
            return inside;
        }
        if !inside.waiting && self.ring.reap(&mut inside.desk) > 0 {
            self.came.notify_all();
            return inside;
        }
        // With nothing in flight a slot is in somebody's hands, who says when he lays it down.
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
