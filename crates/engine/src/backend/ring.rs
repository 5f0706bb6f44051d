//! The ring that a worker shares with the kernel, with its registered files and buffers. The entries are 64 or 128 bytes, the
//! completions 16 or 32: NVMe commands need the larger ones.

use crate::contents::Contents;
use crate::fault::{FailedCall, Fault};
use fathom_workload::Uring as Options;
use io_uring::{IoUring, cqueue, squeue, types};
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::io::Errno;

/// How long the kernel's submission thread (SQPOLL) stays awake without work, ms.
pub(super) const POLL_IDLE_MS: u32 = 50;

/// A ring with its registrations. Both are unregistered before the ring is closed: the kernel dismantles a ring asynchronously,
/// some time after its descriptor is closed, and would keep the file and the buffer pages until then. A removed file would still
/// occupy space in its file system when the next phase writes.
pub(super) struct WorkerRing<S: squeue::EntryMarker, C: cqueue::EntryMarker> {
    ring: IoUring<S, C>,
    files: bool,
    buffers: bool,
    /// Why an entry could not be queued.
    lost: Option<Fault>,
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Drop for WorkerRing<S, C> {
    fn drop(&mut self) {
        // If refused, the kernel's worker unregisters them later.
        if self.buffers {
            let _ = self.ring.submitter().unregister_buffers();
        }
        if self.files {
            let _ = self.ring.submitter().unregister_files();
        }
    }
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> WorkerRing<S, C> {
    /// A ring for `depth` operations in flight on these files, set up as the options say.
    pub fn open(options: &Options, depth: u32, files: &[OwnedFd]) -> Result<Self, Fault> {
        let mut builder = IoUring::<S, C>::builder();
        builder.setup_clamp();
        if options.submission_polling {
            // The polling kernel thread runs the task work itself, which excludes deferring it to us.
            builder.setup_sqpoll(POLL_IDLE_MS);
            if let Some(cpu) = options.submission_cpu {
                builder.setup_sqpoll_cpu(cpu);
            }
        } else if options.deferred {
            builder.setup_single_issuer().setup_coop_taskrun().setup_defer_taskrun();
        }
        if options.completion_polling {
            builder.setup_iopoll();
        }
        let entries = depth.next_power_of_two().max(2);
        let mut ring = Self::of(builder.build(entries).map_err(|e| setup_fault(&e))?);
        if options.registered_file {
            let raw: Vec<_> = files.iter().map(|f| f.as_raw_fd()).collect();
            ring.ring.submitter().register_files(&raw).map_err(|e| setup_fault(&e))?;
            ring.files = true;
        }
        Ok(ring)
    }

    /// A ring with nothing registered and space for `entries` operations in flight.
    pub fn plain(entries: u32) -> Result<Self, Fault> {
        let mut builder = IoUring::<S, C>::builder();
        builder.setup_clamp();
        Ok(Self::of(builder.build(entries).map_err(|e| setup_fault(&e))?))
    }

    pub(super) fn of(ring: IoUring<S, C>) -> Self {
        Self { ring, files: false, buffers: false, lost: None }
    }

    /// Registers a worker's buffers if `wanted`, or if the locked-memory limit allows it for `alike` workers.
    pub fn register(
        &mut self,
        memory: &mut [Contents],
        wanted: Option<bool>,
        alike: u64,
    ) -> Result<(), Fault> {
        if wanted == Some(false) {
            return Ok(());
        }
        let vectors: Vec<libc::iovec> = memory
            .iter_mut()
            .flat_map(Contents::areas)
            .map(|area| libc::iovec { iov_base: area.as_mut_ptr().cast(), iov_len: area.len() })
            .collect();
        let bytes = vectors.iter().map(|vector| vector.iov_len as u64).sum::<u64>().saturating_mul(alike);
        if wanted.is_none() && !fits_locked_memory(bytes) {
            return Ok(());
        }
        // SAFETY: the areas belong to the worker's memory, which outlives this ring (it is dropped after it).
        match unsafe { self.ring.submitter().register_buffers(&vectors) } {
            Ok(()) => self.buffers = true,
            // Other programs of the user have used up the limit.
            Err(e) if wanted.is_none() && e.raw_os_error() == Some(libc::ENOMEM) => {}
            Err(e) => return Err(setup_fault(&e)),
        }
        Ok(())
    }

    /// Whether operations use registered buffers.
    #[inline(always)]
    pub fn has_buffers(&self) -> bool {
        self.buffers
    }

    /// Queues an entry.
    ///
    /// # Safety
    /// Everything the entry points to stays valid and unshared until its completion is reaped.
    #[inline(always)]
    pub unsafe fn push(&mut self, entry: &S) {
        // SAFETY: by the caller's promise.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            if let Err(fault) = self.make_room() {
                // The entry is never executed: the next submission fails with this.
                self.lost = Some(fault);
                return;
            }
        }
    }

    /// Waits until the kernel's submission thread has taken an entry: an operation can complete before the queue's head shows
    /// that its entry was taken.
    #[cold]
    fn make_room(&mut self) -> Result<(), Fault> {
        self.submit(0)?;
        if self.ring.params().is_setup_sqpoll() {
            match self.ring.submitter().squeue_wait() {
                Err(e) if e.raw_os_error() != Some(libc::EINTR) => return Err(submit_fault(&e)),
                _ => {}
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub fn submit(&mut self, wait: usize) -> Result<(), Fault> {
        if let Some(fault) = self.lost.take() {
            return Err(fault);
        }
        loop {
            match self.ring.submit_and_wait(wait) {
                Ok(_) => return Ok(()),
                Err(e) if e.raw_os_error() == Some(libc::EINTR) => {}
                Err(e) => return Err(submit_fault(&e)),
            }
        }
    }

    pub fn submit_for(&mut self, most_ns: u64) -> Result<(), Fault> {
        if let Some(fault) = self.lost.take() {
            return Err(fault);
        }
        let most = types::Timespec::from(std::time::Duration::from_nanos(most_ns));
        let how = types::SubmitArgs::new().timespec(&most);
        match self.ring.submitter().submit_with_args(1, &how) {
            Ok(_) => Ok(()),
            // Timeout or signal: the caller checks the clock and retries.
            Err(e) if matches!(e.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => Ok(()),
            Err(e) => Err(submit_fault(&e)),
        }
    }

    #[inline(always)]
    pub fn reap(&mut self, into: &mut Vec<(u32, i32)>) {
        // Read the ring once for all completions: each access synchronises with the kernel.
        into.extend(self.ring.completion().map(|entry| {
            let entry: cqueue::Entry = entry.into();
            (entry.user_data() as u32, entry.result())
        }));
    }
}

/// A failure of the ring itself: the offset is unused, the call says what was tried.
fn setup_fault(error: &std::io::Error) -> Fault {
    Fault::of(FailedCall::Ring, Errno::from_raw_os_error(error.raw_os_error().unwrap_or(libc::EINVAL)), 0)
}

fn submit_fault(error: &std::io::Error) -> Fault {
    Fault::of(FailedCall::Submit, Errno::from_raw_os_error(error.raw_os_error().unwrap_or(0)), 0)
}

/// The locked-memory limit, unless the process is exempt from it.
pub(super) fn locked_memory_limit() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let effective = status.lines().find_map(|l| l.strip_prefix("CapEff:"))?;
    let effective = u64::from_str_radix(effective.trim(), 16).ok()?;
    const CAP_IPC_LOCK: u64 = 1 << 14;
    (effective & CAP_IPC_LOCK == 0).then_some(limit)
}

/// Whether all workers of a stream can register `bytes` bytes of buffers: some with and some without would not be comparable.
fn fits_locked_memory(bytes: u64) -> bool {
    locked_memory_limit().is_none_or(|limit| is_a_small_part(bytes, limit))
}

/// The limit counts a part of a huge page as all of it, and other programs of the user share it.
pub(super) fn is_a_small_part(bytes: u64, limit: u64) -> bool {
    const SHARE: u64 = 4;
    bytes <= limit / SHARE
}

#[cfg(test)]
mod tests {
    use super::*;
    use io_uring::opcode;

    #[test]
    fn an_entry_waits_for_room_in_the_queue() {
        for polling in [false, true] {
            let mut builder = IoUring::<squeue::Entry, cqueue::Entry>::builder();
            if polling {
                builder.setup_sqpoll(POLL_IDLE_MS);
            }
            let mut ring = WorkerRing::of(builder.build(2).unwrap());
            let mut done = Vec::new();
            for number in 0..10_000 {
                // SAFETY: the entry points to nothing.
                unsafe { ring.push(&opcode::Nop::new().build().user_data(number)) };
                ring.reap(&mut done);
            }
            while done.len() < 10_000 {
                ring.submit(1).unwrap();
                ring.reap(&mut done);
            }
            let mut numbers: Vec<_> = done.into_iter().map(|(number, _)| number).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..10_000), "polling: {polling}");
        }
    }

    #[test]
    fn buffers_are_registered_if_they_need_a_small_part_of_the_limit() {
        assert!(is_a_small_part(2 << 20, 8 << 20));
        assert!(!is_a_small_part((2 << 20) + 1, 8 << 20));
        assert!(!is_a_small_part(1, 0));
    }
}
