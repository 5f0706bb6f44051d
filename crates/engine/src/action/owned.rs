//! What may be modified: files created by us, files given to us, and nothing else. docs/safety.md has the table.

use super::bottomless::is_bottomless;
use super::image;
use super::sets::Sets;
use crate::error::unsupported;
use crate::files::{mode_of_directory, open_soon};
use crate::{EngineError, Ledger};
use fathom_state::here;
use fathom_workload::{Action, Backend, Existing, FileCall, FileSet, Files, Program, Tree, Workload};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Opens one of our files for writing data, without following a link put in its place or waiting for a pipe.
pub(super) fn open_for_data(path: &Path) -> std::io::Result<File> {
    Ok(open_soon(path, OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, 0)?.into())
}

/// Opens a file for reading, following links, without waiting for the writer of a pipe.
pub(super) fn open_to_read(path: &Path) -> Result<File, EngineError> {
    match open_soon(path, OFlags::RDONLY | OFlags::CLOEXEC, 0) {
        Err(Errno::SPIPE) => Err(EngineError::NotAFile(path.into(), "a pipe")),
        opened => Ok(opened.map_err(|e| EngineError::file("open", path, e))?.into()),
    }
}

/// Data are written to regular files only: a mistyped name must not destroy a disk, nor a link its target.
pub(super) fn must_be_a_file(path: &Path, found: &Metadata) -> Result<(), EngineError> {
    let kind = found.file_type();
    let other = if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_dir() {
        "a directory"
    } else if kind.is_block_device() {
        return Err(EngineError::Device(path.into()));
    } else if is_bottomless(found) {
        "a device"
    } else if kind.is_char_device() {
        "a character device and none of /dev/null, /dev/zero and /dev/full"
    } else if !kind.is_file() {
        "a pipe or socket"
    } else {
        return Ok(());
    };
    Err(EngineError::NotAFile(path.into(), other))
}

/// Whether an existing file may be written to.
pub(super) fn may_change(set: &FileSet, path: &Path, ledger: &Ledger) -> bool {
    ledger.owns(path)
        || set.existing == Existing::Replace
        || (set.existing == Existing::Reuse && set.may_modify)
}

/// Checks that an existing file may be written to: it is ours or was given to us, and no foreign data are reached through it.
fn must_be_changeable(
    set: &FileSet,
    path: &Path,
    found: &Metadata,
    ledger: &Ledger,
) -> Result<(), EngineError> {
    must_be_a_file(path, found)?;
    let is_ours = ledger.is_ours(path)?;
    if !is_ours && !may_change(set, path, ledger) {
        return Err(EngineError::NotOurs(path.into()));
    }
    if !is_ours {
        if let Some(device) = image::in_use(found) {
            return Err(EngineError::Image { path: path.into(), device });
        }
        return Ok(());
    }
    // It was not named for this run, and the other link may be another user's copy.
    let is_named = set.existing == Existing::Replace || set.may_modify;
    if found.nlink() > 1 && !is_named { Err(EngineError::SecondName(path.into())) } else { Ok(()) }
}

/// Checks that the file at `path` may be created again: it is ours, was given to us, or does not exist.
pub(super) fn make_way(set: &FileSet, path: &Path, ledger: &mut Ledger) -> Result<(), EngineError> {
    let Ok(found) = std::fs::symlink_metadata(here(path)) else { return Ok(()) };
    must_be_a_file(path, &found)?;
    if ledger.is_ours(path)? {
        return ledger.remove(path);
    }
    match set.existing {
        Existing::Replace => ledger.remove_named(path),
        Existing::Refuse | Existing::Reuse => Err(EngineError::NotOurs(path.into())),
    }
}

/// Creates a file of a set.
pub(super) fn create(set: &FileSet, path: &Path, ledger: &mut Ledger) -> Result<File, EngineError> {
    if set.make_directories {
        ledger.create_above(path)?;
    }
    ledger.create(path, set.mode)
}

/// For streams that write: creates missing files; existing ones must be ours, or given to us.
pub(crate) fn ensure(sets: &Sets, set: &FileSet, ledger: &mut Ledger) -> Result<(), EngineError> {
    if let Files::Tree(tree) = &set.files {
        return must_be_ours_as_tree(sets, set, tree, ledger);
    }
    for (path, index) in sets.paths(set).zip(0..) {
        let Ok(found) = here(&path).symlink_metadata() else {
            create(set, &path, ledger)?;
            continue;
        };
        if is_bottomless(&found) || super::device::may_write(&path, &found, sets.size(set, index), ledger)? {
            continue;
        }
        must_be_changeable(set, &path, &found, ledger)?;
    }
    Ok(())
}

/// For streams and flows whose operations create files: creates the parent directories. Existing files must be ours, or given to
/// us; missing ones are returned.
pub(crate) fn make_room(
    sets: &Sets,
    set: &FileSet,
    ledger: &mut Ledger,
) -> Result<Vec<PathBuf>, EngineError> {
    must_be_ours(sets, set, ledger)?;
    make_way_to_missing(sets, set, ledger)
}

/// Creates missing parent directories for the names of a set, and returns the missing names.
fn make_way_to_missing(sets: &Sets, set: &FileSet, ledger: &mut Ledger) -> Result<Vec<PathBuf>, EngineError> {
    let mut missing = Vec::new();
    let mut above: Option<PathBuf> = None;
    for path in sets.paths(set).filter(|path| here(path).symlink_metadata().is_err()) {
        // Neighbours share their directory, so check it once.
        if set.make_directories && above.as_deref() != path.parent() {
            ledger.create_above(&path)?;
            above = path.parent().map(Path::to_path_buf);
        }
        missing.push(path);
    }
    Ok(missing)
}

/// For streams that create directories: creates the parents. Missing ones are returned; existing ones stay and make the call
/// fail.
pub(crate) fn make_way_to_directories(
    sets: &Sets,
    set: &FileSet,
    ledger: &mut Ledger,
) -> Result<Vec<PathBuf>, EngineError> {
    if let Files::Tree(tree) = &set.files {
        must_be_ours_as_tree(sets, set, tree, ledger)?;
    }
    make_way_to_missing(sets, set, ledger)
}

/// Creates the missing directories that a set names.
pub(super) fn make_directories(sets: &Sets, set: &FileSet, ledger: &mut Ledger) -> Result<(), EngineError> {
    if matches!(set.files, Files::Tree(_)) {
        return Err(unsupported(
            "make-directories",
            "the directories of a tree are created together with it; use prepare",
        ));
    }
    for path in make_way_to_missing(sets, set, ledger)? {
        ledger.create_directory_with(&path, mode_of_directory(set.mode))?;
    }
    Ok(())
}

/// Directories to be removed must be ours, or given to us. Anything else at the path stays, as the kernel refuses to remove it as
/// a directory.
pub(crate) fn directories_must_be_ours(
    sets: &Sets,
    set: &FileSet,
    ledger: &Ledger,
) -> Result<(), EngineError> {
    if let Files::Tree(tree) = &set.files {
        return must_be_ours_as_tree(sets, set, tree, ledger);
    }
    for path in sets.paths(set) {
        if here(&path).symlink_metadata().is_ok()
            && !ledger.is_ours(&path)?
            && !may_change(set, &path, ledger)
        {
            return Err(EngineError::NotOurs(path));
        }
    }
    Ok(())
}

/// Initial check: files that streams will write are ours, given to us, or missing; those that they read are files, and large
/// enough if we may not extend them.
pub(crate) fn check_all(workload: &Workload, sets: &Sets, ledger: &Ledger) -> Result<(), EngineError> {
    for phase in &workload.phases {
        let made = phase.before.iter().filter_map(|action| match action {
            Action::Prepare(name)
            | Action::Reserve(name)
            | Action::ReserveBehind(name)
            | Action::Extend(name) => workload.fileset(name),
            _ => None,
        });
        made.filter(|set| set.existing == Existing::Reuse)
            .try_for_each(|set| long_enough(sets, set, ledger))?;
        for stream in phase.groups.iter().flat_map(|g| &g.threads).filter_map(|t| match &t.program {
            Program::Stream(stream) if stream.backend.has_files() => Some(stream),
            _ => None,
        }) {
            let Some(set) = workload.fileset(&stream.fileset) else { continue };
            match stream.backend {
                // An existing directory stays and makes the call fail.
                Backend::Calls(FileCall::MakeDirectory) => continue,
                Backend::Calls(FileCall::RemoveDirectory) => {
                    directories_must_be_ours(sets, set, ledger)?;
                    continue;
                }
                _ => {}
            }
            if let Some(donor) = stream.donor.as_ref().and_then(|d| workload.fileset(&d.fileset)) {
                must_be_writable(sets, donor, ledger)?;
            }
            if crate::files::writes(stream) || stream.open.read_write {
                must_be_writable(sets, set, ledger)?;
            } else if !crate::files::only_asks(stream, set) {
                must_be_readable(sets, set, ledger)?;
            }
        }
    }
    Ok(())
}

/// Refuses existing files that are too short and not ours, as they would have to be extended.
fn long_enough(sets: &Sets, set: &FileSet, ledger: &Ledger) -> Result<(), EngineError> {
    for (path, index) in sets.paths(set).zip(0..) {
        let size = sets.size(set, index);
        if let Ok(found) = path.metadata()
            && found.is_file()
            && found.len() < size
            && !may_change(set, &path, ledger)
        {
            let what = format!("has {} bytes instead of {size}", found.len());
            return Err(EngineError::WouldChange { path, what });
        }
    }
    Ok(())
}

/// Files that streams write: existing ones must be ours, given to us, or devices that may be written.
fn must_be_writable(sets: &Sets, set: &FileSet, ledger: &Ledger) -> Result<(), EngineError> {
    if matches!(set.files, Files::Tree(_)) {
        return must_be_ours(sets, set, ledger);
    }
    for (path, index) in sets.paths(set).zip(0..) {
        let Ok(found) = here(&path).symlink_metadata() else { continue };
        if is_bottomless(&found) || super::device::may_write(&path, &found, sets.size(set, index), ledger)? {
            continue;
        }
        must_be_changeable(set, &path, &found, ledger)?;
    }
    Ok(())
}

/// For flows that change existing files: these must be ours, or given to us. Missing ones stay missing.
pub(crate) fn must_be_ours(sets: &Sets, set: &FileSet, ledger: &Ledger) -> Result<(), EngineError> {
    if let Files::Tree(tree) = &set.files {
        return must_be_ours_as_tree(sets, set, tree, ledger);
    }
    for path in sets.paths(set) {
        let Ok(found) = here(&path).symlink_metadata() else { continue };
        must_be_changeable(set, &path, &found, ledger)?;
    }
    Ok(())
}

/// A tree that is written to must exist and be ours, or given to us file by file.
fn must_be_ours_as_tree(sets: &Sets, set: &FileSet, tree: &Tree, ledger: &Ledger) -> Result<(), EngineError> {
    if ledger.owns_tree(&tree.root) {
        return Ok(());
    }
    let found = here(&tree.root).symlink_metadata().map_err(|_| missing(set, tree))?;
    if !found.is_dir() {
        return Err(EngineError::NotATree(tree.root.clone()));
    }
    let given = matches!((set.existing, set.may_modify), (Existing::Replace, _) | (Existing::Reuse, true));
    if !given {
        return Err(EngineError::NotOurTree(tree.root.clone()));
    }
    for path in sets.paths(set) {
        if let Ok(found) = here(&path).symlink_metadata() {
            must_be_a_file(&path, &found)?;
        }
    }
    Ok(())
}

fn missing(set: &FileSet, tree: &Tree) -> EngineError {
    EngineError::NoTree { root: tree.root.clone(), set: set.name.clone() }
}

/// Checks that a path to be read is a file, a block device or a bottomless device: a pipe would block forever.
pub(crate) fn must_be_readable(sets: &Sets, set: &FileSet, ledger: &Ledger) -> Result<(), EngineError> {
    if let Files::Tree(tree) = &set.files {
        if ledger.owns_tree(&tree.root) {
            return Ok(());
        }
        let found = tree.root.metadata().map_err(|_| missing(set, tree))?;
        if !found.is_dir() {
            return Err(EngineError::NotATree(tree.root.clone()));
        }
    }
    for path in sets.paths(set) {
        if let Ok(found) = path.metadata()
            && !found.file_type().is_block_device()
            && !is_bottomless(&found)
        {
            must_be_a_file(&path, &found)?;
        }
    }
    Ok(())
}

/// Removes our files of the set, or marks them as kept. Files that existed before us and were reused stay.
pub(super) fn remove(sets: &Sets, set: &FileSet, ledger: &mut Ledger) -> Result<(), EngineError> {
    if set.keep {
        return keep(sets, set, ledger);
    }
    if let Files::Tree(tree) = &set.files
        && ledger.owns_tree(&tree.root)
    {
        return ledger.remove(&tree.root);
    }
    sets.paths(set).try_for_each(|path| ledger.remove(&path))
}

/// Marks our files of the set as kept.
pub(crate) fn keep(sets: &Sets, set: &FileSet, ledger: &mut Ledger) -> Result<(), EngineError> {
    let ours: Vec<PathBuf> = match &set.files {
        Files::Tree(tree) if ledger.owns_tree(&tree.root) => vec![tree.root.clone()],
        _ => sets.paths(set).filter(|path| ledger.owns(path)).collect(),
    };
    ledger.keep_laid_out(ours.iter().map(PathBuf::as_path))
}
