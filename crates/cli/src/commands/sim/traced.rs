//! Common to the commands on traces: finding the trace of a command line, and its device by name.

use super::super::trace::input::{self, Input};
use super::super::trace::options::TraceSource;
use super::line::TraceFile;
use crate::exit::Usage;
use fathom_dialects::trace::About;
use fathom_record::block::DeviceNumber;
use std::path::PathBuf;

/// A command line's trace arguments.
pub trait Named {
    fn source(&self) -> TraceSource;
    const SEVERAL_TIMES: bool;
}

impl Named for TraceSource {
    fn source(&self) -> TraceSource {
        TraceSource { files: self.files.clone(), from: self.from }
    }

    const SEVERAL_TIMES: bool = false;
}

impl Named for TraceFile {
    fn source(&self) -> TraceSource {
        TraceSource { files: self.files.clone(), from: self.from }
    }

    const SEVERAL_TIMES: bool = true;
}

/// Rejects files that can be read only once, or by one reader.
pub fn check_regular(files: &[PathBuf]) -> Result<(), Usage> {
    match files.iter().find(|file| input::is_read_once(file)) {
        None => Ok(()),
        Some(file) => Err(Usage(format!(
            "{}: the trace is read more than once, and this is no regular file; save the trace in one",
            file.display()
        ))),
    }
}

/// The single trace that a command takes.
pub fn one<N: Named>(named: &N) -> anyhow::Result<Input> {
    let source = named.source();
    if N::SEVERAL_TIMES {
        check_regular(&source.files)?;
    }
    let mut inputs = input::inputs(&source)?;
    match (inputs.pop(), inputs.len()) {
        (Some(input), 0) => Ok(input),
        (_, more) => Err(Usage(format!("one trace at a time, and {} were named; name one", more + 1)).into()),
    }
}

/// A device's name if the trace has one, and its number.
pub fn called(about: &About, number: DeviceNumber) -> String {
    let named = about.devices.iter().find(|d| d.number == number && !d.name.is_empty());
    named.map_or_else(|| number.to_string(), |d| format!("{} ({number})", d.name))
}

/// The number of a device given by name or number ("loop0", "7:0", "7,0").
pub fn number_of(
    about: &About,
    wanted: &str,
    all: &[DeviceNumber],
    file: &str,
) -> Result<DeviceNumber, Usage> {
    let by_number = DeviceNumber::parse(&wanted.replace(',', ":"));
    let by_name = about.devices.iter().find(|d| d.name == wanted).map(|d| d.number);
    by_name.or(by_number).filter(|n| all.contains(n)).ok_or_else(|| {
        let names: Vec<String> = all.iter().take(20).map(|&n| called(about, n)).collect();
        let there = if names.is_empty() { "no device at all".into() } else { names.join(", ") };
        Usage(format!("{file}: --traced {wanted} is not in the trace; it has {there}"))
    })
}
