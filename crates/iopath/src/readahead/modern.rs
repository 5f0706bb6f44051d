//! Read-ahead of today's linux (6.12 and later; rules from the 6.19 source, checked against block traces of 6.18 on ext4): on demand,
//! with large folios. Windows are cut to end at multiples of a folio size that grows by a factor of four with each window.
//!
//! Because of this, sequential 4 KiB reads give 16, 32, 16, 32, 32, 64, 64, 128 KiB and not 16, 32, 64, 128. `folios=0` is a file system
//! without large folios.

use super::call::{Call, Kind, Mark, PAGE_BYTES, Pages, Presence, Touch};
use super::counters::Counters;
use super::io::Io;
use super::policy::PolicyRules;
use super::window::{grown, history, initial_window, most, next_hole};
use crate::tunable::{Tunable, Tunables, Unit};

/// Row: largest window.
const MAX: usize = 0;
/// Row: largest request of the device.
const DEVICE: usize = 1;
/// Row: largest folio, as a power of two.
const FOLIOS: usize = 2;

pub(super) static TABLE: [Tunable; 3] = [
    Tunable::count("max", Unit::Pages, 32, "largest window (read_ahead_kb / 4); 0 is no read-ahead"),
    Tunable::count(
        "device",
        Unit::Pages,
        320,
        "largest request of the device (max_sectors_kb / 4): calls longer than max read up to this much at once",
    ),
    Tunable::count(
        "folios",
        Unit::Number,
        9,
        "largest folio of the file system is 2 to this many pages; 0 is none but single pages",
    )
    .at_most(20),
];

#[derive(Clone, Debug)]
pub(super) struct Modern {
    pub tunables: Tunables<3>,
}

/// Per open file: the last window, of which the last `async_size` pages are read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModernFile {
    start: u64,
    size: u64,
    async_size: u64,
    /// Folio order tried last.
    order: u32,
    /// Page in which the last call ended; if it ended at a page boundary, the next page.
    previous: u64,
}

/// Requested length of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModernCall {
    end: u64,
}

impl PolicyRules for Modern {
    type File = ModernFile;
    type InCall = ModernCall;

    fn open(&self) -> ModernFile {
        ModernFile { start: 0, size: 0, async_size: 0, order: 0, previous: u64::MAX / PAGE_BYTES }
    }

    fn begin(&self, _file: &mut ModernFile, call: &Call, _counters: &mut Counters) -> ModernCall {
        ModernCall { end: call.asked_end() }
    }

    fn touch<P: Pages>(
        &self,
        file: &mut ModernFile,
        now: &mut ModernCall,
        _: &Call,
        touch: Touch,
        io: &mut Io<'_, P>,
    ) {
        let mut mark = touch.mark;
        if touch.presence == Presence::Absent {
            // The touched page may be in the folio just marked.
            mark = self
                .missed(file, touch.page, now.end - touch.page, io)
                .filter(|mark| (mark.page..mark.page + u64::from(mark.pages)).contains(&touch.page));
            io.single(touch.page);
        }
        if let Some(mark) = mark
            && self.tunables[MAX] > 0
        {
            io.pages.unmark(mark);
            if !io.pages.congested() {
                self.marked(file, mark, now.end - mark.page, io);
            }
        }
    }

    fn end(&self, file: &mut ModernFile, _now: ModernCall, call: &Call) {
        if !call.pages().is_empty() {
            file.previous = call.end() / PAGE_BYTES;
        }
    }
}

impl Modern {
    /// Handles an absent page. Returns the mark that was set.
    fn missed<P: Pages>(
        &self,
        file: &mut ModernFile,
        page: u64,
        asked: u64,
        io: &mut Io<'_, P>,
    ) -> Option<Mark> {
        if self.tunables[MAX] == 0 || io.pages.congested() {
            return None;
        }
        let max = most(self.tunables[MAX], self.tunables[DEVICE], asked);
        if page == 0 || asked > max || page.wrapping_sub(file.previous) <= 1 {
            io.counters.contiguous_pages += 1;
            file.start = page;
            file.size = initial_window(asked, max);
            file.async_size = if file.size > asked { file.size - asked } else { file.size / 2 };
        } else {
            io.counters.jump_pages += 1;
            let seen = history(page, max, io.pages);
            if seen <= asked {
                // A short random read: exactly as requested, without changing the state.
                io.window(page, asked, None, Kind::Sync);
                return None;
            }
            let from_the_start = seen == page;
            file.start = page;
            file.size = (if from_the_start { 2 * seen } else { seen } + asked).min(max);
            file.async_size = 1;
        }
        file.order = 0;
        self.read(file, Kind::Sync, io)
    }

    /// Handles a touch of a marked folio.
    fn marked<P: Pages>(&self, file: &mut ModernFile, mark: Mark, asked: u64, io: &mut Io<'_, P>) {
        let max = most(self.tunables[MAX], self.tunables[DEVICE], asked);
        let due = file.start + file.size - file.async_size;
        if mark.page == due - due % u64::from(mark.pages.max(1)) {
            io.counters.contiguous_pages += 1;
            file.start += file.size;
            file.size = file.size.max(grown(file.size, max));
        } else {
            // Another stream's window: the pages cached from here on were read ahead for it.
            let Some(hole) = next_hole(mark.page + 1, max, io.pages) else { return };
            // 6.18 starts its search inside the folio and counts from the folio's first page, so it finds the hole one page too late and
            // leaves that page for a miss (traced: two streams through one file).
            let hole = hole + u64::from(mark.pages > 1);
            io.counters.jump_pages += 1;
            file.start = hole;
            file.size = grown(hole - mark.page + asked, max);
        }
        file.order += 2;
        let align = 1 << file.order.min(max.trailing_zeros());
        let end = file.start + file.size;
        if end - end % align > file.start {
            file.size -= end % align;
        }
        file.async_size = file.size;
        self.read(file, Kind::Async, io);
    }

    /// Reads the window of the state: folio by folio until a present page is in the way, the rest page by page.
    fn read<P: Pages>(&self, file: &mut ModernFile, kind: Kind, io: &mut Io<'_, P>) -> Option<Mark> {
        if file.start >= io.file_pages {
            return None;
        }
        let end = file.start.saturating_add(file.size);
        // At the end of the file there is no next window for a mark to start.
        let due = (end < io.file_pages).then(|| end - file.async_size);
        let largest = self.tunables[FOLIOS] as u32;
        file.order = if largest == 0 { 0 } else { file.order.min(largest).min(file.size.max(1).ilog2()) };
        let (stop, mark) = folios(file.start, end.min(io.file_pages), file.order, due, io.pages);
        let mut read = 0;
        if stop > file.start {
            read = stop - file.start;
            io.pages.read(file.start, read as u32, mark, kind);
        }
        let rest = due.filter(|&page| page >= stop && !io.pages.present(page));
        read += io.runs(stop, end.saturating_sub(stop), due, kind);
        io.count(read, kind);
        mark.or(rest.map(Mark::single))
    }
}

/// Allocates folios from `start` up to `end`, each aligned to its size, until one would cover a page that is present. Returns the
/// position of that page and the folio with the page `due`.
fn folios(start: u64, end: u64, order: u32, due: Option<u64>, pages: &impl Pages) -> (u64, Option<Mark>) {
    let mut at = start;
    let mut mark = None;
    while at < end {
        let mut size = 1u64 << order;
        if !at.is_multiple_of(size) {
            size = 1 << at.trailing_zeros();
        }
        while at + size > end {
            size /= 2;
        }
        if (at..at + size).any(|page| pages.present(page)) {
            break;
        }
        if due.is_some_and(|page| page - page % size == at) {
            mark = Some(Mark { page: at, pages: size as u32 });
        }
        at += size;
    }
    (at, mark)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Story;

    #[test]
    fn without_folios_windows_are_not_cut() {
        let mut story = Story::of("modern,folios=0");
        (0..256).for_each(|page| story.read(page << 12, 4096));
        let sizes: Vec<u32> = story.reads().iter().map(|&(_, pages)| pages).collect();
        assert_eq!(sizes[..5], [4, 8, 16, 32, 32]);
    }

    #[test]
    fn a_page_in_the_way_ends_the_folios() {
        let mut story = Story::of("modern");
        story.cache.fill([6]);
        (0..9).for_each(|page| story.read(page << 12, 4096));
        assert_eq!(story.reads()[..3], [(0, 4), (4, 2), (7, 5)]);
    }

    #[test]
    fn the_last_window_carries_no_mark() {
        let mut story = Story::of("modern");
        story.file_bytes = 10 * 4096 + 1;
        (0..11).for_each(|page| story.read(page << 12, 4096));
        assert_eq!(story.reads(), [(0, 4), (4, 7)]);
    }
}
