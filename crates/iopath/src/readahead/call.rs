//! What passes between a read-ahead policy and its caller: the read() call, the page it stands on, and the cache as the policy sees it.

use std::ops::Range;

/// Bytes of a page; all policies count in these.
pub const PAGE_BYTES: u64 = 4096;

/// One read() call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How much it asks for, in bytes.
    pub bytes: u64,
    /// Length of the file, in bytes; nothing is read beyond it.
    pub file_bytes: u64,
}

impl Call {
    /// First byte behind what the call gets: its end or the file's.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes).min(self.file_bytes)
    }

    /// The pages it walks over, to be touched in this order. Empty at and behind the end of the file.
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

    /// One behind the last page of the call as it was asked for, the end of the file not minded. Sizes of requests follow what was
    /// asked for, as in the kernel.
    pub(super) fn asked_end(&self) -> u64 {
        self.offset.saturating_add(self.bytes).div_ceil(PAGE_BYTES)
    }
}

/// Whether a page is in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is not, and nobody is reading it.
    Absent,
    /// It is being read.
    InFlight,
    /// Its data are there.
    Cached,
}

/// A mark on a page (in today's kernels on a folio of several pages): who touches it starts the next window.
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

/// A page is about to be copied out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Its number in the file.
    pub page: u64,
    /// Where it is.
    pub presence: Presence,
    /// The mark it carries, if it carries one. A cache that keeps marks at single pages reports it for [`Mark::page`] only, which is
    /// the same for streams and differs for a random read into the middle of a marked folio.
    pub mark: Option<Mark>,
}

/// Whether somebody waits for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The page that is touched is among those read.
    Sync,
    /// All of it is read in advance.
    Async,
}

/// The cache of one file, given by the caller.
pub trait Pages {
    /// Whether a page is cached or being read.
    fn present(&self, page: u64) -> bool;

    /// Starts reading pages, none of which is present; they are present from now on. `mark` lies within them and is to be reported
    /// in the [`Touch`] of its page until [`Pages::unmark`].
    fn read(&mut self, first: u64, pages: u32, mark: Option<Mark>, kind: Kind);

    /// Takes a mark away.
    fn unmark(&mut self, mark: Mark);

    /// Whether the device's queue is so full that reads in advance are better left out. Asked by the policies whose kernels asked.
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
