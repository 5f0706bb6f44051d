//! Options of `fathom iso`, one definition each.

use super::compare::options::IsoCompare;
use super::reading::ImageReading;
use super::source::ImageSource;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom iso ls disc.iso                   what is in the root directory
  fathom iso ls -lR disc.iso /docs         everything below a directory, with modes, sizes and dates
  fathom iso cat disc.iso /docs/README     a file's content
  fathom iso cat --policy seed --counters disc.iso /a   the same as in 2007, and what the device got
  fathom iso check disc.iso                what is wrong with it, with block and byte
  fathom iso extract disc.iso out          the whole tree into a new directory
  sudo fathom iso compare disc.iso         the rules of before 2007, of 2007 and of today

Exit code: 0 done, 1 the check found something, 2 no such image or path, 3 not everything could be
read. docs/iso.md says more.")]
pub struct Iso {
    #[command(subcommand)]
    pub what: IsoCommand,
}

#[derive(Debug, Subcommand)]
pub enum IsoCommand {
    /// List a directory
    Ls(Ls),
    /// Show the properties of the volume, or of one file
    Stat(Stat),
    /// Write a file's content to stdout
    Cat(Cat),
    /// Check the whole image and list its defects; exit code 1 if there are any
    Check(Check),
    /// Unpack the tree, or a directory of it, into a new directory
    Extract(Extract),
    /// Measure the read policies in turn on a loop device, with block events
    Compare(Box<IsoCompare>),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom iso ls disc.iso                   the root directory
  fathom iso ls -lR disc.iso /docs         everything below a directory
  fathom iso ls --namespace joliet disc.iso")]
pub struct Ls {
    #[command(flatten)]
    pub source: ImageSource,
    /// Directory or file to list
    #[arg(default_value = "/")]
    pub path: PathBuf,
    /// Also show mode, links, owner, group, size and date
    #[arg(short, long)]
    pub long: bool,
    /// Also list everything below it
    #[arg(short = 'R', long)]
    pub recursive: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom iso stat disc.iso                 the volume
  fathom iso stat --json disc.iso /docs    a file or a directory, for a program")]
pub struct Stat {
    #[command(flatten)]
    pub source: ImageSource,
    /// The file; without it the volume is described
    pub path: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom iso cat disc.iso /docs/README > README
  fathom iso cat --policy seed --counters disc.iso /a   the rules of 2007, and what the device got")]
pub struct Cat {
    #[command(flatten)]
    pub source: ImageSource,
    /// The files, one after the other
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: ImageReading,
    /// Print what was asked of the device as JSON to stderr
    #[arg(long)]
    pub counters: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom iso check disc.iso                what is wrong with it, with block and byte
  fathom iso check --session last --json disc.iso")]
pub struct Check {
    #[command(flatten)]
    pub source: ImageSource,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom iso extract disc.iso out          the whole tree into a new directory
  fathom iso extract --from /docs disc.iso docs")]
pub struct Extract {
    #[command(flatten)]
    pub source: ImageSource,
    /// Directory to create; it must not exist
    pub into: PathBuf,
    /// Only what is below this directory of the image
    #[arg(long, value_name = "PATH", default_value = "/")]
    pub from: PathBuf,
    #[command(flatten)]
    pub reading: ImageReading,
    /// Print what was asked of the device as JSON to stderr
    #[arg(long)]
    pub counters: bool,
}
