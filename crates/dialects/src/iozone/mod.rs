//! IOzone: parses its command line and prints its output exactly as release 3.471 (number formats, blanks, side files, exit codes).
//!
//! `table` lists the options; `words`, `parse` and `apply` parse a command line into [`IozoneOptions`]; `mixes` and `sizes` check and expand it;
//! `plan` and `streams` make the workload; [`IozonePrinter`] prints; `worksheet` and `sidefiles` make side files;
//! `replay` prints a stored run. No I/O here: time, machine name and telemetry files are passed in as [`Context`].

mod apply;
mod banner;
mod blocks;
mod conflicts;
mod exit;
mod failure;
mod figures;
mod help;
mod no_effect;
pub mod options;
mod parse;
pub mod pass;
mod plan;
mod printer;
mod replay;
mod report;
pub mod sidefiles;
mod sizes;
mod streams;
pub mod table;
pub mod telemetry;
#[cfg(test)]
mod tests;
mod words;
pub mod worksheet;

pub use exit::IozoneExit;
pub use help::documentation;
pub use options::IozoneOptions;
pub use printer::IozonePrinter;
pub use replay::{IozoneReplayError, print, uname};
pub use sizes::{Combination, Grid};

use fathom_workload::Workload;
use jiff::civil::DateTime;
use std::path::{Path, PathBuf};
use streams::Lists;
use telemetry::Telemetry;

/// What the dialect needs to know about its environment.
pub struct Context<'a> {
    /// Local time at the start of the run.
    pub now: DateTime,
    /// Output of `uname -a`.
    pub uname: String,
    /// Page size in bytes.
    pub page_bytes: u64,
    /// Returns a file's text, or why it cannot be read.
    pub read: &'a dyn Fn(&Path) -> Result<String, String>,
}

/// A command line that can be run.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// Parsed options.
    pub options: IozoneOptions,
    /// The command line, "iozone -a -g 64k".
    pub command: String,
    /// Local time at the start of the run.
    pub now: DateTime,
    /// The workload to run.
    pub workload: Workload,
    /// Side files to write.
    pub outputs: Outputs,
    /// Shape of the output.
    pub layout: Layout,
    /// Notes for stderr about options without effect. Full lines without line ends.
    pub notes: Vec<String>,
    head: String,
}

/// Layout of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A table by file and record size.
    Table(Grid),
    /// Throughput blocks.
    Streams {
        /// File size in kB, if a telemetry file determines it.
        list_kb: Option<u64>,
    },
}

/// Files written besides the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// -b: [`IozonePrinter::sheet`] encoded by [`worksheet::write`], replacing the file; the caller may also write an xlsx.
    pub worksheet: Option<PathBuf>,
    /// Whether [`sidefiles::after_phase`] produces text (-Q, -+z, -+T).
    pub side_files: bool,
}

/// Parses a command line (without the program's name).
///
/// # Errors
/// Any exit before a run: help, version, errors, refusals; with IOzone's exit codes.
pub fn plan(args: &[String], context: &Context<'_>) -> Result<Parsed, IozoneExit> {
    let o = parse::parse(args, &context.uname)?;
    let write = load(context, o.write_telemetry.as_deref(), "write")?;
    let read = load(context, o.read_telemetry.as_deref(), "read")?;
    let mut head = banner::opening(&o, args, context.now);
    conflicts::check(&o).map_err(|exit| after(&head, exit))?;
    head += &banner::defaults(&o, write.as_ref(), read.as_ref());
    let lists = Lists { write: write.as_ref(), read: read.as_ref() };
    let list_kb = [&write, &read].into_iter().flatten().map(Telemetry::file_kb).max();
    if let (Some(list_kb), Some(&record_kb)) = (list_kb, o.record_kb.first()) {
        sizes::fits(Combination { file_kb: list_kb, record_kb }).map_err(|exit| after(&head, exit))?;
    }
    let (layout, workload) = if o.throughput() {
        (Layout::Streams { list_kb }, plan::throughput(&o, lists, list_kb))
    } else {
        head += &banner::header(&o);
        let mut grid =
            sizes::grid(&o, context.page_bytes.div_ceil(1024)).map_err(|exit| after(&head, exit))?;
        if let (Some(kb), Some(row)) = (list_kb, grid.rows.first_mut()) {
            row.file_kb = kb;
            grid.files_kb = vec![kb];
        }
        let workload = plan::table(&o, &grid, lists);
        (Layout::Table(grid), workload)
    };
    let command = format!("iozone {}", args.join(" "));
    let outputs = Outputs {
        worksheet: o.worksheet.clone(),
        side_files: o.operation_logs || o.throughput() && (o.histograms || o.child_logs),
    };
    let notes = o.notes.clone();
    let workload = Workload { note: command.clone(), ..workload };
    Ok(Parsed { options: o, command, now: context.now, workload, outputs, layout, notes, head })
}

/// An exit after part of the banner was printed.
fn after(head: &str, exit: IozoneExit) -> IozoneExit {
    IozoneExit { stdout: format!("{head}{}", exit.stdout), ..exit }
}

fn load(context: &Context<'_>, path: Option<&Path>, what: &str) -> Result<Option<Telemetry>, IozoneExit> {
    let Some(path) = path else { return Ok(None) };
    let name = path.display();
    let text = (context.read)(path).map_err(|why| {
        IozoneExit::out(174, format!("Unable to open {what} telemetry file \"{name}\"\n"))
            .because(format!("{name} cannot be read: {why}"))
    })?;
    telemetry::parse(&text).map(Some).map_err(|error| {
        let line = error.line_column(&text).map_or(1, |place| place.0);
        let exit = exit::mix(17, &format!("Invalid {what} telemetry file entry. Line {line}"));
        IozoneExit { stderr: format!("{}\n", error.render(&name.to_string(), &text)), ..exit }
    })
}
