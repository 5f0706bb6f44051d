//! The options of `fathom iso compare`.

use crate::commands::iso::options::Source;
use crate::commands::iso::reading::Bundle;
use clap::{Args, ValueEnum};
use fathom_workload::Bytes;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sudo fathom iso compare disc.iso                     every policy on a loop device
  sudo fathom iso compare --iops 200 disc.iso          one that does 200 reads a second
  fathom iso compare --loads random --json disc.iso    without root: the file itself

Every run begins with an empty cache and a new reader. The policies take turns in every round. With
root what reached the device is told, too. docs/mount.md says more.

Exit code: 0 done, 2 no such image or nothing in it to read, 3 it could not be completed.")]
pub struct Compare {
    #[command(flatten)]
    pub source: Source,
    /// The policies; the others are set beside the first
    #[arg(long, value_name = "POLICY,...", value_delimiter = ',', default_value = "baseline,seed,modern")]
    pub policies: Vec<Bundle>,
    /// What programs do meanwhile
    #[arg(
        long,
        value_name = "LOAD,...",
        value_delimiter = ',',
        default_value = "sequential,streams,random,tree"
    )]
    pub loads: Vec<Load>,
    /// Rounds; medians are of these
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub rounds: u32,
    /// Bytes a program asks for at a time
    #[arg(long, value_name = "SIZE", default_value = "8KiB")]
    pub record: Bytes,
    /// Most bytes that a run reads; random reads are an eighth of it
    #[arg(long, value_name = "SIZE", default_value = "32MiB")]
    pub amount: Bytes,
    /// Hold the device to so many reads a second, by a control group (root)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub iops: Option<u32>,
    /// Read the image file itself, without a loop device and without block events
    #[arg(long, conflicts_with = "iops")]
    pub no_loop: bool,
    /// Print JSON: every run
    #[arg(long)]
    pub json: bool,
}

/// What programs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Load {
    /// The largest file from its beginning, one reader
    Sequential,
    /// Three files, or three parts of one, by a reader each
    Streams,
    /// The largest file at random places, four readers
    Random,
    /// Every directory and every file, as tar does
    Tree,
}

impl Load {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Streams => "streams",
            Self::Random => "random",
            Self::Tree => "tree",
        }
    }
}
