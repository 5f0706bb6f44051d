//! Reads traces: one module per format, behind a common iterator of events.

mod alibaba;
mod arrivals;
mod biosnoop;
mod blkparse;
mod blktrace;
mod cursor;
mod devices;
mod disksim;
mod extent;
mod iolog;
mod lines;
mod merge;
mod mqsim;
mod msr;
mod own;
mod reorder;
mod source;
mod spc;
mod tencent;
mod tracefs;

#[cfg(test)]
mod tests;

pub use blktrace::{Part, merge};

use super::{About, Format, TraceError};
use fathom_record::BlockEvent;
use lines::Text;
use source::Source;
use std::io::Read;

/// A reader for a format.
trait Decode {
    /// Reads the next event; `None` at the end.
    fn event(&mut self) -> Result<Option<BlockEvent>, TraceError>;
    /// Information known so far.
    fn about(&self) -> About;
}

/// An open trace: an iterator over events, in order of time as far as the format allows.
pub struct Trace {
    decode: Box<dyn Decode>,
    failed: bool,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").field("about", &self.about()).finish_non_exhaustive()
    }
}

impl Trace {
    /// Information about the trace besides its events; complete after the last event.
    #[must_use]
    pub fn about(&self) -> About {
        self.decode.about()
    }
}

impl Iterator for Trace {
    type Item = Result<BlockEvent, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.decode.event();
        self.failed = next.is_err();
        next.transpose()
    }
}

/// Opens a trace. `form` overrides format detection. `file` is its name in errors.
pub fn open(file: &str, input: Box<dyn Read>, form: Option<Format>) -> Result<Trace, TraceError> {
    let source = Source::new(file, input)?;
    let format = match form {
        Some(format) => format,
        None => recognise(&source)?,
    };
    let decode: Box<dyn Decode> = match format {
        Format::Own => Box::new(own::Own::new(source)?),
        Format::Blktrace => Box::new(blktrace::Blktrace::new(vec![source])),
        Format::Blkparse => Box::new(Text::new(source, blkparse::Blkparse::default())),
        Format::Tracefs => Box::new(Text::new(source, tracefs::Tracefs::default())),
        Format::Biosnoop => Box::new(Text::new(source, biosnoop::Biosnoop::default())),
        Format::Iolog => Box::new(Text::new(source, iolog::Iolog::default())),
        Format::Msr => Box::new(Text::new(source, msr::Msr::default())),
        Format::DiskSim => Box::new(Text::new(source, disksim::DiskSim::default())),
        Format::MqSim => Box::new(Text::new(source, mqsim::MqSim::default())),
        Format::Spc => Box::new(Text::new(source, spc::Spc::default())),
        Format::Alibaba => Box::new(Text::new(source, alibaba::Alibaba::default())),
        Format::Tencent => Box::new(Text::new(source, tencent::Tencent::default())),
    };
    Ok(Trace { decode, failed: false })
}

/// Opens the per-CPU files of a blktrace recording as one trace in order of time.
pub fn open_together(files: Vec<(String, Box<dyn Read>)>) -> Result<Trace, TraceError> {
    let mut sources = Vec::with_capacity(files.len());
    for (file, input) in files {
        let source = Source::new(&file, input)?;
        // An idle CPU leaves an empty file.
        if !source.head().is_empty() && !blktrace::recognise(source.head()) {
            return Err(TraceError::new(
                &file,
                super::Place::Whole,
                "only the files of blktrace's binary form are one trace together; name files of other forms one \
                 by one",
            ));
        }
        sources.push(source);
    }
    Ok(Trace { decode: Box::new(blktrace::Blktrace::new(sources)), failed: false })
}

/// Detects the format from the first bytes.
fn recognise(source: &Source) -> Result<Format, TraceError> {
    let head = source.head();
    if own::recognise(head) {
        return Ok(Format::Own);
    }
    if blktrace::recognise(head) {
        return Ok(Format::Blktrace);
    }
    let text = source.head_text();
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).take(200).collect();
    let found = [
        (Format::Iolog, iolog::recognise as fn(&[&str]) -> bool),
        (Format::Biosnoop, biosnoop::recognise),
        (Format::Tracefs, tracefs::recognise),
        (Format::Blkparse, blkparse::recognise),
        (Format::Msr, msr::recognise),
        (Format::Alibaba, alibaba::recognise),
        (Format::Spc, spc::recognise),
        (Format::Tencent, tencent::recognise),
        (Format::DiskSim, disksim::recognise),
        (Format::MqSim, mqsim::recognise),
    ]
    .into_iter()
    .find(|(_, is)| is(&lines));
    found.map(|(format, _)| format).ok_or_else(|| source.unknown(lines.first().copied()))
}
