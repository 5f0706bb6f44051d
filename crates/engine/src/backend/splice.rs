//! Records through a pipe: splice between the file and the pipe, vmsplice between the pipe and memory. A record larger than the
//! pipe is moved in parts.

use super::{Backend, Handle};
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use rustix::io::Errno;

pub(crate) struct Splice {
    file: OwnedFd,
    /// The read end and the write end of the pipe.
    out: OwnedFd,
    into: OwnedFd,
    /// Bytes that fit into the empty pipe without blocking.
    room: usize,
}

/// A private pipe.
fn pipe() -> Result<(OwnedFd, OwnedFd), Fault> {
    let mut ends = [0; 2];
    // SAFETY: pipe2 writes two descriptors into the array.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(Fault::of(FailedCall::Pipe, last(), 0));
    }
    let [out, into] = ends;
    // SAFETY: both were just made, and nobody else has them.
    Ok(unsafe { (OwnedFd::from_raw_fd(out), OwnedFd::from_raw_fd(into)) })
}

fn last() -> Errno {
    Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

/// The result of such a call: bytes or an error.
fn answer(moved: libc::ssize_t) -> Result<usize, Errno> {
    usize::try_from(moved).map_err(|_| last())
}

/// splice between the file at `offset` and the pipe.
fn splice(
    (from, at): (BorrowedFd<'_>, Option<u64>),
    (to, offset): (BorrowedFd<'_>, Option<u64>),
    bytes: usize,
) -> Result<usize, Errno> {
    let mut places = (at.unwrap_or(0) as libc::loff_t, offset.unwrap_or(0) as libc::loff_t);
    let source = if at.is_some() { &raw mut places.0 } else { std::ptr::null_mut() };
    let target = if offset.is_some() { &raw mut places.1 } else { std::ptr::null_mut() };
    // SAFETY: both descriptors are open, and the offsets live through the call.
    answer(unsafe { libc::splice(from.as_raw_fd(), source, to.as_raw_fd(), target, bytes, 0) })
}

/// vmsplice between memory and an end of the pipe; the end determines the direction.
fn vmsplice(end: BorrowedFd<'_>, memory: *mut u8, bytes: usize) -> Result<usize, Errno> {
    let part = libc::iovec { iov_base: memory.cast(), iov_len: bytes };
    // SAFETY: the callers pass memory of that size, which is written only if the end is the read end.
    answer(unsafe { libc::vmsplice(end.as_raw_fd(), &raw const part, 1, 0) })
}

/// Moves all `bytes` of a step by calls that may move less. Stops when a call moves nothing; returns the bytes moved.
fn all(bytes: usize, mut once: impl FnMut(usize) -> Result<usize, Errno>) -> Result<usize, Errno> {
    let mut moved = 0;
    while moved < bytes {
        match once(moved) {
            Ok(0) => break,
            Ok(n) => moved += n,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(moved)
}

impl Handle for Splice {
    const ONE_FILE: bool = false;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let file = files::open(plan)?;
        let (out, into) = pipe()?;
        // SAFETY: the descriptor is open; the call takes no pointer.
        let room = unsafe { libc::fcntl(into.as_raw_fd(), libc::F_GETPIPE_SZ) };
        let room = usize::try_from(room).map_err(|_| Fault::of(FailedCall::Pipe, last(), 0))?;
        // A record that does not begin on a page boundary takes one more pipe buffer.
        Ok(Self { file, out, into, room: (room / 2).max(4096) })
    }

    fn close(self) -> Result<(), Fault> {
        files::close(self.file)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

impl Backend for Splice {
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let wanted = buffer.len();
        let mut done = 0;
        while done < wanted {
            let at = offset + done as u64;
            let part = (wanted - done).min(self.room);
            let (file, into) = (self.file.as_fd(), self.into.as_fd());
            let fault = |e| Fault::of(FailedCall::Read, e, at);
            // The pipe is emptied before it is filled again, so it never runs full.
            let there = match splice((file, Some(at)), (into, None), part) {
                Ok(0) => return Err(Fault::short(FailedCall::Read, offset, wanted as u64, done as u64)),
                Ok(n) => n,
                Err(Errno::INTR) => continue,
                Err(e) => return Err(fault(e)),
            };
            let target = &mut buffer[done..done + there];
            let (memory, out) = (target.as_mut_ptr(), self.out.as_fd());
            let copied = all(there, |moved| vmsplice(out, memory.wrapping_add(moved), there - moved));
            if copied.map_err(fault)? < there {
                return Err(Fault::short(FailedCall::Read, offset, wanted as u64, done as u64));
            }
            done += there;
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault> {
        let wanted = buffer.len();
        let mut done = 0;
        while done < wanted {
            let at = offset + done as u64;
            let fault = |e| Fault::of(FailedCall::Write, e, at);
            let part = &buffer[done..done + (wanted - done).min(self.room)];
            let memory = part.as_ptr().cast_mut();
            let (file, into, out) = (self.file.as_fd(), self.into.as_fd(), self.out.as_fd());
            let there = match vmsplice(into, memory, part.len()) {
                Ok(n) => n,
                Err(Errno::INTR) => continue,
                Err(e) => return Err(fault(e)),
            };
            let moved =
                all(there, |moved| splice((out, None), (file, Some(at + moved as u64)), there - moved))
                    .map_err(fault)?;
            if moved == 0 || moved < there {
                return Err(Fault::short(FailedCall::Write, offset, wanted as u64, done as u64));
            }
            done += moved;
        }
        Ok(())
    }
}
