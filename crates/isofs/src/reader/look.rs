//! What a reader sees of a page it stands on.

use super::cache::Piece;
use std::sync::Arc;

/// A page that a call stands on.
#[derive(Debug, PartialEq, Eq)]
pub struct Standing {
    pub(super) at: usize,
    pub(super) missed: bool,
}

impl Standing {
    /// Whether the page was absent, so that the call had to ask for it. Otherwise it is there, or on its way for somebody else.
    #[must_use]
    pub fn missed(&self) -> bool {
        self.missed
    }
}

/// A piece of a page: `bytes` of `buffer` from `from` on belong at `at` in the page.
#[derive(Clone, Debug)]
pub struct View {
    /// Where in the page.
    pub at: usize,
    /// Where in the buffer.
    pub from: usize,
    /// How many.
    pub bytes: usize,
    /// The bytes and perhaps others; shared with the cache.
    pub buffer: Arc<Vec<u8>>,
}

/// How far a page is.
#[derive(Debug)]
pub enum Look {
    /// All that there is of it: pieces in order, and what is missing between them is missing on the disc, or failed with this
    /// byte of the image and this errno.
    Ready(Vec<View>, Option<(u64, i32)>),
    /// Not there yet.
    Pending,
}

/// A piece of the cache as readers see it.
pub(super) fn view(piece: &Piece) -> View {
    View { at: piece.at, from: piece.skip, bytes: piece.length, buffer: Arc::clone(&piece.buffer) }
}
