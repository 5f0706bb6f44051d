//! What can be wrong with a trace: one sentence with the file, the place in it, what was found and what was expected.

use std::fmt;

/// Where in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    #[default]
    Whole,
    /// In a text: line and column, both from 1; the column counts characters.
    Line(u64, usize),
    /// In a binary file: the offset, after decompression.
    Byte(u64),
}

/// What the sentence about a file of no known form ends with: the option of the commands that read traces.
pub const NAME_THE_FORM: &str = "; name the form with --from if it is one of these";

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{file}{place}: {what}")]
pub struct TraceError {
    /// The file as the caller named it.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What was found, what was expected, what to do.
    pub what: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line, column) => write!(f, ", line {line}, column {column}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

impl TraceError {
    pub(super) fn new(file: &str, place: Place, what: impl Into<String>) -> Self {
        Self { file: file.into(), place, what: what.into() }
    }
}
