//! What operations move: slot, offset and length. Numbers are drawn in the order size, position in memory, offset.

use super::program::FlatOp;
use super::thread::FlowThread;
use super::wrong::Wrong;
use crate::Act;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

/// Bytes per read of a file of unknown length.
const SOME: u64 = 64 << 10;

/// One transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Index of the slot.
    pub slot: usize,
    /// Offset in its file.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Position in the thread's private memory, if it has any.
    pub at: u64,
}

/// A file moved as a whole, piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Index of the slot.
    pub slot: usize,
    /// Start offset.
    pub offset: u64,
    /// Length in bytes; unknown for reads up to the end.
    pub bytes: u64,
    /// Bytes of one piece.
    pub piece: u64,
    /// Position in the thread's private memory, if it has any.
    pub at: u64,
}

impl<A: Deref<Target = [AtomicU64]>, F> FlowThread<'_, A, F> {
    /// The position in the thread's memory that the operation uses, if it has any.
    #[inline(always)]
    fn place_in_memory(&mut self, bytes: u64) -> Result<u64, Wrong> {
        if self.area == 0 {
            return Ok(0);
        }
        if bytes > self.area {
            return Err(Wrong::Area { bytes, area: self.area });
        }
        Ok(self.numbers.offset(self.area, bytes.max(1)))
    }

    /// Bytes of one operation; an error if 0 was drawn.
    #[inline(always)]
    fn size_of(&mut self, op: &FlatOp) -> Result<u64, Wrong> {
        match self.numbers.of(op.size) {
            0 => Err(Wrong::Empty),
            bytes => Ok(bytes),
        }
    }

    /// The intended size of the file in a slot.
    #[inline(always)]
    fn defined_bytes(&self, slot: usize) -> u64 {
        self.slots.get(slot).of.map_or(0, |(set, entry)| self.sets[set].bytes[entry])
    }

    /// A random offset for the operation.
    #[inline(always)]
    fn random_offset(&mut self, op: &FlatOp, slot: usize, bytes: u64) -> Result<u64, Wrong> {
        if !op.positions.is_empty() {
            return Ok(op.positions[self.numbers.choice(op.positions.len())]);
        }
        let range = match self.numbers.of(op.working_set) {
            0 => self.defined_bytes(slot),
            range => range,
        };
        if bytes > range {
            return Err(Wrong::Range { bytes, range });
        }
        Ok(self.numbers.offset(range, bytes))
    }

    /// The transfer of a read or write through an open slot: at a random offset, or at the slot's position.
    ///
    /// # Errors
    /// If drawn sizes do not fit.
    #[inline(always)]
    pub fn transfer(&mut self, op: &FlatOp, slot: usize) -> Result<Transfer, Wrong> {
        let bytes = self.size_of(op)?;
        let at = self.place_in_memory(bytes)?;
        let offset =
            if op.random { self.random_offset(op, slot, bytes)? } else { self.slots.get(slot).position };
        Ok(Transfer { slot, offset, bytes, at })
    }

    /// Records that a read moved `moved` bytes. At the end of a file it starts over.
    #[inline(always)]
    pub fn was_read(&mut self, op: &FlatOp, transfer: &Transfer, moved: u64) {
        if !op.random {
            self.slots.at(transfer.slot).position = if moved == 0 { 0 } else { transfer.offset + moved };
        }
    }

    /// Records that a transfer was written.
    #[inline(always)]
    pub fn was_written(&mut self, op: &FlatOp, transfer: &Transfer) {
        if !op.random {
            self.slots.at(transfer.slot).position = transfer.offset + transfer.bytes;
        }
    }

    /// A read of a file from 0 to its end.
    ///
    /// # Errors
    /// If a drawn piece does not fit into the thread's memory.
    pub fn whole_read(&mut self, op: &FlatOp, slot: usize) -> Result<Whole, Wrong> {
        let bytes = self.defined_bytes(slot);
        let piece = match (self.numbers.of(op.size), bytes) {
            (0, 0) => SOME,
            (0, all) => all,
            (piece, _) => piece,
        };
        let at = self.place_in_memory(piece)?;
        Ok(Whole { slot, offset: 0, bytes, piece, at })
    }

    /// A write of a whole file: the intended size of the slot's file, or of its source slot's file, from the slot's position.
    ///
    /// # Errors
    /// If the source slot has had no file, or a piece does not fit into the thread's memory.
    pub fn whole_write(&mut self, op: &FlatOp, slot: usize) -> Result<Whole, Wrong> {
        let bytes = match op.source_slot {
            Some(source) if self.slots.get(source).of.is_none() => {
                return Err(Wrong::UnknownSlot(source as u64));
            }
            Some(source) => self.defined_bytes(source),
            None => self.defined_bytes(slot),
        };
        let piece = match self.numbers.of(op.size) {
            0 => bytes,
            piece => piece.min(bytes),
        };
        let at = self.place_in_memory(piece)?;
        Ok(Whole { slot, offset: self.slots.get(slot).position, bytes, piece, at })
    }

    /// Sets the position of a slot.
    pub fn stands_at(&mut self, slot: usize, offset: u64) {
        self.slots.at(slot).position = offset;
    }

    /// The length of an append, and its position in the thread's memory. The length may be 0.
    ///
    /// # Errors
    /// If the drawn size is 0 or does not fit into the thread's memory.
    pub fn append(&mut self, op: &FlatOp) -> Result<(u64, u64), Wrong> {
        let most = self.size_of(op)?;
        let random_length = op.act == Act::AppendRandomLength;
        let bytes = if random_length { self.numbers.length(most) } else { most };
        Ok((bytes, self.place_in_memory(bytes)?))
    }
}
