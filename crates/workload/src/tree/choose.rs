//! Which entries exist at the start: every entry is decided on once, in a random order, by comparing a random number with a threshold. So
//! the share is met on average only; the numbers drawn are the same for every share.

use super::LayoutState;
use crate::ops::generators::scaled;

/// Largest number of the C library's generator.
const LARGEST: u64 = 2_147_483_647;

/// The outcome for an entry whose number equals the threshold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// It does not exist; used for files.
    Absent,
    /// It exists; used for leaf directories.
    Present,
}

/// Calls `exists` with the index of each of `count` entries that exists.
pub(super) fn choose(
    count: usize,
    percent: u8,
    edge: Edge,
    state: &mut LayoutState,
    mut exists: impl FnMut(usize),
) {
    let threshold = LARGEST * u64::from(100 - percent.min(100)) / 100;
    let mut undecided = Undecided::new(count);
    for _ in 0..count {
        let wish = scaled(state.twister.next_u64(), count as u64);
        let entry = undecided.take_from(wish as usize);
        let number = u64::from(state.random.next());
        let absent = match edge {
            Edge::Absent => threshold > 0 && number <= threshold,
            Edge::Present => number < threshold,
        };
        if !absent {
            exists(entry);
        }
    }
}

/// The undecided entries, as links from each entry to the next one that may be undecided. Links are shortened as they are followed, so
/// finding one takes nearly constant time on average.
struct Undecided {
    /// Entry -> itself while undecided, otherwise a later one; one past the end means "none".
    next: Vec<u32>,
}

impl Undecided {
    fn new(count: usize) -> Self {
        Self { next: (0..=count as u32).collect() }
    }

    /// Takes the first undecided entry from `wish` on, or else the first of all.
    fn take_from(&mut self, wish: usize) -> usize {
        let none = self.next.len() - 1;
        let mut found = self.find(wish.min(none));
        if found == none {
            found = self.find(0);
        }
        debug_assert!(found < none, "all of them are used");
        self.next[found] = found as u32 + 1;
        found
    }

    fn find(&mut self, from: usize) -> usize {
        let mut at = from;
        while self.next[at] as usize != at {
            let beyond = self.next[self.next[at] as usize];
            self.next[at] = beyond;
            at = beyond as usize;
        }
        at
    }
}
