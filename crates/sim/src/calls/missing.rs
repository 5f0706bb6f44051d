//! Demand reads, which read-ahead does not trigger: those of a call on a file with read-ahead off, and those around a fault.

use super::Handle;
use crate::cache::Flags;
use crate::layout::BLOCK_SECTORS;
use crate::machine::Machine;
use std::ops::Range;

/// Pages of a read-ahead window in today's kernels, 128 KiB.
const WINDOW: u32 = 32;

impl Machine {
    /// Counts a requested page. Returns whether it is cached or in flight.
    pub(super) fn is_asked_for(&self, handle: Handle, page: u32) -> bool {
        let number = self.files.borrow().get(handle.file).page(page);
        let flags = self.cache.borrow().flags(number);
        let mut counts = self.counts.borrow_mut();
        counts.pages_asked += 1;
        match flags {
            None => {}
            Some(flags) if flags.has(Flags::READY) => counts.pages_cached += 1,
            Some(_) => counts.pages_in_flight += 1,
        }
        flags.is_some()
    }

    /// The missing pages of a range as pieces (first page, length). They are in flight from now on.
    pub(super) fn missing_of(&self, handle: Handle, pages: Range<u32>) -> Vec<(u32, u32)> {
        let files = self.files.borrow();
        let file = files.get(handle.file);
        let mut cache = self.cache.borrow_mut();
        let mut missing: Vec<(u32, u32)> = Vec::new();
        for page in pages {
            let number = file.page(page);
            if cache.flags(number).is_some() {
                continue;
            }
            cache.insert(number, Flags::default(), self.cpu());
            match missing.last_mut() {
                Some((first, pages)) if *first + *pages == page => *pages += 1,
                _ => missing.push((page, 1)),
            }
        }
        missing
    }

    /// Called at the first page of the rest of a call on a file without read-ahead. If the page is missing, reads the rest, at most one
    /// request or one read-ahead window, whichever is larger; the page after that calls it again.
    pub(super) fn touch_alone(&self, handle: Handle, left: Range<u32>) -> Vec<(u32, u32)> {
        if self.is_asked_for(handle, left.start) {
            return Vec::new();
        }
        let most = (self.block.max_sectors() / BLOCK_SECTORS as u32).max(WINDOW);
        self.missing_of(handle, left.start..left.end.min(left.start.saturating_add(most)))
    }
}
