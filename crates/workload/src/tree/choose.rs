//! Which entries exist at the start: every entry is decided on once, in a random order, by a random number against a threshold.
//! So the share is met on average only; the numbers drawn are the same for every share.

use super::LayoutState;
use crate::ops::generators::scaled;

/// Numbers of the C library's generator reach this.
const LARGEST: u64 = 2_147_483_647;

/// What becomes of an entry whose number is the threshold itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// It does not exist: so with files.
    Absent,
    /// It exists: so with leaf directories.
    Present,
}

/// Calls `exists` with the position of each of `count` entries that exists.
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

/// The entries not decided on yet, as links from each entry to the next one that may be undecided. Links are shortened as they are
/// followed, so that finding one costs next to nothing on average.
struct Undecided {
    /// Entry -> itself while it is undecided, else one further on; one past the end stands for "none".
    next: Vec<u32>,
}

impl Undecided {
    fn new(count: usize) -> Self {
        Self { next: (0..=count as u32).collect() }
    }

    /// Takes the first undecided entry from `wish` on, or else the very first.
    fn take_from(&mut self, wish: usize) -> usize {
        let none = self.next.len() - 1;
        let mut found = self.find(wish.min(none));
        if found == none {
            found = self.find(0);
        }
        debug_assert!(found < none, "as many are taken as there are");
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
