//! Request identifiers: a slot in the slab, and a slot with its generation for longer use.

use std::num::NonZeroU32;

/// A slot in the slab. Valid while the request is with the elevator; use [`RequestId`] to keep a reference longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(NonZeroU32);

impl Slot {
    pub(crate) const fn of(index: usize) -> Self {
        // Never zero: the slab is limited to far fewer slots.
        Self(NonZeroU32::MIN.saturating_add(index as u32))
    }

    /// Its index from 0.
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A request's identifier from submission to completion; a later request in the same slot has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    /// Its slot in the slab.
    pub slot: Slot,
    /// How many times the slot had been used before.
    pub generation: u32,
}
