//! Reading and writing through a slot: one operation, or a whole file. An operation whose slot is closed opens a file of its set first,
//! which counts as one more operation of 0 bytes.
//!
//! What stands between two operations (drawing the place, finding the slot) is outside the latency.

use super::hand::{Break, Hand};
use super::pool::{Found, From, Wanted};
use super::program::Op;
use super::slots::Slot;
use crate::shared::Call;
use crate::worker::Fault;
use fathom_workload::Share;
use rustix::fd::BorrowedFd;
use rustix::fs::{Advice, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use std::ffi::CStr;
use std::sync::atomic::Ordering;

/// Bytes of one read of a file of which nobody knows how long it is.
const SOME: u64 = 64 << 10;

impl Hand<'_> {
    /// The set that the operation works on.
    pub(super) fn set_of(&self, op: &Op) -> Result<usize, Break> {
        op.set.or(self.slots.last_set).ok_or_else(|| unknown(op).into())
    }

    /// The slot that the operation works on.
    #[inline(always)]
    pub(super) fn slot_of(&mut self, op: &Op) -> Result<usize, Break> {
        if op.set.is_some() {
            self.slots.last_set = op.set;
        }
        if op.rotate {
            let set = self.set_of(op)?;
            return Ok(self.slots.next_of(set));
        }
        match (op.slot, op.set) {
            (Some(slot), _) => Ok(slot),
            (None, Some(set)) => Ok(self.slots.default_of(set)),
            (None, None) => Ok(self.slots.default_of(self.set_of(op)?)),
        }
    }

    /// The slot, open.
    #[inline(always)]
    pub(super) fn open_slot(&mut self, op: &Op) -> Result<usize, Break> {
        let slot = self.slot_of(op)?;
        if !self.slots.is_open(slot) {
            self.open_now(op, slot)?;
        }
        self.at_file = self.slots.get(slot).of;
        match (op.set, self.at_file) {
            (Some(wanted), Some((set, _))) if wanted != set => {
                Err(Fault::short(Call::ForeignSlot, 0, 0, slot as u64).into())
            }
            _ => Ok(slot),
        }
    }

    /// Opens the next file of the operation's set because it is needed.
    #[cold]
    fn open_now(&mut self, op: &Op, slot: usize) -> Result<(), Break> {
        let from = self.clock.now();
        let counts = self.open_into(op, slot)?;
        if counts { self.done(op, from, 0) } else { Ok(()) }
    }

    /// Picks an existing file and opens it. Gives whether that counts.
    pub(super) fn open_into(&mut self, op: &Op, slot: usize) -> Result<bool, Break> {
        let set = match (op.set, self.slots.get(slot).of) {
            (None, Some((set, _))) if op.slot.is_some() => set,
            _ => self.set_of(op)?,
        };
        let entry = self.pick(op, set, true, Wanted::Existing)?;
        let setting = self.setting;
        let of = &setting.sets[set];
        let opened = self.open_file(op, set, &of.entries[entry].path, OFlags::empty());
        of.files.release(entry);
        let file = opened.map_err(|e| self.fault(Call::Open, e, (set, entry)))?;
        of.opens[entry].fetch_add(1, Ordering::AcqRel);
        let slot = self.slots.at(slot);
        *slot = Slot { file: Some(file), of: Some((set, entry)), deleted: false, position: 0 };
        Ok(!of.entries[entry].device)
    }

    /// open(2) with the flags that set and operation ask for.
    pub(super) fn open_file(
        &self,
        op: &Op,
        set: usize,
        path: &CStr,
        more: OFlags,
    ) -> Result<rustix::fd::OwnedFd, Errno> {
        let set = &self.setting.sets[set];
        let mut flags = OFlags::CLOEXEC | more;
        flags |= match set.share {
            _ if !set.changed => OFlags::RDONLY,
            Share::ReadOnly => OFlags::RDONLY,
            Share::WriteOnly => OFlags::WRONLY,
            Share::ReadWrite => OFlags::RDWR,
        };
        if set.changed {
            // Checked before, and once more here: nobody can slip a link in between.
            flags |= OFlags::NOFOLLOW;
        }
        if op.direct {
            flags |= OFlags::DIRECT;
        }
        if op.sync {
            flags |= OFlags::SYNC;
        }
        let file = rustix::fs::open(path, flags, Mode::from_raw_mode(set.mode))?;
        if op.no_readahead {
            rustix::fs::fadvise(&file, 0, None, Advice::Random)?;
        }
        Ok(file)
    }

    /// Takes an entry to work on; it is busy until it is released.
    pub(super) fn pick(&mut self, op: &Op, set: usize, files: bool, wanted: Wanted) -> Result<usize, Break> {
        let number = op.entry.map(|n| self.numbers.of(n));
        let setting = self.setting;
        let pool = if files { &setting.sets[set].files } else { &setting.sets[set].leaf_pool };
        loop {
            let from = match number {
                Some(number) => From::Entry(number),
                None if op.rotate => From::Own(&mut self.rotors[set]),
                None => From::Common,
            };
            match pool.take(wanted, from) {
                Found::Entry(entry) => return Ok(entry),
                Found::None => return Err(Break::Exhausted),
                Found::Busy => self.give_way()?,
            }
        }
    }

    /// Another worker is busy with what this one needs, for the length of an operation.
    pub(super) fn give_way(&self) -> Result<(), Break> {
        rustix::thread::sched_yield();
        self.wait_until(0)
    }

    /// A refusal of the kernel, about a file.
    #[cold]
    pub(super) fn fault(&mut self, call: Call, errno: Errno, file: (usize, usize)) -> Break {
        self.at_file = Some(file);
        Fault::of(call, errno, 0).into()
    }

    /// The place in the thread's memory that the operation uses, if it has any.
    #[inline(always)]
    pub(super) fn place_in_memory(&mut self, bytes: u64) -> Result<u64, Break> {
        let area = self.memory.area_bytes();
        if area == 0 {
            return Ok(0);
        }
        if bytes > area {
            return Err(Fault::short(Call::Area, 0, bytes, area).into());
        }
        Ok(self.numbers.offset(area, bytes.max(1)))
    }

    /// Bytes of one operation; 0 cannot be.
    #[inline(always)]
    pub(super) fn size_of(&mut self, op: &Op) -> Result<u64, Break> {
        match self.numbers.of(op.size) {
            0 => Err(Fault::short(Call::Empty, 0, 0, 0).into()),
            bytes => Ok(bytes),
        }
    }

    /// The size that the workload gives the file in a slot.
    #[inline(always)]
    fn defined_bytes(&self, slot: usize) -> u64 {
        self.slots.get(slot).of.map_or(0, |(set, entry)| self.setting.sets[set].entries[entry].bytes)
    }

    /// A random offset for the operation.
    #[inline(always)]
    pub(super) fn random_offset(&mut self, op: &Op, slot: usize, bytes: u64) -> Result<u64, Break> {
        if !op.positions.is_empty() {
            return Ok(op.positions[self.numbers.choice(op.positions.len())]);
        }
        let range = match self.numbers.of(op.working_set) {
            0 => self.defined_bytes(slot),
            range => range,
        };
        if bytes > range {
            return Err(Fault::short(Call::Range, 0, bytes, range).into());
        }
        Ok(self.numbers.offset(range, bytes))
    }

    #[inline(always)]
    pub(super) fn read(&mut self, op: &Op) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let bytes = self.size_of(op)?;
        let at = self.place_in_memory(bytes)?;
        let offset =
            if op.random { self.random_offset(op, slot, bytes)? } else { self.slots.get(slot).position };
        self.at_offset = offset;
        let buffer = self.memory.read_into(at, bytes as usize)?;
        let Some(file) = self.slots.get(slot).descriptor() else { return Err(closed(slot)) };
        let from = self.clock.now();
        let result = read_once(file, buffer, offset);
        let now = self.clock.now();
        let moved = result? as u64;
        if !op.random {
            // At its end a file is begun again.
            self.slots.at(slot).position = if moved == 0 { 0 } else { offset + moved };
        }
        self.done_at(op, from, now, moved)
    }

    #[inline(always)]
    pub(super) fn write(&mut self, op: &Op) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let bytes = self.size_of(op)?;
        let at = self.place_in_memory(bytes)?;
        let offset =
            if op.random { self.random_offset(op, slot, bytes)? } else { self.slots.get(slot).position };
        self.at_offset = offset;
        let from = self.write_at(slot, at, offset, bytes)?;
        if !op.random {
            self.slots.at(slot).position = offset + bytes;
        }
        self.done(op, from, bytes)
    }

    /// Writes, and gives when that began.
    #[inline(always)]
    fn write_at(&mut self, slot: usize, at: u64, offset: u64, bytes: u64) -> Result<u64, Break> {
        let setting = self.setting;
        let slot_of = self.slots.get(slot);
        let (Some(file), Some((set, entry))) = (slot_of.descriptor(), slot_of.of) else {
            return Err(closed(slot));
        };
        let buffer = self.memory.write_from(at, &setting.sets[set].data, entry, offset, bytes as usize)?;
        let from = self.clock.now();
        write_all(file, buffer, offset)?;
        Ok(from)
    }

    pub(super) fn read_whole_file(&mut self, op: &Op) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let piece = match (self.numbers.of(op.size), self.defined_bytes(slot)) {
            (0, 0) => SOME,
            (0, all) => all,
            (piece, _) => piece,
        };
        let at = self.place_in_memory(piece)?;
        let buffer = self.memory.read_into(at, piece as usize)?;
        let Some(file) = self.slots.get(slot).descriptor() else { return Err(closed(slot)) };
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
        self.slots.at(slot).position = moved;
        self.done(op, from, moved)
    }

    pub(super) fn write_whole_file(&mut self, op: &Op) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let length = match op.source_slot {
            Some(source) if self.slots.get(source).of.is_none() => {
                return Err(Fault::short(Call::UnknownSlot, 0, 0, source as u64).into());
            }
            Some(source) => self.defined_bytes(source),
            None => self.defined_bytes(slot),
        };
        let piece = match self.numbers.of(op.size) {
            0 => length,
            piece => piece.min(length),
        };
        let at = self.place_in_memory(piece)?;
        let first = self.slots.get(slot).position;
        self.at_offset = first;
        let mut moved = 0;
        let mut began = None;
        while moved < length {
            let bytes = piece.min(length - moved);
            let from = self.write_at(slot, at, first + moved, bytes)?;
            began.get_or_insert(from);
            moved += bytes;
            if self.control.stop.load(Ordering::Relaxed) != 0 {
                break;
            }
        }
        self.slots.at(slot).position = first + moved;
        let from = began.unwrap_or_else(|| self.clock.now());
        self.done(op, from, moved)
    }

    pub(super) fn append(&mut self, op: &Op, random_length: bool) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let most = self.size_of(op)?;
        let bytes = if random_length { self.numbers.length(most) } else { most };
        let at = self.place_in_memory(bytes)?;
        let from = self.clock.now();
        if bytes > 0 {
            let Some(file) = self.slots.get(slot).descriptor() else { return Err(closed(slot)) };
            let end = rustix::fs::seek(file, SeekFrom::End(0)).map_err(|e| Fault::of(Call::Write, e, 0))?;
            self.at_offset = end;
            self.write_at(slot, at, end, bytes)?;
            self.slots.at(slot).position = end + bytes;
        }
        self.done(op, from, bytes)
    }

    pub(super) fn sync(&mut self, op: &Op) -> Result<(), Break> {
        let slot = self.slot_of(op)?;
        self.at_file = self.slots.get(slot).of;
        let Some(file) = self.slots.get(slot).descriptor() else { return Err(closed(slot)) };
        let from = self.clock.now();
        rustix::fs::fsync(file).map_err(|e| Fault::of(Call::Sync, e, 0))?;
        self.done(op, from, 0)
    }

    pub(super) fn sync_set(&mut self, op: &Op) -> Result<(), Break> {
        let set = self.set_of(op)?;
        for slot in 0..self.slots.count() {
            let of = self.slots.get(slot).of;
            let Some(file) = self.slots.get(slot).descriptor().filter(|_| of.is_some_and(|o| o.0 == set))
            else {
                continue;
            };
            let from = self.clock.now();
            let result = rustix::fs::fsync(file);
            self.at_file = of;
            result.map_err(|e| Fault::of(Call::Sync, e, 0))?;
            self.done(op, from, 0)?;
        }
        Ok(())
    }
}

#[cold]
fn unknown(op: &Op) -> Fault {
    Fault::short(Call::UnknownSlot, 0, 0, op.slot.map_or(u64::MAX, |s| s as u64))
}

#[cold]
pub(super) fn closed(slot: usize) -> Break {
    Fault::short(Call::ClosedSlot, 0, 0, slot as u64).into()
}

/// One read; it may move less.
#[inline(always)]
fn read_once(file: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<usize, Fault> {
    loop {
        match rustix::io::pread(file, &mut *buffer, offset) {
            Ok(n) => return Ok(n),
            Err(Errno::INTR) => {}
            Err(e) => return Err(Fault::of(Call::Read, e, offset)),
        }
    }
}

/// Writes all of the buffer.
#[inline(always)]
fn write_all(file: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<(), Fault> {
    match rustix::io::pwrite(file, buffer, offset) {
        Ok(n) if n == buffer.len() => Ok(()),
        Ok(n) => write_rest(file, buffer, offset, n),
        Err(Errno::INTR) => write_rest(file, buffer, offset, 0),
        Err(e) => Err(Fault::of(Call::Write, e, offset)),
    }
}

#[cold]
fn write_rest(file: BorrowedFd<'_>, buffer: &[u8], offset: u64, mut moved: usize) -> Result<(), Fault> {
    while moved < buffer.len() {
        let at = offset + moved as u64;
        match rustix::io::pwrite(file, &buffer[moved..], at) {
            Ok(0) => return Err(Fault::short(Call::Write, offset, buffer.len() as u64, moved as u64)),
            Ok(n) => moved += n,
            Err(Errno::INTR) => {}
            Err(e) => {
                let (expected, found) = (buffer.len() as u64, moved as u64);
                return Err(Fault { expected, found, ..Fault::of(Call::Write, e, at) });
            }
        }
    }
    Ok(())
}
