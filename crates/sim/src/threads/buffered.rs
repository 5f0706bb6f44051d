//! A stream of the C library as glibc keeps it: which calls of the kernel come out of fread and fwrite. Records are collected in the
//! buffer; what fills it whole goes to the kernel, whole buffers straight from the caller's memory, and a seek to a place that the
//! buffer does not hold begins at a multiple of its size. Checked call by call against glibc 2.36 by the counters of `/proc/self/io`.
//!
//! With a buffer of one record, as IOzone has it, every read is a call of its own, and of the writes every second one waits in the
//! buffer and goes with the next.

use crate::calls::{Handle, Short};
use crate::files::PAGE;
use crate::machine::Machine;

/// Below so many bytes glibc does not keep whole blocks together.
const LEAST_BLOCK: u64 = 128;

/// An open stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Buffered {
    /// Bytes of the buffer.
    size: u64,
    /// Where the next byte goes to or comes from.
    position: u64,
    /// Whether the last operation was a write: C demands a seek between reading and writing.
    wrote: Option<bool>,
    /// The part of the file that the buffer holds from its beginning on, read from there.
    held: (u64, u64),
    /// The library knows where the kernel's cursor is: it has put it there. Only then it looks for a place in the buffer.
    known: bool,
    /// It is being written to. Bytes of it that wait end at `position`, and so many more have room behind them.
    writing: bool,
    waiting: u64,
    room: u64,
}

impl Buffered {
    /// One just opened, with a buffer of this size.
    pub fn new(size: u64) -> Self {
        Self { size, ..Self::default() }
    }

    /// The same file, opened anew.
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
    ) -> Result<(), Short> {
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
                return Err(Short { moved: bytes - want });
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

    /// fwrite. Whether it handed anything to the kernel.
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
            // Writing begins where reading in the buffer has come to.
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

    /// fflush: what waits to be written goes to the kernel, and what was read in advance is given up.
    pub async fn sync(&mut self, machine: &Machine, handle: Handle) {
        self.flush(machine, handle).await;
        if !self.writing {
            self.held.1 = self.held.1.min(self.position).max(self.held.0);
        }
        self.known = false;
    }

    /// What waits to be written goes to the kernel. Whether anything did.
    async fn flush(&mut self, machine: &Machine, handle: Handle) -> bool {
        if self.waiting == 0 {
            return false;
        }
        machine.write(handle, self.position - self.waiting, self.waiting).await;
        (self.waiting, self.room) = (0, self.size);
        true
    }

    /// fseeko, where the engine calls it. Whether it wrote what was in the buffer.
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
        // A size that is no power of two can put the block farther back than the buffer reaches.
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

    /// So much of a request goes past the buffer: the blocks that it fills.
    fn whole(&self, bytes: u64) -> u64 {
        if self.size >= LEAST_BLOCK { bytes - bytes % self.size } else { bytes }
    }

    /// Bytes come into the buffer.
    async fn take(&mut self, machine: &Machine, bytes: u64) {
        self.waiting += bytes;
        self.room -= bytes;
        self.copy(machine, bytes).await;
    }

    /// Bytes are copied between the buffer and the caller's memory, at the price of a call's copying.
    async fn copy(&mut self, machine: &Machine, bytes: u64) {
        self.position += bytes;
        machine.compute(machine.costs.page_ns * bytes / PAGE).await;
    }
}

/// Bytes that a read() of the kernel got.
fn moved(result: Result<(), Short>, asked: u64) -> u64 {
    result.map_or_else(|short| short.moved, |()| asked)
}
