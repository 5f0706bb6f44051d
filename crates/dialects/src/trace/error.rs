//! Errors in a trace: file, position, what was found and what was expected.

use std::fmt;

/// Position in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TracePlace {
    /// The whole file.
    #[default]
    Whole,
    /// In a text: line and column, both from 1; columns count characters.
    Line(u64, usize),
    /// In a binary file: the offset in bytes, after decompression.
    Byte(u64),
}

/// End of the message about an unrecognised file; names the option of the commands that read traces.
pub const NAME_THE_FORM: &str = "; name the form with --from if it is one of these";

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{file}{place}: {what}")]
pub struct TraceError {
    /// File name as given by the caller.
    pub file: String,
    /// Position in the file.
    pub place: TracePlace,
    /// What was found, what was expected, and what to do.
    pub what: String,
}

impl fmt::Display for TracePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line, column) => write!(f, ", line {line}, column {column}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

impl TraceError {
    pub(super) fn new(file: &str, place: TracePlace, what: impl Into<String>) -> Self {
        Self { file: file.into(), place, what: what.into() }
    }
}
