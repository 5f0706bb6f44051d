//! The calls that do the I/O, one back-end a file. A back-end does exactly one record per operation and says what failed; it
//! counts nothing and looks at no clock. The hot loops are compiled once for each.

mod aio;
mod beside;
mod compute;
mod exchange;
mod extents;
mod many;
mod mmap;
mod names;
mod null;
mod posix;
pub mod probe;
mod psync;
mod pvsync2;
mod splice;
mod stdio;
mod uring;

pub(crate) use aio::Aio;
pub(crate) use beside::Running;
pub(crate) use compute::Computing;
pub(crate) use exchange::Exchange;
pub(crate) use extents::Extents;
pub(crate) use many::Many;
pub(crate) use mmap::Mmap;
pub(crate) use names::Names;
pub(crate) use null::{AsyncNull, Null};
pub(crate) use posix::Posix;
pub(crate) use psync::Psync;
pub(crate) use pvsync2::{Pvsync2, advice as flag_advice};
pub(crate) use splice::Splice;
pub(crate) use stdio::Stdio;
pub(crate) use uring::{Loose, Uring, loose_refusal, ring_refusal};

use crate::clock::Clock;
use crate::contents::Contents;
use crate::files;
use crate::shared::Call;
use crate::worker::{Fault, Plan};
use fathom_workload::ops::Op;
use rustix::io::Errno;

/// An open file, or several, whatever its operations are done by.
pub(crate) trait Handle: Sized {
    /// Whether loops of their own are compiled for streams on one file: those that are plain, and the others. Not for what takes long
    /// anyhow, nor for what has several files.
    const ONE_FILE: bool = true;
    /// Likewise for streams on all files of a set.
    const SEVERAL_FILES: bool = false;

    /// Opens the plan's file.
    fn open(plan: &Plan) -> Result<Self, Fault>;
    /// Tells the kernel about the buffers that will be used, where that spares it work later. They outlive the handle.
    fn register(&mut self, _memory: &mut [Contents]) -> Result<(), Fault> {
        Ok(())
    }
    /// How many files are open.
    fn files(&self) -> u32 {
        1
    }
    /// Says which of several files the next operation is for, until another is selected.
    #[inline(always)]
    fn select(&mut self, _file: u32) {}
    /// Fills `buffer` from `offset` and waits for it; a file that ends earlier is a fault.
    fn read_now(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let file = self.descriptor().ok_or_else(|| Fault::of(Call::Read, Errno::BADF, offset))?;
        files::read_all(file, offset, buffer)
    }
    /// Makes what was written durable.
    fn sync(&mut self, data_only: bool) -> Result<(), Fault> {
        files::sync(self.descriptor().ok_or_else(|| Fault::of(Call::Sync, Errno::BADF, 0))?, data_only)
    }
    /// Drops what the page cache holds of a range, as far as it is clean. It is an advice: what the kernel keeps all the same shows in
    /// what reaches the device.
    fn evict(&mut self, offset: u64, bytes: u32) {
        if let Some(file) = self.descriptor() {
            files::evict(file, offset, bytes);
        }
    }
    /// Closes the file.
    fn close(self) -> Result<(), Fault>;
    /// The open file, of several the selected one; `None` if there is none.
    fn descriptor(&self) -> Option<rustix::fd::BorrowedFd<'_>>;
}

/// A back-end that does one record after the other.
pub(crate) trait Backend: Handle {
    /// Fills `buffer` from `offset`; a file that ends earlier is a fault.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault>;
    /// Writes all of `buffer` at `offset`.
    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault>;
}

/// A record's buffer, as an asynchronous back-end needs it.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// Where the record's bytes are. They stay there, and nobody else touches them, until the completion is reaped.
    pub pointer: *mut u8,
    /// Which of the registered buffers that is in.
    pub registered: u16,
    /// I/O priority; 0: that of the thread.
    pub priority: u16,
}

/// A back-end that has several operations in flight. The number of an operation is that of its place in the caller's table.
pub(crate) trait AsyncBackend: Handle {
    /// Prepares an operation; it is submitted by the next `submit`. There is room for queue-depth operations.
    fn queue(&mut self, number: u32, op: &Op, target: Target);
    /// Submits what was queued and waits until at least `wait` completions can be reaped. Gives the clock when the kernel was given
    /// what was queued: on entry into the one call that submits and waits, or on return of the call that only submits.
    fn submit(&mut self, wait: usize, clock: Clock) -> Result<u64, Fault>;
    /// Likewise, but waits for one completion or for so long, whichever comes first.
    fn submit_for(&mut self, most_ns: u64, clock: Clock) -> Result<u64, Fault>;
    /// The fault of an operation that failed, as far as this back-end knows more about it.
    #[cold]
    fn failed(&self, fault: Fault) -> Fault {
        fault
    }
    /// Takes every completion there is: number and result as the system call would give it (negative: error number).
    fn reap(&mut self, into: &mut Vec<(u32, i32)>);
}
