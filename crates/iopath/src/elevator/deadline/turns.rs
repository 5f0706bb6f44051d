//! Alternation of reads and writes, and progress of the batch: the same in every generation.

use super::{READ, WRITE};
use crate::elevator::sorted::Lane;

/// Turns and batches, and their counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// Requests of the batch so far.
    pub batching: u64,
    /// How often reads were preferred to waiting writes.
    pub starved: u64,
    pub batches: u64,
    pub expired: u64,
}

impl Turns {
    /// Reads, unless there are none or writes have waited long enough.
    pub fn direction(&mut self, lanes: &[Lane; 2], writes_starved: u64) -> Option<usize> {
        let (reads, writes) = (!lanes[READ].is_empty(), !lanes[WRITE].is_empty());
        if reads {
            let starved = self.starved;
            self.starved += u64::from(writes);
            if !writes || starved < writes_starved {
                return Some(READ);
            }
        }
        if !writes {
            return None;
        }
        self.starved = 0;
        Some(WRITE)
    }

    /// A batch begins.
    pub fn begin(&mut self) {
        self.batching = 0;
        self.batches += 1;
    }

    /// Begins a batch in this direction, regardless of what would have been chosen.
    pub fn begin_in(&mut self, way: usize, lanes: &[Lane; 2]) {
        self.begin();
        match way {
            READ => self.starved += u64::from(!lanes[WRITE].is_empty()),
            _ => self.starved = 0,
        }
    }
}
