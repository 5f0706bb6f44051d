//! From a window of pages to reads: cut at the end of the file, cut around pages already present, and counted. All policies read through
//! this module, so none can request a page twice or beyond the end of the file.

use super::call::{Kind, Mark, Pages};
use super::counters::Counters;

/// The cache, the counters and the file's length during one step of a policy.
pub(super) struct Io<'a, P: Pages> {
    pub pages: &'a mut P,
    pub counters: &'a mut Counters,
    /// Length of the file in pages.
    pub file_pages: u64,
}

impl<P: Pages> Io<'_, P> {
    /// Reads the absent pages of a window and returns their number. Every run of absent pages is one read. A mark on a page already
    /// present is lost, as in the kernel: the page may belong to another window.
    pub fn window(&mut self, first: u64, pages: u64, mark: Option<u64>, kind: Kind) -> u64 {
        let read = self.runs(first, pages, mark, kind);
        self.count(read, kind);
        read
    }

    /// Counts a window of which `read` pages had to be read.
    pub fn count(&mut self, read: u64, kind: Kind) {
        let counters = &mut self.counters;
        match (read, kind) {
            (0, _) => counters.cached_windows += 1,
            (_, Kind::Sync) => counters.sync_windows += 1,
            (_, Kind::Async) => counters.async_windows += 1,
        }
        counters.window_pages += read;
    }

    /// Like [`Io::window`], but not counted as a window.
    pub fn runs(&mut self, first: u64, pages: u64, mark: Option<u64>, kind: Kind) -> u64 {
        let end = first.saturating_add(pages).min(self.file_pages);
        let mut at = first;
        let mut read = 0;
        while at < end {
            if self.pages.present(at) {
                at += 1;
                continue;
            }
            let mut stop = at + 1;
            while stop < end && stop - at < u64::from(u32::MAX) && !self.pages.present(stop) {
                stop += 1;
            }
            let mark = mark.filter(|page| (at..stop).contains(page)).map(Mark::single);
            self.pages.read(at, (stop - at) as u32, mark, kind);
            read += stop - at;
            at = stop;
        }
        read
    }

    /// Reads the touched page alone, if it is still absent.
    pub fn single(&mut self, page: u64) {
        self.counters.single_pages += self.runs(page, 1, None, Kind::Sync);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Cache;
    use super::*;

    #[test]
    fn a_window_is_cut_around_what_is_there_and_at_the_end() {
        let mut cache = Cache::default();
        cache.fill([3, 4]);
        let mut counters = Counters::default();
        let mut io = Io { pages: &mut cache, counters: &mut counters, file_pages: 8 };
        assert_eq!(io.window(1, 32, Some(5), Kind::Async), 5);
        assert_eq!(io.window(1, 32, Some(5), Kind::Async), 0);
        assert_eq!(io.window(8, 4, None, Kind::Sync), 0);
        assert_eq!(cache.reads(), [(1, 2), (5, 3)]);
        assert_eq!(cache.mark(5), Some(Mark::single(5)));
        assert_eq!((counters.async_windows, counters.cached_windows, counters.window_pages), (1, 2, 5));
    }
}
