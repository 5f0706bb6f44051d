//! Laying out trees: what exists at the root decides between creating it ([`make`]), using it as it is, and an error.

mod files;
mod job;
mod make;

use super::Laying;
use super::progress::Step;
use crate::EngineError;
use crate::ledger::tree as ours;
use fathom_state::here;
use fathom_workload::{Existing, Tree};
use job::{Manner, TreeJob};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags};
use std::path::Path;

/// Creates the tree, or checks the existing one; `empty`: files without data.
pub(super) fn prepare(laying: &mut Laying<'_>, tree: &Tree, empty: bool) -> Result<(), EngineError> {
    let root = tree.root.as_path();
    let Some(layout) = laying.sets.layout(laying.set) else { return Ok(()) };
    let existing = if empty && laying.set.existing == Existing::Reuse {
        // Emptied files are created again, whatever the set says about existing files.
        Existing::Refuse
    } else {
        laying.set.existing
    };
    let manner = match make_way(laying, root, existing)? {
        Way::Free => {
            laying.ledger.create_tree(root)?;
            Manner::Fresh { empty }
        }
        Way::Reuse => match (laying.ledger.owns_tree(root), laying.set.may_modify) {
            (true, _) => Manner::ReuseOurs,
            (false, true) => Manner::ReuseGiven,
            (false, false) => Manner::ReuseForeign,
        },
    };
    let root_fd = open(root, manner)?;
    if !laying.ledger.may_be_tree(root, root_fd.as_fd()) {
        return Err(EngineError::file("lay out", root, std::io::Error::other(ours::REPLACED)));
    }
    let job = TreeJob { root, root_fd, layout, set: laying.set, workload: laying.workload, manner };
    job.run(laying)
}

enum Way {
    /// Nothing is there (any more).
    Free,
    /// An existing tree to use.
    Reuse,
}

fn make_way(laying: &mut Laying<'_>, root: &Path, existing: Existing) -> Result<Way, EngineError> {
    let Ok(found) = here(root).symlink_metadata() else { return Ok(Way::Free) };
    let is_a_tree = if existing == Existing::Reuse {
        // A path that is only read may lead through a link.
        here(root).metadata().is_ok_and(|m| m.is_dir())
    } else {
        found.is_dir()
    };
    if is_a_tree && existing == Existing::Reuse {
        return Ok(Way::Reuse);
    }
    let owned = if found.is_dir() { laying.ledger.owns_tree(root) } else { laying.ledger.owns(root) };
    if !owned && existing != Existing::Replace {
        return Err(if found.is_dir() {
            EngineError::NotOurTree(root.into())
        } else {
            EngineError::NotATree(root.into())
        });
    }
    laying.report(Step::Removing, 0, 1, 0, true);
    if owned {
        laying.ledger.remove(root)?;
    } else if found.is_dir() {
        laying.ledger.remove_named_tree(root)?;
    } else {
        super::owned::must_be_a_file(root, &found)?;
        laying.ledger.remove_named(root)?;
    }
    laying.report(Step::Removing, 1, 1, 0, true);
    Ok(Way::Free)
}

/// Opens the root. A link is followed only if nothing is changed.
fn open(root: &Path, manner: Manner) -> Result<OwnedFd, EngineError> {
    if manner != Manner::ReuseForeign {
        return ours::open_root(root);
    }
    rustix::fs::openat(CWD, here(root), OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|e| EngineError::file("open", root, e))
}
