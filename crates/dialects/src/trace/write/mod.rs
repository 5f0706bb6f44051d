//! Writes traces, with one module per format. All writers stream; formats with a row per request hold the requests in flight.

mod blkparse;
mod csv;
mod iolog;
mod names;
mod own;
mod requests;
mod tracefs;

#[cfg(test)]
mod tests;

pub use requests::{RequestRow, Requests};

use super::{About, Output};
use fathom_record::BlockEvent;
use std::io::{self, Write};

/// Writes events in its format.
pub trait EventWriter {
    /// Writes an event. `about` returns what is known of the trace so far: devices may be named as late as their first event.
    fn event(&mut self, event: &BlockEvent, about: &dyn Fn() -> About) -> io::Result<()>;
    /// Finishes the trace. Returns sentences about what could not be represented.
    fn finish(self: Box<Self>, about: &About) -> io::Result<Vec<String>>;
}

/// The writer for a format. `about` is what is known before the first event; `writer` is the program name for formats that store it.
pub fn writer<'w>(
    output: Output,
    out: Box<dyn Write + 'w>,
    about: &About,
    writer: &str,
) -> io::Result<Box<dyn EventWriter + 'w>> {
    Ok(match output {
        Output::Own => Box::new(own::EventLogWriter::new(out, about, writer)?),
        Output::Tracefs => Box::new(tracefs::TracefsWriter::new(out)?),
        Output::Blkparse => Box::new(blkparse::BlkparseWriter::new(out)),
        Output::Csv => Box::new(csv::Csv::new(out, about)?),
        Output::Iolog => Box::new(iolog::IologWriter::new(out)?),
    })
}
