//! Whether the files to be laid out fit: checked before the first byte is reserved, as even a briefly full disk disturbs everyone
//! who writes to it.

use super::sets::Sets;
use crate::EngineError;
use fathom_state::here;
use fathom_workload::{Action, FileSet, Files, Workload};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Each set on its own: removals in between are unknown.
pub(crate) fn check(workload: &Workload, sets: &Sets) -> Result<(), EngineError> {
    let actions = workload.phases.iter().flat_map(|phase| &phase.before);
    let laid_out = actions.filter_map(|action| match action {
        Action::Prepare(name) | Action::Reserve(name) | Action::ReserveBehind(name) => workload.fileset(name),
        _ => None,
    });
    // Checking every file of a tree would take as long as creating it.
    laid_out.filter(|set| !matches!(set.files, Files::Tree(_))).try_for_each(|set| fits(sets, set))
}

fn fits(sets: &Sets, set: &FileSet) -> Result<(), EngineError> {
    // By file system.
    let mut wanted: BTreeMap<u64, (PathBuf, u64)> = BTreeMap::new();
    for (path, index) in sets.paths(set).zip(0..) {
        let found = here(&path).metadata().ok();
        if found.as_ref().is_some_and(|found| !found.is_file()) {
            continue;
        }
        // Long enough files stay as they are, with holes; short ones are extended.
        let more = sets.size(set, index).saturating_sub(found.map_or(0, |found| found.len()));
        let Some((directory, device)) = lies_in(&path) else { continue };
        let entry = wanted.entry(device).or_insert((directory, 0));
        entry.1 = entry.1.saturating_add(more);
    }
    wanted.into_values().try_for_each(|(directory, wanted)| match free(&directory) {
        Some(free) if free < wanted => Err(EngineError::NoRoom { directory, wanted, free }),
        _ => Ok(()),
    })
}

/// The parent directory of a file, or its nearest existing ancestor, and its file system.
fn lies_in(path: &Path) -> Option<(PathBuf, u64)> {
    path.ancestors().skip(1).find_map(|above| {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        Some((above.to_owned(), here(above).metadata().ok()?.dev()))
    })
}

/// Bytes available to this user.
fn free(directory: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(here(directory)).ok()?;
    let blocks = if rustix::process::geteuid().is_root() { about.f_bfree } else { about.f_bavail };
    // Network file systems that report no space show a size of 0.
    (about.f_blocks > 0).then(|| blocks.saturating_mul(about.f_frsize))
}
