//! Options of the commands on traces: `fathom sim replay`, `agree` and `calibrate`, one definition each.

use super::super::super::trace::options::{TraceFormatName, TraceSource};
use super::super::machine::{SCHEDULER, Wanted};
use clap::{Args, ValueEnum};
use fathom_dialects::trace::Output;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// What of a trace is handed in, and how.
#[derive(Clone, Debug, Default, Args)]
pub struct Handing {
    /// Format of the trace [default: detected]
    #[arg(long, value_name = "FORM")]
    pub from: Option<TraceFormatName>,
    /// The device of the trace, by name or number (loop0, 7:0) [default: the first in the trace]
    #[arg(long, value_name = "DEVICE")]
    pub traced: Option<String>,
    /// When arrivals are submitted [default: open; with --synthetic closed]
    #[arg(long, value_name = "MODE")]
    pub mode: Option<ReplayMode>,
    /// Factor on the time between arrivals: 0.5 is twice as fast (open, dependent)
    #[arg(long, value_name = "FACTOR")]
    pub scale: Option<f64>,
    /// Arrivals in flight at any time (closed) [default: 32]
    #[arg(long, value_name = "N")]
    pub depth: Option<NonZeroU32>,
}

impl Handing {
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("from", self.from.is_some()),
            ("traced", self.traced.is_some()),
            ("mode", self.mode.is_some()),
            ("scale", self.scale.is_some()),
            ("depth", self.depth.is_some()),
        ];
        all.into_iter().find(|g| g.1).map(|g| g.0)
    }
}

#[derive(Clone, Debug, Default, Args)]
pub struct Replay {
    /// A trace; - reads stdin. Several files of blktrace (X.blktrace.0, X.blktrace.1 ..., or just X) are one trace
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub handing: Handing,
    /// Instead of a trace: N arrivals, 75 % random reads of 4 KiB, 25 % sequential writes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub synthetic: Option<u64>,
    /// Seed of --synthetic [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Host whose kernel queues the requests: a name, or a file (.toml)
    #[arg(long, value_name = "NAME|FILE", default_value = "today")]
    pub host: String,
    /// Device: a name, or a file (.toml)
    #[arg(long, value_name = "NAME|FILE", default_value = "sata-7200-ncq")]
    pub device: String,
    /// I/O scheduler, with a kernel's version and tunables if wanted: deadline@2.6.6,fifo_batch=8 [default: that of the device's
    /// profile if it was recorded, else mq-deadline]
    #[arg(long, value_name = "NAME[@VERSION][,TUNABLE=N]")]
    pub scheduler: Option<String>,
    /// Largest request the device takes: ide-2.4, ide-2.6, cciss, scsi-2.6, loop-6.18, unknown; optionally with changed numbers:
    /// cciss,max_sectors=256 [default: by host and device]
    #[arg(long, value_name = "NAME[,LIMIT=N]")]
    pub limits: Option<String>,
    /// Change a value of a profile: device.layout.unit_kib=128, host.block.requests=64; may be given several times
    #[arg(long, value_name = "OWNER.KEY=VALUE")]
    pub set: Vec<String>,
    /// Write every event of the simulated device to this file; .zst compresses it
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Format of --log [default: own]
    #[arg(long, value_name = "FORM")]
    pub log_format: Option<LogForm>,
    /// Overwrite the file of --log if it exists
    #[arg(long)]
    pub force: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

impl Replay {
    /// The trace's files and format.
    pub fn source(&self) -> TraceSource {
        TraceSource { files: self.files.clone(), from: self.handing.from }
    }

    pub fn scheduler(&self) -> &str {
        self.scheduler.as_deref().unwrap_or(SCHEDULER)
    }

    /// Host, device and changed values.
    pub fn wanted(&self) -> Wanted<'_> {
        Wanted { host: &self.host, device: &self.device, limits: self.limits.as_deref(), set: &self.set }
    }
}

/// A trace that is read more than once, which stdin cannot be.
#[derive(Debug, Args)]
pub struct TraceFile {
    /// A trace in a file, which is read more than once. Several files of blktrace (X.blktrace.0, X.blktrace.1 ..., or just X) are one trace
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Format of the trace [default: detected]
    #[arg(long, value_name = "FORM")]
    pub from: Option<TraceFormatName>,
}

/// Traces of one device.
#[derive(Debug, Args)]
pub struct TraceFiles {
    /// Traces of one device under different loads, in files, which are read more than once. Several files of blktrace (X.blktrace.0,
    /// X.blktrace.1 ..., or just X) are one trace
    #[arg(required_unless_present = "record", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Format of the trace [default: detected]
    #[arg(long, value_name = "FORM")]
    pub from: Option<TraceFormatName>,
}

/// A form of single events, which a log is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogForm {
    /// fathom's event log: loses nothing
    Own,
    /// Text like the kernel's trace file
    Tracefs,
    /// Text as blkparse prints it
    Blkparse,
    /// One row per request; fathom cannot read this format
    Csv,
    /// fio's iolog version 3, for replay
    Iolog,
}

impl LogForm {
    /// The writer's format.
    pub fn output(self) -> Output {
        match self {
            Self::Own => Output::Own,
            Self::Tracefs => Output::Tracefs,
            Self::Blkparse => Output::Blkparse,
            Self::Csv => Output::Csv,
            Self::Iolog => Output::Iolog,
        }
    }
}

/// When arrivals are handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplayMode {
    /// At the times of the trace
    Open,
    /// A fixed number in flight (--depth)
    Closed,
    /// Each after the completion its task waited for, with the delay of the trace
    Dependent,
}

#[derive(Debug, Args)]
pub struct Agree {
    #[command(flatten)]
    pub source: TraceFile,
    /// The device of the trace, by name or number (loop0, 7:0) [default: the one with the most requests]
    #[arg(long, value_name = "DEVICE")]
    pub traced: Option<String>,
    /// A scheduler to compare with the kernel; may be given several times [default: all of today]
    #[arg(long, value_name = "NAME[@VERSION][,TUNABLE=N]")]
    pub scheduler: Vec<String>,
    /// Largest request the device takes: ide-2.4, ide-2.6, cciss, scsi-2.6, loop-6.18, unknown; optionally with changed numbers:
    /// loop-6.18,max_segments=64
    #[arg(long, value_name = "NAME[,LIMIT=N]", default_value = "loop-6.18")]
    pub limits: String,
    /// Requests that the driver takes at once (its tags) [default: the most in flight in the trace]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16384))]
    pub places: Option<u32>,
    /// Exit with 1 if fewer of the choices agree (percent), or a merge differs
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub at_least: Option<f64>,
    /// Disagreements to show for each scheduler
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub show: usize,
    /// Print JSON instead of the table
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Calibrate {
    #[command(flatten)]
    pub source: TraceFiles,
    /// Instead of traces: run and record a short set of loads on a temporary file in this directory (needs root and tracefs)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["files", "from", "traced"])]
    pub record: Option<PathBuf>,
    /// Profile to write (.toml)
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Overwrite it if it exists
    #[arg(long)]
    pub force: bool,
    /// Model of the device
    #[arg(long, value_name = "KIND", default_value = "constant")]
    pub kind: ProfileKind,
    /// With --kind disk: the disk to copy everything but the seeks from: a name, or a file (.toml)
    #[arg(long, value_name = "NAME|FILE")]
    pub like: Option<String>,
    /// The device of the trace, by name or number (loop0, 7:0) [default: the one with the most requests]
    #[arg(long, value_name = "DEVICE")]
    pub traced: Option<String>,
    /// Exit with 1 if the error of the held-out half's response times exceeds this, in percent of their mean; with several traces, if
    /// the error bar does
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub at_most: Option<f64>,
    /// Also write a report (.html .md .xlsx .svg, or DIR/ for all pictures), for one trace: the requests of both halves with the fitted curve, its errors, response times
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Kinds of profiles that are fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProfileKind {
    /// A time for each command and one for each byte
    Constant,
    /// A time for each byte, and for each command one drawn from the trace's, with a number of commands at once: keeps long tails and
    /// waits behind a rate limit
    Distribution,
    /// A disk: its seek curve
    Disk,
}

/// Parses a percentage.
fn percent(text: &str) -> Result<f64, String> {
    let value = text.trim_end_matches('%').parse::<f64>().ok();
    value.filter(|v| (0.0..=100.0).contains(v)).ok_or_else(|| "expected a number from 0 to 100".into())
}
