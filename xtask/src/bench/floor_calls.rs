//! The physical floor for random reads: the least loop around each call. An xorshift offset, the call, a look at the clock every 256
//! operations; nothing is recorded. Each gives nanoseconds per operation.

use anyhow::{Context as _, Result};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Instant;

const RECORD: usize = 4096;

/// Page-aligned memory.
#[repr(align(4096))]
struct Page([u8; RECORD]);

struct Offsets {
    state: u64,
    records: u64,
}

impl Offsets {
    fn of(path: &Path) -> Result<Self> {
        let records = path.metadata().context("the floor's file")?.len() / RECORD as u64;
        Ok(Self { state: 0x9e37_79b9_7f4a_7c15, records })
    }

    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        ((u128::from(self.state) * u128::from(self.records)) >> 64) as u64 * RECORD as u64
    }
}

/// Runs the loop pinned to CPU 1, as the others are, until the time is over.
fn timed(seconds: f64, mut batch: impl FnMut() -> Result<u64>) -> Result<f64> {
    pin();
    let start = Instant::now();
    let mut ops = 0;
    while start.elapsed().as_secs_f64() < seconds {
        ops += batch()?;
    }
    let ns = start.elapsed().as_nanos() as f64 / ops as f64;
    unpin();
    Ok(ns)
}

fn set_affinity(cpus: &[usize]) {
    // SAFETY: a zeroed set is valid; the call reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus {
            libc::CPU_SET(cpu, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

fn pin() {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    set_affinity(&[1 % cpus]);
}

fn unpin() {
    set_affinity(&(0..1024).collect::<Vec<_>>());
}

/// The generator and two readings of the clock, which is what null needs at least.
pub fn null(path: &Path, seconds: f64) -> Result<f64> {
    let mut offsets = Offsets::of(path)?;
    timed(seconds, || {
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
fn ticks() -> Instant {
    Instant::now()
}

pub fn pread(path: &Path, seconds: f64) -> Result<f64> {
    let file = File::open(path)?;
    let mut offsets = Offsets::of(path)?;
    let mut page = Box::new(Page([0; RECORD]));
    timed(seconds, || {
        for _ in 0..256 {
            file.read_exact_at(&mut page.0, offsets.next())?;
        }
        Ok(256)
    })
}

pub fn mmap(path: &Path, seconds: f64) -> Result<f64> {
    let file = File::open(path)?;
    let length = file.metadata()?.len() as usize;
    // SAFETY: a new private read-only mapping of a file that nobody shortens while the bench runs.
    let base = unsafe {
        libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
    };
    anyhow::ensure!(
        base != libc::MAP_FAILED,
        "the file cannot be mapped: {}",
        std::io::Error::last_os_error()
    );
    let mut offsets = Offsets::of(path)?;
    let mut page = Box::new(Page([0; RECORD]));
    let ns = timed(seconds, || {
        for _ in 0..256 {
            let from = base.cast::<u8>().wrapping_add(offsets.next() as usize);
            // SAFETY: offsets lie inside the mapping by construction.
            unsafe { std::ptr::copy_nonoverlapping(from, page.0.as_mut_ptr(), RECORD) };
            std::hint::black_box(&page.0);
        }
        Ok(256)
    });
    // SAFETY: mapped above with this length and not used again.
    unsafe { libc::munmap(base, length) };
    ns
}

pub fn uring_cached_32(path: &Path, seconds: f64) -> Result<f64> {
    uring(path, seconds, 32, false)
}

pub fn uring_direct_1(path: &Path, seconds: f64) -> Result<f64> {
    uring(path, seconds, 1, true)
}

pub fn uring_direct_32(path: &Path, seconds: f64) -> Result<f64> {
    uring(path, seconds, 32, true)
}

/// A tuned ring: registered file and buffers, deferred task work, all free entries in one call.
fn uring(path: &Path, seconds: f64, depth: u32, direct: bool) -> Result<f64> {
    pin();
    let flags = if direct { libc::O_DIRECT } else { 0 };
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let mut ring = IoUring::<squeue::Entry, cqueue::Entry>::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .build(depth.max(2))?;
    let mut pages: Vec<Page> = (0..depth).map(|_| Page([0; RECORD])).collect();
    let vectors: Vec<libc::iovec> = pages
        .iter_mut()
        .map(|p| libc::iovec { iov_base: p.0.as_mut_ptr().cast(), iov_len: RECORD })
        .collect();
    ring.submitter().register_files(&[file.as_raw_fd()])?;
    // SAFETY: the pages live until the ring is dropped below.
    unsafe { ring.submitter().register_buffers(&vectors)? };
    let mut offsets = Offsets::of(path)?;
    let mut queue = |ring: &mut IoUring<squeue::Entry, cqueue::Entry>, slot: u32| {
        let page = vectors[slot as usize].iov_base.cast();
        let entry = opcode::ReadFixed::new(types::Fixed(0), page, RECORD as u32, slot as u16)
            .offset(offsets.next())
            .build()
            .user_data(u64::from(slot));
        // SAFETY: the page stays valid and belongs to this slot alone; the ring has room for every slot.
        unsafe { ring.submission().push(&entry) }
    };
    for slot in 0..depth {
        queue(&mut ring, slot)?;
    }
    let mut done = Vec::with_capacity(depth as usize);
    let ns = timed(seconds, || {
        let mut ops = 0;
        while ops < 256 {
            ring.submit_and_wait(1)?;
            done.extend(ring.completion().map(|c| c.user_data() as u32));
            ops += done.len() as u64;
            for slot in done.drain(..) {
                queue(&mut ring, slot)?;
            }
        }
        Ok(ops)
    });
    drop(ring);
    drop(pages);
    ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lie_inside_the_file() {
        let mut offsets = Offsets { state: 1, records: 7 };
        assert!((0..1000).all(|_| offsets.next() <= 6 * RECORD as u64));
    }
}
