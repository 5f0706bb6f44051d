//! Read-ahead of the Solaris High Sierra file system after its rework of 2007 (seed of the optical table). A call is processed in windows
//! of 8 KiB; contiguous windows are counted, and after more than two each further one makes the read-ahead a page longer, up to four; a
//! jump makes it a page shorter, or, if it is already 0, decrements the count.
//!
//! It is issued to a task queue on hits only: when the last page of the window is cached and the page after the window is not. A miss
//! reads only the rest of its window: where the cache loses pages quickly, reading ahead would be wasted. With `extend=1` the read of a
//! miss is extended by the read-ahead length, as in the code of the rework and its table of sizes (8 KiB and 16 KiB more make its
//! requests of 24 KiB); its text does not mention it.

use super::call::{Call, Kind, PAGE_BYTES, Pages, Presence, Touch};
use super::counters::Counters;
use super::io::Io;
use super::policy::PolicyRules;
use crate::tunable::{Tunable, Tunables, Unit};

/// Row: most pages read ahead.
const MAX: usize = 0;
/// Row: contiguous windows before it begins.
const CONTIGUOUS: usize = 1;
/// Row: pages per window.
const WINDOW: usize = 2;
/// Row: whether a miss reads ahead, too.
const EXTEND: usize = 3;

pub(super) static TABLE: [Tunable; 4] = [
    Tunable::count("max", Unit::Pages, 4, "most pages read ahead at once"),
    Tunable::count("contiguous", Unit::Number, 2, "contiguous windows before read-ahead begins"),
    Tunable::count("window", Unit::Pages, 2, "pages in which a call is carried out at once").at_least(1),
    Tunable::switch("extend", 0, "1: the read of a miss is longer by what would be read ahead"),
];

#[derive(Clone, Debug)]
pub(super) struct Hsfs {
    pub tunables: Tunables<4>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HsfsFile {
    /// One past the last window.
    end: u64,
    /// Contiguous windows counted.
    contiguous: u64,
    /// Length of the read-ahead in pages.
    ahead: u64,
}

/// The current window of the call ends before this page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HsfsCall {
    window_end: u64,
}

impl PolicyRules for Hsfs {
    type File = HsfsFile;
    type InCall = HsfsCall;

    fn open(&self) -> HsfsFile {
        HsfsFile::default()
    }

    fn begin(&self, _file: &mut HsfsFile, call: &Call, _counters: &mut Counters) -> HsfsCall {
        HsfsCall { window_end: call.offset / PAGE_BYTES }
    }

    fn touch<P: Pages>(
        &self,
        file: &mut HsfsFile,
        now: &mut HsfsCall,
        call: &Call,
        touch: Touch,
        io: &mut Io<'_, P>,
    ) {
        let page = touch.page;
        if page >= now.window_end {
            now.window_end = self.window_end(page, call);
            self.count(file, page, now.window_end - page, io.counters);
            file.end = now.window_end;
        }
        if touch.presence == Presence::Absent {
            // Never empty: the page is absent.
            let more = if self.tunables[EXTEND] == 0 { 0 } else { file.ahead };
            io.window(page, now.window_end - page + more, None, Kind::Sync);
            return;
        }
        // Another thread may have moved the end of the last window.
        let last_of_window = file.end == page + 1;
        let behind = file.end;
        if last_of_window && file.ahead > 0 && behind < io.file_pages && !io.pages.present(behind) {
            io.window(behind, file.ahead, None, Kind::Async);
        }
    }
}

impl Hsfs {
    /// Windows are aligned to their size; the end of the call cuts the last one.
    fn window_end(&self, page: u64, call: &Call) -> u64 {
        let size = self.tunables[WINDOW];
        ((page / size + 1) * size).min(call.pages().end)
    }

    fn count(&self, file: &mut HsfsFile, page: u64, pages: u64, counters: &mut Counters) {
        if page == file.end {
            counters.contiguous_pages += pages;
            if file.contiguous < self.tunables[CONTIGUOUS] {
                file.contiguous += 1;
            } else {
                file.ahead = (file.ahead + 1).min(self.tunables[MAX]);
            }
            return;
        }
        counters.jump_pages += pages;
        if file.ahead > 0 {
            file.ahead -= 1;
            counters.went_off += u64::from(file.ahead == 0);
        } else {
            file.contiguous = file.contiguous.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Story, shuffled};

    #[test]
    fn a_stream_settles_at_four_pages_in_advance() {
        let mut story = Story::of("hsfs");
        (0..4096).for_each(|block| story.read(block * 8192, 8192));
        let fours = story.reads().iter().filter(|&&(_, pages)| pages == 4).count();
        // Optical table: 65 522 of 65 535 reads of a 1 GB file were of 16 KiB.
        assert!(fours >= 2040, "{fours} of {}", story.reads().len());
        assert!(story.reads().len() - fours < 12);
    }

    #[test]
    fn random_calls_read_their_windows_and_hardly_more() {
        let mut story = Story::of("hsfs");
        for n in shuffled(1000, 9) {
            story.take_reads();
            story.read((2 * n + 1) * 32768, 32768);
            // Contiguous windows inside a call lengthen the read-ahead, a jump shortens it.
            let pages: u32 = story.reads().iter().map(|&(_, pages)| pages).sum();
            assert!((8..=12).contains(&pages), "{:?}", story.reads());
        }
    }

    /// 24 KiB: a window that misses, plus the four pages of read-ahead that the stream had reached.
    #[test]
    fn a_miss_is_longer_by_what_would_be_read_ahead_if_that_is_asked_for() {
        for (name, pages) in [("hsfs", 2), ("hsfs,extend=0", 2), ("hsfs,extend=1", 6)] {
            let mut story = Story::of(name);
            (0..64).for_each(|block| story.read(block * 8192, 8192));
            (128..256).for_each(|page| story.cache.drop_page(page));
            story.take_reads();
            story.read(64 * 8192, 8192);
            assert_eq!(story.reads()[0], (128, pages), "{name}");
        }
        // A reader that jumps has no read-ahead: the same as without the tunable.
        let reads = |name: &str| {
            let mut story = Story::of(name);
            shuffled(500, 3).into_iter().for_each(|n| story.read((2 * n + 1) * 65536, 2048));
            story.take_reads()
        };
        assert_eq!(reads("hsfs,extend=1"), reads("hsfs"));
    }

    #[test]
    fn a_jump_takes_one_page_off() {
        let mut story = Story::of("hsfs");
        (0..64).for_each(|block| story.read(block * 8192, 8192));
        (0..4).for_each(|n| story.read((200 + n * 30) * 8192, 8192));
        assert_eq!(story.counters().went_off, 1);
    }
}
