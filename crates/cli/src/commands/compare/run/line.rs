//! Options of `fathom compare --run`: what to measure on each side, until when, and how.

use crate::common::Conditions;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Arguments that select stored runs. Every option of measuring lists them as conflicts itself: clap drops a `requires`
/// whose target conflicts with a given argument, and the option would be silently ignored.
pub const STORED: [&str; 4] = ["a", "b", "sweep", "of"];

#[derive(Debug, Args)]
#[command(next_help_heading = "Measuring now")]
pub struct Measure {
    /// Measure both sides now, in random quads, until the result is clear or the budget is spent; the SIDEs are workload files
    #[arg(long, conflicts_with_all = STORED)]
    pub run: bool,
    /// A setting with two values (one per side), or with one for both (`fathom sweep --help` lists them)
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "SETTING=A,B")]
    pub vary: Vec<String>,
    /// Run in these directories: one for each side, or one for both; the workload's paths must be relative
    #[arg(long = "in", requires = "run", conflicts_with_all = STORED, value_name = "DIR,DIR", value_delimiter = ',')]
    pub dirs: Vec<PathBuf>,
    /// The figure that decides when to stop, and the gate; words as for --metric [default: each cell's main figure]
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "FIGURE")]
    pub figure: Option<String>,
    /// The smallest change that must not be missed [default: 3%, or three times the threshold]
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "SHARE")]
    pub effect: Option<String>,
    /// When to stop before all quads are done
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_enum, default_value = "spending")]
    pub stop: StopRule,
    /// Half-width of the interval at which --stop precision stops [default: 1%]
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "SHARE")]
    pub half_width: Option<String>,
    /// Maximum number of quads (four runs each); fewer than 3 give no verdict
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "N", default_value_t = 10)]
    pub max_quads: u32,
    /// Start no quad that would exceed this time: 90s, 10min, 2h
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "TIME")]
    pub budget: Option<String>,
    /// Runs of each side to discard at the start
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "N", default_value_t = 1)]
    pub warm_up: u32,
    /// First compare A with itself in 5 quads, and go on only if this machine is steady enough; with one side, stop there
    #[arg(long, requires = "run", conflicts_with_all = STORED)]
    pub calibrate: bool,
    /// Seed of the random order [default: random, and printed]
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "N")]
    pub seed: Option<u64>,
    /// Wait this long before every run, once the device is idle [default: 0s]
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "TIME")]
    pub settle: Option<String>,
    /// Directory or block device whose settings are changed [default: where the workload's files are]
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "PATH")]
    pub on: Option<PathBuf>,
    /// With fs=...: directory for the image of the loop device [default: the working directory]
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "DIR")]
    pub image_in: Option<PathBuf>,
    /// Size of that image [default: 2GiB]
    #[arg(long, requires = "run", conflicts_with_all = STORED, value_name = "SIZE")]
    pub image_size: Option<String>,
    #[command(flatten)]
    pub conditions: Conditions,
    /// Only check everything and print what would be run, written and changed, and the time it would take
    #[arg(long, requires = "run", conflicts_with_all = ["a", "b", "sweep", "of", "json", "output", "junit", "github"])]
    pub plan: bool,
    /// Command lines of drop-ins as sides: sysbench ARGS --and sysbench ARGS
    #[arg(last = true, requires = "run", conflicts_with_all = STORED, value_name = "DROP-IN ARGS [--and DROP-IN ARGS]")]
    pub words: Vec<OsString>,
}

/// Stopping rules that keep the rate of false alarms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StopRule {
    /// As soon as a change is certain (p of 0.001 or less)
    Spending,
    /// When the interval is narrow enough, whatever the result
    Precision,
}
