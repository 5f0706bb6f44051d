//! One synchronous system call at a time: read and write (with lseek if the position differs), or pread and pwrite.
//!
//! A short call is followed by another one, which reports the reason (end of file, no space, size limit).

use super::capability::{Capability, ProbeFile, State, text};
use super::{Backend, Handle};
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use fathom_workload::SyncCall;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::io::Errno;

pub(crate) struct Psync {
    file: OwnedFd,
    call: SyncCall,
    /// File position, for read and write.
    position: u64,
}

impl Psync {
    fn seek(&mut self, offset: u64, call: FailedCall) -> Result<(), Fault> {
        if self.position != offset {
            rustix::fs::seek(&self.file, rustix::fs::SeekFrom::Start(offset))
                .map_err(|e| Fault::of(call, e, offset))?;
            self.position = offset;
        }
        Ok(())
    }

    #[inline(always)]
    fn read_once(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        match self.call {
            SyncCall::Positioned => rustix::io::pread(&self.file, buffer, offset),
            SyncCall::Streamed => {
                let n = rustix::io::read(&self.file, buffer)?;
                self.position += n as u64;
                Ok(n)
            }
        }
    }

    #[inline(always)]
    fn write_once(&mut self, offset: u64, buffer: &[u8]) -> Result<usize, Errno> {
        match self.call {
            SyncCall::Positioned => rustix::io::pwrite(&self.file, buffer, offset),
            SyncCall::Streamed => {
                let n = rustix::io::write(&self.file, buffer)?;
                self.position += n as u64;
                Ok(n)
            }
        }
    }

    /// Completes a short read. Cold.
    #[cold]
    fn read_rest(&mut self, offset: u64, buffer: &mut [u8], mut moved: usize) -> Result<(), Fault> {
        while moved < buffer.len() {
            let at = offset + moved as u64;
            match self.read_once(at, &mut buffer[moved..]) {
                Ok(0) => {
                    return Err(Fault::short(FailedCall::Read, offset, buffer.len() as u64, moved as u64));
                }
                Ok(n) => moved += n,
                Err(Errno::INTR) => {}
                Err(e) => return Err(Fault::of(FailedCall::Read, e, at)),
            }
        }
        Ok(())
    }

    /// Completes a short write. Cold.
    #[cold]
    fn write_rest(&mut self, offset: u64, buffer: &[u8], mut moved: usize) -> Result<(), Fault> {
        while moved < buffer.len() {
            let at = offset + moved as u64;
            match self.write_once(at, &buffer[moved..]) {
                Ok(0) => {
                    return Err(Fault::short(FailedCall::Write, offset, buffer.len() as u64, moved as u64));
                }
                Ok(n) => moved += n,
                Err(Errno::INTR) => {}
                Err(e) => {
                    return Err(Fault {
                        expected: buffer.len() as u64,
                        found: moved as u64,
                        ..Fault::of(FailedCall::Write, e, at)
                    });
                }
            }
        }
        Ok(())
    }
}

impl Handle for Psync {
    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let call = match plan.stream.backend {
            fathom_workload::Backend::Psync(call) => call,
            _ => SyncCall::Positioned,
        };
        Ok(Self { file: files::open(plan)?, call, position: 0 })
    }

    fn read_now(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        Backend::read(self, offset, buffer)
    }

    fn close(self) -> Result<(), Fault> {
        files::close(self.file)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

impl Backend for Psync {
    #[inline(always)]
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        if self.call == SyncCall::Streamed {
            self.seek(offset, FailedCall::Read)?;
        }
        match self.read_once(offset, buffer) {
            Ok(n) if n == buffer.len() => Ok(()),
            Ok(n) => self.read_rest(offset, buffer, n),
            Err(Errno::INTR) => self.read_rest(offset, buffer, 0),
            Err(e) => Err(Fault::of(FailedCall::Read, e, offset)),
        }
    }

    #[inline(always)]
    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault> {
        if self.call == SyncCall::Streamed {
            self.seek(offset, FailedCall::Write)?;
        }
        match self.write_once(offset, buffer) {
            Ok(n) if n == buffer.len() => Ok(()),
            Ok(n) => self.write_rest(offset, buffer, n),
            Err(Errno::INTR) => self.write_rest(offset, buffer, 0),
            Err(e) => Err(Fault::of(FailedCall::Write, e, offset)),
        }
    }
}

/// What works with this back-end on the probed file.
pub(super) fn probe(file: &ProbeFile) -> Vec<Capability> {
    let mut buffer = [0];
    let found = |feature, tried: Result<usize, Errno>, asked: &str| {
        let (state, sentence) = match tried {
            Ok(_) => (State::Works, format!("{asked}, for {}", file.name())),
            Err(e) => (State::Lacks, format!("{asked}: refused for {} ({})", file.name(), text(e))),
        };
        Capability { backend: "psync", feature, state, sentence }
    };
    let placed = rustix::io::pwrite(file.file(), &buffer, 0)
        .and_then(|_| rustix::io::pread(file.file(), &mut buffer, 0));
    let streamed = rustix::fs::seek(file.file(), rustix::fs::SeekFrom::Start(0))
        .and_then(|_| rustix::io::read(file.file(), &mut buffer));
    vec![
        found("pread, pwrite", placed, "psync = \"pread\""),
        found("read, write, lseek", streamed, "psync = \"read\""),
    ]
}
