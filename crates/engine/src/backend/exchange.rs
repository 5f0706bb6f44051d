//! Exchanges the blocks of each write with those of a donor (EXT4_IOC_MOVE_EXT), as a defragmenter moves a file. The file's
//! contents stay; those of the donor are lost.
//!
//! The donor's space is allocated once, or for each write and freed afterwards. Both files are on one ext4; holes in either
//! cannot be moved.

use super::{Backend, Handle};
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use rustix::ioctl::opcode;

pub(crate) struct Exchange {
    file: OwnedFd,
    donor: OwnedFd,
    /// The donor's space is allocated in each operation.
    each: bool,
    /// Block size of the file system.
    block: u64,
}

/// `struct move_extent` of ext4, which no header exports. Offsets and lengths are in blocks.
#[repr(C)]
struct Move {
    reserved: u32,
    donor: u32,
    from: u64,
    to: u64,
    blocks: u64,
    moved: u64,
}

const MOVE: rustix::ioctl::Opcode = opcode::read_write::<Move>(b'f', 15);

impl Exchange {
    fn allocate(&self, offset: u64, bytes: u64) -> Result<(), Fault> {
        loop {
            match rustix::fs::fallocate(&self.donor, FallocateFlags::empty(), offset, bytes) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(e) => return Err(Fault::of(FailedCall::Allocate, e, offset)),
            }
        }
    }

    /// Exchanges all blocks that a record touches.
    fn exchange(&self, offset: u64, bytes: u64) -> Result<(), Fault> {
        let first = offset / self.block;
        let blocks = (offset + bytes).div_ceil(self.block) - first;
        let mut range = Move {
            reserved: 0,
            donor: self.donor.as_raw_fd().cast_unsigned(),
            from: first,
            to: first,
            blocks,
            moved: 0,
        };
        // SAFETY: both files are open, and the kernel reads and writes this one structure.
        if unsafe { libc::ioctl(self.file.as_raw_fd(), MOVE as _, &raw mut range) } != 0 {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
            return Err(Fault::of(FailedCall::MoveExtents, Errno::from_raw_os_error(errno), offset));
        }
        if range.moved < blocks {
            return Err(Fault::short(FailedCall::MoveExtents, offset, bytes, range.moved * self.block));
        }
        Ok(())
    }
}

impl Handle for Exchange {
    const ONE_FILE: bool = false;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let failed = |e| Fault::of(FailedCall::MoveExtents, e, 0);
        // Excluded by the workload check.
        let from = plan.donor.as_ref().ok_or_else(|| failed(Errno::INVAL))?;
        let donor = files::open_donor(plan, &from.path).map_err(failed)?;
        let file = files::open(plan)?;
        let (about, other) =
            (rustix::fs::fstat(&file).map_err(failed)?, rustix::fs::fstat(&donor).map_err(failed)?);
        // Two names of the same file, which would be truncated.
        if (about.st_dev, about.st_ino) == (other.st_dev, other.st_ino) {
            return Err(failed(Errno::INVAL));
        }
        let block = u64::try_from(about.st_blksize).unwrap_or(0).max(1);
        let this = Self { file, donor, each: from.bytes.is_none(), block };
        if let Some(bytes) = from.bytes {
            this.allocate(0, bytes)?;
        }
        Ok(this)
    }

    fn close(self) -> Result<(), Fault> {
        files::close(self.file).and(files::close(self.donor))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

impl Backend for Exchange {
    #[inline(always)]
    fn read(&mut self, offset: u64, _: &mut [u8]) -> Result<(), Fault> {
        // Excluded by the workload check.
        Err(Fault::of(FailedCall::MoveExtents, Errno::INVAL, offset))
    }

    #[inline(always)]
    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault> {
        let bytes = buffer.len() as u64;
        if !self.each {
            return self.exchange(offset, bytes);
        }
        self.allocate(offset, bytes)?;
        let exchanged = self.exchange(offset, bytes);
        let given_back =
            rustix::fs::ftruncate(&self.donor, 0).map_err(|e| Fault::of(FailedCall::Truncate, e, offset));
        exchanged.and(given_back)
    }
}
