//! The options of `fathom iso compare`.

use crate::commands::iso::reading::Bundle;
use crate::commands::iso::source::ImageSource;
use clap::{Args, ValueEnum};
use fathom_workload::Bytes;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sudo fathom iso compare disc.iso                     every policy on a loop device
  sudo fathom iso compare --iops 200 disc.iso          a device limited to 200 reads/s
  fathom iso compare --loads random --json disc.iso    without root: the file itself

Every run starts with an empty cache and a new reader. The policies take turns in every round. As
root it also reports what reached the device. See docs/mount.md.

Exit code: 0 done, 2 no such image or nothing in it to read, 3 it could not be completed.")]
pub struct IsoCompare {
    #[command(flatten)]
    pub source: ImageSource,
    /// The policies; each is compared with the first
    #[arg(long, value_name = "POLICY,...", value_delimiter = ',', default_value = "baseline,seed,modern")]
    pub policies: Vec<Bundle>,
    /// Access patterns of the programs that read
    #[arg(
        long,
        value_name = "LOAD,...",
        value_delimiter = ',',
        default_value = "sequential,streams,random,tree"
    )]
    pub loads: Vec<ReadLoad>,
    /// Number of rounds; the medians are over these
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub rounds: u32,
    /// Bytes per read call
    #[arg(long, value_name = "SIZE", default_value = "8KiB")]
    pub record: Bytes,
    /// Maximum number of bytes that a run reads; random reads read an eighth of that
    #[arg(long, value_name = "SIZE", default_value = "32MiB")]
    pub amount: Bytes,
    /// Limit the device to N reads per second, with a control group (root)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub iops: Option<u32>,
    /// Read the image file directly, without a loop device and block events
    #[arg(long, conflicts_with = "iops")]
    pub no_loop: bool,
    /// Print JSON: every run
    #[arg(long)]
    pub json: bool,
}

/// What programs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReadLoad {
    /// The largest file from its beginning, one reader
    Sequential,
    /// Three files, or three parts of one, with one reader each
    Streams,
    /// Random offsets in the largest file, four readers
    Random,
    /// Every directory and every file, as tar does
    Tree,
}

impl ReadLoad {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Streams => "streams",
            Self::Random => "random",
            Self::Tree => "tree",
        }
    }
}
