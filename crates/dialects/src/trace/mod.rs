//! Traces of block devices: reads traces recorded by other tools or fathom into the events of `fathom_record::block`, and
//! writes those events in formats that other tools read.
//!
//! The format is detected from a file's content ([`open`]); gzip and zstd are decompressed on the way. Everything streams:
//! memory does not grow with the length of a trace. The limits of each format are described in docs/formats/trace.md. If a format
//! contains whole requests, each becomes the events that it has data for, and the rest is omitted ([`About::notes`]).
//!
//! Pure like every dialect: bytes come from a reader and go to a writer, both provided by the caller.

mod error;
mod format;
mod read;
mod write;

pub use error::{NAME_THE_FORM, TraceError, TracePlace};
pub use format::{Output, TraceFormat};
pub use read::{CpuRecording, Trace, merge, open, open_together};
pub use write::{EventWriter, RequestRow, Requests, writer};

use fathom_record::block::log::{LogDevice, LogEnd, LogHeader};

/// Information about a trace besides its events. Devices, losses and notes may come late in a file, so it is complete only after the
/// last event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Format of the trace.
    pub format: TraceFormat,
    /// Information that precedes the events.
    pub header: LogHeader,
    /// Devices named so far; if the format has names instead of numbers, the numbers are assigned by fathom (major 0).
    pub devices: Vec<LogDevice>,
    /// Events lost by the recorder, as far as the file says.
    pub lost: u64,
    /// Information that follows the events; only fathom's own format has it.
    pub end: Option<LogEnd>,
    /// What the format cannot represent and what was skipped, in sentences.
    pub notes: Vec<String>,
}
