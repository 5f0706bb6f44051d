//! Which image a command reads, and how.

use super::backend::Backend;
use clap::{Args, ValueEnum};
use fathom_isofs::{Namespace, Session};
use std::path::PathBuf;
use std::str::FromStr;

/// Which image, and how it is to be read.
#[derive(Clone, Debug, Args)]
pub struct ImageSource {
    /// The image: a file or a block device; raw sectors (.bin) are recognised
    pub image: PathBuf,
    /// Which session: first, last, a number from 1, or sector:N for the one that starts there [default: first; of a disc in a drive, last]
    #[arg(long, value_name = "WHICH")]
    pub session: Option<SessionChoice>,
    /// Which tree [default: the first present of rock-ridge, joliet, 1999, plain]
    #[arg(long, value_name = "TREE")]
    pub namespace: Option<NamespaceChoice>,
    /// Refuse images whose two copies of a number differ
    #[arg(long)]
    pub strict: bool,
    /// Also show associated files (resource data), as NAME%assoc
    #[arg(long)]
    pub associated: bool,
    /// Also show boot images (El Torito), as files of /.fathom/boot
    #[arg(long)]
    pub boot: bool,
    /// Decompress zisofs files even if the directory does not mark them
    #[arg(long)]
    pub zisofs_by_magic: bool,
    /// Bypass the kernel's page cache when reading the image (O_DIRECT)
    #[arg(long)]
    pub direct: bool,
    /// How the image is read: one call per read, or io_uring, which takes several reads at once
    #[arg(long, value_name = "BACKEND", default_value = "pread")]
    pub backend: Backend,
}

/// `--session`.
#[derive(Clone, Copy, Debug)]
pub struct SessionChoice(pub Session);

impl FromStr for SessionChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no session; say first, last, a number from 1, or sector:N");
        Ok(Self(match text {
            "first" => Session::First,
            "last" => Session::Last,
            other => match other.strip_prefix("sector:") {
                // Media have at most 2^32 sectors.
                Some(sector) => Session::Sector(sector.parse::<u32>().map_err(|_| wrong())?.into()),
                None => Session::Number(other.parse().ok().filter(|&n| n > 0).ok_or_else(wrong)?),
            },
        }))
    }
}

/// `--namespace`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum NamespaceChoice {
    /// POSIX names and attributes
    RockRidge,
    /// UCS-2 names
    Joliet,
    /// ISO 9660:1999
    #[value(name = "1999")]
    Enhanced,
    /// The names of ISO 9660:1988 or High Sierra
    Plain,
}

impl From<NamespaceChoice> for Namespace {
    fn from(tree: NamespaceChoice) -> Self {
        match tree {
            NamespaceChoice::RockRidge => Self::RockRidge,
            NamespaceChoice::Joliet => Self::Joliet,
            NamespaceChoice::Enhanced => Self::Enhanced,
            NamespaceChoice::Plain => Self::Plain,
        }
    }
}
