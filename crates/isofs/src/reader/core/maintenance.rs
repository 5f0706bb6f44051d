//! Functions beside read calls: prefetching files without a reader, freeing memory, and counters.

use super::super::counters::Counters;
use super::super::device::Asker;
use super::super::file_pages::FilePages;
use super::Core;
use crate::format::section::Extents;
use fathom_iopath::readahead::{Kind, PAGE_BYTES, Pages as _};
use fathom_iopath::{Elevator as _, Nanos};
use std::sync::Arc;

/// Owner of prefetches without a reader.
const NOBODY: u32 = u32::MAX;

impl Core {
    /// Prefetches the missing pages of a file of at most `most` bytes, without an owner, so that closing a file does not cancel it.
    /// Returns the file's size, or `None` if it is larger.
    pub fn prefetch(&mut self, now: Nanos, extents: &Arc<Extents>, most: u64) -> Option<u64> {
        let bytes = Some(extents.bytes()).filter(|&bytes| bytes <= most)?;
        let file = self.file(extents);
        let by = Asker { owner: NOBODY, metadata: false };
        let device = &mut self.device;
        let (stands_on, entered, full) = (u64::MAX, 0, false);
        let mut pages = FilePages { device, file, extents, now, by, stands_on, entered, full };
        for page in 0..bytes.div_ceil(PAGE_BYTES) {
            if !pages.full && !pages.present(page) {
                pages.read(page, 1, None, Kind::Async);
            }
        }
        let entered = pages.entered;
        self.device.counters.pages_small_files += entered;
        if let Some(entry) = self.files.get_mut(file) {
            entry.pages += entered;
        }
        self.count_dropped();
        self.forget_if_idle(file);
        Some(bytes)
    }

    /// Evicts every unused page and frees the tables' memory; returns the number of pages.
    pub fn give_back(&mut self) -> u64 {
        let given = self.device.give_back();
        self.count_dropped();
        given
    }

    /// Counts directories read and parsed in advance.
    pub fn count_directories(&mut self, reads: u64, bytes: u64, directories: u64) {
        let counters = &mut self.device.counters;
        counters.directory_reads += reads;
        counters.directory_bytes += bytes;
        counters.directories += directories;
    }

    /// Pages in the cache.
    #[must_use]
    pub fn cached_pages(&self) -> usize {
        self.device.cache.len()
    }

    /// Files that are open or have cached pages.
    #[must_use]
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// The counters so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut counters = self.device.counters.clone();
        counters.cache_bytes = self.device.cache.len() as u64 * PAGE_BYTES;
        counters.cache_limit = self.device.cache.limit() as u64 * PAGE_BYTES;
        self.device.queue().elevator().counters(&mut |name, value| {
            if name == "expired" {
                counters.expired = value;
            }
        });
        counters
    }
}
