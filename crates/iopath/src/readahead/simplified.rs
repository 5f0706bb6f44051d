//! Read-ahead of Linux 2.6.10 to 2.6.22 (rules from the 2.6.11 source). The rules know the length of the call. The first random
//! access turns read-ahead off, and the first sequential access turns it on again. While calls go through the current window, the
//! ahead window is read.
//!
//! While off, exactly the requested pages are read together, at most `max`; so a random read of 16 KiB is one request of 16 KiB.
//! After 256 consecutive cached pages, look-ups stop until a page misses. A call works on a copy of the state.

use super::call::{Call, Kind, PAGE_BYTES, Pages, Presence, Touch};
use super::counters::Counters;
use super::io::Io;
use super::policy::PolicyRules;
use super::window::initial_window;
use crate::tunable::{Tunable, Tunables, Unit};

/// Row: largest window.
const MAX: usize = 0;
/// Row: smallest window after pages were lost.
const MIN: usize = 1;
/// Pages found cached in a row before look-ups stop.
const CACHE_HITS: u64 = 256;

pub(super) static TABLE: [Tunable; 2] = [
    Tunable::count("max", Unit::Pages, 32, "largest window (read_ahead_kb / 4)"),
    Tunable::count("min", Unit::Pages, 4, "smallest window after a page that was read ahead was lost")
        .at_least(1),
];

#[derive(Clone, Debug)]
pub(super) struct Simplified {
    pub tunables: Tunables<2>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SimplifiedFile {
    start: u64,
    /// 0: off.
    size: u64,
    /// Last page looked at; initially `u64::MAX`, so that page 0 is sequential.
    previous: u64,
    /// 0: no ahead window; `ahead_size` then holds the end of the previous one.
    ahead_start: u64,
    ahead_size: u64,
    hits: u64,
    lost: bool,
    in_cache: bool,
}

/// The copy that a call works on, and the page at which to call the rules again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SimplifiedCall {
    file: SimplifiedFile,
    ask_at: u64,
    end: u64,
}

impl PolicyRules for Simplified {
    type File = SimplifiedFile;
    type InCall = SimplifiedCall;

    fn open(&self) -> SimplifiedFile {
        SimplifiedFile {
            start: 0,
            size: 0,
            previous: u64::MAX,
            ahead_start: 0,
            ahead_size: 0,
            hits: 0,
            lost: false,
            in_cache: false,
        }
    }

    fn begin(&self, file: &mut SimplifiedFile, call: &Call, _counters: &mut Counters) -> SimplifiedCall {
        SimplifiedCall { file: *file, ask_at: call.offset / PAGE_BYTES, end: call.asked_end() }
    }

    fn touch<P: Pages>(
        &self,
        _: &mut SimplifiedFile,
        now: &mut SimplifiedCall,
        _: &Call,
        touch: Touch,
        io: &mut Io<'_, P>,
    ) {
        if touch.page == now.ask_at {
            now.ask_at = self.asked(&mut now.file, touch.page, now.end - touch.page, io);
        }
        if touch.presence == Presence::Absent && !io.pages.present(touch.page) {
            now.file.lost = true;
            now.file.in_cache = false;
            now.file.hits = 0;
            io.counters.lost_pages += 1;
            io.single(touch.page);
        }
    }

    fn end(&self, file: &mut SimplifiedFile, now: SimplifiedCall, _call: &Call) {
        *file = now.file;
    }
}

impl Simplified {
    /// Returns the page at which to call the rules again.
    fn asked<P: Pages>(&self, file: &mut SimplifiedFile, page: u64, pages: u64, io: &mut Io<'_, P>) -> u64 {
        let (mut page, mut pages) = (page, pages);
        // The rest of a page that was begun before.
        if page == file.previous {
            pages -= 1;
            if pages > 0 {
                page += 1;
            }
        }
        let follows = page == file.previous.wrapping_add(1);
        file.previous = page;
        let max = self.tunables[MAX];
        let size = pages.min(max);
        if size == 0 || file.in_cache {
            return page + 1;
        }
        if follows {
            io.counters.contiguous_pages += size;
        } else {
            io.counters.jump_pages += size;
        }
        file.previous += size - 1;
        if !follows {
            self.random(file, page, size, io);
        } else if file.size == 0 {
            self.first_window(file, page, size, pages, io);
        } else {
            self.next_window(file, io);
        }
        file.previous + 1
    }

    fn random<P: Pages>(&self, file: &mut SimplifiedFile, page: u64, size: u64, io: &mut Io<'_, P>) {
        go_off(file, io.counters);
        submit(file, page, size, Kind::Sync, io);
    }

    fn first_window<P: Pages>(
        &self,
        file: &mut SimplifiedFile,
        page: u64,
        size: u64,
        asked: u64,
        io: &mut Io<'_, P>,
    ) {
        let max = self.tunables[MAX];
        file.size = initial_window(size, max);
        file.start = page;
        if submit(file, page, file.size, Kind::Sync, io) && asked >= max {
            // The call needs more than a window holds, so both are read at once.
            self.ahead_window(file, true, io);
        }
    }

    fn next_window<P: Pages>(&self, file: &mut SimplifiedFile, io: &mut Io<'_, P>) {
        let had_ahead = file.ahead_start != 0;
        if had_ahead || self.ahead_window(file, false, io) {
            if file.previous < file.ahead_start {
                return;
            }
            file.start = file.ahead_start;
            file.size = file.ahead_size;
            self.ahead_window(file, false, io);
        }
        // Call again at the first page after the ahead window at the latest.
        file.previous = file.previous.min(file.ahead_start.wrapping_add(file.ahead_size).wrapping_sub(1));
    }

    /// Starts the ahead window; returns whether it was read.
    fn ahead_window<P: Pages>(&self, file: &mut SimplifiedFile, forced: bool, io: &mut Io<'_, P>) -> bool {
        file.ahead_size = self.next_size(file);
        file.ahead_start = file.start + file.size;
        let wanted_now = forced || file.previous >= file.ahead_start;
        let stands = (wanted_now || !io.pages.congested())
            && submit(file, file.ahead_start, file.ahead_size, Kind::Async, io);
        if !stands && !forced {
            forget_ahead(file);
        }
        stands
    }

    fn next_size(&self, file: &mut SimplifiedFile) -> u64 {
        let (max, min) = (self.tunables[MAX], self.tunables[MIN]);
        let size = if std::mem::take(&mut file.lost) {
            file.size.saturating_sub(2).max(min)
        } else if file.size < max / 16 {
            4 * file.size
        } else {
            2 * file.size
        };
        size.min(max)
    }
}

/// Reads a window; false if the file turned out to be cached and look-ups stop.
fn submit<P: Pages>(
    file: &mut SimplifiedFile,
    first: u64,
    pages: u64,
    kind: Kind,
    io: &mut Io<'_, P>,
) -> bool {
    if io.window(first, pages, None, kind) > 0 {
        file.hits = 0;
        return true;
    }
    file.hits += pages;
    if file.hits < CACHE_HITS {
        return true;
    }
    let before = io.counters.went_off;
    go_off(file, io.counters);
    io.counters.went_off_cached += io.counters.went_off - before;
    file.in_cache = true;
    false
}

fn go_off(file: &mut SimplifiedFile, counters: &mut Counters) {
    if file.size != 0 {
        counters.went_off += 1;
    }
    file.start = 0;
    file.size = 0;
    file.lost = false;
    file.in_cache = false;
    forget_ahead(file);
}

/// Drops the ahead window but keeps its end, which is needed to compute when to call again.
fn forget_ahead(file: &mut SimplifiedFile) {
    file.ahead_size = file.ahead_size.wrapping_add(file.ahead_start);
    file.ahead_start = 0;
}

#[cfg(test)]
mod tests {
    use super::super::testing::Story;

    #[test]
    fn random_calls_are_one_request_each() {
        let mut story = Story::of("ra-simplified");
        for n in [50, 7, 300, 120, 800, 20, 500] {
            story.read(n * 16384, 16384);
            assert_eq!(story.take_reads(), [(n * 4, 4)]);
        }
    }

    #[test]
    fn the_first_call_in_order_switches_it_on() {
        let mut story = Story::of("ra-simplified");
        story.read(40 << 12, 4096);
        assert_eq!(story.take_reads(), [(40, 1)]);
        (41..44).for_each(|page| story.read(page << 12, 4096));
        assert_eq!(story.reads()[..2], [(41, 4), (45, 8)], "initial window and the one behind it");
    }

    #[test]
    fn a_stream_runs_at_the_maximum() {
        let mut story = Story::of("ra-simplified");
        (0..200).for_each(|page| story.read(page << 12, 4096));
        let sizes: Vec<u32> = story.reads().iter().map(|&(_, pages)| pages).collect();
        assert_eq!(sizes[..5], [4, 8, 16, 32, 32]);
    }

    #[test]
    fn a_cached_file_is_left_alone_until_a_page_misses() {
        let mut story = Story::of("ra-simplified");
        story.cache.fill(0..2000);
        (0..600).for_each(|page| story.read(page << 12, 4096));
        let windows = story.counters().cached_windows;
        (600..1900).for_each(|page| story.read(page << 12, 4096));
        assert_eq!(story.counters().cached_windows, windows, "no more looking");
        (1900..2040).for_each(|page| story.read(page << 12, 4096));
        assert!(story.reads().iter().any(|&(_, pages)| pages > 1), "{:?}", story.reads());
    }
}
