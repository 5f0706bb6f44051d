//! The calls that do the I/O, one back-end per file. A back-end does exactly one record per operation and reports failures; it
//! keeps no counters and reads no clock. The hot loops are compiled once for each.

mod aio;
pub(crate) mod capability;
mod compute;
mod exchange;
mod extents;
mod many;
mod mmap;
mod names;
mod namespace;
mod null;
mod nvme;
mod posix;
pub mod probe;
mod program;
mod psync;
mod pvsync2;
mod ring;
mod splice;
mod stdio;
mod uring;

pub(crate) use aio::Aio;
pub(crate) use compute::Computing;
pub(crate) use exchange::Exchange;
pub(crate) use extents::Extents;
pub(crate) use many::Many;
pub(crate) use mmap::Mmap;
pub(crate) use names::NameCalls;
pub(crate) use null::{AsyncNull, Null};
pub(crate) use nvme::{Nvme, status_words};
pub(crate) use posix::Posix;
pub(crate) use program::RunningProgram;
pub(crate) use psync::Psync;
pub(crate) use pvsync2::{Pvsync2, advice as flag_advice};
pub(crate) use splice::Splice;
pub(crate) use stdio::Stdio;
pub(crate) use uring::{UnregisteredRing, Uring, ring_refusal, unregistered_refusal};

use crate::clock::Clock;
use crate::contents::Contents;
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use fathom_workload::ops::Op;
use rustix::io::Errno;

/// One open file, or several.
pub(crate) trait Handle: Sized {
    /// Whether dedicated loops are compiled for streams on one file, plain and other. False for back-ends whose calls are slow
    /// anyway, or that have several files.
    const ONE_FILE: bool = true;
    /// The same for streams on all files of a set.
    const SEVERAL_FILES: bool = false;

    /// Opens the plan's file.
    fn open(plan: &StreamPlan) -> Result<Self, Fault>;
    /// Registers the buffers with the kernel, where that saves work later. They outlive the handle.
    fn register(&mut self, _memory: &mut [Contents]) -> Result<(), Fault> {
        Ok(())
    }
    /// Number of open files.
    fn files(&self) -> u32 {
        1
    }
    /// Selects the file of the next operations.
    #[inline(always)]
    fn select(&mut self, _file: u32) {}
    /// Fills `buffer` from `offset` synchronously; a shorter file is a fault.
    fn read_now(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let file = self.descriptor().ok_or_else(|| Fault::of(FailedCall::Read, Errno::BADF, offset))?;
        files::read_all(file, offset, buffer)
    }
    /// Makes what was written durable.
    fn sync(&mut self, data_only: bool) -> Result<(), Fault> {
        files::sync(self.descriptor().ok_or_else(|| Fault::of(FailedCall::Sync, Errno::BADF, 0))?, data_only)
    }
    /// Drops the clean pages of a range from the page cache. This is only advice: pages that the kernel keeps show in the I/O
    /// that reaches the device.
    fn evict(&mut self, offset: u64, bytes: u32) {
        if let Some(file) = self.descriptor() {
            files::evict(file, offset, bytes);
        }
    }
    fn close(self) -> Result<(), Fault>;
    /// The open file (the selected one of several); `None` if there is none.
    fn descriptor(&self) -> Option<rustix::fd::BorrowedFd<'_>>;
}

/// A back-end that does one record at a time.
pub(crate) trait Backend: Handle {
    /// Fills `buffer` from `offset`; a shorter file is a fault.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault>;
    /// Writes all of `buffer` at `offset`.
    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault>;
}

/// A record's buffer, as an asynchronous back-end needs it.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// Where the record's bytes are. They stay there, and nothing else accesses them, until the completion is reaped.
    pub pointer: *mut u8,
    /// Index of the registered buffer that contains them.
    pub registered: u16,
    /// I/O priority; 0: the thread's.
    pub priority: u16,
}

/// A back-end with several operations in flight. An operation's number is its index in the caller's table.
pub(crate) trait AsyncBackend: Handle {
    /// Prepares an operation for the next `submit`. The queue holds queue-depth operations.
    fn queue(&mut self, number: u32, op: &Op, target: Target);
    /// Submits the queued operations and waits until at least `wait` completions can be reaped. Returns the submission time: on
    /// entry into a call that submits and waits, or on return of a call that only submits.
    fn submit(&mut self, wait: usize, clock: Clock) -> Result<u64, Fault>;
    /// Like `submit`, but waits for one completion or `most_ns`, whichever comes first.
    fn submit_for(&mut self, most_ns: u64, clock: Clock) -> Result<u64, Fault>;
    /// Adds what this back-end knows about a failed operation to its fault.
    #[cold]
    fn failed(&self, fault: Fault) -> Fault {
        fault
    }
    /// Takes all available completions: number and result as from the system call (negative: error number).
    fn reap(&mut self, into: &mut Vec<(u32, i32)>);
}
