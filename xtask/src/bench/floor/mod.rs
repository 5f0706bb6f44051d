//! The physical floor: the least loop around a call. An xorshift offset, the call, a look at the clock every N operations;
//! nothing is recorded. What a program takes beyond this is its own cost. The loops run inside this process, each on a
//! thread tied to a CPU; [`passes`] are IOzone's tests for `bench iozone`.

pub mod aio;
pub mod passes;
pub mod set;
pub mod sync;
pub mod uring;

use super::pin;
use super::sample::{CpuTimeOf, Sample, cpu_ns};
use anyhow::{Result, anyhow};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::Instant;

/// What a loop works on and for how long.
#[derive(Clone)]
pub struct Target {
    pub path: PathBuf,
    pub file_bytes: u64,
    pub seconds: f64,
}

/// Operations done and the time they took.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    pub ops: u64,
    pub ns: f64,
}

/// A loop. It prepares, waits at the barrier, and works until the time is over.
pub type Loop = fn(&Target, &Barrier) -> Result<Done>;

/// Runs a loop on one thread, or on several at once on separate CPUs.
pub fn measure(work: Loop, target: &Target, threads: usize) -> Result<Sample> {
    measure_with(|start| work(target, start), threads)
}

/// Likewise with a loop that knows its own target.
pub fn measure_with(work: impl Fn(&Barrier) -> Result<Done> + Sync, threads: usize) -> Result<Sample> {
    let barrier = Barrier::new(threads);
    let cpu_before = cpu_ns(CpuTimeOf::Own);
    let done: Vec<Result<Done>> = std::thread::scope(|scope| {
        let run = |number: usize| {
            let (barrier, work) = (&barrier, &work);
            move || {
                pin::this_thread(if threads == 1 { pin::cpu() } else { number % pin::cpus() });
                work(barrier)
            }
        };
        let handles: Vec<_> = (0..threads).map(|number| scope.spawn(run(number))).collect();
        handles
            .into_iter()
            .map(|h| h.join().unwrap_or_else(|_| Err(anyhow!("the floor's loop panicked"))))
            .collect()
    });
    let done: Vec<Done> = done.into_iter().collect::<Result<_>>()?;
    let ops: u64 = done.iter().map(|d| d.ops).sum();
    let longest = done.iter().map(|d| d.ns).fold(0.0, f64::max);
    let cpu = cpu_ns(CpuTimeOf::Own) - cpu_before;
    Ok(Sample { wall_ns: longest / ops as f64, cpu_ns: Some(cpu / ops as f64) })
}

/// Random offsets that are multiples of the record size.
struct Offsets {
    state: u64,
    records: u64,
    record_bytes: u64,
}

impl Offsets {
    fn of(target: &Target, record_bytes: usize) -> Self {
        let record_bytes = record_bytes as u64;
        Self { state: 0x9e37_79b9_7f4a_7c15, records: target.file_bytes / record_bytes, record_bytes }
    }

    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        ((u128::from(self.state) * u128::from(self.records)) >> 64) as u64 * self.record_bytes
    }
}

/// Waits for the others and repeats a batch of operations until the time is over. The batch says how many it did.
fn timed(target: &Target, start: &Barrier, mut batch: impl FnMut() -> Result<u64>) -> Result<Done> {
    start.wait();
    let start = Instant::now();
    let mut ops = 0;
    loop {
        ops += batch()?;
        let elapsed = start.elapsed();
        if elapsed.as_secs_f64() >= target.seconds {
            return Ok(Done { ops, ns: elapsed.as_nanos() as f64 });
        }
    }
}

/// Page-aligned memory of a size, as direct I/O asks.
struct Pages(Vec<Page>);

#[derive(Clone)]
#[repr(align(4096))]
struct Page([u8; 4096]);

impl Pages {
    /// Filled with a byte that is not zero, so that real, private pages are allocated.
    fn new(bytes: usize) -> Self {
        Self(vec![Page([0x5a; 4096]); bytes.div_ceil(4096)])
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: pages are plain bytes without gaps, borrowed mutably as long as the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), self.0.len() * 4096) }
    }
}

/// Opens for reading, or for both.
fn open(path: &Path, write: bool, direct: bool) -> Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = if direct { libc::O_DIRECT } else { 0 };
    Ok(std::fs::File::options().read(true).write(write).custom_flags(flags).open(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of four pages and a time that is over at once.
    fn with_target(test: impl FnOnce(Target)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("floor");
        std::fs::write(&path, vec![1u8; 4 << 20]).unwrap();
        test(Target { path, file_bytes: 4 << 20, seconds: 0.001 });
    }

    #[test]
    fn offsets_lie_inside_the_file() {
        let mut offsets = Offsets { state: 1, records: 7, record_bytes: 4096 };
        assert!((0..1000).all(|_| offsets.next() <= 6 * 4096));
    }

    #[test]
    fn every_loop_with_plain_calls_gives_a_figure() {
        let loops: [Loop; 8] = [
            sync::null,
            sync::pread,
            sync::sequential_read,
            sync::pwrite,
            sync::mmap,
            sync::read_mib,
            sync::write_mib,
            sync::write_and_fsync,
        ];
        with_target(|target| {
            for (number, work) in loops.into_iter().enumerate() {
                let sample = measure(work, &target, 1).unwrap();
                assert!(sample.wall_ns > 0.0, "loop {number}: {sample:?}");
            }
            let two = measure(sync::null, &target, 2).unwrap();
            assert!(two.wall_ns > 0.0);
        });
    }

    #[test]
    fn asynchronous_loops_give_a_figure_or_say_what_the_kernel_lacks() {
        with_target(|target| {
            for work in [uring::cached_32 as Loop, aio::direct_32] {
                match measure(work, &target, 1) {
                    Ok(sample) => assert!(sample.wall_ns > 0.0),
                    // A container may forbid the call, and a file system in memory has no O_DIRECT.
                    Err(error) => assert!(error.downcast_ref::<std::io::Error>().is_some(), "{error:#}"),
                }
            }
        });
    }
}
