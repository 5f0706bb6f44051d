//! What a read-ahead policy did to one open file, counted. The counts of a published debugging session of 2004 (files whose read-ahead
//! went off, pages in runs, pages after jumps, windows that were all cached) are among them, so that the model is checked without time.

use std::ops::AddAssign;

/// Counts of one open file; add them for a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// How often read-ahead switched itself off.
    pub went_off: u64,
    /// Of those, because everything it would have read was cached; the others are misses.
    pub went_off_cached: u64,
    /// How often it came back.
    pub came_back: u64,
    /// Pages that followed the page before, as the policy saw it (not counted while it is off). To `ra26` that is a page inside its
    /// window or right behind it; its first one counts as neither.
    pub contiguous_pages: u64,
    /// Pages that did not.
    pub jump_pages: u64,
    /// Windows of which every page was cached already.
    pub cached_windows: u64,
    /// Windows started because somebody waits, with at least one page to read.
    pub sync_windows: u64,
    /// Windows started in advance, with at least one page to read.
    pub async_windows: u64,
    /// Pages read by all windows.
    pub window_pages: u64,
    /// Pages that nobody had read ahead and that were read one by one.
    pub single_pages: u64,
    /// Pages that had been read ahead and were gone when they were wanted.
    pub lost_pages: u64,
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.went_off += other.went_off;
        self.went_off_cached += other.went_off_cached;
        self.came_back += other.came_back;
        self.contiguous_pages += other.contiguous_pages;
        self.jump_pages += other.jump_pages;
        self.cached_windows += other.cached_windows;
        self.sync_windows += other.sync_windows;
        self.async_windows += other.async_windows;
        self.window_pages += other.window_pages;
        self.single_pages += other.single_pages;
        self.lost_pages += other.lost_pages;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_add_up() {
        let mut all = Counters { went_off: 1, lost_pages: 2, ..Counters::default() };
        all += Counters { went_off: 1, window_pages: 7, ..Counters::default() };
        assert_eq!(all, Counters { went_off: 2, lost_pages: 2, window_pages: 7, ..Counters::default() });
    }
}
