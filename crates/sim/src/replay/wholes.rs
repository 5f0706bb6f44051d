//! Arrivals of which something is not done yet, by small numbers that bios carry through the queue. Filled when an arrival is handed in,
//! asked at each completion of a part.

use fathom_iopath::{Op, TaskId};

/// An arrival that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole {
    /// Its number in the trace.
    pub number: u64,
    /// Parts that are not done.
    pub left: u32,
    /// Its sectors.
    pub sectors: u32,
    /// When it was due, ns.
    pub due: u64,
    /// What is asked for.
    pub op: Op,
    /// What comes when these parts are done.
    pub rest: Option<Rest>,
}

/// What is still to be done for a write that has a flush before or behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    /// Its data; otherwise they are done.
    pub data: bool,
    /// A flush behind them.
    pub flush: bool,
    /// Its place.
    pub sector: u64,
    /// Whose.
    pub task: TaskId,
    /// On which CPU.
    pub cpu: u8,
}

/// The table; places are used again.
#[derive(Default)]
pub(super) struct Wholes {
    entries: Vec<Whole>,
    free: Vec<u32>,
}

impl Wholes {
    /// An arrival.
    pub fn put(&mut self, whole: Whole) -> u32 {
        if let Some(at) = self.free.pop() {
            self.entries[at as usize] = whole;
            return at;
        }
        self.entries.push(whole);
        (self.entries.len() - 1) as u32
    }

    /// A part is done; if it was the last, the arrival, and the place is free.
    #[inline]
    pub fn part_done(&mut self, at: u32) -> Option<Whole> {
        let entry = &mut self.entries[at as usize];
        debug_assert!(entry.left > 0, "no part is done twice");
        entry.left -= 1;
        if entry.left > 0 {
            return None;
        }
        let whole = *entry;
        self.free.push(at);
        Some(whole)
    }
}
