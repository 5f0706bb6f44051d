//! Names of requests: a place in the slab, and a place with its generation for those who keep the name for longer.

use std::num::NonZeroU32;

/// A place in the slab. Elevators name requests by it while these are theirs; whoever keeps a name longer uses [`RequestId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(NonZeroU32);

impl Slot {
    pub(crate) const fn of(index: usize) -> Self {
        // Never zero: the slab is limited to far fewer places.
        Self(NonZeroU32::MIN.saturating_add(index as u32))
    }

    /// Its index from 0.
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A request's name for the time from submission to completion; a later request in the same place has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    /// Where it lies.
    pub slot: Slot,
    /// How often the place had been used before.
    pub generation: u32,
}
