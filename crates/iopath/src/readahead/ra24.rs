//! Read-ahead of linux 2.4 (rules from the 2.4.32 source): a window per open file that grows by doubling and never goes off.
//!
//! A call outside the last window starts over with just enough for itself: the missing page and then, without waiting, one page more than
//! the call is long (16 KiB: 5, so 6 in all). A sequential call gets at least `min` pages; every read-ahead doubles the next up to `max`.
//! Touching a locked page (being read) outside the window starts a window after it; touching a present page in the last window starts the
//! next one.

use super::call::{Call, Kind, PAGE_BYTES, Pages, Presence, Touch};
use super::counters::Counters;
use super::io::Io;
use super::policy::PolicyRules;
use crate::tunable::{Tunable, Tunables, Unit};

/// Row: `vm.max-readahead`.
const MAX: usize = 0;
/// Row: `vm.min-readahead`.
const MIN: usize = 1;

/// Tunables: /proc/sys/vm/max-readahead and min-readahead.
pub(super) static TABLE: [Tunable; 2] = [
    Tunable::count("max", Unit::Pages, 31, "most pages read in advance at once (vm.max-readahead)"),
    Tunable::count("min", Unit::Pages, 3, "least pages once a file is read in order (vm.min-readahead)"),
];

#[derive(Clone, Debug)]
pub(super) struct Ra24 {
    pub tunables: Tunables<2>,
}

/// Per open file; shared by all readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ra24File {
    /// One past the last page read ahead.
    end: u64,
    /// Pages in the last window.
    length: u64,
    /// Pages in the last two windows: a call within them counts as sequential.
    known: u64,
    /// Pages to read next time.
    next: u64,
}

/// Whether this call continues in the window; decided once, at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ra24Call {
    goes_on: bool,
}

impl PolicyRules for Ra24 {
    type File = Ra24File;
    type InCall = Ra24Call;

    fn open(&self) -> Ra24File {
        Ra24File::default()
    }

    fn begin(&self, file: &mut Ra24File, call: &Call, _counters: &mut Counters) -> Ra24Call {
        let page = call.offset / PAGE_BYTES;
        let goes_on = page <= file.end && page + file.known >= file.end;
        if !goes_on {
            *file = Ra24File::default();
        }
        // Reading the first half page of a file does not count.
        if page == 0 && call.offset.saturating_add(call.bytes) <= PAGE_BYTES / 2 {
            file.next = 0;
            return Ra24Call { goes_on };
        }
        let needed = (call.offset % PAGE_BYTES).saturating_add(call.bytes) / PAGE_BYTES + 1;
        let least = if goes_on { needed.max(self.tunables[MIN]) } else { needed };
        file.next = file.next.max(least).min(self.tunables[MAX]);
        Ra24Call { goes_on }
    }

    fn touch<P: Pages>(
        &self,
        file: &mut Ra24File,
        now: &mut Ra24Call,
        call: &Call,
        touch: Touch,
        io: &mut Io<'_, P>,
    ) {
        if touch.presence == Presence::Absent {
            io.single(touch.page);
        }
        let locked = touch.presence != Presence::Cached;
        // An incomplete last page is never read ahead.
        let file_end = call.file_bytes / PAGE_BYTES;
        let window = if locked {
            behind_a_miss(file, touch.page, file_end)
        } else {
            behind_the_window(file, now.goes_on, touch.page, file_end)
        };
        if let Some((last_read, pages)) = window {
            self.read_ahead(file, last_read, pages, file_end, io);
        }
    }
}

/// The window after a page being read; `None` if that page was read ahead.
fn behind_a_miss(file: &mut Ra24File, page: u64, file_end: u64) -> Option<(u64, u64)> {
    if file.length != 0 && page < file.end && page + file.known >= file.end {
        return None;
    }
    let pages = if page < file_end { file.next } else { 0 };
    file.known = 0;
    file.length = 1;
    if pages == 0 {
        file.end = page + 1;
        file.known = 1;
        return None;
    }
    Some((page, pages))
}

/// The window after the last one, once a sequential call has entered the last one.
fn behind_the_window(file: &mut Ra24File, goes_on: bool, page: u64, file_end: u64) -> Option<(u64, u64)> {
    let inside = page <= file.end && page + file.length >= file.end;
    if !goes_on || file.next == 0 || file.end == 0 || !inside {
        return None;
    }
    let last_read = file.end - 1;
    if last_read >= file_end {
        return None;
    }
    // One page more, so that this window is as long as a missed page plus the window behind it.
    let pages = file.next + 1;
    file.known = file.length;
    file.length = 0;
    Some((last_read, pages))
}

impl Ra24 {
    fn read_ahead<P: Pages>(
        &self,
        file: &mut Ra24File,
        last_read: u64,
        pages: u64,
        file_end: u64,
        io: &mut Io<'_, P>,
    ) {
        // The step that reaches the end counts, although its page is not read.
        let walked = pages.min(file_end.saturating_sub(last_read).max(1));
        let readable = walked.min(file_end.saturating_sub(last_read + 1));
        io.window(last_read + 1, readable, None, Kind::Async);
        file.length += walked;
        file.known += file.length;
        file.end = last_read + walked + 1;
        file.next = (file.next * 2).min(self.tunables[MAX]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Story;

    #[test]
    fn a_jump_reads_just_enough_and_never_goes_off() {
        let mut story = Story::of("ra24");
        for n in [50, 7, 300, 120, 800, 20, 500] {
            story.read(n * 16384, 16384);
            let first = n * 4;
            assert_eq!(story.take_reads(), [(first, 1), (first + 1, 5)], "six pages for four, always");
        }
        assert_eq!(story.counters().went_off, 0);
    }

    #[test]
    fn a_stream_doubles_up_to_the_maximum() {
        let mut story = Story::of("ra24");
        (0..64).for_each(|page| story.read(page * 4096, 4096));
        let sizes: Vec<u32> = story.reads().iter().map(|&(_, pages)| pages).collect();
        assert_eq!(sizes[..6], [1, 3, 7, 13, 25, 32]);
        assert!(sizes[5..].iter().all(|&pages| pages == 32), "{sizes:?}");
    }

    #[test]
    fn a_look_at_the_start_reads_one_page() {
        let mut story = Story::of("ra24");
        story.read(0, 512);
        assert_eq!(story.reads(), [(0, 1)]);
    }

    #[test]
    fn the_end_of_the_file_is_the_end() {
        let mut story = Story::of("ra24");
        story.file_bytes = 40_000;
        story.read(0, 40_000);
        let pages: u32 = story.reads().iter().map(|&(_, pages)| pages).sum();
        assert_eq!(pages, 10);
    }
}
