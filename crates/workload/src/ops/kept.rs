//! Remembering written extents ([`Kept`]) and reading them back ([`ReadBack`]). Like every source of operations it is fed with
//! completions, so it works for any executor, in real or in virtual time.
//!
//! An extent is remembered from the time its write is handed out. Of overlapping writes, the one handed out last counts, and the parts of
//! older ones outside it are not read back: fio does the same, as their contents depend on the size of its checked blocks.
//!
//! While writes are in flight, nothing they may change is read back. A write handed out while the same range is being read back makes
//! that read unchecked; the range is read back again later. A batch that reaches an extent still being written is interrupted: the job
//! writes on, and the batch continues when that write is done, as in fio. With a full queue of n operations that is n operations later,
//! however many completions an engine reaps at once.
//!
//! At the end of a pass (`each_pass`) an [`OpCode::Evict`] that drops nothing waits for the operations in flight. The read-backs that
//! follow are done without pauses ([`Source::pauses`]).
//!
//! Blocks that are trimmed after they were written ([`Trims`]) are read back as zeros, or not at all.

mod trims;

use super::{Done, Expected, Op, OpCode, Place, Source, WAIT};
use crate::KeepWritten;
use std::collections::{BTreeMap, VecDeque};
use trims::Trims;

/// Bytes written by one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Which file of the set, for a stream over all of them; else 0.
    pub file: u32,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// Trimmed since, and must read as zeros.
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

    fn op(&self, kind: OpCode) -> Op {
        let &Self { file, offset, bytes, .. } = self;
        Op { kind, file, offset, bytes, think_ns: 0 }
    }

    fn read(&self) -> Op {
        self.op(OpCode::Read)
    }

    fn expected(&self) -> Expected {
        if self.zeros { Expected::Zeros } else { Expected::Written }
    }
}

/// Start of an extent: its file and its offset.
type Begin = (u32, u64);

/// What is remembered of an extent.
#[derive(Clone, Copy)]
struct Entry {
    bytes: u32,
    /// Sequence number of its write, among all operations.
    number: u64,
    done: bool,
    /// It was trimmed.
    zeros: bool,
}

/// Extents written, or being written, and not yet read back; no two of them overlap.
struct Written {
    all: BTreeMap<Begin, Entry>,
    /// By write number; `None` if extents are read back by offset.
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

    /// The remembered extents that overlap `extent`.
    fn overlapped(&self, extent: &Extent) -> Vec<Begin> {
        let before_its_end = (extent.file, 0)..(extent.file, extent.end());
        let backwards = self.all.range(before_its_end).rev();
        backwards
            .take_while(|(begin, entry)| begin.1.saturating_add(u64::from(entry.bytes)) > extent.offset)
            .map(|(begin, _)| *begin)
            .collect()
    }

    /// Write `number` is handed out. Returns the extents it overwrites, which are no longer remembered.
    fn begin(&mut self, extent: &Extent, number: u64) -> Vec<(Begin, Entry)> {
        let overlapped = self.overlapped(extent);
        let over = overlapped.into_iter().filter_map(|begin| Some((begin, self.remove(begin)?))).collect();
        self.insert(extent.begin(), Entry { bytes: extent.bytes, number, done: false, zeros: false });
        over
    }

    /// Write `number` is done. Returns whether it is still remembered: a later write may have been handed out for a part of it.
    fn done(&mut self, extent: &Extent, number: u64) -> bool {
        let written = self.all.get_mut(&extent.begin()).filter(|entry| entry.number == number);
        written.map(|entry| entry.done = true).is_some()
    }

    fn extent(&self, begin: Begin) -> Option<(Extent, Entry)> {
        let entry = *self.all.get(&begin)?;
        Some((Extent { file: begin.0, offset: begin.1, bytes: entry.bytes, zeros: entry.zeros }, entry))
    }

    /// Whether the extent is still as write `number` left it.
    fn is_as_written(&self, extent: &Extent, number: u64) -> bool {
        self.all.get(&extent.begin()).is_some_and(|entry| entry.number == number)
    }

    /// The extent was trimmed: it must read as zeros from now on, or is not read back at all.
    fn given_back(&mut self, extent: &Extent, zeros: bool) {
        let Some(entry) = self.all.get_mut(&extent.begin()).filter(|entry| entry.done) else { return };
        if zeros {
            entry.zeros = true;
        } else {
            self.remove(extent.begin());
        }
    }

    /// All extents in read-back order.
    fn each(&self) -> Box<dyn Iterator<Item = (Extent, Entry)> + '_> {
        match &self.in_order {
            Some(in_order) => Box::new(in_order.values().filter_map(move |begin| self.extent(*begin))),
            None => Box::new(self.all.keys().filter_map(move |begin| self.extent(*begin))),
        }
    }

    /// Takes the first free extent for reading back. With `newest`, returns `None` if an extent before it is still being written or has a
    /// later number.
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
    /// Nothing was written there since the read was handed out.
    whole: bool,
}

/// A write in flight.
struct Writing {
    extent: Extent,
    number: u64,
    /// The entries it overwrites, restored if it is never done.
    over: Vec<(Begin, Entry)>,
}

/// A source of operations whose writes are remembered and, if configured, read back while it is still writing.
pub struct Kept<'a> {
    inner: Box<dyn Source + 'a>,
    written: Written,
    after: u64,
    batch: u64,
    /// Reads left in the current batch.
    batch_left: u64,
    /// Operations in a full queue.
    depth: usize,
    /// The last operations that make up a full queue, oldest first: whether each is a read.
    latest: VecDeque<bool>,
    /// Sequence number of the last operation.
    number: u64,
    writing: Vec<Writing>,
    /// Read-backs in flight; no two of them overlap.
    reading: Vec<Reading>,
    /// Other reads in flight.
    others: Vec<Extent>,
    /// Number of extents read back.
    done: u64,
    /// Reads and writes still to be handed out; `None`: no limit.
    left: Option<u64>,
    most: u64,
    /// Bytes per pass and bytes left in this one, if each pass is read back before the next.
    pass: Option<(u64, u64)>,
    /// Bytes after which no further pass begins (0: no limit), and the minimum number of passes.
    enough: (u64, u64),
    /// Bytes moved, and passes done.
    moved: (u64, u64),
    /// Whether a sync scheduled between two passes is skipped.
    forgets_sync: bool,
    trims: Option<Trims>,
}

impl<'a> Kept<'a> {
    /// Remembers the writes of another source. Seed and place are those of the stream; for `depth` see `full_queue` of a stream.
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

    /// Reads back the rest of each pass, where configured. `pass`: bytes per pass, unless `how` gives them.
    #[must_use]
    pub fn by_pass(mut self, how: KeepWritten, pass: u64) -> Self {
        let pass = if how.pass.0 > 0 { how.pass.0 } else { pass };
        self.pass = how.each_pass.then_some((pass, pass));
        self
    }

    /// The operations between two passes.
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

    /// Whether enough bytes were moved for no further pass to begin.
    fn has_enough(&self) -> bool {
        let ((bytes, passes), (moved, done)) = (self.enough, self.moved);
        bytes > 0 && moved >= bytes && done >= passes && self.pass.is_some_and(|(pass, left)| pass == left)
    }

    /// The next trim, if one is scheduled.
    fn trim(&mut self) -> Option<Op> {
        let Self { written, writing, reading, trims, .. } = self;
        let may = |extent: &Extent, number| {
            written.is_as_written(extent, number)
                && !writing.iter().any(|other| other.extent.overlaps(extent))
                && !reading.iter().any(|other| other.extent.overlaps(extent))
        };
        trims.as_mut()?.next(may).map(|extent| extent.op(OpCode::Trim))
    }

    /// The next read-back. With `waits`, `None` if the first extent is still being written.
    fn read_back(&mut self, waits: bool) -> Option<Op> {
        let newest = (self.number + 1).saturating_sub(self.depth as u64);
        let Self { written, writing, reading, others, .. } = self;
        // Completions are matched by extent, so operations in flight there must be done first.
        let free = |extent: &Extent| {
            !writing.iter().any(|other| other.extent.overlaps(extent))
                && !reading.iter().any(|other| other.extent.overlaps(extent))
                && !others.iter().any(|other| other.overlaps(extent))
        };
        let (extent, entry) = written.take_first(waits.then_some(newest), free)?;
        self.reading.push(Reading { extent, entry, whole: true });
        Some(extent.read())
    }

    /// A read-back of the current batch, or of one that begins now: when the number of remembered extents is `after` or a multiple of it,
    /// and the operation that last left the full queue was a write.
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

    /// A write was never done: the extents it would have overwritten are still there.
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

    /// The next operation of the source, or at its end the next read-back.
    fn drawn(&mut self, done: &Done) -> Option<Op> {
        let own = Done { reads: done.reads.saturating_sub(self.done), ..*done };
        let mut next = if self.left == Some(0) { None } else { self.inner.next(&own) };
        let begins = self.pass.is_some_and(|(pass, left)| pass == left);
        if self.forgets_sync && begins && next.is_some_and(|op| matches!(op.kind, OpCode::Sync { .. })) {
            next = self.inner.next(&own);
        }
        let Some(op) = next else {
            if let Some((_, left)) = &mut self.pass {
                *left = 0;
                return self.between_passes();
            }
            return if self.after > 0 { self.read_back(false) } else { None };
        };
        if let (OpCode::Read | OpCode::Write, Some((_, left))) = (op.kind, &mut self.pass) {
            *left = left.saturating_sub(op.bytes.into());
        }
        let extent = Extent::of(&op);
        let number = self.number + 1;
        match op.kind {
            OpCode::Write => {
                let over = self.written.begin(&extent, number);
                self.writing.push(Writing { extent, number, over });
                for reading in self.reading.iter_mut().filter(|reading| reading.extent.overlaps(&extent)) {
                    reading.whole = false;
                }
            }
            OpCode::Read if self.after > 0 || self.pass.is_some() => self.others.push(extent),
            // `check` refuses streams that keep what they wrote and trim by direction.
            OpCode::Read | OpCode::Sync { .. } | OpCode::Trim | OpCode::Evict => {}
        }
        Some(op)
    }

    fn is_read_back(&self, op: &Op) -> bool {
        op.kind == OpCode::Read && self.reading.iter().any(|reading| reading.extent.is_of(op))
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
        if matches!(op.kind, OpCode::Read | OpCode::Write) {
            self.moved.0 = self.moved.0.saturating_add(op.bytes.into());
            self.left = self.left.map(|left| left.saturating_sub(1));
        }
        if op.kind != OpCode::Evict {
            self.number += 1;
            if self.latest.len() == self.depth {
                self.latest.pop_front();
            }
            self.latest.push_back(op.kind == OpCode::Read);
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
            OpCode::Write => {
                // Of two identical writes, the older one.
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
            OpCode::Trim => {
                if let Some((extent, zeros)) = self.trims.as_mut().and_then(|trims| trims.take(op)) {
                    self.written.given_back(&extent, zeros);
                    return;
                }
            }
            OpCode::Read => {
                if let Some(at) = self.reading.iter().position(|reading| reading.extent.is_of(op)) {
                    self.reading.swap_remove(at);
                    self.done += 1;
                    return;
                }
                if let Some(at) = self.others.iter().position(|other| *other == extent) {
                    self.others.swap_remove(at);
                }
            }
            OpCode::Sync { .. } | OpCode::Evict => {}
        }
        self.inner.completed(op);
    }

    fn failed(&mut self, op: &Op) {
        let extent = Extent::of(op);
        if op.kind == OpCode::Trim && self.trims.as_mut().and_then(|trims| trims.take(op)).is_some() {
            // The contents are unknown now.
            self.written.given_back(&extent, false);
            return;
        }
        if matches!(op.kind, OpCode::Read | OpCode::Write) {
            // Only successful operations count.
            self.left = self.left.map(|left| left.saturating_add(1));
        }
        let writing = self.writing.iter().position(|writing| writing.extent == extent);
        match (op.kind, writing) {
            // The contents are unknown now: neither this write nor the earlier data is read back.
            (OpCode::Write, Some(at)) => {
                let Writing { number, .. } = self.writing.remove(at);
                if self.written.is_as_written(&extent, number) {
                    self.written.remove(extent.begin());
                }
                self.inner.failed(op);
            }
            (OpCode::Read, _) if !self.is_read_back(op) => {
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
        // As in fio 3.42: reads of a batch pause, those at the end of a pass do not.
        !(matches!(self.pass, Some((_, 0))) && self.is_read_back(op))
    }

    fn left_to_read(&mut self) -> Option<Vec<Extent>> {
        // Read-backs in flight that were never done must still be read.
        for reading in std::mem::take(&mut self.reading).into_iter().filter(|reading| reading.whole) {
            self.written.insert(reading.extent.begin(), reading.entry);
        }
        while let Some(writing) = self.writing.pop() {
            self.undo(writing);
        }
        Some(self.written.each().map(|(extent, _)| extent).collect())
    }
}

/// Reads a list of extents, each once.
pub struct ReadBack {
    list: Vec<Extent>,
    next: usize,
}

impl ReadBack {
    /// Reads the extents of `list` in this order.
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
        // An operation already drawn is the first.
        self.next = usize::from(drawn.is_some()).min(self.next);
    }

    fn expected(&self, op: &Op) -> Expected {
        // Each extent is read once; with several in flight, the match is among those drawn last.
        let drawn = self.list[..self.next].iter().rev().find(|extent| extent.is_of(op));
        drawn.map_or(Expected::Written, Extent::expected)
    }
}

#[cfg(test)]
mod tests;
