//! Arrivals of which something is not done yet, by small numbers that bios carry through the queue. Filled when an arrival is handed in,
//! asked at each completion of a part.

#[derive(Clone, Copy)]
struct Whole {
    number: u64,
    left: u32,
}

/// The table; places are used again.
#[derive(Default)]
pub(super) struct Wholes {
    entries: Vec<Whole>,
    free: Vec<u32>,
}

impl Wholes {
    /// An arrival, by its number in the trace, of so many parts.
    pub fn put(&mut self, number: u64, parts: u32) -> u32 {
        let whole = Whole { number, left: parts };
        if let Some(at) = self.free.pop() {
            self.entries[at as usize] = whole;
            return at;
        }
        self.entries.push(whole);
        (self.entries.len() - 1) as u32
    }

    /// A part is done; if it was the last, the arrival's number, and the place is free.
    #[inline]
    pub fn part_done(&mut self, at: u32) -> Option<u64> {
        let entry = &mut self.entries[at as usize];
        debug_assert!(entry.left > 0, "no part is done twice");
        entry.left -= 1;
        if entry.left > 0 {
            return None;
        }
        self.free.push(at);
        Some(entry.number)
    }
}
