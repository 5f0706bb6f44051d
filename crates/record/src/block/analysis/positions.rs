//! Looks up items by position on the device and direction: waiting bios, requests in the driver. Several may share a position
//! (two programs read one block); the newest is found first. Bounded: the limit is far above what a device can have in flight,
//! and a trace that claims more loses the oldest item of a position, or the new one.

use super::super::event::{BlockEvent, RequestFlags};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Start and direction of an item: what an event shares with its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Position {
    pub(super) sector: u64,
    pub(super) direction: u16,
}

impl Position {
    /// The flag bits that agree at issue and completion; a flush issued by the device's own queue has none of them.
    const DIRECTION: u16 =
        RequestFlags::READ.0 | RequestFlags::WRITE.0 | RequestFlags::DISCARD.0 | RequestFlags::OTHER.0;

    #[inline]
    pub(super) fn of(event: &BlockEvent) -> Self {
        Self { sector: event.place(), direction: event.flags.0 & Self::DIRECTION }
    }

    /// The same direction at another sector.
    #[inline]
    pub(super) fn at(self, sector: u64) -> Self {
        Self { sector, direction: self.direction }
    }
}

/// Items at one position.
struct Stack<T> {
    newest: T,
    /// From the oldest to the second newest; nearly always empty.
    older: Vec<T>,
}

pub(super) struct InFlightIndex<T> {
    stacks: HashMap<Position, Stack<T>, RandomState>,
    count: usize,
    most: usize,
}

/// Maximum number of items at one position.
const SAME_POSITION_MAX: usize = 1024;

impl<T> InFlightIndex<T> {
    /// Holds at most `most` items.
    pub(super) fn new(most: usize) -> Self {
        Self { stacks: HashMap::default(), count: 0, most }
    }

    /// Adds an item; returns one that was evicted or did not fit.
    #[inline]
    pub(super) fn put(&mut self, position: Position, thing: T) -> Option<T> {
        if self.count >= self.most {
            return Some(thing);
        }
        match self.stacks.entry(position) {
            Entry::Vacant(free) => {
                free.insert(Stack { newest: thing, older: Vec::new() });
            }
            Entry::Occupied(mut taken) => {
                let stack = taken.get_mut();
                stack.older.push(std::mem::replace(&mut stack.newest, thing));
                if stack.older.len() >= SAME_POSITION_MAX {
                    return Some(stack.older.remove(0));
                }
            }
        }
        self.count += 1;
        None
    }

    /// Removes the best match: `fit` returns 0 for no match; the newest of equals wins.
    #[inline]
    pub(super) fn take(&mut self, position: Position, fit: impl Fn(&T) -> u8) -> Option<T> {
        let Entry::Occupied(mut taken) = self.stacks.entry(position) else { return None };
        let stack = taken.get_mut();
        let found = if stack.older.is_empty() {
            if fit(&stack.newest) == 0 {
                return None;
            }
            taken.remove().newest
        } else {
            Self::take_one_of(stack, fit)?
        };
        self.count -= 1;
        Some(found)
    }

    fn take_one_of(stack: &mut Stack<T>, fit: impl Fn(&T) -> u8) -> Option<T> {
        let mut best = (fit(&stack.newest), None);
        for (n, thing) in stack.older.iter().enumerate().rev() {
            let fits = fit(thing);
            if fits > best.0 {
                best = (fits, Some(n));
            }
        }
        match best {
            (0, _) => None,
            (_, Some(n)) => Some(stack.older.remove(n)),
            (_, None) => stack.older.pop().map(|next| std::mem::replace(&mut stack.newest, next)),
        }
    }

    /// The newest item at a position that satisfies `wanted`.
    pub(super) fn find(&mut self, position: Position, wanted: impl Fn(&T) -> bool) -> Option<&mut T> {
        let stack = self.stacks.get_mut(&position)?;
        if wanted(&stack.newest) {
            return Some(&mut stack.newest);
        }
        stack.older.iter_mut().rev().find(|t| wanted(t))
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// All items, unordered.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.stacks.values().flat_map(|s| s.older.iter().chain(std::iter::once(&s.newest)))
    }

    pub(super) fn clear(&mut self) {
        self.stacks.clear();
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Position = Position { sector: 8, direction: 1 };

    #[test]
    fn the_newest_that_fits_best_is_found() {
        let mut index = InFlightIndex::new(10);
        for size in [8, 16, 8, 32] {
            assert_eq!(index.put(HERE, size), None);
        }
        let fit = |size: u32| move |s: &u32| if *s == size { 2 } else { u8::from(*s > size) };
        assert_eq!(index.take(HERE, fit(16)), Some(16), "the exact one before the larger, newer one");
        assert_eq!(index.take(HERE, fit(20)), Some(32), "else a larger one");
        assert_eq!(index.take(HERE, fit(20)), None);
        assert_eq!(index.take(HERE.at(9), fit(8)), None);
        assert_eq!((index.take(HERE, fit(8)), index.take(HERE, fit(8)), index.len()), (Some(8), Some(8), 0));
        assert_eq!(index.take(HERE, fit(8)), None);
    }

    #[test]
    fn there_is_a_bound_for_all_and_for_one_place() {
        let mut index = InFlightIndex::new(2);
        assert_eq!(
            (index.put(HERE, 1), index.put(HERE.at(9), 2), index.put(HERE.at(10), 3)),
            (None, None, Some(3))
        );
        assert_eq!(index.iter().sum::<i32>(), 3);
        let mut index = InFlightIndex::new(10_000);
        let lost: Vec<usize> = (0..2000).filter_map(|n| index.put(HERE, n)).collect();
        assert_eq!(lost, (0..2000 - SAME_POSITION_MAX).collect::<Vec<_>>());
        assert_eq!((index.len(), index.iter().count()), (SAME_POSITION_MAX, SAME_POSITION_MAX));
    }
}
