//! `fathom trace`: records block traces, summarises them, and converts them. This file only dispatches.

pub mod event_file;
mod export;
pub mod input;
pub mod options;
mod record;
pub mod summary;
pub mod target;

use options::{Trace, TraceCommand};
use std::process::ExitCode;

pub fn run(options: &Trace) -> anyhow::Result<ExitCode> {
    match &options.what {
        TraceCommand::Record(o) => record::run(o),
        TraceCommand::Summary(o) => summary::run(o),
        TraceCommand::Export(o) => export::run(o),
    }
}

/// Program name and version, for file headers.
pub fn writer() -> String {
    format!("fathom {}", env!("CARGO_PKG_VERSION"))
}
