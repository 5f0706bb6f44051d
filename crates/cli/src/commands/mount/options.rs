//! Options of `fathom mount`, one definition each.

use crate::commands::iso::reading::ImageReading;
use crate::commands::iso::source::ImageSource;
use clap::{Args, ValueEnum};
use fathom_isofs::mount::DirOrder;
use fathom_workload::Bytes;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom mount disc.iso /mnt/disc                   until Ctrl-C, or until it is unmounted
  fathom mount --daemon disc.iso /mnt/disc          in the background; `umount /mnt/disc` ends it
  fathom mount --policy seed disc.iso /mnt/disc     the read policy of 2007

By default the kernel caches file contents and reads ahead. With any option of \"How contents are
read\", every read call reaches fathom unchanged. In the foreground, `kill -USR1` prints the reads of
the image.

Exit code: 0 unmounted, 2 no such image or directory, 3 it could not be mounted. See docs/mount.md.")]
pub struct Mount {
    #[command(flatten)]
    pub source: ImageSource,
    /// Directory to mount it on
    pub on: PathBuf,
    /// Run in the background once it is mounted
    #[arg(long)]
    pub daemon: bool,
    /// Give other users access; without root, /etc/fuse.conf must allow it (user_allow_other)
    #[arg(long)]
    pub allow_other: bool,
    /// Threads that answer the kernel's requests
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub workers: u8,
    /// Order of directory entries [default: lbn from a disc in a drive under modern, else disk]
    #[arg(long, value_name = "ORDER")]
    pub dir_order: Option<DirectoryOrder>,
    /// Maximum memory for directories that are read and parsed in advance; 0 is none [default: 64MiB from a disc in a drive under modern, else 0]
    #[arg(long, value_name = "SIZE")]
    pub metadata: Option<Bytes>,
    /// When files are opened in directory order, read up to this many bytes of the following files too; 0 is none. Needs an option of
    /// "How contents are read" [default: 256KiB under modern from a disc in a drive, else 0]
    #[arg(long, value_name = "SIZE")]
    pub small_files: Option<Bytes>,
    /// Print the read counters as JSON to stderr when it is unmounted
    #[arg(long)]
    pub counters: bool,
    #[command(flatten)]
    pub reading: ImageReading,
}

/// `--dir-order`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DirectoryOrder {
    /// By a file's first block: reading all files in turn passes over the disc once
    Lbn,
    /// As stored in the directory
    Disk,
    /// By name
    Name,
}

impl From<DirectoryOrder> for DirOrder {
    fn from(order: DirectoryOrder) -> Self {
        match order {
            DirectoryOrder::Lbn => Self::Lbn,
            DirectoryOrder::Disk => Self::Disk,
            DirectoryOrder::Name => Self::Name,
        }
    }
}
