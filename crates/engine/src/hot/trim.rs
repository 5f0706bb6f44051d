//! Deallocating a record: a hole in a regular file, a discard on a block device. No queue supports it, so with several operations
//! in flight it is done synchronously before the next one is prepared.

use super::Hot;
use crate::backend::{AsyncBackend, Handle};
use crate::fault::{FailedCall, Fault};
use fathom_record::OpKind;
use fathom_workload::ops::{Op, Source};
use rustix::fd::{AsRawFd as _, BorrowedFd, RawFd};
use rustix::fs::{FallocateFlags, FileType};
use rustix::io::Errno;

/// `_IO(0x12, 119)`: for block devices; takes the first byte and the number of bytes.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// The descriptor trimmed last, and whether it is a block device: looked up once while it stays the same.
pub(crate) type Last = Option<(RawFd, bool)>;

/// Deallocates an operation's range and records it. `recorded`: it counts. Returns its start tick.
pub(super) fn timed<B: Handle>(
    hot: &mut Hot,
    backend: &mut B,
    op: &Op,
    recorded: bool,
) -> Result<u64, Fault> {
    backend.select(op.file);
    let start = hot.clock.now();
    untimed(hot, backend, op)?;
    hot.last = hot.clock.now();
    if recorded {
        hot.stats[OpKind::Trim].record(hot.clock.between(start, hot.last), u64::from(op.bytes));
    }
    Ok(start)
}

/// The same without timing. The file is selected.
pub(super) fn untimed<B: Handle>(hot: &mut Hot, backend: &B, op: &Op) -> Result<(), Fault> {
    match backend.descriptor() {
        Some(file) => range(file, op.offset, u64::from(op.bytes), &mut hot.trimmed),
        // The null back-end makes no call.
        None => Ok(()),
    }
}

/// Deallocates a range synchronously, as no queue supports that.
#[inline(never)]
pub(super) fn at_once<B: AsyncBackend, S: Source, const RARE: bool>(
    hot: &mut Hot,
    backend: &mut B,
    source: &mut S,
    op: &Op,
    due: u64,
    recorded: bool,
) -> Result<(), Fault> {
    let start = timed(hot, backend, op, recorded)?;
    source.completed(op);
    let now = hot.last;
    if !recorded {
        hot.figures.uncounted_bytes += u64::from(op.bytes);
    } else if RARE {
        if due > 0 {
            hot.stats[OpKind::Response].record(hot.clock.between(due, now), u64::from(op.bytes));
        }
        if hot.counting {
            hot.log_operation(op, start, start, now);
        }
    }
    Ok(())
}

fn range(file: BorrowedFd<'_>, offset: u64, bytes: u64, last: &mut Last) -> Result<(), Fault> {
    let fault = |errno| Fault::of(FailedCall::Trim, errno, offset);
    let number = file.as_raw_fd();
    let device = match *last {
        Some((known, device)) if known == number => device,
        _ => {
            let about = rustix::fs::fstat(file).map_err(fault)?;
            let device = FileType::from_raw_mode(about.st_mode) == FileType::BlockDevice;
            *last = Some((number, device));
            device
        }
    };
    if device {
        return discard(number, [offset, bytes]).map_err(fault);
    }
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    loop {
        match rustix::fs::fallocate(file, hole, offset, bytes) {
            Err(Errno::INTR) => {}
            done => return done.map_err(fault),
        }
    }
}

fn discard(number: RawFd, range: [u64; 2]) -> Result<(), Errno> {
    // SAFETY: the kernel reads two numbers, which live through the call; the descriptor is open.
    if unsafe { libc::ioctl(number, BLKDISCARD, range.as_ptr()) } == 0 {
        return Ok(());
    }
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    Err(Errno::from_raw_os_error(errno))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::AsFd as _;
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};

    #[test]
    fn a_regular_file_gets_a_hole_and_keeps_its_size() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[7; 65536], 0).unwrap();
        file.sync_all().unwrap();
        let before = file.metadata().unwrap();
        let mut last = None;
        range(file.as_fd(), 4096, 16384, &mut last).unwrap();
        assert_eq!(last, Some((file.as_raw_fd(), false)));
        // A part of a page is deallocated, too: it reads as zeroes.
        range(file.as_fd(), 40960, 512, &mut last).unwrap();
        let after = file.metadata().unwrap();
        assert_eq!(after.len(), 65536);
        assert!(after.blocks() <= before.blocks());
        let mut read = vec![1; 65536];
        file.read_exact_at(&mut read, 0).unwrap();
        let holes = |at: usize| (4096..20480).contains(&at) || (40960..41472).contains(&at);
        assert!(read.iter().enumerate().all(|(at, byte)| *byte == if holes(at) { 0 } else { 7 }));
    }

    #[test]
    fn files_without_trim_report_an_error() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let fault = range(one.as_fd(), 8192, 4096, &mut None).unwrap_err();
        assert_eq!((fault.call, fault.offset), (FailedCall::Trim, 8192));
        assert_ne!(fault.errno, 0);
    }
}
