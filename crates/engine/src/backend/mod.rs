//! The calls that do the I/O, one back-end a file. A back-end does exactly one record per call and says what failed; it counts
//! nothing and looks at no clock. The hot loop is compiled once for each.

mod mmap;
mod null;
mod psync;
mod stdio;

pub(crate) use mmap::Mmap;
pub(crate) use null::Null;
pub(crate) use psync::Psync;
pub(crate) use stdio::Stdio;

use crate::worker::{Fault, Plan};

/// What the hot loop needs of a back-end.
pub(crate) trait Backend: Sized {
    /// Opens the plan's file.
    fn open(plan: &Plan) -> Result<Self, Fault>;
    /// Fills `buffer` from `offset`; a file that ends earlier is a fault.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault>;
    /// Writes all of `buffer` at `offset`.
    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault>;
    /// Makes what was written durable.
    fn sync(&mut self, data_only: bool) -> Result<(), Fault>;
    /// Closes the file.
    fn close(self) -> Result<(), Fault>;
    /// The open file, for locks; `None` if there is none.
    fn descriptor(&self) -> Option<rustix::fd::BorrowedFd<'_>>;
}

/// Whether an madvise number is known.
pub(crate) fn known_advice(number: u8) -> Option<()> {
    mmap::advice_of(number).map(|_| ())
}
