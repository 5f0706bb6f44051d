//! Opening, syncing and closing the files of streams, with the flags that the model requests.

use crate::fault::{FailedCall, Fault};
use crate::interrupted_by;
use crate::stream_plan::StreamPlan;
use fathom_state::here;
use fathom_workload::{Backend, FileCall, FileSet, Files, OpenSync, Stream, SyncRange};
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, IntoRawFd as _, OwnedFd};
use rustix::fs::{Advice, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::{Duration, Instant};

/// Whether a stream writes, deallocates parts of its file, or changes its files by other calls.
pub(crate) fn writes(stream: &Stream) -> bool {
    stream.changes_files()
}

/// Whether a stream only calls stat. It opens nothing, so its names may refer to files of any type.
pub(crate) fn only_asks(stream: &Stream, set: &FileSet) -> bool {
    matches!(stream.backend, Backend::Calls(FileCall::Stat(_))) && !matches!(set.files, Files::Tree(_))
}

/// The mode of a directory for files of this mode: read permission implies search permission.
pub(crate) fn mode_of_directory(mode: u32) -> u32 {
    mode | (mode & 0o444) >> 2
}

/// Whether a stream reads at all.
pub(crate) fn reads(stream: &Stream) -> bool {
    stream.direction.reads()
}

/// Opens all files of a plan: those of its set, if its stream works on all of them.
pub(crate) fn open_all(plan: &StreamPlan) -> Result<Vec<OwnedFd>, Fault> {
    let Some(pool) = &plan.pool else { return Ok(vec![open(plan)?]) };
    (0u32..).zip(pool.paths).map(|(file, path)| open_at(plan, path).map_err(|f| f.in_file(file))).collect()
}

/// Opens the file of a plan.
pub(crate) fn open(plan: &StreamPlan) -> Result<OwnedFd, Fault> {
    open_at(plan, &plan.path)
}

fn open_at(plan: &StreamPlan, path: &Path) -> Result<OwnedFd, Fault> {
    let stream = plan.stream;
    let mapped = matches!(stream.backend, fathom_workload::Backend::Mmap { .. });
    let mut flags = OFlags::CLOEXEC;
    flags |=
        match (reads(stream) || stream.open.read_write || mapped, writes(stream) || stream.open.read_write) {
            (true, true) => OFlags::RDWR,
            // IOzone and most programs open for both; a stream that only writes needs only write access.
            (false, true) => OFlags::RDWR,
            _ => OFlags::RDONLY,
        };
    if stream.open.create {
        flags |= OFlags::CREATE;
    }
    if writes(stream) {
        // Checked before, and enforced here: a link could have been put there in between.
        flags |= OFlags::NOFOLLOW;
    }
    if stream.open.no_access_time {
        flags |= OFlags::NOATIME;
    }
    if stream.open.direct {
        flags |= OFlags::DIRECT;
    }
    flags |= match stream.open.sync {
        OpenSync::No => OFlags::empty(),
        OpenSync::Sync => OFlags::SYNC,
        OpenSync::Dsync => OFlags::DSYNC,
        OpenSync::Rsync => OFlags::RSYNC | OFlags::SYNC,
    };
    let failed = |e| Fault::of(FailedCall::Open, e, 0);
    let file = open_soon(path, flags, plan.mode).map_err(failed)?;
    // A directory on the path may have become a link: the file found there is not ours and stays as it is.
    if writes(stream) && !plan.ledger.may_be_file(path, file.as_fd()) {
        return Err(failed(Errno::STALE));
    }
    if stream.open.truncate {
        rustix::fs::ftruncate(&file, 0).map_err(failed)?;
    }
    advise(&file, stream.open.advice);
    Ok(file)
}

/// Opens the donor file of a stream, like one that it writes.
pub(crate) fn open_donor(plan: &StreamPlan, path: &Path) -> Result<OwnedFd, Errno> {
    let file = open_soon(path, OFlags::CLOEXEC | OFlags::WRONLY | OFlags::NOFOLLOW, 0)?;
    if plan.ledger.may_be_file(path, file.as_fd()) { Ok(file) } else { Err(Errno::STALE) }
}

/// Time a program may take to give up its lease. A file server needs milliseconds.
const LEASE: Duration = Duration::from_secs(2);

/// Opens a file without waiting for other processes: it may have become a pipe without a peer, and any user with read permission
/// may hold a lease on it.
pub(crate) fn open_soon(path: &Path, flags: OFlags, mode: u32) -> Result<OwnedFd, Errno> {
    let until = Instant::now() + LEASE;
    let file = loop {
        match rustix::fs::open(here(path), flags | OFlags::NONBLOCK, Mode::from_raw_mode(mode)) {
            Err(Errno::WOULDBLOCK) if Instant::now() < until && interrupted_by().is_none() => {
                std::thread::sleep(Duration::from_millis(10));
            }
            opened => break opened?,
        }
    };
    if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) == FileType::Fifo {
        return Err(Errno::SPIPE);
    }
    rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Advises the kernel of the access order. A file system may ignore it, so errors are ignored.
fn advise(file: &OwnedFd, advice: fathom_workload::Advice) {
    use fathom_workload::Advice::{No, NoReuse, Normal, Random, Sequential};
    let advice = match advice {
        No => return,
        Normal => rustix::fs::Advice::Normal,
        Sequential => rustix::fs::Advice::Sequential,
        Random => rustix::fs::Advice::Random,
        NoReuse => rustix::fs::Advice::NoReuse,
    };
    let _ = rustix::fs::fadvise(file, 0, None, advice);
}

/// fsync or fdatasync.
pub(crate) fn sync(file: BorrowedFd<'_>, data_only: bool) -> Result<(), Fault> {
    let result = if data_only { rustix::fs::fdatasync(file) } else { rustix::fs::fsync(file) };
    result.map_err(|e| Fault::of(FailedCall::Sync, e, 0))
}

/// Starts write-back of a range, or waits for it.
pub(crate) fn sync_range(file: BorrowedFd<'_>, offset: u64, bytes: u64, how: SyncRange) -> Result<(), Fault> {
    let flag = |wanted: bool, flag: libc::c_uint| if wanted { flag } else { 0 };
    let flags = flag(how.wait_before, libc::SYNC_FILE_RANGE_WAIT_BEFORE)
        | flag(how.write, libc::SYNC_FILE_RANGE_WRITE)
        | flag(how.wait_after, libc::SYNC_FILE_RANGE_WAIT_AFTER);
    // SAFETY: a call with an open file and three numbers.
    let result =
        unsafe { libc::sync_file_range(file.as_raw_fd(), offset.cast_signed(), bytes.cast_signed(), flags) };
    if result == 0 {
        return Ok(());
    }
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    Err(Fault::of(FailedCall::SyncRange, Errno::from_raw_os_error(errno), offset))
}

/// Drops the clean pages of a range from the page cache.
pub(crate) fn evict(file: BorrowedFd<'_>, offset: u64, bytes: u32) {
    let _ = rustix::fs::fadvise(file, offset, NonZeroU64::new(bytes.into()), Advice::DontNeed);
}

/// close(2) with error reporting: some file systems report a failed write only here.
pub(crate) fn close(file: OwnedFd) -> Result<(), Fault> {
    let raw = file.into_raw_fd();
    // SAFETY: the descriptor was owned by us and is not used again.
    if unsafe { libc::close(raw) } == 0 {
        return Ok(());
    }
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    Err(Fault::of(FailedCall::Close, rustix::io::Errno::from_raw_os_error(errno), 0))
}

/// Closes all of them, even after a failure; returns the first failure.
pub(crate) fn close_all(files: Vec<OwnedFd>) -> Result<(), Fault> {
    let mut outcome = Ok(());
    for (number, file) in (0u32..).zip(files) {
        let closed = close(file).map_err(|f| f.in_file(number));
        outcome = outcome.and(closed);
    }
    outcome
}

/// Fills `buffer` from `offset` with synchronous calls.
pub(crate) fn read_all(file: BorrowedFd<'_>, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
    let mut moved = 0;
    while moved < buffer.len() {
        let at = offset + moved as u64;
        match rustix::io::pread(file, &mut buffer[moved..], at) {
            Ok(0) => return Err(Fault::short(FailedCall::Read, offset, buffer.len() as u64, moved as u64)),
            Ok(n) => moved += n,
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(Fault::of(FailedCall::Read, e, at)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_not_opened_for_data() {
        let dir = tempfile::tempdir().expect("a directory");
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
        for flags in [OFlags::RDONLY, OFlags::RDWR] {
            assert_eq!(open_soon(&pipe, flags, 0).err(), Some(Errno::SPIPE));
        }
    }
}
