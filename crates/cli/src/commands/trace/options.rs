//! Options of `fathom trace`, one definition each.

use clap::{Args, Subcommand, ValueEnum};
use fathom_dialects::trace::{Format, Output};
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

The forms, what each can tell and what it cannot: docs/formats/trace.md")]
pub struct Trace {
    #[command(subcommand)]
    pub what: What,
}

#[derive(Debug, Subcommand)]
pub enum What {
    /// Record what reaches a device (needs root and tracefs)
    Record(Record),
    /// What a trace comes to: a page of text per device, or JSON
    Summary(Summary),
    /// Turn a trace into another form
    Export(Export),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom trace record /mnt/data                      until Ctrl-C
  fathom trace record --seconds 60 -o a.fbl sda      one minute of a device
  fathom trace record --full -o a.fbl.zst sda -- cp big /mnt/data")]
pub struct Record {
    /// A file or directory, whose devices are recorded; or a block device (/dev/sda, or just sda)
    #[arg(value_name = "PATH|DEVICE")]
    pub target: PathBuf,
    /// Record while this command runs
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Where to write it, best on another device; a name that ends in .zst is compressed
    /// [default: fathom-trace-DEVICE-TIME.fbl]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub force: bool,
    /// Record the way above the driver too: arrivals, merges, splits, plugs. Twice to three times the events
    #[arg(long)]
    pub full: bool,
    /// End after so many seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=31_536_000))]
    pub seconds: Option<u32>,
}

/// Where a trace comes from.
#[derive(Debug, Args)]
pub struct Source {
    /// Traces; - reads stdin. Several files of blktrace (X.blktrace.0, X.blktrace.1 ..., or just X) are one trace
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The form, if its content does not tell
    #[arg(long, value_name = "FORM")]
    pub from: Option<Form>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom trace summary a.fbl.zst                     sizes, seeks, depth, latencies, issuers
  fathom trace summary --device sda --json a.fbl     one device, for a program
  fathom trace summary sda.blktrace.0 sda.blktrace.1")]
pub struct Summary {
    #[command(flatten)]
    pub source: Source,
    /// Only this device, by its name or number (loop0, 7:0)
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Print JSON: an array with one object a trace
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom trace export --format csv a.fbl.zst -o a.csv
  fathom trace export --format iolog a.fbl.zst -o a.log    for fio --read_iolog=a.log
  fathom trace export --format own sda.blktrace.0 -o a.fbl.zst")]
pub struct Export {
    #[command(flatten)]
    pub source: Source,
    /// The form to write
    #[arg(long)]
    pub format: To,
    /// Where to write it; - is stdout, a name that ends in .zst is compressed
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub force: bool,
}

/// An input format by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form(pub Format);

impl ValueEnum for Form {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Form; Format::ALL.len()] = {
            let mut all = [Form(Format::Own); Format::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = Form(Format::ALL[at]);
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
    /// Text as the kernel's trace file has it
    Tracefs,
    /// Text as blkparse prints it
    Blkparse,
    /// A row per request
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
