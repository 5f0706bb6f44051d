//! One thread executing a flow, without I/O and without a clock: what each operation works on (slot, file, offset, length), how that
//! changes once it is done, and when a limit or an end is reached. The executor asks, performs the operation on its own files, and
//! reports the result. So the order in which numbers are drawn is the same for every executor. This module has slots and files;
//! `transfer` has offsets and sizes, `ends` limits and ends.

use super::numbers::Numbers;
use super::pool::{Found, From, Pool, Wanted};
use super::program::FlatOp;
use super::set::Set;
use super::slots::{Slot, Slots};
use super::supply::Supply;
use super::wrong::Wrong;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

/// A thread executing a flow. `A` is an array of words visible to all threads, `F` the executor's handle of an open file.
pub struct FlowThread<'a, A, F> {
    /// Source of every number that it draws.
    pub numbers: Numbers<'a, A>,
    /// Its open files.
    pub slots: Slots<F>,
    /// The file sets.
    pub sets: &'a [Set<A>],
    /// Set and file of the current operation, if known.
    pub at_file: Option<(usize, usize)>,
    pub(super) ops: &'a [FlatOp],
    pub(super) supply: Option<&'a Supply<A>>,
    pub(super) process: usize,
    /// Size of its private memory; 0: none.
    pub(super) area: u64,
    /// Private rotors of rotating operations, by set.
    rotors: Vec<u64>,
    /// Totals that limiting operations with a target have paid for, by row.
    pub(super) paid: Vec<u64>,
}

/// The entry of a set that an operation wants; see [`FlowThread::try_pick`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryPick {
    /// Index of the set.
    pub set: usize,
    leaves: bool,
    wanted: Wanted,
    number: Option<u64>,
    rotate: bool,
}

impl EntryPick {
    /// The pool that the entry is in.
    pub fn pool<'s, A>(&self, sets: &'s [Set<A>]) -> &'s Pool<A> {
        let set = &sets[self.set];
        if self.leaves { &set.leaves } else { &set.files }
    }

    /// Whether the entry is a leaf directory rather than a file.
    #[must_use]
    pub fn is_of_leaves(&self) -> bool {
        self.leaves
    }

    /// What it would find now, without taking anything.
    pub fn outlook<A: Deref<Target = [AtomicU64]>>(&self, sets: &[Set<A>]) -> Found {
        self.pool(sets).outlook(self.wanted)
    }
}

/// The subject of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The file of its slot.
    Own {
        /// Index of its set.
        set: usize,
        /// Its index in the set.
        file: usize,
        /// Whether the slot is open.
        open: bool,
    },
    /// Any file of a set.
    Any(EntryPick),
}

impl<'a, A: Deref<Target = [AtomicU64]>, F> FlowThread<'a, A, F> {
    /// A thread of the process `process` that executes these operations, with private memory of `area` bytes.
    #[must_use]
    pub fn new(
        ops: &'a [FlatOp],
        sets: &'a [Set<A>],
        numbers: Numbers<'a, A>,
        supply: Option<&'a Supply<A>>,
        (process, memory): (usize, u64),
    ) -> Self {
        Self {
            numbers,
            slots: Slots::new(sets.len()),
            sets,
            at_file: None,
            ops,
            supply,
            process,
            area: memory,
            rotors: vec![0; sets.len()],
            paid: vec![0; ops.len()],
        }
    }

    /// The set that an operation works on.
    ///
    /// # Errors
    /// If it is unknown.
    pub fn set_of(&self, op: &FlatOp) -> Result<usize, Wrong> {
        op.set.or(self.slots.last_set).ok_or_else(|| unknown(op))
    }

    /// The slot that an operation works on.
    ///
    /// # Errors
    /// If it follows from the operation's set, and that is unknown.
    #[inline(always)]
    pub fn slot_of(&mut self, op: &FlatOp) -> Result<usize, Wrong> {
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

    /// Records the file of a slot that the operation needs open, and has open.
    ///
    /// # Errors
    /// If the file belongs to another set than the operation's.
    #[inline(always)]
    pub fn works_on(&mut self, op: &FlatOp, slot: usize) -> Result<(), Wrong> {
        self.at_file = self.slots.get(slot).of;
        match (op.set, self.at_file) {
            (Some(wanted), Some((set, _))) if wanted != set => Err(Wrong::ForeignSlot(slot as u64)),
            _ => Ok(()),
        }
    }

    /// The slot that an operation opens.
    ///
    /// # Errors
    /// If it is already open.
    pub fn closed_slot(&mut self, op: &FlatOp) -> Result<usize, Wrong> {
        let slot = self.slot_of(op)?;
        if self.slots.is_open(slot) {
            self.at_file = self.slots.get(slot).of;
            return Err(Wrong::OpenSlot(slot as u64));
        }
        Ok(slot)
    }

    /// The slot of an operation that needs an open file.
    ///
    /// # Errors
    /// If it is closed.
    pub fn used_slot(&mut self, op: &FlatOp) -> Result<usize, Wrong> {
        let slot = self.slot_of(op)?;
        self.at_file = self.slots.get(slot).of;
        if self.slots.is_open(slot) { Ok(slot) } else { Err(Wrong::ClosedSlot(slot as u64)) }
    }

    /// The existing file to open into a slot.
    ///
    /// # Errors
    /// If no set is known.
    pub fn to_open(&mut self, op: &FlatOp, slot: usize) -> Result<EntryPick, Wrong> {
        let set = match (op.set, self.slots.get(slot).of) {
            (None, Some((set, _))) if op.slot.is_some() => set,
            _ => self.set_of(op)?,
        };
        Ok(self.pick(op, set, false, Wanted::Existing))
    }

    /// The wanted file of the operation's set.
    ///
    /// # Errors
    /// If no set is known.
    pub fn file(&mut self, op: &FlatOp, wanted: Wanted) -> Result<EntryPick, Wrong> {
        let set = self.set_of(op)?;
        Ok(self.pick(op, set, false, wanted))
    }

    /// The wanted leaf directory of the operation's set.
    ///
    /// # Errors
    /// If no set is known.
    pub fn leaf(&mut self, op: &FlatOp, wanted: Wanted) -> Result<EntryPick, Wrong> {
        let set = self.set_of(op)?;
        Ok(self.pick(op, set, true, wanted))
    }

    fn pick(&mut self, op: &FlatOp, set: usize, leaves: bool, wanted: Wanted) -> EntryPick {
        let number = op.entry.map(|n| self.numbers.of(n));
        EntryPick { set, leaves, wanted, number, rotate: op.rotate }
    }

    /// Tries to take an entry, which is then busy until it is released. `None`: all candidates are busy; try again later.
    ///
    /// # Errors
    /// If the set has no candidate, busy or not.
    pub fn try_pick(&mut self, pick: &EntryPick) -> Result<Option<usize>, Wrong> {
        let pool = pick.pool(self.sets);
        let from = match pick.number {
            Some(number) => From::Entry(number),
            None if pick.rotate => From::Own(&mut self.rotors[pick.set]),
            None => From::Common,
        };
        match pool.take(pick.wanted, from) {
            Found::Entry(entry) => Ok(Some(entry)),
            Found::Busy => Ok(None),
            Found::None => Err(Wrong::Exhausted),
        }
    }

    /// Records that a file was opened into a slot.
    pub fn opened(&mut self, slot: usize, file: F, (set, entry): (usize, usize)) {
        self.sets[set].opened(entry);
        *self.slots.at(slot) = Slot { file: Some(file), of: Some((set, entry)), deleted: false, position: 0 };
    }

    /// Takes the open file out of a slot, which is then closed.
    ///
    /// # Errors
    /// If it is closed.
    pub fn close(&mut self, op: &FlatOp) -> Result<F, Wrong> {
        let slot = self.used_slot(op)?;
        self.take_out(slot).ok_or(Wrong::ClosedSlot(slot as u64))
    }

    /// Takes the open file out of a slot, if there is one.
    pub fn take_out(&mut self, slot: usize) -> Option<F> {
        let file = self.slots.at(slot).file.take()?;
        if let Some((set, entry)) = self.slots.get(slot).of {
            self.sets[set].closed(entry);
        }
        Some(file)
    }

    /// The subject of a removal: the file of its slot, unless that was removed through it before, or any file.
    ///
    /// # Errors
    /// If no set is known.
    pub fn deletion(&mut self, op: &FlatOp) -> Result<Deletion, Wrong> {
        let slot = op.slot.map(|slot| self.slots.get(slot));
        if let Some((slot, (set, file))) = slot.filter(|s| !s.deleted).and_then(|s| Some((s, s.of?))) {
            return Ok(Deletion::Own { set, file, open: slot.file.is_some() });
        }
        self.file(op, Wanted::Existing).map(Deletion::Any)
    }

    /// Whether a file taken by this thread may be removed: it exists, and no other thread has it open. Otherwise the operation does
    /// nothing and is not counted. `own`: this thread has it open itself.
    #[must_use]
    pub fn may_delete(&self, (set, file): (usize, usize), own: bool) -> bool {
        let of = &self.sets[set];
        of.open_count(file) <= u64::from(own) && of.files.exists(file)
    }

    /// Records that the file was removed; `own`: through the operation's slot.
    pub fn deleted(&mut self, op: &FlatOp, own: bool) {
        if let (Some(slot), true) = (op.slot, own) {
            self.slots.at(slot).deleted = true;
        }
    }

    /// Discards the totals so far: the warm-up is over.
    pub fn forget(&mut self) {
        self.paid.fill(0);
    }
}

#[cold]
fn unknown(op: &FlatOp) -> Wrong {
    Wrong::UnknownSlot(op.slot.map_or(u64::MAX, |s| s as u64))
}
