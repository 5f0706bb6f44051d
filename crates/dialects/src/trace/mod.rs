//! Traces of block devices: what other tools recorded and what we recorded, read into the events of `fathom_record::block`; and
//! those events written in forms that other tools read.
//!
//! Which form a file has is found out from its content ([`open`]); gzip and zstd are taken off on the way. Everything streams:
//! memory does not grow with the length of a trace. What each form can tell and what it cannot is in docs/formats/trace.md; where
//! a form names whole requests, each becomes the events it is honest about, and the rest stays unsaid ([`About::notes`]).
//!
//! Pure like every dialect: bytes come in through a reader that the caller opened, and go out through a writer of his.

mod error;
mod format;
mod read;
mod write;

pub use error::{NAME_THE_FORM, Place, TraceError};
pub use format::{Format, Output};
pub use read::{Part, Trace, merge, open, open_together};
pub use write::{EventWriter, RequestRow, Requests, writer};

use fathom_record::block::log::{LogDevice, LogEnd, LogHeader};

/// What is known of a trace beside its events. Devices, losses and notes may come late in a file: all of it holds once the last
/// event was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The form.
    pub format: Format,
    /// What was said before the events.
    pub header: LogHeader,
    /// The devices that were named; in forms that have names instead of numbers, the numbers are ours (major 0).
    pub devices: Vec<LogDevice>,
    /// Events that the recorder lost, as far as the file tells.
    pub lost: u64,
    /// What was said behind the events; only our own form does.
    pub end: Option<LogEnd>,
    /// What the form cannot tell and what was passed over, in sentences.
    pub notes: Vec<String>,
}
