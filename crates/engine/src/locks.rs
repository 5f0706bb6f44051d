//! Locks on a file or a part of it, by fcntl.

use crate::fault::{FailedCall, Fault};
use rustix::fd::{AsRawFd as _, BorrowedFd};
use rustix::io::Errno;

/// Waits for a lock on a part of the file. It belongs to the open file description, so threads of one process exclude each other,
/// too.
pub(crate) fn lock(file: BorrowedFd<'_>, offset: u64, length: u64, exclusive: bool) -> Result<(), Fault> {
    let kind = if exclusive { libc::F_WRLCK } else { libc::F_RDLCK };
    fcntl_lock(file, offset, length, kind, libc::F_OFD_SETLKW)
}

/// Releases a lock.
pub(crate) fn unlock(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<(), Fault> {
    fcntl_lock(file, offset, length, libc::F_UNLCK, libc::F_OFD_SETLK)
}

/// Locks or unlocks with one of the commands of fcntl. A length of 0 reaches to the end of the file.
pub(crate) fn fcntl_lock(
    file: BorrowedFd<'_>,
    offset: u64,
    length: u64,
    kind: libc::c_int,
    command: libc::c_int,
) -> Result<(), Fault> {
    // SAFETY: a zeroed flock is valid; all fields that matter are set below.
    let mut request: libc::flock = unsafe { std::mem::zeroed() };
    request.l_type = kind as libc::c_short;
    request.l_whence = libc::SEEK_SET as libc::c_short;
    request.l_start = offset as libc::off_t;
    request.l_len = length as libc::off_t;
    // SAFETY: the descriptor is open and the struct lives through the call.
    if unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const request) } == 0 {
        return Ok(());
    }
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    Err(Fault::of(FailedCall::Lock, Errno::from_raw_os_error(errno), offset))
}
