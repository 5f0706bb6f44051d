//! Remembering what was written ([`Kept`]), and reading it back ([`ReadBack`]). It is fed with completions, as every source of
//! operations is, so whoever executes a stream has it for nothing, in real or in virtual time.
//!
//! An extent is remembered when its write is done. Of writes that overlap, the one that was handed out last counts, and what the older
//! ones wrote beside it is not read back: that is what fio does, and what is there depends on how large its checked blocks are.
//!
//! While there are writes in flight, nothing is read back that they may change; and a write that is handed out while the same place is
//! being read back makes that reading one that is not checked: it is read back once more later.
//!
//! Blocks that are given back after they were written ([`Trims`]) are read back as zeros, or not at all.

mod trims;

use super::{Done, Expected, Op, OpKind, Place, Source};
use crate::KeepWritten;
use std::collections::BTreeMap;
use trims::Trims;

/// Bytes that were written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Which file of the set, for a stream over all of them; else 0.
    pub file: u32,
    /// Where, in bytes from the start of the file.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u32,
    /// They were given back since, and must be zeros.
    pub zeros: bool,
}

impl Extent {
    fn of(op: &Op) -> Self {
        Self { file: op.file, offset: op.offset, bytes: op.bytes, zeros: false }
    }

    fn is_of(&self, op: &Op) -> bool {
        (self.file, self.offset, self.bytes) == (op.file, op.offset, op.bytes)
    }

    fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes.into())
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.file == other.file && self.offset < other.end() && other.offset < self.end()
    }

    fn op(&self, kind: OpKind) -> Op {
        let &Self { file, offset, bytes, .. } = self;
        Op { kind, file, offset, bytes, think_ns: 0 }
    }

    fn read(&self) -> Op {
        self.op(OpKind::Read)
    }

    fn expected(&self) -> Expected {
        if self.zeros { Expected::Zeros } else { Expected::Written }
    }
}

/// Where an extent begins: its file and its offset.
type Begin = (u32, u64);

/// Extents that were written and not read back; no two of them overlap.
struct Written {
    /// Bytes of each, the number of its write, and whether it was given back.
    all: BTreeMap<Begin, (u32, u64, bool)>,
    /// By the number of the write, unless it goes by offset.
    in_order: Option<BTreeMap<u64, Begin>>,
}

impl Written {
    fn new(by_offset: bool) -> Self {
        Self { all: BTreeMap::new(), in_order: (!by_offset).then(BTreeMap::new) }
    }

    fn remove(&mut self, begin: Begin) {
        if let Some((_, number, _)) = self.all.remove(&begin)
            && let Some(in_order) = &mut self.in_order
        {
            in_order.remove(&number);
        }
    }

    /// Those that an extent overlaps, with the numbers of their writes.
    fn overlapped(&self, extent: &Extent) -> Vec<(Begin, u64)> {
        let before_its_end = (extent.file, 0)..(extent.file, extent.end());
        let backwards = self.all.range(before_its_end).rev();
        backwards
            .take_while(|(begin, (bytes, ..))| begin.1.saturating_add(u64::from(*bytes)) > extent.offset)
            .map(|(begin, (_, number, _))| (*begin, *number))
            .collect()
    }

    /// Write `number` is done. What it wrote is there, unless a later write `covered` a part of it while both were in flight.
    fn note(&mut self, extent: &Extent, number: u64, covered: bool) {
        let overlapped = self.overlapped(extent);
        for (begin, _) in overlapped.iter().filter(|(_, other)| *other < number) {
            self.remove(*begin);
        }
        if covered || overlapped.iter().any(|(_, other)| *other > number) {
            return;
        }
        let begin = (extent.file, extent.offset);
        self.all.insert(begin, (extent.bytes, number, extent.zeros));
        if let Some(in_order) = &mut self.in_order {
            in_order.insert(number, begin);
        }
    }

    fn extent(&self, begin: Begin) -> Option<(Extent, u64)> {
        let (bytes, number, zeros) = *self.all.get(&begin)?;
        Some((Extent { file: begin.0, offset: begin.1, bytes, zeros }, number))
    }

    /// Whether it is still there as write `number` left it.
    fn is_as_written(&self, extent: &Extent, number: u64) -> bool {
        self.all.get(&(extent.file, extent.offset)).is_some_and(|(_, newest, _)| *newest == number)
    }

    /// It was given back: it must be zeros from now on, or is not read back at all.
    fn given_back(&mut self, extent: &Extent, zeros: bool) {
        let begin = (extent.file, extent.offset);
        if !zeros {
            self.remove(begin);
        } else if let Some(written) = self.all.get_mut(&begin) {
            written.2 = true;
        }
    }

    /// In the order in which they are to be read back, with the numbers of their writes.
    fn each(&self) -> Box<dyn Iterator<Item = (Extent, u64)> + '_> {
        match &self.in_order {
            Some(in_order) => Box::new(in_order.values().filter_map(move |begin| self.extent(*begin))),
            None => Box::new(self.all.keys().filter_map(move |begin| self.extent(*begin))),
        }
    }

    /// The first that is free, which is read back now.
    fn take_first(&mut self, free: impl Fn(&Extent) -> bool) -> Option<(Extent, u64)> {
        let known = |begin: &Begin| self.extent(*begin).filter(|(extent, _)| free(extent));
        let first = match &self.in_order {
            Some(in_order) => in_order.values().find_map(known),
            None => self.all.keys().find_map(known),
        }?;
        self.remove((first.0.file, first.0.offset));
        Some(first)
    }
}

/// An extent that is being read back.
struct Reading {
    extent: Extent,
    number: u64,
    /// Nothing was written there since it was handed out.
    whole: bool,
}

/// A write that is handed out and not done.
struct Writing {
    extent: Extent,
    number: u64,
    /// A later write was handed out for a part of it.
    covered: bool,
}

/// A source of operations whose writes are remembered, and read back while there are more, if that is wanted.
pub struct Kept<'a> {
    inner: Box<dyn Source + 'a>,
    written: Written,
    after: u64,
    batch: u64,
    /// What is left of a batch.
    batch_left: u64,
    /// The number of the last write.
    number: u64,
    writing: Vec<Writing>,
    /// What is being read back; no two of them overlap.
    reading: Vec<Reading>,
    /// What is being read for other reasons.
    others: Vec<Extent>,
    /// Extents that were read back.
    done: u64,
    trims: Option<Trims>,
}

impl<'a> Kept<'a> {
    /// Remembers what another source writes. Seed and place are those of the stream.
    #[must_use]
    pub fn new(inner: Box<dyn Source + 'a>, how: KeepWritten, seed: u64, place: Place) -> Self {
        let batch = if how.batch == 0 { how.after } else { how.batch };
        Self {
            inner,
            written: Written::new(how.by_offset),
            after: how.after,
            batch,
            batch_left: 0,
            number: 0,
            writing: Vec::new(),
            reading: Vec::new(),
            others: Vec::new(),
            done: 0,
            trims: how.trim.map(|how| Trims::new(how, seed, place)),
        }
    }

    /// What is given back now.
    fn trim(&mut self) -> Option<Op> {
        let Self { written, writing, reading, trims, .. } = self;
        let may = |extent: &Extent, number| {
            written.is_as_written(extent, number)
                && !writing.iter().any(|other| other.extent.overlaps(extent))
                && !reading.iter().any(|other| other.extent.overlaps(extent))
        };
        trims.as_mut()?.next(may).map(|extent| extent.op(OpKind::Trim))
    }

    fn read_back(&mut self) -> Option<Op> {
        let Self { written, writing, reading, others, .. } = self;
        // Completions are told apart by their place, so what is in flight there has to be done before.
        let free = |extent: &Extent| {
            !writing.iter().any(|other| other.extent.overlaps(extent))
                && !reading.iter().any(|other| other.extent.overlaps(extent))
                && !others.iter().any(|other| other.overlaps(extent))
        };
        let (extent, number) = written.take_first(free)?;
        self.reading.push(Reading { extent, number, whole: true });
        Some(extent.read())
    }

    /// A read back of a batch that is under way, or that begins now.
    fn of_batch(&mut self) -> Option<Op> {
        if self.after == 0 {
            return None;
        }
        if self.batch_left == 0 {
            if (self.written.all.len() as u64) < self.after {
                return None;
            }
            self.batch_left = self.batch;
        }
        let op = self.read_back();
        // All that there is may be about to be overwritten.
        self.batch_left = if op.is_some() { self.batch_left - 1 } else { 0 };
        op
    }

    fn is_read_back(&self, op: &Op) -> bool {
        op.kind == OpKind::Read && self.reading.iter().any(|reading| reading.extent.is_of(op))
    }
}

impl Source for Kept<'_> {
    fn next(&mut self, done: &Done) -> Option<Op> {
        if let Some(op) = self.of_batch().or_else(|| self.trim()) {
            return Some(op);
        }
        let own = Done { reads: done.reads.saturating_sub(self.done), ..*done };
        let Some(op) = self.inner.next(&own) else {
            return if self.after > 0 { self.read_back() } else { None };
        };
        let extent = Extent::of(&op);
        match op.kind {
            OpKind::Write => {
                self.number += 1;
                for older in self.writing.iter_mut().filter(|older| older.extent.overlaps(&extent)) {
                    older.covered = true;
                }
                self.writing.push(Writing { extent, number: self.number, covered: false });
                for reading in self.reading.iter_mut().filter(|reading| reading.extent.overlaps(&extent)) {
                    reading.whole = false;
                }
            }
            OpKind::Read if self.after > 0 => self.others.push(extent),
            // No stream whose direction trims keeps what it wrote: the check refuses it.
            OpKind::Read | OpKind::Sync { .. } | OpKind::Trim | OpKind::Evict => {}
        }
        Some(op)
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        let trims = |op: &Op| self.trims.as_ref().is_some_and(|trims| trims.has(op));
        let own = drawn.filter(|op| !self.is_read_back(op) && !trims(op));
        self.inner.refill(own);
    }

    fn completed(&mut self, op: &Op) {
        let extent = Extent::of(op);
        match op.kind {
            OpKind::Write => {
                // Of two that are alike the older one.
                if let Some(at) = self.writing.iter().position(|writing| writing.extent == extent) {
                    let Writing { number, covered, .. } = self.writing.remove(at);
                    self.written.note(&extent, number, covered);
                    if let Some(trims) = &mut self.trims {
                        trims.wrote(extent, number);
                        trims.forget(self.written.all.len(), |extent, number| {
                            self.written.is_as_written(extent, number)
                        });
                    }
                }
            }
            OpKind::Trim => {
                if let Some((extent, zeros)) = self.trims.as_mut().and_then(|trims| trims.take(op)) {
                    self.written.given_back(&extent, zeros);
                    return;
                }
            }
            OpKind::Read => {
                if let Some(at) = self.reading.iter().position(|reading| reading.extent.is_of(op)) {
                    self.reading.swap_remove(at);
                    self.done += 1;
                    return;
                }
                if let Some(at) = self.others.iter().position(|other| *other == extent) {
                    self.others.swap_remove(at);
                }
            }
            OpKind::Sync { .. } | OpKind::Evict => {}
        }
        self.inner.completed(op);
    }

    fn failed(&mut self, op: &Op) {
        let extent = Extent::of(op);
        if op.kind == OpKind::Trim && self.trims.as_mut().and_then(|trims| trims.take(op)).is_some() {
            // Nobody knows what is there now.
            self.written.given_back(&extent, false);
            return;
        }
        let writing = self.writing.iter().position(|writing| writing.extent == extent);
        match writing.filter(|_| op.kind == OpKind::Write) {
            // Nobody knows what is there now: neither this write nor what stood there before is read back.
            Some(at) => {
                let Writing { number, .. } = self.writing.remove(at);
                self.written.note(&extent, number, true);
                self.inner.failed(op);
            }
            None => self.completed(op),
        }
    }

    fn expected(&self, op: &Op) -> Expected {
        let reading = self.reading.iter().find(|reading| reading.extent.is_of(op) && reading.whole);
        reading.map_or(Expected::Anything, |reading| reading.extent.expected())
    }

    fn left_to_read(&mut self) -> Option<Vec<Extent>> {
        // What was handed out and never done is still to be read.
        for reading in std::mem::take(&mut self.reading).into_iter().filter(|reading| reading.whole) {
            self.written.note(&reading.extent, reading.number, false);
        }
        Some(self.written.each().map(|(extent, _)| extent).collect())
    }
}

/// Reads extents, one after the other, once.
pub struct ReadBack {
    list: Vec<Extent>,
    next: usize,
}

impl ReadBack {
    /// Of these, in this order.
    #[must_use]
    pub fn new(list: Vec<Extent>) -> Self {
        Self { list, next: 0 }
    }
}

impl Source for ReadBack {
    fn next(&mut self, _: &Done) -> Option<Op> {
        let extent = self.list.get(self.next)?;
        self.next += 1;
        Some(extent.read())
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        // One that is in hand is the first.
        self.next = usize::from(drawn.is_some()).min(self.next);
    }

    fn expected(&self, op: &Op) -> Expected {
        // Each is read once; with several in flight, one of those that were drawn last.
        let drawn = self.list[..self.next].iter().rev().find(|extent| extent.is_of(op));
        drawn.map_or(Expected::Written, Extent::expected)
    }
}

#[cfg(test)]
mod tests;
