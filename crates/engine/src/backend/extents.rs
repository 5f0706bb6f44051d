//! Calls on an open file that move no data: fallocate of each record, or ftruncate to each write's offset.
//!
//! An allocating write extends the file as writing would; a read only allocates space and keeps the file size.

use super::{Backend, Handle};
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use fathom_workload::{Backend as Kind, FileCall};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

pub(crate) struct Extents {
    file: OwnedFd,
    truncates: bool,
}

impl Extents {
    fn allocate(&self, how: FallocateFlags, offset: u64, bytes: usize) -> Result<(), Fault> {
        loop {
            match rustix::fs::fallocate(&self.file, how, offset, bytes as u64) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(e) => return Err(Fault::of(FailedCall::Allocate, e, offset)),
            }
        }
    }
}

impl Handle for Extents {
    const ONE_FILE: bool = false;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let truncates = plan.stream.backend == Kind::Calls(FileCall::Truncate);
        Ok(Self { file: files::open(plan)?, truncates })
    }

    fn close(self) -> Result<(), Fault> {
        files::close(self.file)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

impl Backend for Extents {
    #[inline(always)]
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        if self.truncates {
            // Excluded by the workload check.
            return Err(Fault::of(FailedCall::Truncate, Errno::INVAL, offset));
        }
        self.allocate(FallocateFlags::KEEP_SIZE, offset, buffer.len())
    }

    #[inline(always)]
    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault> {
        if self.truncates {
            return rustix::fs::ftruncate(&self.file, offset)
                .map_err(|e| Fault::of(FailedCall::Truncate, e, offset));
        }
        self.allocate(FallocateFlags::empty(), offset, buffer.len())
    }
}
