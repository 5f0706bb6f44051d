//! `fathom trace export`: converts a trace to another format, event by event.

use super::event_file::{EventFile, cannot_write};
use super::input;
use super::options::TraceExport;
use super::{summary, writer};
use crate::commands::write;
use crate::exit::{self, Usage};
use crate::{console, output};
use anyhow::Context as _;
use fathom_dialects::trace;
use fathom_engine::interrupted_by;
use fathom_report::text;
use std::io::{BufWriter, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;

pub fn run(options: &TraceExport) -> anyhow::Result<ExitCode> {
    let ended = export(options);
    // A closed pipe (`| head`) is no error.
    let is_gone = |e: &anyhow::Error| {
        e.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    };
    match ended {
        Err(e) if to_stdout(options) && is_gone(&e) => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

fn export(options: &TraceExport) -> anyhow::Result<ExitCode> {
    let inputs = input::inputs(&options.source)?;
    let [input] = &inputs[..] else {
        let n = inputs.len();
        return Err(Usage(format!("export converts one trace at a time, and {n} were named")).into());
    };
    if options.source.files.iter().any(|f| same_file(f, &options.output)) {
        return Err(
            Usage(format!("{} is the trace itself; name another file", options.output.display())).into()
        );
    }
    let Some(form) = options.format.output() else {
        let text = summary::json(&[summary::sum_up(input)?])?;
        if to_stdout(options) {
            console::out(&text);
        } else {
            write::check(&options.output, options.force)?;
            output::put(&options.output, text, options.force)?;
        }
        tell(options, None);
        return Ok(ExitCode::SUCCESS);
    };
    // Opened first: an invalid trace creates no output file.
    let mut trace = input.open()?;
    let mut first = trace.next().transpose().map_err(input::wrong)?;
    fathom_engine::watch_signals();
    let file = if to_stdout(options) {
        refuse_terminal(options)?;
        None
    } else {
        Some(EventFile::begin(&options.output, options.force)?)
    };
    let out = file.as_ref().map_or_else(|| Box::new(BufWriter::new(std::io::stdout())), EventFile::writer);
    let failed = || cannot_write(&options.output);
    let mut writing = trace::writer(form, out, &trace.about(), &writer()).with_context(failed)?;
    let mut events = 0u64;
    let mut broken = None;
    loop {
        let event = match first.take() {
            Some(event) => event,
            None => match trace.next() {
                None => break,
                Some(Ok(event)) => event,
                Some(Err(error)) => {
                    broken = Some(error);
                    break;
                }
            },
        };
        events += 1;
        // The error removes the partial file.
        if let Some(signal) = interrupted_by() {
            return Ok(ExitCode::from(exit::of_signal(signal)));
        }
        writing.event(&event, &|| trace.about()).with_context(failed)?;
    }
    let about = trace.about();
    let lost = writing.finish(&about).with_context(failed)?;
    file.map_or(Ok(()), EventFile::finish)?;
    for note in about.notes.iter().chain(&lost) {
        console::note(note);
    }
    tell(options, Some(events));
    // Events before the error are written; the command has failed all the same.
    broken.map_or(Ok(ExitCode::SUCCESS), |error| Err(input::wrong(error)))
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn to_stdout(options: &TraceExport) -> bool {
    options.output.as_os_str() == "-"
}

fn refuse_terminal(options: &TraceExport) -> Result<(), Usage> {
    if options.format == super::options::To::Own && std::io::stdout().is_terminal() {
        return Err(Usage("--format own is binary; name a file with -o, or send stdout into one".into()));
    }
    Ok(())
}

fn tell(options: &TraceExport, events: Option<u64>) {
    if !to_stdout(options) {
        let events = events.map(|n| format!(" ({})", text::block::events(n))).unwrap_or_default();
        console::note(&format!("wrote {}{events}", options.output.display()));
    }
}
