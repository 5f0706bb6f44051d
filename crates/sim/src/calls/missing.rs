//! Pages that are read because somebody asked for them and not because read-ahead wants them: those of a call on a file on which it is
//! off, and those around a fault.

use super::Handle;
use crate::cache::Flags;
use crate::layout::BLOCK_SECTORS;
use crate::machine::Machine;
use std::ops::Range;

/// Pages of a window of read-ahead today, 128 KiB.
const WINDOW: u32 = 32;

impl Machine {
    /// Counts a page that is asked for. Whether it is there, or under way.
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

    /// Those of some pages of a file that are not there, as pieces: the first of each and its length. They are under way from now on.
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

    /// The first page of what is left of a call on a file without read-ahead: if it is missing, what is left is read, as much as one request
    /// takes or a window of read-ahead has; the page behind that asks again.
    pub(super) fn touch_alone(&self, handle: Handle, left: Range<u32>) -> Vec<(u32, u32)> {
        if self.is_asked_for(handle, left.start) {
            return Vec::new();
        }
        let most = (self.block.max_sectors() / BLOCK_SECTORS as u32).max(WINDOW);
        self.missing_of(handle, left.start..left.end.min(left.start.saturating_add(most)))
    }
}
