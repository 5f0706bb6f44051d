//! The interface between a read-ahead policy and its caller: the read() call, the page being touched, and the cache as the policy sees
//! it.

use std::ops::Range;

/// Bytes per page; all policies count in pages.
pub const PAGE_BYTES: u64 = 4096;

/// One read() call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Start offset in bytes.
    pub offset: u64,
    /// Requested length in bytes.
    pub bytes: u64,
    /// Length of the file, in bytes; nothing is read beyond it.
    pub file_bytes: u64,
}

impl Call {
    /// End of the data returned, exclusive: the end of the call or of the file.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes).min(self.file_bytes)
    }

    /// The pages to touch, in this order. Empty at and beyond the end of the file.
    #[must_use]
    pub fn pages(&self) -> Range<u64> {
        if self.end() <= self.offset {
            return 0..0;
        }
        self.offset / PAGE_BYTES..self.end().div_ceil(PAGE_BYTES)
    }

    /// Pages of the file.
    #[must_use]
    pub fn file_pages(&self) -> u64 {
        self.file_bytes.div_ceil(PAGE_BYTES)
    }

    /// One past the last requested page, ignoring the end of the file. As in the kernel, request sizes follow the requested length.
    pub(super) fn asked_end(&self) -> u64 {
        self.offset.saturating_add(self.bytes).div_ceil(PAGE_BYTES)
    }
}

/// State of a page in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Not cached and not being read.
    Absent,
    /// Being read.
    InFlight,
    /// Cached and up to date.
    Cached,
}

/// A mark on a page (in today's kernels on a folio of several pages): touching it starts the next window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// First page of the folio.
    pub page: u64,
    /// Pages of the folio, a power of two; 1 in older kernels.
    pub pages: u32,
}

impl Mark {
    /// The mark of a single page.
    pub(super) fn single(page: u64) -> Self {
        Self { page, pages: 1 }
    }
}

/// A page about to be copied out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Page number in the file.
    pub page: u64,
    /// State in the cache.
    pub presence: Presence,
    /// The mark on the page, if any. A cache that keeps marks at single pages reports it for [`Mark::page`] only, which is the same for
    /// streams and differs for a random read into the middle of a marked folio.
    pub mark: Option<Mark>,
}

/// Whether a read is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Synchronous: it includes the touched page.
    Sync,
    /// Asynchronous: all of it is read ahead.
    Async,
}

/// The cache of one file, given by the caller.
pub trait Pages {
    /// Whether a page is cached or being read.
    fn present(&self, page: u64) -> bool;

    /// Starts reading pages, none of which is present; they count as present from now on. `mark` lies within them and must be reported in
    /// the [`Touch`] of its page until [`Pages::unmark`].
    fn read(&mut self, first: u64, pages: u32, mark: Option<Mark>, kind: Kind);

    /// Removes a mark.
    fn unmark(&mut self, mark: Mark);

    /// Whether the device's queue is so full that read-ahead should be skipped. Called by the policies whose kernels did.
    fn congested(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_walks_over_the_pages_it_gets() {
        let call = |offset, bytes| Call { offset, bytes, file_bytes: 10_000 };
        assert_eq!(call(0, 4096).pages(), 0..1);
        assert_eq!(call(4095, 2).pages(), 0..2);
        assert_eq!(call(8192, 1 << 20).pages(), 2..3);
        assert!(call(10_000, 1).pages().is_empty() && call(0, 0).pages().is_empty());
        assert!(call(u64::MAX, 2).pages().is_empty());
    }
}
