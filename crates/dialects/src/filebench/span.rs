//! Positions in a script, for messages only. Spanned values compare equal regardless of position, so that a test can compare a script
//! with its own printout.

use std::fmt;
use std::ops::Range;

/// A byte range of the script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte of the range.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From `start` up to, not including, `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span covering both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// As a range, for slicing the text.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A parsed value with its position. Equality ignores the position.
#[derive(Clone)]
pub struct Spanned<T> {
    /// The parsed value.
    pub node: T,
    /// Position in the script.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `node`, read at `span`.
    pub fn new(node: T, span: Span) -> Self {
        Self { node, span }
    }
}

impl<T> From<T> for Spanned<T> {
    /// A synthetic node, with an empty span.
    fn from(node: T) -> Self {
        Self { node, span: Span::default() }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

impl<T: Eq> Eq for Spanned<T> {}

impl<T: fmt::Debug> fmt::Debug for Spanned<T> {
    /// Prints the node without its span, which test output does not need.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.fmt(f)
    }
}
