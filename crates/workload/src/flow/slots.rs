//! The numbered open files of one thread. Operations name slots 0 to 127; an operation without a slot uses the default slot of its file
//! set, and rotating ones cycle through 128 dedicated slots per set, from the last to the first. A slot remembers its file after it is
//! closed.

use super::program::NAMED_SLOTS;

/// Number of rotating slots per set.
const ROTATING: usize = 128;

/// One slot. `F` is the executor's handle of an open file.
#[derive(Debug)]
pub struct Slot<F> {
    /// The open file.
    pub file: Option<F>,
    /// File set and file, kept after closing.
    pub of: Option<(usize, usize)>,
    /// That file was deleted through this slot: the next delete refers to another file.
    pub deleted: bool,
    /// Offset of the next sequential operation.
    pub position: u64,
}

impl<F> Default for Slot<F> {
    fn default() -> Self {
        Self { file: None, of: None, deleted: false, position: 0 }
    }
}

/// A thread's slots.
#[derive(Debug)]
pub struct Slots<F> {
    slots: Vec<Slot<F>>,
    /// First rotating slot of each set; 0 if it has none yet.
    rotating: Vec<usize>,
    /// Next rotating slot, by set.
    turn: Vec<usize>,
    /// The set that the thread used last.
    pub last_set: Option<usize>,
}

impl<F> Slots<F> {
    /// Slots for `sets` file sets.
    #[must_use]
    pub fn new(sets: usize) -> Self {
        let mut slots = Vec::new();
        slots.resize_with(NAMED_SLOTS as usize + sets, Slot::default);
        Self { slots, rotating: vec![0; sets], turn: vec![ROTATING - 1; sets], last_set: None }
    }

    /// The default slot of a set.
    #[inline(always)]
    #[must_use]
    pub fn default_of(&self, set: usize) -> usize {
        NAMED_SLOTS as usize + set
    }

    /// The next rotating slot of a set.
    pub fn next_of(&mut self, set: usize) -> usize {
        if self.rotating[set] == 0 {
            self.rotating[set] = self.slots.len();
            self.slots.resize_with(self.slots.len() + ROTATING, Slot::default);
        }
        let turn = self.turn[set];
        self.turn[set] = turn.checked_sub(1).unwrap_or(ROTATING - 1);
        self.rotating[set] + turn
    }

    /// Mutable access to a slot.
    #[inline(always)]
    pub fn at(&mut self, slot: usize) -> &mut Slot<F> {
        &mut self.slots[slot]
    }

    /// A slot.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, slot: usize) -> &Slot<F> {
        &self.slots[slot]
    }

    /// Number of slots.
    #[must_use]
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Whether a slot is open.
    #[inline(always)]
    #[must_use]
    pub fn is_open(&self, slot: usize) -> bool {
        self.slots[slot].file.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_rotate_from_the_last_to_the_first_in_each_set() {
        let mut slots = Slots::<()>::new(2);
        let first = slots.next_of(1);
        assert_eq!(slots.next_of(1), first - 1);
        let other = slots.next_of(0);
        assert!(other > first, "another set has its own");
        for _ in 0..125 {
            slots.next_of(1);
        }
        assert_eq!(slots.next_of(1), first - 127);
        assert_eq!(slots.next_of(1), first);
        assert_eq!((slots.default_of(0), slots.default_of(1)), (128, 129));
    }
}
