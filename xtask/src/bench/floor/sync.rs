//! Floor loops around calls that answer at once: pread, pwrite, read, write, a copy out of a mapping, write and fsync, and no call
//! at all. Buffers hold the same bytes throughout.

use super::{Done, Offsets, Pages, Target, open, timed};
use anyhow::{Result, ensure};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::sync::Barrier;

const RECORD: usize = 4096;
const MIB: usize = 1 << 20;

/// The generator and two readings of the clock, which is what null needs at least.
pub fn null(target: &Target, start: &Barrier) -> Result<Done> {
    let mut offsets = Offsets::of(target, RECORD);
    timed(target, start, || {
        for _ in 0..256 {
            std::hint::black_box(offsets.next());
            std::hint::black_box((ticks(), ticks()));
        }
        Ok(256)
    })
}

#[cfg(target_arch = "x86_64")]
fn ticks() -> u64 {
    // SAFETY: rdtsc reads a counter and touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> std::time::Instant {
    std::time::Instant::now()
}

pub fn pread(target: &Target, start: &Barrier) -> Result<Done> {
    let file = open(&target.path, false, false)?;
    let mut offsets = Offsets::of(target, RECORD);
    let mut pages = Pages::new(RECORD);
    let buffer = pages.as_mut_slice();
    timed(target, start, || {
        for _ in 0..256 {
            file.read_exact_at(buffer, offsets.next())?;
        }
        Ok(256)
    })
}

/// With the two clock readings per operation that any measurement of latency needs.
pub fn pread_clocked(target: &Target, start: &Barrier) -> Result<Done> {
    let file = open(&target.path, false, false)?;
    let mut offsets = Offsets::of(target, RECORD);
    let mut pages = Pages::new(RECORD);
    let buffer = pages.as_mut_slice();
    timed(target, start, || {
        for _ in 0..256 {
            std::hint::black_box(ticks());
            file.read_exact_at(buffer, offsets.next())?;
            std::hint::black_box(ticks());
        }
        Ok(256)
    })
}

/// Likewise in ascending order.
pub fn sequential_read_clocked(target: &Target, start: &Barrier) -> Result<Done> {
    let file = open(&target.path, false, false)?;
    let mut pages = Pages::new(RECORD);
    let buffer = pages.as_mut_slice();
    let end = target.file_bytes / RECORD as u64 * RECORD as u64;
    let mut offset = 0;
    timed(target, start, || {
        for _ in 0..256 {
            std::hint::black_box(ticks());
            file.read_exact_at(buffer, offset)?;
            std::hint::black_box(ticks());
            offset = if offset + RECORD as u64 == end { 0 } else { offset + RECORD as u64 };
        }
        Ok(256)
    })
}

pub fn pwrite(target: &Target, start: &Barrier) -> Result<Done> {
    let file = open(&target.path, true, false)?;
    let mut offsets = Offsets::of(target, RECORD);
    let mut pages = Pages::new(RECORD);
    let buffer = pages.as_mut_slice();
    timed(target, start, || {
        for _ in 0..256 {
            file.write_all_at(buffer, offsets.next())?;
        }
        Ok(256)
    })
}

/// A write and an fsync count as one operation.
pub fn write_and_fsync(target: &Target, start: &Barrier) -> Result<Done> {
    let file = open(&target.path, true, false)?;
    let mut offsets = Offsets::of(target, RECORD);
    let mut pages = Pages::new(RECORD);
    let buffer = pages.as_mut_slice();
    timed(target, start, || {
        file.write_all_at(buffer, offsets.next())?;
        file.sync_all()?;
        Ok(1)
    })
}

pub fn sequential_read(target: &Target, start: &Barrier) -> Result<Done> {
    in_order(target, start, RECORD, false)
}

pub fn read_mib(target: &Target, start: &Barrier) -> Result<Done> {
    in_order(target, start, MIB, false)
}

pub fn write_mib(target: &Target, start: &Barrier) -> Result<Done> {
    in_order(target, start, MIB, true)
}

/// From the first record to the last and again from the first.
fn in_order(target: &Target, start: &Barrier, record_bytes: usize, write: bool) -> Result<Done> {
    let file = open(&target.path, write, false)?;
    let mut pages = Pages::new(record_bytes);
    let buffer = pages.as_mut_slice();
    let end = target.file_bytes / record_bytes as u64 * record_bytes as u64;
    let mut offset = 0;
    let batch = if record_bytes > RECORD { 8 } else { 256 };
    timed(target, start, || {
        for _ in 0..batch {
            if write {
                file.write_all_at(buffer, offset)?;
            } else {
                file.read_exact_at(buffer, offset)?;
            }
            offset += record_bytes as u64;
            if offset == end {
                offset = 0;
            }
        }
        Ok(batch)
    })
}

pub fn mmap(target: &Target, start: &Barrier) -> Result<Done> {
    let file = open(&target.path, false, false)?;
    let length = target.file_bytes as usize;
    // SAFETY: a new private read-only mapping of a file that nobody shortens while the bench runs.
    let base = unsafe {
        libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
    };
    ensure!(base != libc::MAP_FAILED, "the file cannot be mapped: {}", std::io::Error::last_os_error());
    let mut offsets = Offsets::of(target, RECORD);
    let mut pages = Pages::new(RECORD);
    let done = timed(target, start, || {
        for _ in 0..256 {
            let from = base.cast::<u8>().wrapping_add(offsets.next() as usize);
            // SAFETY: offsets lie inside the mapping by construction, and the page is separate memory.
            unsafe { std::ptr::copy_nonoverlapping(from, pages.as_mut_ptr(), RECORD) };
            std::hint::black_box(&pages.0);
        }
        Ok(256)
    });
    // SAFETY: mapped above with this length and not used again.
    unsafe { libc::munmap(base, length) };
    done
}
