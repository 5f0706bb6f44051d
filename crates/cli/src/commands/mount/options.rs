//! Options of `fathom mount`, one definition each.

use crate::commands::iso::options::Source;
use crate::commands::iso::reading::Reading;
use clap::{Args, ValueEnum};
use fathom_isofs::mount::DirOrder;
use fathom_workload::Bytes;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom mount disc.iso /mnt/disc                   until Ctrl-C, or until it is unmounted
  fathom mount --daemon disc.iso /mnt/disc          in the background; `umount /mnt/disc` ends it
  fathom mount --policy seed disc.iso /mnt/disc     every read under the rules of 2007

Without --policy and its kin contents stay in the kernel's page cache, and the kernel reads ahead.
With one of them every read of a program comes here as it was made. `kill -USR1` prints what was
asked of the image (in the foreground).

Exit code: 0 unmounted, 2 no such image or directory, 3 it could not be mounted. docs/mount.md says
more.")]
pub struct Mount {
    #[command(flatten)]
    pub source: Source,
    /// The directory to show it on
    pub on: PathBuf,
    /// Go to the background as soon as it is mounted
    #[arg(long)]
    pub daemon: bool,
    /// Let other users look, too; without root, /etc/fuse.conf must allow it (user_allow_other)
    #[arg(long)]
    pub allow_other: bool,
    /// Threads that answer
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub workers: u8,
    /// In which order directories show their entries [default: lbn from a disc in a drive, but not under the older policies; else disk]
    #[arg(long, value_name = "ORDER")]
    pub dir_order: Option<Order>,
    /// Most memory for directories that are read and taken apart before they are asked for; 0 is none [default: 64MiB from a disc in a drive, but
    /// not under the older policies; else 0]
    #[arg(long, value_name = "SIZE")]
    pub metadata: Option<Bytes>,
    /// Bytes of the files behind an opened one that are read with it where files are opened in the order in which they are shown; 0 is none. Only
    /// with --policy or its kin [default: 256KiB under modern from a disc in a drive, else 0]
    #[arg(long, value_name = "SIZE")]
    pub small_files: Option<Bytes>,
    /// Print what was asked of the image as JSON to stderr when it is unmounted
    #[arg(long)]
    pub counters: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// `--dir-order`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Order {
    /// By the first block of a file: who reads them one after the other goes over the disc once
    Lbn,
    /// As the directory has them
    Disk,
    /// By name
    Name,
}

impl From<Order> for DirOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Lbn => Self::Lbn,
            Order::Disk => Self::Disk,
            Order::Name => Self::Name,
        }
    }
}
