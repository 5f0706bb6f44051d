//! POSIX asynchronous I/O: the C library's aio_read, aio_write and aio_fsync. It is asynchronous by library threads: glibc uses
//! one for each open file and runs its operations one by one, so a queue on one file is a queue in front of a thread.

use super::{AsyncBackend, Handle, Target};
use crate::clock::Clock;
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use fathom_workload::ops::{Op, OpCode};
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::cell::UnsafeCell;

pub(crate) struct Posix {
    files: Vec<OwnedFd>,
    /// Index of the file that `read_now` and `sync` use.
    selected: usize,
    /// A control block for each operation in flight. The library's threads write to them, so they are accessed only through
    /// pointers.
    blocks: Box<[UnsafeCell<libc::aiocb>]>,
    /// Operations to submit, with their kinds.
    queued: Vec<(u32, OpCode)>,
    in_flight: Vec<u32>,
    /// Completed but not yet reaped: number and result.
    completed: Vec<(u32, i32)>,
    /// Control blocks to wait for.
    waited: Vec<*const libc::aiocb>,
}

fn last() -> Errno {
    Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

impl Posix {
    fn on(files: Vec<OwnedFd>, depth: usize) -> Self {
        // SAFETY: a block of zeros is a valid one: numbers, and pointers that nobody follows before it is submitted.
        let empty = || UnsafeCell::new(unsafe { std::mem::zeroed::<libc::aiocb>() });
        Self {
            files,
            selected: 0,
            blocks: (0..depth).map(|_| empty()).collect(),
            queued: Vec::with_capacity(depth),
            in_flight: Vec::with_capacity(depth),
            completed: Vec::with_capacity(depth),
            waited: Vec::with_capacity(depth),
        }
    }

    fn block(&self, number: u32) -> *mut libc::aiocb {
        self.blocks[number as usize].get()
    }

    /// Passes the queued operations to the library.
    fn give(&mut self) -> Result<(), Fault> {
        /// Maximum number of 1 ms sleeps while the library cannot take operations although none of our operations is in flight: it cannot
        /// create a thread.
        const MOST_NAPS: u32 = 1000;
        let (mut next, mut naps) = (0, 0);
        while let Some((number, kind)) = self.queued.get(next).copied() {
            let block = self.block(number);
            // SAFETY: the block is valid and stays where it is until it is reaped, and so do the bytes it points to (see `Target`).
            let refused = unsafe {
                match kind {
                    OpCode::Read => libc::aio_read(block),
                    OpCode::Sync { data_only: false } => libc::aio_fsync(libc::O_SYNC, block),
                    // Trims and evictions are executed at once, never queued.
                    OpCode::Sync { data_only: true } | OpCode::Trim | OpCode::Evict => {
                        libc::aio_fsync(libc::O_DSYNC, block)
                    }
                    OpCode::Write => libc::aio_write(block),
                }
            };
            if refused == 0 {
                self.in_flight.push(number);
                next += 1;
                continue;
            }
            let error = last();
            if error != Errno::AGAIN {
                // Some implementations report at submission what others report on completion.
                self.completed.push((number, -error.raw_os_error()));
                next += 1;
            } else if !self.in_flight.is_empty() {
                self.wait(None)?;
                self.look();
            } else if naps < MOST_NAPS {
                naps += 1;
                std::thread::sleep(std::time::Duration::from_millis(1));
            } else {
                return Err(Fault::of(FailedCall::Submit, error, 0));
            }
        }
        self.queued.clear();
        Ok(())
    }

    /// Collects completed operations.
    fn look(&mut self) {
        let (blocks, completed) = (&self.blocks, &mut self.completed);
        self.in_flight.retain(|number| {
            let block = blocks[*number as usize].get();
            // SAFETY: the block was submitted and not reaped.
            let error = unsafe { libc::aio_error(block) };
            if error == libc::EINPROGRESS {
                return true;
            }
            // SAFETY: likewise, and it is done: this is the one call that gives it back.
            let moved = unsafe { libc::aio_return(block) };
            completed.push((*number, if error == 0 { moved as i32 } else { -error }));
            false
        });
    }

    /// Waits for one of the operations in flight, at most `most_ns`.
    fn wait(&mut self, most_ns: Option<u64>) -> Result<(), Fault> {
        let most = most_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as _,
            tv_nsec: (ns % 1_000_000_000) as libc::c_long,
        });
        self.waited.clear();
        self.waited.extend(self.in_flight.iter().map(|n| self.blocks[*n as usize].get().cast_const()));
        let limit = most.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the list holds blocks that are in flight, and the limit lives through the call.
        let woken =
            unsafe { libc::aio_suspend(self.waited.as_ptr(), self.waited.len() as libc::c_int, limit) };
        if woken == 0 {
            return Ok(());
        }
        match last() {
            Errno::INTR | Errno::AGAIN => Ok(()),
            error => Err(Fault::of(FailedCall::Submit, error, 0)),
        }
    }

    /// Waits for all of them: the library must not write to freed memory.
    fn wait_for_all(&mut self) {
        while !self.in_flight.is_empty() {
            if self.wait(None).is_err() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            self.look();
        }
    }
}

impl Drop for Posix {
    fn drop(&mut self) {
        self.wait_for_all();
    }
}

impl Handle for Posix {
    const ONE_FILE: bool = false;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        Ok(Self::on(files::open_all(plan)?, plan.stream.queue_depth.max(1) as usize))
    }

    fn files(&self) -> u32 {
        self.files.len() as u32
    }

    fn select(&mut self, file: u32) {
        self.selected = file as usize;
    }

    fn close(mut self) -> Result<(), Fault> {
        self.wait_for_all();
        let files = std::mem::take(&mut self.files);
        files::close_all(files)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.files.get(self.selected).map(|f| f.as_fd())
    }
}

impl AsyncBackend for Posix {
    fn queue(&mut self, number: u32, op: &Op, target: Target) {
        let syncs = matches!(op.kind, OpCode::Sync { .. });
        let block = self.block(number);
        let file = self.files[op.file as usize].as_raw_fd();
        // SAFETY: nothing is in flight under this number: the library does not look at the block, and nobody else has a pointer.
        unsafe {
            *block = std::mem::zeroed();
            (*block).aio_fildes = file;
            (*block).aio_buf = if syncs { std::ptr::null_mut() } else { target.pointer.cast() };
            (*block).aio_nbytes = op.bytes as libc::size_t;
            (*block).aio_offset = op.offset as libc::off_t;
            // No notification: completions are polled.
            (*block).aio_sigevent.sigev_notify = libc::SIGEV_NONE;
        }
        self.queued.push((number, op.kind));
    }

    fn submit(&mut self, wait: usize, clock: Clock) -> Result<u64, Fault> {
        self.give()?;
        let given = clock.now();
        self.look();
        while self.completed.len() < wait && !self.in_flight.is_empty() {
            self.wait(None)?;
            self.look();
        }
        Ok(given)
    }

    fn submit_for(&mut self, most_ns: u64, clock: Clock) -> Result<u64, Fault> {
        self.give()?;
        let given = clock.now();
        self.look();
        if self.completed.is_empty() && !self.in_flight.is_empty() {
            self.wait(Some(most_ns))?;
            self.look();
        }
        Ok(given)
    }

    fn reap(&mut self, into: &mut Vec<(u32, i32)>) {
        into.append(&mut self.completed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_a_full_queue_all_come_back() {
        const DEPTH: u32 = 16;
        let file = crate::backend::capability::file_in_memory().unwrap();
        let bytes: Vec<u8> = (0..16).collect();
        rustix::io::pwrite(&file, &bytes, 0).unwrap();
        let mut posix = Posix::on(vec![file], DEPTH as usize);
        let mut read = vec![0u8; DEPTH as usize];
        for (number, byte) in (0u32..).zip(&mut read) {
            let op = Op { kind: OpCode::Read, file: 0, offset: u64::from(number), bytes: 1, think_ns: 0 };
            posix.queue(number, &op, Target { pointer: byte, registered: 0, priority: 0 });
        }
        let mut reaped = Vec::new();
        posix.submit(DEPTH as usize, Clock::monotonic()).unwrap();
        posix.reap(&mut reaped);
        reaped.sort_unstable();
        assert_eq!(reaped, (0..DEPTH).map(|number| (number, 1)).collect::<Vec<_>>());
        assert_eq!(read, bytes);
        // An fsync, and an error: a negative offset.
        let sync = Op { kind: OpCode::Sync { data_only: false }, file: 0, offset: 0, bytes: 0, think_ns: 0 };
        posix.queue(3, &sync, Target { pointer: std::ptr::null_mut(), registered: 0, priority: 0 });
        posix.submit(1, Clock::monotonic()).unwrap();
        let wrong = Op { kind: OpCode::Read, file: 0, offset: u64::MAX, bytes: 1, think_ns: 0 };
        posix.queue(5, &wrong, Target { pointer: read.as_mut_ptr(), registered: 0, priority: 0 });
        posix.submit(2, Clock::monotonic()).unwrap();
        reaped.clear();
        posix.reap(&mut reaped);
        reaped.sort_unstable();
        assert_eq!(reaped.first(), Some(&(3, 0)));
        assert!(matches!(reaped.get(1), Some((5, error)) if *error == -libc::EINVAL), "{reaped:?}");
        assert!(posix.in_flight.is_empty());
    }
}
