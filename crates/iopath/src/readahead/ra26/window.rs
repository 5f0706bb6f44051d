//! The two windows of Linux 2.6.1 to 2.6.9: calls go through the current one while the ahead one is read. Rules from 2.6.9 and the
//! patches of May 2004 against 2.6.6; a step is one page.

use super::super::call::{Kind, Pages};
use super::super::counters::Counters;
use super::super::io::Io;
use super::{COUNT_RUN, MAX, MIN, Ra26, Variant};

/// Value of `next` while read-ahead is off.
const OFF: i64 = -1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Window {
    start: u64,
    /// While off: number of misses in a row.
    size: u64,
    /// Length of the next window; 0 before the first read, [`OFF`] when off.
    next: i64,
    previous: u64,
    /// 0: no ahead window.
    ahead_start: u64,
    ahead_size: u64,
    /// Length of the current run.
    run: u64,
    /// Decaying mean length of runs.
    average: u64,
}

impl Window {
    pub fn new(max: u64) -> Self {
        Self {
            start: 0,
            size: 0,
            next: 0,
            previous: 0,
            ahead_start: 0,
            ahead_size: 0,
            run: 0,
            average: max / 2,
        }
    }

    fn contains(&self, page: u64) -> bool {
        page >= self.start && page < self.start + self.size
    }

    fn no_ahead(&mut self) {
        self.ahead_start = 0;
        self.ahead_size = 0;
    }

    fn go_off(&mut self, counters: &mut Counters) {
        self.next = OFF;
        self.size = 0;
        counters.went_off += 1;
    }
}

impl Ra26 {
    fn max(&self) -> u64 {
        self.tunables[MAX]
    }

    /// A page is walked over, cached or not.
    pub(super) fn page<P: Pages>(&self, window: &mut Window, page: u64, io: &mut Io<'_, P>) {
        // Touching the same page again, as calls shorter than a page do, is ignored.
        let again = page == window.previous && window.next != 0;
        if again || window.next == OFF || self.max() == 0 {
            return;
        }
        if window.next == 0 {
            self.first(window, page, io);
            return;
        }
        let next_before = window.next;
        let before = window.previous;
        self.note_run(window, page);
        window.previous = page;
        // Counted like the instrumentation of May 2004: by the page's relation to the window, and not for a file's first page.
        if page >= window.start && page <= window.start + window.size {
            io.counters.contiguous_pages += 1;
            window.next = (window.next + 2).min(self.max() as i64);
        } else {
            io.counters.jump_pages += 1;
            window.next = (window.next - 2).min(self.max() as i64);
        }
        if window.next <= 0 {
            window.go_off(io.counters);
        } else if window.contains(page) {
            self.ahead(window, page, next_before, io);
        } else if page == window.ahead_start {
            // Walked into the ahead window: it becomes the current one. Its second page starts the next.
            window.start = window.ahead_start;
            window.size = window.ahead_size;
            window.no_ahead();
        } else {
            self.jump(window, page, before, next_before, io);
        }
    }

    /// The first page of an open file: half the maximum, as for a file that is read completely.
    fn first<P: Pages>(&self, window: &mut Window, page: u64, io: &mut Io<'_, P>) {
        // A maximum of one page is halved to 0; the page is then read as a miss.
        window.next = (self.max() / 2) as i64;
        window.previous = page;
        window.run += 1;
        window.start = page;
        window.size = window.next as u64;
        window.no_ahead();
        submit(page, window.size, Kind::Sync, io);
    }

    fn note_run(&self, window: &mut Window, page: u64) {
        if page == window.previous.wrapping_add(1) {
            if window.run <= 2 * self.max() {
                window.run += 1;
            }
            return;
        }
        // Rounded up since 2.6.7: halving alone never reaches a run of 20 from below.
        let up = u64::from(self.variant == Variant::Seeky && window.average < window.run);
        window.average = (window.average + up + window.run) / 2;
        window.run = 1;
    }

    /// A page outside both windows: a new current window.
    fn jump<P: Pages>(
        &self,
        window: &mut Window,
        page: u64,
        before: u64,
        next_before: i64,
        io: &mut Io<'_, P>,
    ) {
        if self.variant == Variant::Seeky {
            window.next = self.usual_run(window).min(self.max()) as i64;
        } else if window.contains(before) {
            // The number of pages used of the last window, plus one so that its last page, which would start the ahead window, is not
            // touched.
            window.next = (before - window.start + 2) as i64;
        }
        window.start = page;
        window.size = window.next as u64;
        window.no_ahead();
        let read = submit(page, window.size, Kind::Sync, io);
        judge(window, read, next_before, io.counters);
    }

    fn usual_run(&self, window: &Window) -> u64 {
        if self.tunables[COUNT_RUN] == 1 && window.run > window.average {
            (window.run + window.average).div_ceil(2)
        } else {
            window.average
        }
    }

    /// A page inside the current window: may start the ahead window.
    fn ahead<P: Pages>(&self, window: &mut Window, page: u64, next_before: i64, io: &mut Io<'_, P>) {
        if window.ahead_start != 0 {
            return;
        }
        let seeky = self.variant == Variant::Seeky;
        let average = if window.run > window.average {
            (window.run + window.average + u64::from(seeky)) / 2
        } else {
            window.average
        };
        let due = if seeky {
            average > self.max()
        } else {
            average >= self.max() || page + 1 == window.start + window.size
        };
        if due {
            window.ahead_start = window.start + window.size;
            window.ahead_size = window.next as u64;
            let read = submit(window.ahead_start, window.ahead_size, Kind::Async, io);
            judge(window, read, next_before, io.counters);
        }
    }

    /// A page that should have been present was not.
    pub(super) fn missed(&self, window: &mut Window, page: u64, counters: &mut Counters) {
        if window.next != OFF {
            counters.lost_pages += 1;
            window.next = (window.next - 3).max(self.tunables[MIN] as i64);
            return;
        }
        if page == window.previous.wrapping_add(1) {
            window.size += 1;
            if window.size >= self.max() {
                self.come_back(window, page, counters);
            }
        } else {
            window.size = window.size.saturating_sub(1);
        }
        window.previous = page;
    }

    fn come_back(&self, window: &mut Window, page: u64, counters: &mut Counters) {
        counters.came_back += 1;
        window.start = page.saturating_sub(self.max());
        window.next = self.max() as i64;
        window.size = self.max();
        window.no_ahead();
        if self.variant == Variant::Seeky {
            window.average = self.max() / 2;
        }
    }
}

/// A congested queue reads no windows; the kernel could not distinguish that from a cached window.
fn submit<P: Pages>(first: u64, pages: u64, kind: Kind, io: &mut Io<'_, P>) -> u64 {
    if io.pages.congested() { 0 } else { io.window(first, pages, None, kind) }
}

/// A fully cached window makes the next one a page shorter; at one page read-ahead goes off.
fn judge(window: &mut Window, read: u64, next_before: i64, counters: &mut Counters) {
    if read > 0 {
        return;
    }
    if next_before > 1 {
        window.next = next_before - 1;
        if window.ahead_size > 0 {
            window.ahead_size = window.next as u64;
        }
    } else {
        counters.went_off_cached += 1;
        window.go_off(counters);
    }
}
