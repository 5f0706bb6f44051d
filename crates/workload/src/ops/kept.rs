//! Remembering what was written ([`Kept`]), and reading it back ([`ReadBack`]). It is fed with completions, as every source of
//! operations is, so whoever executes a stream has it for nothing, in real or in virtual time.
//!
//! An extent is remembered from the time its write is handed out. Of writes that overlap, the one that was handed out last counts, and
//! what the older ones wrote beside it is not read back: that is what fio does, and what is there depends on how large its checked blocks
//! are.
//!
//! While there are writes in flight, nothing is read back that they may change; and a write that is handed out while the same place is
//! being read back makes that reading one that is not checked: it is read back once more later. A batch that comes to an extent still
//! being written is interrupted: the job writes on, and the batch continues when that write is done, as in fio. With a full queue of n
//! operations that is n operations later, however many completions an engine finds at once.
//!
//! At the end of a pass (`each_pass`) an operation that drops nothing ([`OpKind::Evict`]) waits for what is in flight.
//!
//! What is read back then is done without pauses ([`Source::pauses`]).
//!
//! Blocks that are given back after they were written ([`Trims`]) are read back as zeros, or not at all.

mod trims;

use super::{Done, Expected, Op, OpKind, Place, Source, WAIT};
use crate::KeepWritten;
use std::collections::{BTreeMap, VecDeque};
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

    fn begin(&self) -> Begin {
        (self.file, self.offset)
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

/// What is remembered of an extent.
#[derive(Clone, Copy)]
struct Entry {
    bytes: u32,
    /// The number of its write, among all operations.
    number: u64,
    /// Its write is done.
    done: bool,
    /// It was given back.
    zeros: bool,
}

/// Extents that were written, or are being written, and not read back; no two of them overlap.
struct Written {
    all: BTreeMap<Begin, Entry>,
    /// By the number of the write, unless it goes by offset.
    in_order: Option<BTreeMap<u64, Begin>>,
}

impl Written {
    fn new(by_offset: bool) -> Self {
        Self { all: BTreeMap::new(), in_order: (!by_offset).then(BTreeMap::new) }
    }

    fn insert(&mut self, begin: Begin, entry: Entry) {
        self.all.insert(begin, entry);
        if let Some(in_order) = &mut self.in_order {
            in_order.insert(entry.number, begin);
        }
    }

    fn remove(&mut self, begin: Begin) -> Option<Entry> {
        let entry = self.all.remove(&begin)?;
        if let Some(in_order) = &mut self.in_order {
            in_order.remove(&entry.number);
        }
        Some(entry)
    }

    /// Those that an extent overlaps.
    fn overlapped(&self, extent: &Extent) -> Vec<Begin> {
        let before_its_end = (extent.file, 0)..(extent.file, extent.end());
        let backwards = self.all.range(before_its_end).rev();
        backwards
            .take_while(|(begin, entry)| begin.1.saturating_add(u64::from(entry.bytes)) > extent.offset)
            .map(|(begin, _)| *begin)
            .collect()
    }

    /// Write `number` is handed out. Gives what it will write over, which is no longer remembered.
    fn begin(&mut self, extent: &Extent, number: u64) -> Vec<(Begin, Entry)> {
        let overlapped = self.overlapped(extent);
        let over = overlapped.into_iter().filter_map(|begin| Some((begin, self.remove(begin)?))).collect();
        self.insert(extent.begin(), Entry { bytes: extent.bytes, number, done: false, zeros: false });
        over
    }

    /// Write `number` is done. Gives whether it is still remembered: a later one may have been handed out for a part of it.
    fn done(&mut self, extent: &Extent, number: u64) -> bool {
        let written = self.all.get_mut(&extent.begin()).filter(|entry| entry.number == number);
        written.map(|entry| entry.done = true).is_some()
    }

    fn extent(&self, begin: Begin) -> Option<(Extent, Entry)> {
        let entry = *self.all.get(&begin)?;
        Some((Extent { file: begin.0, offset: begin.1, bytes: entry.bytes, zeros: entry.zeros }, entry))
    }

    /// Whether it is still there as write `number` left it.
    fn is_as_written(&self, extent: &Extent, number: u64) -> bool {
        self.all.get(&extent.begin()).is_some_and(|entry| entry.number == number)
    }

    /// It was given back: it must be zeros from now on, or is not read back at all.
    fn given_back(&mut self, extent: &Extent, zeros: bool) {
        let Some(entry) = self.all.get_mut(&extent.begin()).filter(|entry| entry.done) else { return };
        if zeros {
            entry.zeros = true;
        } else {
            self.remove(extent.begin());
        }
    }

    /// In the order in which they are to be read back.
    fn each(&self) -> Box<dyn Iterator<Item = (Extent, Entry)> + '_> {
        match &self.in_order {
            Some(in_order) => Box::new(in_order.values().filter_map(move |begin| self.extent(*begin))),
            None => Box::new(self.all.keys().filter_map(move |begin| self.extent(*begin))),
        }
    }

    /// The first that is free, which is read back now. With `newest` none, if one before it is still being written or has a later number.
    fn take_first(&mut self, newest: Option<u64>, free: impl Fn(&Extent) -> bool) -> Option<(Extent, Entry)> {
        let waits = |entry: &Entry| newest.is_some_and(|newest| !entry.done || entry.number > newest);
        let is_next = |(extent, entry): &(Extent, Entry)| waits(entry) || entry.done && free(extent);
        let known = |begin: &Begin| self.extent(*begin).filter(is_next);
        let first = match &self.in_order {
            Some(in_order) => in_order.values().find_map(known),
            None => self.all.keys().find_map(known),
        };
        let first = first.filter(|(_, entry)| !waits(entry))?;
        self.remove(first.0.begin());
        Some(first)
    }
}

/// An extent that is being read back.
struct Reading {
    extent: Extent,
    entry: Entry,
    /// Nothing was written there since it was handed out.
    whole: bool,
}

/// A write that is handed out and not done.
struct Writing {
    extent: Extent,
    number: u64,
    /// What it writes over, in case that it is never done.
    over: Vec<(Begin, Entry)>,
}

/// A source of operations whose writes are remembered, and read back while there are more, if that is wanted.
pub struct Kept<'a> {
    inner: Box<dyn Source + 'a>,
    written: Written,
    after: u64,
    batch: u64,
    /// What is left of a batch.
    batch_left: u64,
    /// Operations in a full queue.
    depth: usize,
    /// Of those in a full queue, oldest first: whether it reads.
    latest: VecDeque<bool>,
    /// The number of the last operation.
    number: u64,
    writing: Vec<Writing>,
    /// What is being read back; no two of them overlap.
    reading: Vec<Reading>,
    /// What is being read for other reasons.
    others: Vec<Extent>,
    /// Extents that were read back.
    done: u64,
    /// Reads and writes that are still to be handed out, if there is a limit.
    left: Option<u64>,
    most: u64,
    /// Bytes of a pass, and what is left of this one, if each is read back before the next one.
    pass: Option<(u64, u64)>,
    /// Bytes after which no pass begins, if there is such a limit, and passes that do in any case.
    enough: (u64, u64),
    /// Bytes moved, and passes done.
    moved: (u64, u64),
    /// Whether a sync that is due between two passes is left out.
    forgets_sync: bool,
    trims: Option<Trims>,
}

impl<'a> Kept<'a> {
    /// Remembers what another source writes. Seed and place are those of the stream; `depth`: see `full_queue` of a stream.
    #[must_use]
    pub fn new(inner: Box<dyn Source + 'a>, how: KeepWritten, depth: u32, seed: u64, place: Place) -> Self {
        let batch = if how.batch == 0 { how.after } else { how.batch };
        Self {
            inner,
            written: Written::new(how.by_offset),
            after: how.after,
            batch,
            batch_left: 0,
            depth: depth.max(1) as usize,
            latest: VecDeque::new(),
            number: 0,
            writing: Vec::new(),
            reading: Vec::new(),
            others: Vec::new(),
            done: 0,
            left: (how.most > 0).then_some(how.most),
            most: how.most,
            pass: None,
            enough: (how.moves.0, how.passes),
            moved: (0, 0),
            forgets_sync: how.forgets_sync,
            trims: how.trim.map(|how| Trims::new(how, seed, place)),
        }
    }

    /// Reads back what is left of each pass, where that is wanted. `pass`: its bytes, unless `how` says them.
    #[must_use]
    pub fn by_pass(mut self, how: KeepWritten, pass: u64) -> Self {
        let pass = if how.pass.0 > 0 { how.pass.0 } else { pass };
        self.pass = how.each_pass.then_some((pass, pass));
        self
    }

    /// What comes between two passes.
    fn between_passes(&mut self) -> Option<Op> {
        let (pass, 0) = self.pass? else { return None };
        if !(self.writing.is_empty() && self.others.is_empty()) {
            return Some(WAIT);
        }
        if let Some(op) = self.read_back(false) {
            return Some(op);
        }
        if !self.reading.is_empty() {
            return Some(WAIT);
        }
        (self.batch_left, self.pass) = (0, Some((pass, pass)));
        self.moved.1 += 1;
        self.latest.clear();
        None
    }

    /// Whether so much was moved that no more passes begin.
    fn has_enough(&self) -> bool {
        let ((bytes, passes), (moved, done)) = (self.enough, self.moved);
        bytes > 0 && moved >= bytes && done >= passes && self.pass.is_some_and(|(pass, left)| pass == left)
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

    /// What is read back next. With `waits` nothing, if what comes first is still being written.
    fn read_back(&mut self, waits: bool) -> Option<Op> {
        let newest = (self.number + 1).saturating_sub(self.depth as u64);
        let Self { written, writing, reading, others, .. } = self;
        // Completions are told apart by their place, so what is in flight there has to be done before.
        let free = |extent: &Extent| {
            !writing.iter().any(|other| other.extent.overlaps(extent))
                && !reading.iter().any(|other| other.extent.overlaps(extent))
                && !others.iter().any(|other| other.overlaps(extent))
        };
        let (extent, entry) = written.take_first(waits.then_some(newest), free)?;
        self.reading.push(Reading { extent, entry, whole: true });
        Some(extent.read())
    }

    /// A read back of a batch that is under way, or that begins now: when as many extents are remembered as `after` says, or a multiple
    /// of them, and it was a write that left the full queue last.
    fn of_batch(&mut self) -> Option<Op> {
        let remembered = self.written.all.len() as u64;
        if self.after == 0 || remembered == 0 {
            return None;
        }
        if self.batch_left == 0 {
            let writes = self.latest.len() == self.depth && self.latest.front() == Some(&false);
            if !writes || !remembered.is_multiple_of(self.after) {
                return None;
            }
            self.batch_left = self.batch;
        }
        let op = self.read_back(true)?;
        self.batch_left -= 1;
        Some(op)
    }

    /// A write was never done: what it would have written over is still there.
    fn undo(&mut self, writing: Writing) {
        let Writing { extent, number, over } = writing;
        if self.written.is_as_written(&extent, number) {
            self.written.remove(extent.begin());
        }
        for (begin, entry) in over {
            let (file, offset) = begin;
            let older = Extent { file, offset, bytes: entry.bytes, zeros: entry.zeros };
            if entry.done && self.written.overlapped(&older).is_empty() {
                self.written.insert(begin, entry);
            }
        }
    }

    /// The next operation of the source, or at its end what is left to be read back.
    fn drawn(&mut self, done: &Done) -> Option<Op> {
        let own = Done { reads: done.reads.saturating_sub(self.done), ..*done };
        let mut next = if self.left == Some(0) { None } else { self.inner.next(&own) };
        let begins = self.pass.is_some_and(|(pass, left)| pass == left);
        if self.forgets_sync && begins && next.is_some_and(|op| matches!(op.kind, OpKind::Sync { .. })) {
            next = self.inner.next(&own);
        }
        let Some(op) = next else {
            if let Some((_, left)) = &mut self.pass {
                *left = 0;
                return self.between_passes();
            }
            return if self.after > 0 { self.read_back(false) } else { None };
        };
        if let (OpKind::Read | OpKind::Write, Some((_, left))) = (op.kind, &mut self.pass) {
            *left = left.saturating_sub(op.bytes.into());
        }
        let extent = Extent::of(&op);
        let number = self.number + 1;
        match op.kind {
            OpKind::Write => {
                let over = self.written.begin(&extent, number);
                self.writing.push(Writing { extent, number, over });
                for reading in self.reading.iter_mut().filter(|reading| reading.extent.overlaps(&extent)) {
                    reading.whole = false;
                }
            }
            OpKind::Read if self.after > 0 || self.pass.is_some() => self.others.push(extent),
            // No stream whose direction trims keeps what it wrote: the check refuses it.
            OpKind::Read | OpKind::Sync { .. } | OpKind::Trim | OpKind::Evict => {}
        }
        Some(op)
    }

    fn is_read_back(&self, op: &Op) -> bool {
        op.kind == OpKind::Read && self.reading.iter().any(|reading| reading.extent.is_of(op))
    }
}

impl Source for Kept<'_> {
    fn next(&mut self, done: &Done) -> Option<Op> {
        let op = self.between_passes();
        if op.is_none() && self.has_enough() {
            return None;
        }
        let op = op.or_else(|| self.of_batch());
        let op = op.or_else(|| self.trim()).or_else(|| self.drawn(done))?;
        if matches!(op.kind, OpKind::Read | OpKind::Write) {
            self.moved.0 = self.moved.0.saturating_add(op.bytes.into());
            self.left = self.left.map(|left| left.saturating_sub(1));
        }
        if op.kind != OpKind::Evict {
            self.number += 1;
            if self.latest.len() == self.depth {
                self.latest.pop_front();
            }
            self.latest.push_back(op.kind == OpKind::Read);
        }
        Some(op)
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        let trims = |op: &Op| self.trims.as_ref().is_some_and(|trims| trims.has(op));
        let own = drawn.filter(|op| **op != WAIT && !self.is_read_back(op) && !trims(op));
        self.moved = (own.map_or(0, |op| op.bytes.into()), 0);
        self.left = self.left.map(|_| self.most.saturating_sub(own.map_or(0, |_| 1)));
        self.inner.refill(own);
    }

    fn completed(&mut self, op: &Op) {
        let extent = Extent::of(op);
        match op.kind {
            OpKind::Write => {
                // Of two that are alike the older one.
                if let Some(at) = self.writing.iter().position(|writing| writing.extent == extent) {
                    let Writing { number, .. } = self.writing.remove(at);
                    if !self.written.done(&extent, number) {
                        let covered = self.writing.iter_mut().flat_map(|later| &mut later.over);
                        covered
                            .filter(|(_, entry)| entry.number == number)
                            .for_each(|(_, entry)| entry.done = true);
                    }
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
        if matches!(op.kind, OpKind::Read | OpKind::Write) {
            // Only what succeeds counts.
            self.left = self.left.map(|left| left.saturating_add(1));
        }
        let writing = self.writing.iter().position(|writing| writing.extent == extent);
        match (op.kind, writing) {
            // Nobody knows what is there now: neither this write nor what stood there before is read back.
            (OpKind::Write, Some(at)) => {
                let Writing { number, .. } = self.writing.remove(at);
                if self.written.is_as_written(&extent, number) {
                    self.written.remove(extent.begin());
                }
                self.inner.failed(op);
            }
            (OpKind::Read, _) if !self.is_read_back(op) => {
                if let Some(at) = self.others.iter().position(|other| *other == extent) {
                    self.others.swap_remove(at);
                }
                self.inner.failed(op);
            }
            _ => self.completed(op),
        }
    }

    fn expected(&self, op: &Op) -> Expected {
        let reading = self.reading.iter().find(|reading| reading.extent.is_of(op) && reading.whole);
        reading.map_or(Expected::Anything, |reading| reading.extent.expected())
    }

    fn pauses(&self, op: &Op) -> bool {
        // As in fio 3.42: reads of a batch pause, and those at the end of a pass do not.
        !(matches!(self.pass, Some((_, 0))) && self.is_read_back(op))
    }

    fn left_to_read(&mut self) -> Option<Vec<Extent>> {
        // What was handed out and never done is still to be read.
        for reading in std::mem::take(&mut self.reading).into_iter().filter(|reading| reading.whole) {
            self.written.insert(reading.extent.begin(), reading.entry);
        }
        while let Some(writing) = self.writing.pop() {
            self.undo(writing);
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
