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

pub use blktrace::{CpuRecording, merge};

use super::{About, TraceError, TraceFormat};
use fathom_record::BlockEvent;
use lines::LineTrace;
use source::TraceSource;
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
pub fn open(file: &str, input: Box<dyn Read>, form: Option<TraceFormat>) -> Result<Trace, TraceError> {
    let source = TraceSource::new(file, input)?;
    let format = match form {
        Some(format) => format,
        None => recognise(&source)?,
    };
    let decode: Box<dyn Decode> = match format {
        TraceFormat::Own => Box::new(own::EventLogReader::new(source)?),
        TraceFormat::Blktrace => Box::new(blktrace::Blktrace::new(vec![source])),
        TraceFormat::Blkparse => Box::new(LineTrace::new(source, blkparse::BlkparseReader::default())),
        TraceFormat::Tracefs => Box::new(LineTrace::new(source, tracefs::TracefsReader::default())),
        TraceFormat::Biosnoop => Box::new(LineTrace::new(source, biosnoop::Biosnoop::default())),
        TraceFormat::Iolog => Box::new(LineTrace::new(source, iolog::IologReader::default())),
        TraceFormat::Msr => Box::new(LineTrace::new(source, msr::Msr::default())),
        TraceFormat::DiskSim => Box::new(LineTrace::new(source, disksim::DiskSim::default())),
        TraceFormat::MqSim => Box::new(LineTrace::new(source, mqsim::MqSim::default())),
        TraceFormat::Spc => Box::new(LineTrace::new(source, spc::Spc::default())),
        TraceFormat::Alibaba => Box::new(LineTrace::new(source, alibaba::Alibaba::default())),
        TraceFormat::Tencent => Box::new(LineTrace::new(source, tencent::Tencent::default())),
    };
    Ok(Trace { decode, failed: false })
}

/// Opens the per-CPU files of a blktrace recording as one trace in order of time.
pub fn open_together(files: Vec<(String, Box<dyn Read>)>) -> Result<Trace, TraceError> {
    let mut sources = Vec::with_capacity(files.len());
    for (file, input) in files {
        let source = TraceSource::new(&file, input)?;
        // An idle CPU leaves an empty file.
        if !source.head().is_empty() && !blktrace::recognise(source.head()) {
            return Err(TraceError::new(
                &file,
                super::TracePlace::Whole,
                "only the files of blktrace's binary form are one trace together; name files of other forms one \
                 by one",
            ));
        }
        sources.push(source);
    }
    Ok(Trace { decode: Box::new(blktrace::Blktrace::new(sources)), failed: false })
}

/// Detects the format from the first bytes.
fn recognise(source: &TraceSource) -> Result<TraceFormat, TraceError> {
    let head = source.head();
    if own::recognise(head) {
        return Ok(TraceFormat::Own);
    }
    if blktrace::recognise(head) {
        return Ok(TraceFormat::Blktrace);
    }
    let text = source.head_text();
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).take(200).collect();
    let found = [
        (TraceFormat::Iolog, iolog::recognise as fn(&[&str]) -> bool),
        (TraceFormat::Biosnoop, biosnoop::recognise),
        (TraceFormat::Tracefs, tracefs::recognise),
        (TraceFormat::Blkparse, blkparse::recognise),
        (TraceFormat::Msr, msr::recognise),
        (TraceFormat::Alibaba, alibaba::recognise),
        (TraceFormat::Spc, spc::recognise),
        (TraceFormat::Tencent, tencent::recognise),
        (TraceFormat::DiskSim, disksim::recognise),
        (TraceFormat::MqSim, mqsim::recognise),
    ]
    .into_iter()
    .find(|(_, is)| is(&lines));
    found.map(|(format, _)| format).ok_or_else(|| source.unknown(lines.first().copied()))
}
