//! Opens the directories of runs once, before the first: a name may lead elsewhere by the next run.

use crate::commands::sweep::vary::{Target, Varied};
use crate::exit::Usage;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags};
use std::path::Path;

/// Follows links: the user typed this path.
pub(super) fn open(path: &Path) -> std::io::Result<OwnedFd> {
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, how, Mode::empty())?)
}

/// All named directories, in the order of the values.
pub(super) fn all(varied: &[Varied], here: &Path) -> Result<Vec<OwnedFd>, Usage> {
    let Some(varied) = varied.iter().find(|v| v.target == Target::Directory) else { return Ok(Vec::new()) };
    let one = |name: &String| open(Path::new(name)).map_err(|e| unusable(here, name, &e));
    varied.values.iter().map(one).collect()
}

pub(super) fn unusable(here: &Path, name: &str, error: &std::io::Error) -> Usage {
    Usage(format!("--in {}: {error}", here.join(name).display()))
}
