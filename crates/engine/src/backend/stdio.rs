//! The C library's buffered streams: fread and fwrite through a fully buffered FILE, fflush and fsync, fclose.

use super::capability::{Capability, ProbeFile, State};
use super::{Backend, Handle};
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use rustix::fd::{BorrowedFd, IntoRawFd as _, RawFd};
use rustix::io::Errno;

pub(crate) struct Stdio {
    stream: *mut libc::FILE,
    descriptor: RawFd,
    position: u64,
    /// Whether the last operation was a write: C requires a seek between reading and writing.
    wrote: Option<bool>,
    /// The buffer given to setvbuf; it must outlive the stream.
    _buffer: Vec<u8>,
}

// SAFETY: the stream has one owner and is used from one thread at a time.
unsafe impl Send for Stdio {}

impl Stdio {
    fn seek(&mut self, offset: u64, write: bool, call: FailedCall) -> Result<(), Fault> {
        if self.position != offset || self.wrote.is_some_and(|w| w != write) {
            // SAFETY: the stream is open.
            if unsafe { libc::fseeko(self.stream, offset as libc::off_t, libc::SEEK_SET) } != 0 {
                return Err(last_error(call, offset));
            }
            self.position = offset;
        }
        self.wrote = Some(write);
        Ok(())
    }
}

impl Drop for Stdio {
    /// After a failure the stream is still open; it must be closed before its buffer is freed.
    fn drop(&mut self) {
        if !self.stream.is_null() {
            // SAFETY: the stream is open and not used again.
            unsafe { libc::fclose(self.stream) };
        }
    }
}

fn last_error(call: FailedCall, offset: u64) -> Fault {
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    Fault::of(call, Errno::from_raw_os_error(errno), offset)
}

impl Handle for Stdio {
    const ONE_FILE: bool = false;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let size = match plan.stream.backend {
            fathom_workload::Backend::Stdio { buffer } if buffer.0 > 0 => buffer.0 as usize,
            _ => plan.largest,
        };
        let descriptor = files::open(plan)?.into_raw_fd();
        let mode = if files::writes(plan.stream) || plan.stream.open.read_write { c"r+" } else { c"r" };
        // SAFETY: the descriptor is open and handed over to the stream; the mode is a C string.
        let stream = unsafe { libc::fdopen(descriptor, mode.as_ptr()) };
        if stream.is_null() {
            return Err(last_error(FailedCall::Open, 0));
        }
        let mut buffer = vec![0u8; size];
        // SAFETY: the buffer has `size` bytes and lives as long as the stream (it is closed in `close` or in `drop`).
        unsafe { libc::setvbuf(stream, buffer.as_mut_ptr().cast(), libc::_IOFBF, size) };
        Ok(Self { stream, descriptor, position: 0, wrote: None, _buffer: buffer })
    }

    fn read_now(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        Backend::read(self, offset, buffer)
    }

    fn sync(&mut self, data_only: bool) -> Result<(), Fault> {
        // SAFETY: the stream is open.
        if unsafe { libc::fflush(self.stream) } != 0 {
            return Err(last_error(FailedCall::Sync, 0));
        }
        // SAFETY: the descriptor belongs to the open stream.
        files::sync(unsafe { BorrowedFd::borrow_raw(self.descriptor) }, data_only)
    }

    fn close(mut self) -> Result<(), Fault> {
        let stream = std::mem::replace(&mut self.stream, std::ptr::null_mut());
        // SAFETY: the stream is open and not used again.
        if unsafe { libc::fclose(stream) } == 0 { Ok(()) } else { Err(last_error(FailedCall::Close, 0)) }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the descriptor belongs to the open stream, which outlives the borrow of self.
        Some(unsafe { BorrowedFd::borrow_raw(self.descriptor) })
    }
}

impl Backend for Stdio {
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        self.seek(offset, false, FailedCall::Read)?;
        // SAFETY: the stream is open and the buffer has the length given.
        let n = unsafe { libc::fread(buffer.as_mut_ptr().cast(), 1, buffer.len(), self.stream) };
        self.position += n as u64;
        if n == buffer.len() {
            return Ok(());
        }
        // SAFETY: the stream is open.
        if unsafe { libc::ferror(self.stream) } != 0 {
            return Err(last_error(FailedCall::Read, offset));
        }
        Err(Fault::short(FailedCall::Read, offset, buffer.len() as u64, n as u64))
    }

    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault> {
        self.seek(offset, true, FailedCall::Write)?;
        // SAFETY: the stream is open and the buffer has the length given.
        let n = unsafe { libc::fwrite(buffer.as_ptr().cast(), 1, buffer.len(), self.stream) };
        self.position += n as u64;
        if n == buffer.len() { Ok(()) } else { Err(last_error(FailedCall::Write, offset)) }
    }
}

/// What works with this back-end on the probed file.
pub(super) fn probe(file: &ProbeFile) -> Vec<Capability> {
    let (state, sentence) = match pass_a_byte(file) {
        Ok(()) => (State::Works, format!("the C library reads and writes {}", file.name())),
        Err(e) => (State::Lacks, format!("the C library's streams fail for {}: {e}", file.name())),
    };
    vec![Capability { backend: "stdio", feature: "fread, fwrite", state, sentence }]
}

fn pass_a_byte(file: &ProbeFile) -> std::io::Result<()> {
    let descriptor = file.file().try_clone_to_owned()?.into_raw_fd();
    let failed = std::io::Error::last_os_error;
    // SAFETY: the descriptor is open and handed over to the stream; the mode is a C string.
    let stream = unsafe { libc::fdopen(descriptor, c"r+".as_ptr()) };
    if stream.is_null() {
        let error = failed();
        // SAFETY: without a stream the descriptor is still ours.
        unsafe { libc::close(descriptor) };
        return Err(error);
    }
    // SAFETY: the stream is open until the fclose at the end.
    let passed = unsafe {
        libc::fseeko(stream, 0, libc::SEEK_SET) == 0
            && libc::fputc(0, stream) != libc::EOF
            && libc::fseeko(stream, 0, libc::SEEK_SET) == 0
            && libc::fgetc(stream) != libc::EOF
    };
    let result = if passed { Ok(()) } else { Err(failed()) };
    // SAFETY: the stream is open and not used again.
    unsafe { libc::fclose(stream) };
    result
}
