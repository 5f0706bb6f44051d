//! Which written blocks are trimmed, and when.

use super::Extent;
use crate::TrimWritten;
use crate::ops::{Op, OpCode, Place, derive_seed};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::collections::VecDeque;

/// Seed purpose for the draws.
const FOR_TRIMS: u64 = 9;

/// The trims of a stream that remembers its writes.
pub(super) struct Trims {
    how: TrimWritten,
    draws: Xoshiro256PlusPlus,
    /// Extents to trim, with their write numbers, oldest first.
    drawn: VecDeque<(Extent, u64)>,
    /// Writes since the last batch.
    writes: u64,
    /// Trims left in the current batch.
    left: u64,
    /// Trims in flight.
    under_way: Vec<Extent>,
}

impl Trims {
    pub fn new(how: TrimWritten, seed: u64, place: Place) -> Self {
        let draws = Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, place, FOR_TRIMS));
        Self { how, draws, drawn: VecDeque::new(), writes: 0, left: 0, under_way: Vec::new() }
    }

    /// Write `number` is done.
    pub fn wrote(&mut self, extent: Extent, number: u64) {
        if self.draws.next_u64() % 100 < u64::from(self.how.percent) {
            self.drawn.push_back((extent, number));
        }
        self.writes += 1;
        if self.writes >= self.how.after {
            self.writes = 0;
            self.left = if self.how.batch == 0 { self.how.after } else { self.how.batch };
        }
    }

    /// The next trim of the current batch. Extents that fail `may`, because they were written or read since, are skipped.
    pub fn next(&mut self, may: impl Fn(&Extent, u64) -> bool) -> Option<Extent> {
        while self.left > 0
            && let Some((extent, number)) = self.drawn.pop_front()
        {
            if may(&extent, number) {
                self.left -= 1;
                self.under_way.push(extent);
                return Some(extent);
            }
        }
        self.left = 0;
        None
    }

    /// Forgets extents overwritten since, where a small `batch` lets their number grow. `left`: blocks still as they were written.
    pub fn forget(&mut self, left: usize, is_as_written: impl Fn(&Extent, u64) -> bool) {
        const SLACK: usize = 1024;
        if self.drawn.len() > 2 * left + SLACK {
            self.drawn.retain(|(extent, number)| is_as_written(extent, *number));
        }
    }

    /// Number of blocks drawn and not yet trimmed.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.drawn.len()
    }

    /// Whether an operation is one of these trims.
    pub fn has(&self, op: &Op) -> bool {
        op.kind == OpCode::Trim && self.under_way.iter().any(|extent| extent.is_of(op))
    }

    /// A trim is done: returns its extent, and whether it must read as zeros. `None`: not one of these trims.
    pub fn take(&mut self, op: &Op) -> Option<(Extent, bool)> {
        let at = self.under_way.iter().position(|extent| extent.is_of(op))?;
        Some((self.under_way.swap_remove(at), self.how.zeros))
    }
}
