//! One thread on its way through a flow, without I/O and without a clock: what each operation works on (which slot, file, offset, how
//! many bytes), what it changes of that once it is done, and when a limit or an end is reached. An executor asks, does what it is told
//! with files of its own, and tells what came of it. The order in which numbers are drawn is therefore the same whoever executes.
//! Here are slots and files; `transfer` has offsets and sizes, `ends` limits and ends.

use super::numbers::Numbers;
use super::pool::{Found, From, Pool, Wanted};
use super::program::Op;
use super::set::Set;
use super::slots::{Slot, Slots};
use super::supply::Supply;
use super::wrong::Wrong;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

/// A thread at work. `A` is an array of words that all threads see, `F` what the executor holds of an open file.
pub struct Thread<'a, A, F> {
    /// Every number that it draws.
    pub numbers: Numbers<'a, A>,
    /// Its open files.
    pub slots: Slots<F>,
    /// The file sets.
    pub sets: &'a [Set<A>],
    /// The set and file that the operation at hand works on, as far as it is known.
    pub at_file: Option<(usize, usize)>,
    pub(super) ops: &'a [Op],
    pub(super) supply: Option<&'a Supply<A>>,
    pub(super) process: usize,
    /// Size of its own memory; 0: none.
    pub(super) area: u64,
    /// Own rotors of rotating operations, by set.
    rotors: Vec<u64>,
    /// What limiting operations with a target have paid for, by row.
    pub(super) paid: Vec<u64>,
}

/// Which entry an operation wants of a set; see [`Thread::try_pick`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The set.
    pub set: usize,
    leaves: bool,
    wanted: Wanted,
    number: Option<u64>,
    rotate: bool,
}

impl Pick {
    /// The pool that the entry is in.
    pub fn pool<'s, A>(&self, sets: &'s [Set<A>]) -> &'s Pool<A> {
        let set = &sets[self.set];
        if self.leaves { &set.leaves } else { &set.files }
    }

    /// Whether it is one of leaf directories, and not of files.
    #[must_use]
    pub fn is_of_leaves(&self) -> bool {
        self.leaves
    }

    /// What it would find now.
    pub fn outlook<A: Deref<Target = [AtomicU64]>>(&self, sets: &[Set<A>]) -> Found {
        self.pool(sets).outlook(self.wanted)
    }
}

/// What a removal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The file of its slot: set and file, and whether the slot is open.
    Own {
        /// Its set.
        set: usize,
        /// Its number in the set.
        file: usize,
        /// The slot is open.
        open: bool,
    },
    /// Any file of a set.
    Any(Pick),
}

impl<'a, A: Deref<Target = [AtomicU64]>, F> Thread<'a, A, F> {
    /// A thread of the process `process` that executes these operations, with so many bytes of memory of its own.
    #[must_use]
    pub fn new(
        ops: &'a [Op],
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
    /// If none is known.
    pub fn set_of(&self, op: &Op) -> Result<usize, Wrong> {
        op.set.or(self.slots.last_set).ok_or_else(|| unknown(op))
    }

    /// The slot that an operation works on.
    ///
    /// # Errors
    /// If it follows from its set, and that is not known.
    #[inline(always)]
    pub fn slot_of(&mut self, op: &Op) -> Result<usize, Wrong> {
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

    /// The slot of an operation that needs it open is open: notes its file.
    ///
    /// # Errors
    /// If that is of another set than the operation's.
    #[inline(always)]
    pub fn works_on(&mut self, op: &Op, slot: usize) -> Result<(), Wrong> {
        self.at_file = self.slots.get(slot).of;
        match (op.set, self.at_file) {
            (Some(wanted), Some((set, _))) if wanted != set => Err(Wrong::ForeignSlot(slot as u64)),
            _ => Ok(()),
        }
    }

    /// The slot of an operation that opens it.
    ///
    /// # Errors
    /// If it is open.
    pub fn closed_slot(&mut self, op: &Op) -> Result<usize, Wrong> {
        let slot = self.slot_of(op)?;
        if self.slots.is_open(slot) {
            self.at_file = self.slots.get(slot).of;
            return Err(Wrong::OpenSlot(slot as u64));
        }
        Ok(slot)
    }

    /// The slot of an operation that has no file of its own to open.
    ///
    /// # Errors
    /// If it is closed.
    pub fn used_slot(&mut self, op: &Op) -> Result<usize, Wrong> {
        let slot = self.slot_of(op)?;
        self.at_file = self.slots.get(slot).of;
        if self.slots.is_open(slot) { Ok(slot) } else { Err(Wrong::ClosedSlot(slot as u64)) }
    }

    /// Which file is to be opened into a slot: an existing one.
    ///
    /// # Errors
    /// If no set is known.
    pub fn to_open(&mut self, op: &Op, slot: usize) -> Result<Pick, Wrong> {
        let set = match (op.set, self.slots.get(slot).of) {
            (None, Some((set, _))) if op.slot.is_some() => set,
            _ => self.set_of(op)?,
        };
        Ok(self.pick(op, set, false, Wanted::Existing))
    }

    /// Which file of the operation's set it wants.
    ///
    /// # Errors
    /// If no set is known.
    pub fn file(&mut self, op: &Op, wanted: Wanted) -> Result<Pick, Wrong> {
        let set = self.set_of(op)?;
        Ok(self.pick(op, set, false, wanted))
    }

    /// Which leaf directory of the operation's set it wants.
    ///
    /// # Errors
    /// If no set is known.
    pub fn leaf(&mut self, op: &Op, wanted: Wanted) -> Result<Pick, Wrong> {
        let set = self.set_of(op)?;
        Ok(self.pick(op, set, true, wanted))
    }

    fn pick(&mut self, op: &Op, set: usize, leaves: bool, wanted: Wanted) -> Pick {
        let number = op.entry.map(|n| self.numbers.of(n));
        Pick { set, leaves, wanted, number, rotate: op.rotate }
    }

    /// Tries to take an entry: it is busy then, until it is released. `None`: others are busy with all that there are; try again
    /// later.
    ///
    /// # Errors
    /// If there is none.
    pub fn try_pick(&mut self, pick: &Pick) -> Result<Option<usize>, Wrong> {
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

    /// A file was opened into a slot.
    pub fn opened(&mut self, slot: usize, file: F, (set, entry): (usize, usize)) {
        self.sets[set].opened(entry);
        *self.slots.at(slot) = Slot { file: Some(file), of: Some((set, entry)), deleted: false, position: 0 };
    }

    /// Takes the open file out of a slot, which is closed then.
    ///
    /// # Errors
    /// If it is closed.
    pub fn close(&mut self, op: &Op) -> Result<F, Wrong> {
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

    /// What a removal is about: the file of its slot, unless that was removed through it before, or any.
    ///
    /// # Errors
    /// If no set is known.
    pub fn deletion(&mut self, op: &Op) -> Result<Deletion, Wrong> {
        let slot = op.slot.map(|slot| self.slots.get(slot));
        if let Some((slot, (set, file))) = slot.filter(|s| !s.deleted).and_then(|s| Some((s, s.of?))) {
            return Ok(Deletion::Own { set, file, open: slot.file.is_some() });
        }
        self.file(op, Wanted::Existing).map(Deletion::Any)
    }

    /// Whether a file that this thread has taken may be removed: nobody else works with it, and nobody has removed it. Otherwise
    /// nothing is done, and nothing counts. `own`: the thread has it open itself.
    #[must_use]
    pub fn may_delete(&self, (set, file): (usize, usize), own: bool) -> bool {
        let of = &self.sets[set];
        of.open_count(file) <= u64::from(own) && of.files.exists(file)
    }

    /// The file was removed; `own`: through the operation's slot.
    pub fn deleted(&mut self, op: &Op, own: bool) {
        if let (Some(slot), true) = (op.slot, own) {
            self.slots.at(slot).deleted = true;
        }
    }

    /// What was done so far counts no more: the warm-up is over.
    pub fn forget(&mut self) {
        self.paid.fill(0);
    }
}

#[cold]
fn unknown(op: &Op) -> Wrong {
    Wrong::UnknownSlot(op.slot.map_or(u64::MAX, |s| s as u64))
}
