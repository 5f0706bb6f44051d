//! Options of `fathom trace`, one definition each.

use clap::{Args, Subcommand, ValueEnum};
use fathom_dialects::trace::{Output, TraceFormat};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom trace record /mnt/data                    until Ctrl-C, into fathom-trace-DEVICE-TIME.fbl
  fathom trace record --full -o a.fbl.zst sda -- cp big /mnt/data
  fathom trace summary a.fbl.zst                   sizes, seeks, depth, latencies, issuers
  fathom trace summary sda.blktrace.0 sda.blktrace.1
  fathom trace export --format csv a.fbl.zst -o a.csv
  fathom trace export --format iolog a.fbl.zst -o a.log    for fio --read_iolog=a.log

docs/formats/trace.md describes the formats, and what each can and cannot hold")]
pub struct Trace {
    #[command(subcommand)]
    pub what: TraceCommand,
}

#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Record what reaches a device (needs root and tracefs)
    Record(Record),
    /// Summarise a trace: a page of text per device, or JSON
    Summary(Summary),
    /// Convert a trace to another format
    Export(TraceExport),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom trace record /mnt/data                      until Ctrl-C
  fathom trace record --seconds 60 -o a.fbl sda      one minute of a device
  fathom trace record --full -o a.fbl.zst sda -- cp big /mnt/data")]
pub struct Record {
    /// A block device (/dev/sda, or just sda), or a file or directory whose devices are recorded
    #[arg(value_name = "PATH|DEVICE")]
    pub target: PathBuf,
    /// Record while this command runs
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// File to write, best on another device; .zst compresses it
    /// [default: fathom-trace-DEVICE-TIME.fbl]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub force: bool,
    /// Also record the layers above the driver: arrivals, merges, splits, plugs. Two to three times the events
    #[arg(long)]
    pub full: bool,
    /// Stop after N seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=31_536_000))]
    pub seconds: Option<u32>,
}

/// Where a trace comes from.
#[derive(Debug, Args)]
pub struct TraceSource {
    /// Traces; - reads stdin. Several files of blktrace (X.blktrace.0, X.blktrace.1 ..., or just X) are one trace
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Format of the trace [default: detected]
    #[arg(long, value_name = "FORM")]
    pub from: Option<TraceFormatName>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom trace summary a.fbl.zst                     sizes, seeks, depth, latencies, issuers
  fathom trace summary --device sda --json a.fbl     one device, for a program
  fathom trace summary sda.blktrace.0 sda.blktrace.1")]
pub struct Summary {
    #[command(flatten)]
    pub source: TraceSource,
    /// Only this device, by its name or number (loop0, 7:0)
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Print JSON: an array with one object per trace
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom trace export --format csv a.fbl.zst -o a.csv
  fathom trace export --format iolog a.fbl.zst -o a.log    for fio --read_iolog=a.log
  fathom trace export --format own sda.blktrace.0 -o a.fbl.zst")]
pub struct TraceExport {
    #[command(flatten)]
    pub source: TraceSource,
    /// Format to write
    #[arg(long)]
    pub format: To,
    /// File to write; - is stdout, .zst compresses it
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub force: bool,
}

/// An input format by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceFormatName(pub TraceFormat);

impl ValueEnum for TraceFormatName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [TraceFormatName; TraceFormat::ALL.len()] = {
            let mut all = [TraceFormatName(TraceFormat::Own); TraceFormat::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = TraceFormatName(TraceFormat::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.word()).help(self.0.title()))
    }
}

/// A form that is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum To {
    /// fathom's event log: loses nothing
    #[default]
    Own,
    /// Text like the kernel's trace file
    Tracefs,
    /// Text as blkparse prints it
    Blkparse,
    /// One row per request
    Csv,
    /// What `fathom trace summary --json` prints
    Json,
    /// fio's iolog version 3, for replay
    Iolog,
}

impl To {
    /// The writer's format; none for JSON, which is a summary.
    pub fn output(self) -> Option<Output> {
        Some(match self {
            Self::Own => Output::Own,
            Self::Tracefs => Output::Tracefs,
            Self::Blkparse => Output::Blkparse,
            Self::Csv => Output::Csv,
            Self::Iolog => Output::Iolog,
            Self::Json => return None,
        })
    }
}
