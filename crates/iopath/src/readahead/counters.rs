//! Read-ahead counters of one open file. They include those of a published debugging session of 2004 (files whose read-ahead went off,
//! sequential pages, pages after jumps, fully cached windows), which allows checking the model without timing.

use std::ops::AddAssign;

/// Counts of one open file; add them for a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// How often read-ahead switched itself off.
    pub went_off: u64,
    /// Times it went off because everything it would have read was cached; the others are misses.
    pub went_off_cached: u64,
    /// How often read-ahead came back on.
    pub came_back: u64,
    /// Pages that followed the previous page, as the policy saw it (not counted while it is off). For `ra26` that is a page inside or
    /// directly after its window; a file's first page counts as neither.
    pub contiguous_pages: u64,
    /// Pages that did not follow the previous page.
    pub jump_pages: u64,
    /// Windows with every page already cached.
    pub cached_windows: u64,
    /// Synchronous windows with at least one page to read.
    pub sync_windows: u64,
    /// Asynchronous windows with at least one page to read.
    pub async_windows: u64,
    /// Pages read by all windows.
    pub window_pages: u64,
    /// Pages that had not been read ahead and were read one by one.
    pub single_pages: u64,
    /// Pages that had been read ahead but were evicted before they were used.
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
