//! Writing traces: one file a form. All stream; forms with a row per request hold what is in flight.

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

/// Takes events and writes them in its form.
pub trait EventWriter {
    /// An event. `about` is what is known of the trace by now: names of devices may come with their first event.
    fn event(&mut self, event: &BlockEvent, about: &dyn Fn() -> About) -> io::Result<()>;
    /// The end of the trace. Gives what could not be written, in sentences.
    fn finish(self: Box<Self>, about: &About) -> io::Result<Vec<String>>;
}

/// The writer of a form. `about` is what is known before the first event; `writer` names the program for forms that say it.
pub fn writer<'w>(
    output: Output,
    out: Box<dyn Write + 'w>,
    about: &About,
    writer: &str,
) -> io::Result<Box<dyn EventWriter + 'w>> {
    Ok(match output {
        Output::Own => Box::new(own::Own::new(out, about, writer)?),
        Output::Tracefs => Box::new(tracefs::Tracefs::new(out)?),
        Output::Blkparse => Box::new(blkparse::Blkparse::new(out)),
        Output::Csv => Box::new(csv::Csv::new(out, about)?),
        Output::Iolog => Box::new(iolog::Iolog::new(out)?),
    })
}
