//! The reader's page cache: pages of files, each made of the pieces read from the disc. Evicts by second chance (CLOCK); optionally,
//! pages that a sequential reader has passed go first. Nothing here reads or waits.

use fathom_iopath::readahead::Mark;
use foldhash::fast::FixedState;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A page of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PageKey {
    pub(super) file: u32,
    pub(super) page: u64,
}

/// Bytes of a page that came in one request.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Offset in the page.
    pub(super) at: usize,
    /// Bytes to skip in the buffer: requests are whole sectors.
    pub(super) skip: usize,
    pub(super) length: usize,
    pub(super) buffer: Arc<Vec<u8>>,
}

/// Why a piece is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// Byte of the image.
    pub(super) byte: u64,
    /// The system's error number.
    pub(super) errno: i32,
}

/// A page; still being read while pieces are pending.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) key: PageKey,
    /// Sorted by offset once nothing is pending.
    pub(super) pieces: Vec<Piece>,
    pub(super) pending: u32,
    pub(super) failure: Option<Failure>,
    /// Read in advance, and not requested yet.
    pub(super) ahead: bool,
    pub(super) mark: Option<Mark>,
    /// Number of calls that hold the page; it can be evicted only at 0.
    pub(super) pins: u32,
    referenced: bool,
    used: bool,
    /// Passed by a sequential reader, and not requested since.
    behind: bool,
    /// Whether it is already in the list of passed pages, where it keeps its position.
    listed: bool,
    generation: u32,
}

/// All pages.
#[derive(Debug)]
pub(super) struct PageCache {
    pages: Vec<Page>,
    by_key: HashMap<PageKey, usize, FixedState>,
    free: Vec<usize>,
    hand: usize,
    /// Passed by sequential readers: (index, generation), evicted first.
    behind: VecDeque<(usize, u32)>,
    limit: usize,
}

impl PageCache {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            pages: Vec::new(),
            by_key: HashMap::with_hasher(FixedState::default()),
            free: Vec::new(),
            hand: 0,
            behind: VecDeque::new(),
            limit: limit.max(1),
        }
    }

    /// Number of pages, including those being read.
    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn find(&self, key: PageKey) -> Option<usize> {
        self.by_key.get(&key).copied()
    }

    pub(super) fn page(&self, at: usize) -> &Page {
        &self.pages[at]
    }

    pub(super) fn page_mut(&mut self, at: usize) -> &mut Page {
        &mut self.pages[at]
    }

    /// Maximum number of pages held, unless all are in use.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Whether one more page may be inserted.
    pub(super) fn has_room(&self) -> bool {
        self.by_key.len() < self.limit
    }

    /// Whether the limit is exceeded: everything was in use when another page was needed.
    pub(super) fn is_over(&self) -> bool {
        self.by_key.len() > self.limit
    }

    /// Evicts a page; `None` if everything is in use.
    pub(super) fn evict(&mut self) -> Option<Page> {
        while let Some((at, generation)) = self.behind.pop_front() {
            let page = &mut self.pages[at];
            if page.generation != generation {
                continue;
            }
            page.listed = false;
            if page.behind && self.may_go(at) {
                return self.remove(at);
            }
        }
        // Two rounds: the first may only clear the second chances.
        for _ in 0..2 * self.pages.len() {
            let at = self.hand % self.pages.len();
            self.hand = at + 1;
            if !self.may_go(at) {
                continue;
            }
            if std::mem::take(&mut self.pages[at].referenced) {
                continue;
            }
            return self.remove(at);
        }
        None
    }

    /// Frees the memory of the table itself if it is empty.
    pub(super) fn release(&mut self) {
        if self.by_key.is_empty() {
            *self = Self::new(self.limit);
        }
    }

    /// Inserts a page about to be read; the caller has made space, or exceeds the limit by one.
    pub(super) fn insert(&mut self, key: PageKey, ahead: bool) -> usize {
        let fresh = |generation| Page {
            key,
            pieces: Vec::new(),
            pending: 0,
            failure: None,
            ahead,
            mark: None,
            pins: 0,
            referenced: false,
            used: true,
            behind: false,
            listed: false,
            generation,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.pages[at] = fresh(self.pages[at].generation.wrapping_add(1));
                at
            }
            None => {
                self.pages.push(fresh(0));
                self.pages.len() - 1
            }
        };
        let before = self.by_key.insert(key, at);
        debug_assert!(before.is_none(), "a page is entered once");
        at
    }

    /// Removes a page.
    pub(super) fn remove(&mut self, at: usize) -> Option<Page> {
        let page = &mut self.pages[at];
        if !page.used {
            return None;
        }
        let gone = Page { used: false, generation: page.generation.wrapping_add(1), ..blank(page.key) };
        let page = std::mem::replace(page, gone);
        self.by_key.remove(&page.key);
        self.free.push(at);
        Some(page)
    }

    /// Marks the page as requested.
    pub(super) fn wanted(&mut self, at: usize) {
        let page = &mut self.pages[at];
        page.referenced = true;
        page.ahead = false;
        page.behind = false;
    }

    /// Marks the page as passed by its reader.
    pub(super) fn left_behind(&mut self, at: usize) {
        let page = &mut self.pages[at];
        page.referenced = false;
        page.behind = true;
        if std::mem::replace(&mut page.listed, true) {
            return;
        }
        self.behind.push_back((at, page.generation));
        // Stale entries are skipped when they come up, but the list must not outgrow the cache. Each page is in it once, so at least half
        // of it is removed.
        if self.behind.len() > 2 * self.limit.max(self.pages.len()) {
            let pages = &self.pages;
            self.behind.retain(|&(at, generation)| pages[at].generation == generation);
        }
    }

    fn may_go(&self, at: usize) -> bool {
        let page = &self.pages[at];
        page.used && page.pending == 0 && page.pins == 0
    }
}

fn blank(key: PageKey) -> Page {
    Page {
        key,
        pieces: Vec::new(),
        pending: 0,
        failure: None,
        ahead: false,
        mark: None,
        pins: 0,
        referenced: false,
        used: false,
        behind: false,
        listed: false,
        generation: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(page: u64) -> PageKey {
        PageKey { file: 0, page }
    }

    fn enter(cache: &mut PageCache, page: u64) -> Option<u64> {
        let gone = if cache.has_room() { None } else { cache.evict() };
        assert!(cache.has_room());
        cache.insert(key(page), false);
        gone.map(|page| page.key.page)
    }

    #[test]
    fn what_was_used_gets_a_second_chance() {
        let mut cache = PageCache::new(3);
        (0..3).for_each(|page| assert_eq!(enter(&mut cache, page), None));
        cache.wanted(cache.find(key(0)).unwrap());
        assert_eq!(enter(&mut cache, 3), Some(1));
        assert_eq!(enter(&mut cache, 4), Some(2));
        assert_eq!(cache.len(), 3);
    }

    #[test]
    fn pages_in_use_stay() {
        let mut cache = PageCache::new(2);
        enter(&mut cache, 0);
        enter(&mut cache, 1);
        let (first, second) = (cache.find(key(0)).unwrap(), cache.find(key(1)).unwrap());
        cache.page_mut(first).pins = 1;
        cache.page_mut(second).pending = 1;
        assert!(!cache.has_room() && cache.evict().is_none());
        cache.page_mut(first).pins = 0;
        assert_eq!(enter(&mut cache, 2), Some(0));
    }

    #[test]
    fn an_empty_table_gives_its_memory_back() {
        let mut cache = PageCache::new(100);
        (0..50).for_each(|page| _ = enter(&mut cache, page));
        cache.release();
        assert_eq!((cache.len(), cache.pages.len()), (50, 50));
        while cache.evict().is_some() {}
        cache.release();
        assert_eq!((cache.len(), cache.pages.capacity(), cache.limit()), (0, 0, 100));
        assert_eq!(enter(&mut cache, 7), None);
    }

    /// Reading the same pages again and again does not grow the list.
    #[test]
    fn a_page_is_left_behind_once_however_often() {
        let mut cache = PageCache::new(3);
        (0..3).for_each(|page| _ = enter(&mut cache, page));
        for round in 0..100 {
            let at = cache.find(key(round % 3)).unwrap();
            cache.wanted(at);
            cache.left_behind(at);
        }
        assert_eq!(cache.behind.len(), 3);
        // Page 0 is requested again, so it is no longer first to be evicted, nor next.
        cache.wanted(cache.find(key(0)).unwrap());
        assert_eq!(enter(&mut cache, 3), Some(1));
        assert_eq!(enter(&mut cache, 4), Some(2));
        // Passed again, it is evicted before the others.
        cache.left_behind(cache.find(key(0)).unwrap());
        assert_eq!(enter(&mut cache, 5), Some(0));
    }

    #[test]
    fn what_was_left_behind_goes_first() {
        let mut cache = PageCache::new(3);
        for page in 0..3 {
            enter(&mut cache, page);
        }
        let last = cache.find(key(2)).unwrap();
        cache.wanted(last);
        cache.left_behind(last);
        assert_eq!(enter(&mut cache, 3), Some(2));
        // The index was reused, so the old entry no longer counts.
        cache.left_behind(cache.find(key(3)).unwrap());
        cache.remove(cache.find(key(3)).unwrap());
        enter(&mut cache, 4);
        assert_eq!(enter(&mut cache, 5), Some(0));
    }
}
