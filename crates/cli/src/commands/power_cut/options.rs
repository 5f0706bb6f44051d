//! The options of `fathom power-cut`.

use clap::{Args, Subcommand, ValueEnum};
use fathom_workload::{Bytes, Duration};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Does this storage keep what it has acknowledged when the power fails?
#[derive(Debug, Args)]
#[command(after_help = "What to do:
  1. ssh victim fathom power-cut write /mnt/data > journal    the journal stays on your machine
  2. cut the power of the victim while it writes (pull the plug, kill the virtual machine)
  3. start it again, mount the file system, and copy the journal there
  4. fathom power-cut check journal

One cut proves little: repeat it, with --sync and --pattern as your programs do it.

Examples:
  fathom power-cut write /mnt/data > journal    on the victim; keep the journal elsewhere
  fathom power-cut check journal                after the cut")]
pub struct PowerCut {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Write and sync files until the power is cut; print every sync that has returned
    Write(WriteFiles),
    /// Compare the files with the journal after the cut
    Check(CheckFiles),
}

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Overwrite blocks at random, as databases do
    Overwrite,
    /// Append blocks, as logs grow
    Append,
    /// Write a new file, sync it, rename it over the old one and sync the directory, as editors save
    Replace,
}

/// How writes are made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sync {
    /// fsync
    Fsync,
    /// fdatasync
    Fdatasync,
    /// Every write with O_DSYNC
    Dsync,
    /// Not at all: shows what is lost without a sync
    None,
}

impl Sync {
    /// The call by which a write became durable.
    pub fn call(self) -> &'static str {
        match self {
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::Dsync => "a write with O_DSYNC",
            Self::None => "a write without a sync",
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "The journal goes to stdout: a line for each sync that has returned. Keep it on another machine.
The files stay in DIR/fathom-power-cut until `check --remove` or you remove them.

Through ssh the journal stays on your machine: ssh victim fathom power-cut write ... > journal

Examples:
  fathom power-cut write /mnt/data > journal
  fathom power-cut write /mnt/data --pattern append --sync fsync --every 1 > journal
  fathom power-cut write . --time 10s > journal    ends by itself, to see how it goes"
)]
pub struct WriteFiles {
    /// Directory on the storage; fathom-power-cut is made in it
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// What is done to the files
    #[arg(long, value_enum, default_value_t = Pattern::Overwrite)]
    pub pattern: Pattern,
    /// How writes are made durable
    #[arg(long, value_enum, default_value_t = Sync::Fdatasync)]
    pub sync: Sync,
    /// Writes before each sync, with overwrite and append [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub every: Option<u64>,
    /// Size of a write, a multiple of 512 bytes
    #[arg(long, value_name = "BYTES", default_value = "4KiB")]
    pub block: Bytes,
    /// Size of a file (append: where it ends; replace: the block's)
    #[arg(long, value_name = "BYTES", default_value = "16MiB")]
    pub size: Bytes,
    /// Files, each written by its own thread
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub files: u32,
    /// Bypass the page cache (O_DIRECT)
    #[arg(long)]
    pub direct: bool,
    /// End after this time; without it, it ends with the power or Ctrl-C
    #[arg(long, value_name = "TIME")]
    pub time: Option<Duration>,
    /// Which blocks are written; a new one each time unless given
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 every acknowledged write is there, 1 something is lost, 2 the journal or the files
cannot be read.

Examples:
  fathom power-cut check journal
  fathom power-cut check journal --dir /mnt/other/fathom-power-cut    mounted at another place
  fathom power-cut check journal --json"
)]
pub struct CheckFiles {
    /// The journal that `write` printed; lines that are not of it, as on a serial console, are passed over
    #[arg(value_name = "JOURNAL")]
    pub journal: PathBuf,
    /// Directory with the files, if it is not where they were written
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Remove the files of the run if nothing is lost
    #[arg(long)]
    pub remove: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
