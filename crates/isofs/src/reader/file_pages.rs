//! The cache and the device of one file, as a read-ahead policy sees them.

use super::cache::PageKey;
use super::device::{Asker, Device};
use crate::format::section::Extents;
use fathom_iopath::readahead::{Kind, Mark, Pages};
use fathom_iopath::{Nanos, Op};

/// The pages of one file.
pub(super) struct FilePages<'a> {
    pub(super) device: &'a mut Device,
    pub(super) file: u32,
    pub(super) extents: &'a Extents,
    pub(super) now: Nanos,
    pub(super) by: Asker,
    /// The page that the call is at. It is pinned on insertion: subsequent read-ahead may need space, and a page beyond the end of the
    /// image has no pending pieces that would keep it.
    pub(super) stands_on: u64,
    /// Pages inserted.
    pub(super) entered: u64,
    /// Whether a read-ahead page found no space.
    pub(super) full: bool,
}

impl Pages for FilePages<'_> {
    fn present(&self, page: u64) -> bool {
        self.device.cache.find(PageKey { file: self.file, page }).is_some()
    }

    fn read(&mut self, first: u64, pages: u32, mark: Option<Mark>, kind: Kind) {
        for page in first..first.saturating_add(pages.into()) {
            let key = PageKey { file: self.file, page };
            if !self.device.ask(self.now, key, self.extents, kind, self.by) {
                self.full = true;
                return;
            }
            self.entered += 1;
            if page == self.stands_on
                && let Some(at) = self.device.cache.find(key)
            {
                self.device.cache.page_mut(at).pins += 1;
            }
            if let Some(mark) = mark.filter(|mark| mark.page == page)
                && let Some(at) = self.device.cache.find(key)
            {
                self.device.cache.page_mut(at).mark = Some(mark);
            }
        }
    }

    fn unmark(&mut self, mark: Mark) {
        if let Some(at) = self.device.cache.find(PageKey { file: self.file, page: mark.page }) {
            self.device.cache.page_mut(at).mark = None;
        }
    }

    fn congested(&self) -> bool {
        self.device.queue().congested(Op::Read)
    }
}
