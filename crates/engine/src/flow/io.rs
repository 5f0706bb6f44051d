//! Reading and writing through a slot: one operation, or a whole file. An operation on a closed slot opens a file of its set
//! first, which counts as a separate operation of 0 bytes.
//!
//! Work between two operations (drawing the offset, finding the slot) is not part of the latency.

use super::spot::Spot;
use super::worker::{Break, FlowWorker};
use crate::fault::{FailedCall, Fault};
use fathom_workload::Share;
use fathom_workload::flow::{EntryPick, FlatOp, Slot, Transfer, Whole, Wrong};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{Advice, OFlags, SeekFrom};
use rustix::io::Errno;
use std::sync::atomic::Ordering;

impl FlowWorker<'_> {
    /// Index of the slot, opened if necessary.
    #[inline(always)]
    pub(super) fn open_slot(&mut self, op: &FlatOp) -> Result<usize, Break> {
        let slot = self.thread.slot_of(op)?;
        if !self.thread.slots.is_open(slot) {
            self.open_now(op, slot)?;
        }
        self.thread.works_on(op, slot)?;
        Ok(slot)
    }

    /// Opens the next file of the operation's set on demand.
    #[cold]
    fn open_now(&mut self, op: &FlatOp, slot: usize) -> Result<(), Break> {
        let from = self.clock.now();
        let counts = self.open_into(op, slot)?;
        if counts { self.done(op, from, 0) } else { Ok(()) }
    }

    /// Picks an existing file and opens it. Returns whether that counts.
    pub(super) fn open_into(&mut self, op: &FlatOp, slot: usize) -> Result<bool, Break> {
        let pick = self.thread.to_open(op, slot)?;
        let (set, entry) = (pick.set, self.pick(&pick)?);
        let setting = self.setting;
        let of = &setting.set_places[set].entries[entry];
        let opened = self.open_file(op, set, &of.spot, OFlags::empty());
        setting.sets[set].files.release(entry);
        let file = opened.map_err(|e| self.fault(FailedCall::Open, e, (set, entry)))?;
        self.thread.opened(slot, file, (set, entry));
        Ok(!of.device)
    }

    /// open(2) with the flags that set and operation request.
    pub(super) fn open_file(
        &self,
        op: &FlatOp,
        set: usize,
        spot: &Spot,
        more: OFlags,
    ) -> Result<OwnedFd, Errno> {
        let set = &self.setting.set_places[set];
        let mut flags = OFlags::CLOEXEC | more;
        flags |= match set.share {
            _ if !set.changed => OFlags::RDONLY,
            Share::ReadOnly => OFlags::RDONLY,
            Share::WriteOnly => OFlags::WRONLY,
            Share::ReadWrite => OFlags::RDWR,
        };
        if set.changed {
            // Checked before, and enforced here: a link could have been put there in between.
            flags |= OFlags::NOFOLLOW;
        }
        if op.direct {
            flags |= OFlags::DIRECT;
        }
        if op.sync {
            flags |= OFlags::SYNC;
        }
        let file = set.bases.open(spot, flags, set.mode)?;
        if op.no_readahead {
            rustix::fs::fadvise(&file, 0, None, Advice::Random)?;
        }
        Ok(file)
    }

    /// Takes an entry to work on; it is busy until it is released.
    pub(super) fn pick(&mut self, pick: &EntryPick) -> Result<usize, Break> {
        loop {
            match self.thread.try_pick(pick)? {
                Some(entry) => return Ok(entry),
                None => self.give_way()?,
            }
        }
    }

    /// Another worker holds what this one needs, for the length of an operation: lets it run.
    pub(super) fn give_way(&mut self) -> Result<(), Break> {
        rustix::thread::sched_yield();
        self.wait_until(0)
    }

    /// A kernel error on a file.
    #[cold]
    pub(super) fn fault(&mut self, call: FailedCall, errno: Errno, file: (usize, usize)) -> Break {
        self.thread.at_file = Some(file);
        Fault::of(call, errno, 0).into()
    }

    #[inline(always)]
    pub(super) fn read(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let transfer = self.thread.transfer(op, slot)?;
        self.at_offset = transfer.offset;
        let buffer = self.memory.read_into(transfer.at, transfer.bytes as usize)?;
        let Some(file) = descriptor(self.thread.slots.get(slot)) else { return Err(closed(slot)) };
        let from = self.clock.now();
        let result = read_once(file, buffer, transfer.offset);
        let now = self.clock.now();
        let moved = result? as u64;
        self.thread.was_read(op, &transfer, moved);
        self.done_at(op, from, now, moved)
    }

    #[inline(always)]
    pub(super) fn write(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let transfer = self.thread.transfer(op, slot)?;
        self.at_offset = transfer.offset;
        let from = self.write_at(&transfer)?;
        self.thread.was_written(op, &transfer);
        self.done(op, from, transfer.bytes)
    }

    /// Writes, and returns the start tick.
    #[inline(always)]
    fn write_at(&mut self, transfer: &Transfer) -> Result<u64, Break> {
        let Transfer { slot, offset, bytes, at } = *transfer;
        let setting = self.setting;
        let of = self.thread.slots.get(slot);
        let (Some(file), Some((set, entry))) = (descriptor(of), of.of) else {
            return Err(closed(slot));
        };
        let buffer =
            self.memory.write_from(at, &setting.set_places[set].data, entry, offset, bytes as usize)?;
        let from = self.clock.now();
        write_all(file, buffer, offset)?;
        Ok(from)
    }

    pub(super) fn read_whole_file(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let Whole { piece, at, .. } = self.thread.whole_read(op, slot)?;
        let buffer = self.memory.read_into(at, piece as usize)?;
        let Some(file) = descriptor(self.thread.slots.get(slot)) else { return Err(closed(slot)) };
        self.at_offset = 0;
        let from = self.clock.now();
        let mut moved = 0;
        loop {
            match read_once(file, buffer, moved)? {
                0 => break,
                n => moved += n as u64,
            }
            if self.control.stop.load(Ordering::Relaxed) != 0 {
                // A file of gigabytes; the operation will not count.
                break;
            }
        }
        self.thread.stands_at(slot, moved);
        self.done(op, from, moved)
    }

    pub(super) fn write_whole_file(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let whole = self.thread.whole_write(op, slot)?;
        self.at_offset = whole.offset;
        let mut moved = 0;
        let mut began = None;
        while moved < whole.bytes {
            let bytes = whole.piece.min(whole.bytes - moved);
            let piece = Transfer { slot, offset: whole.offset + moved, bytes, at: whole.at };
            let from = self.write_at(&piece)?;
            began.get_or_insert(from);
            moved += bytes;
            if self.control.stop.load(Ordering::Relaxed) != 0 {
                break;
            }
        }
        self.thread.stands_at(slot, whole.offset + moved);
        let from = began.unwrap_or_else(|| self.clock.now());
        self.done(op, from, moved)
    }

    pub(super) fn append(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let (bytes, at) = self.thread.append(op)?;
        let from = self.clock.now();
        if bytes > 0 {
            let Some(file) = descriptor(self.thread.slots.get(slot)) else { return Err(closed(slot)) };
            let end =
                rustix::fs::seek(file, SeekFrom::End(0)).map_err(|e| Fault::of(FailedCall::Write, e, 0))?;
            self.at_offset = end;
            self.write_at(&Transfer { slot, offset: end, bytes, at })?;
            self.thread.stands_at(slot, end + bytes);
        }
        self.done(op, from, bytes)
    }

    pub(super) fn sync(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.thread.used_slot(op)?;
        let Some(file) = descriptor(self.thread.slots.get(slot)) else { return Err(closed(slot)) };
        let from = self.clock.now();
        rustix::fs::fsync(file).map_err(|e| Fault::of(FailedCall::Sync, e, 0))?;
        self.done(op, from, 0)
    }

    pub(super) fn sync_set(&mut self, op: &FlatOp) -> Result<(), Break> {
        let set = self.thread.set_of(op)?;
        for slot in 0..self.thread.slots.count() {
            let (file, of) = {
                let slot = self.thread.slots.get(slot);
                (descriptor(slot), slot.of)
            };
            let Some(file) = file.filter(|_| of.is_some_and(|o| o.0 == set)) else { continue };
            let from = self.clock.now();
            let result = rustix::fs::fsync(file);
            self.thread.at_file = of;
            result.map_err(|e| Fault::of(FailedCall::Sync, e, 0))?;
            self.done(op, from, 0)?;
        }
        Ok(())
    }
}

/// The open file of a slot.
#[inline(always)]
pub(super) fn descriptor(slot: &Slot<OwnedFd>) -> Option<BorrowedFd<'_>> {
    slot.file.as_ref().map(|f| f.as_fd())
}

#[cold]
pub(super) fn closed(slot: usize) -> Break {
    Wrong::ClosedSlot(slot as u64).into()
}

/// One read, which may be short.
#[inline(always)]
fn read_once(file: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<usize, Fault> {
    loop {
        match rustix::io::pread(file, &mut *buffer, offset) {
            Ok(n) => return Ok(n),
            Err(Errno::INTR) => {}
            Err(e) => return Err(Fault::of(FailedCall::Read, e, offset)),
        }
    }
}

/// Writes the whole buffer.
#[inline(always)]
fn write_all(file: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<(), Fault> {
    match rustix::io::pwrite(file, buffer, offset) {
        Ok(n) if n == buffer.len() => Ok(()),
        Ok(n) => write_rest(file, buffer, offset, n),
        Err(Errno::INTR) => write_rest(file, buffer, offset, 0),
        Err(e) => Err(Fault::of(FailedCall::Write, e, offset)),
    }
}

#[cold]
fn write_rest(file: BorrowedFd<'_>, buffer: &[u8], offset: u64, mut moved: usize) -> Result<(), Fault> {
    while moved < buffer.len() {
        let at = offset + moved as u64;
        match rustix::io::pwrite(file, &buffer[moved..], at) {
            Ok(0) => return Err(Fault::short(FailedCall::Write, offset, buffer.len() as u64, moved as u64)),
            Ok(n) => moved += n,
            Err(Errno::INTR) => {}
            Err(e) => {
                let (expected, found) = (buffer.len() as u64, moved as u64);
                return Err(Fault { expected, found, ..Fault::of(FailedCall::Write, e, at) });
            }
        }
    }
    Ok(())
}
