//! A caller's view of its current page.

use super::cache::Piece;
use std::sync::Arc;

/// The page that a call is at.
#[derive(Debug, PartialEq, Eq)]
pub struct PagePosition {
    pub(super) at: usize,
    pub(super) missed: bool,
}

impl PagePosition {
    /// Whether the page was absent, so that the call had to request it. Otherwise it is cached or already being read.
    #[must_use]
    pub fn missed(&self) -> bool {
        self.missed
    }
}

/// A piece of a page: `bytes` of `buffer` from `from` on belong at `at` in the page.
#[derive(Clone, Debug)]
pub struct View {
    /// Offset in the page.
    pub at: usize,
    /// Offset in the buffer.
    pub from: usize,
    /// Length.
    pub bytes: usize,
    /// The data, possibly with other bytes; shared with the cache.
    pub buffer: Arc<Vec<u8>>,
}

/// State of a page.
#[derive(Debug)]
pub enum Look {
    /// Complete: the pieces in order. Gaps between them are missing on the disc, or failed with this byte of the image and this errno.
    Ready(Vec<View>, Option<(u64, i32)>),
    /// Not there yet.
    Pending,
}

/// A caller's view of a cached piece.
pub(super) fn view(piece: &Piece) -> View {
    View { at: piece.at, from: piece.skip, bytes: piece.length, buffer: Arc::clone(&piece.buffer) }
}
