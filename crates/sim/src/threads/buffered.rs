//! A C library stream as glibc implements it: which system calls result from fread and fwrite. Records are collected in the buffer. A
//! full buffer goes to the kernel, whole buffers go straight from the caller's memory, and a seek outside the buffer starts at a multiple
//! of its size. Checked call by call against glibc 2.36 by the counters of `/proc/self/io`.
//!
//! With a buffer of one record, as in IOzone, every read is its own system call, and every second write stays in the buffer and goes with
//! the next.

use crate::calls::{Handle, ShortTransfer};
use crate::files::PAGE;
use crate::machine::Machine;

/// Below this size glibc does not keep whole blocks together.
const LEAST_BLOCK: u64 = 128;

/// An open stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Buffered {
    /// Buffer size, bytes.
    size: u64,
    /// File offset of the next byte.
    position: u64,
    /// Whether the last operation was a write: C requires a seek between reading and writing.
    wrote: Option<bool>,
    /// The byte range of the file that was read into the buffer, from its start.
    held: (u64, u64),
    /// The library knows the kernel's file offset because it has set it. Only then does it look for an offset in the buffer.
    known: bool,
    /// In write mode: pending bytes end at `position`, and this many more fit behind them.
    writing: bool,
    waiting: u64,
    room: u64,
}

impl Buffered {
    /// Just opened, with a buffer of this size.
    pub fn new(size: u64) -> Self {
        Self { size, ..Self::default() }
    }

    /// The same stream, reopened.
    pub fn again(&self) -> Self {
        Self::new(self.size)
    }

    /// fread.
    pub async fn read(
        &mut self,
        machine: &Machine,
        handle: Handle,
        offset: u64,
        bytes: u64,
    ) -> Result<(), ShortTransfer> {
        self.seek(machine, handle, offset, false).await;
        let mut want = bytes;
        while want > 0 {
            let here = self.position >= self.held.0 && self.position < self.held.1;
            let have = if here { (self.held.1 - self.position).min(want) } else { 0 };
            self.copy(machine, have).await;
            want -= have;
            if want == 0 {
                break;
            }
            let straight = want >= self.size;
            let asked = if straight { self.whole(want) } else { self.size };
            let got = moved(machine.read(handle, self.position, asked).await, asked);
            if got == 0 {
                return Err(ShortTransfer { moved: bytes - want });
            }
            if straight {
                self.position += got;
                want -= got;
                self.held = (self.position, self.position);
            } else {
                self.held = (self.position, self.position + got);
            }
        }
        Ok(())
    }

    /// fwrite. Returns whether it made a write call.
    pub async fn write(&mut self, machine: &Machine, handle: Handle, offset: u64, bytes: u64) -> bool {
        let mut handed = self.seek(machine, handle, offset, true).await;
        let fits = self.room.min(bytes);
        self.take(machine, fits).await;
        let mut rest = bytes - fits;
        if rest == 0 {
            return handed;
        }
        if self.writing {
            handed |= self.flush(machine, handle).await;
        } else {
            // Writing starts where reading in the buffer stopped.
            let inside = if self.held.1 > self.held.0 { self.position - self.held.0 } else { 0 };
            self.room = if inside < self.size { self.size - inside } else { self.size };
            self.writing = true;
            self.held = (0, 0);
        }
        let straight = self.whole(rest);
        if straight > 0 {
            machine.write(handle, self.position, straight).await;
            handed = true;
            self.position += straight;
            rest -= straight;
            self.room = self.size;
        }
        while rest > 0 {
            if self.room == 0 {
                handed |= self.flush(machine, handle).await;
            }
            let fits = self.room.min(rest);
            self.take(machine, fits).await;
            rest -= fits;
        }
        handed
    }

    /// fflush: submits pending bytes and discards bytes read ahead.
    pub async fn sync(&mut self, machine: &Machine, handle: Handle) {
        self.flush(machine, handle).await;
        if !self.writing {
            self.held.1 = self.held.1.min(self.position).max(self.held.0);
        }
        self.known = false;
    }

    /// Submits pending bytes to the kernel. Returns whether there were any.
    async fn flush(&mut self, machine: &Machine, handle: Handle) -> bool {
        if self.waiting == 0 {
            return false;
        }
        machine.write(handle, self.position - self.waiting, self.waiting).await;
        (self.waiting, self.room) = (0, self.size);
        true
    }

    /// fseeko, where the engine calls it. Returns whether it wrote the buffer.
    async fn seek(&mut self, machine: &Machine, handle: Handle, offset: u64, write: bool) -> bool {
        let turns = self.wrote.is_some_and(|wrote| wrote != write);
        self.wrote = Some(write);
        if self.position == offset && !turns {
            return false;
        }
        let exact = self.held.0 == self.held.1 && self.waiting == 0;
        let mut handed = false;
        if self.writing {
            handed = self.flush(machine, handle).await;
            (self.writing, self.room, self.held) = (false, 0, (0, 0));
        }
        machine.compute(machine.costs.call_ns).await;
        self.position = offset;
        if std::mem::replace(&mut self.known, true) && self.held.0 <= offset && offset < self.held.1 {
            return handed;
        }
        let block = offset & !(self.size.wrapping_sub(1));
        // With a size that is no power of two, the block may start further back than the buffer reaches.
        let before = if offset - block > self.size { 0 } else { offset - block };
        self.held = (offset, offset);
        if before > 0 {
            let asked = if exact { before } else { self.size };
            let got = moved(machine.read(handle, offset - before, asked).await, asked);
            if got >= before {
                self.held = (offset - before, offset - before + got);
            }
        }
        handed
    }

    /// Bytes of a request that bypass the buffer: the whole blocks.
    fn whole(&self, bytes: u64) -> u64 {
        if self.size >= LEAST_BLOCK { bytes - bytes % self.size } else { bytes }
    }

    /// Copies bytes into the buffer.
    async fn take(&mut self, machine: &Machine, bytes: u64) {
        self.waiting += bytes;
        self.room -= bytes;
        self.copy(machine, bytes).await;
    }

    /// Copies bytes between the buffer and the caller's memory, at the cost of a call's copying.
    async fn copy(&mut self, machine: &Machine, bytes: u64) {
        self.position += bytes;
        machine.compute(machine.costs.page_ns * bytes / PAGE).await;
    }
}

/// Bytes returned by a kernel read().
fn moved(result: Result<(), ShortTransfer>, asked: u64) -> u64 {
    result.map_or_else(|short| short.moved, |()| asked)
}
