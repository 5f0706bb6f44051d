//! Laying out listed and numbered files one by one, which also fixes the order of reports.

use super::bottomless::is_bottomless;
use super::owned::{create, make_way, may_change, must_be_a_file, open_for_data, open_to_read};
use super::progress::{Prepared, Step};
use super::sets::Sets;
use super::writing::Writer;
use super::{CHUNK, Laying};
use crate::error::unsupported;
use crate::{EngineError, Ledger, interrupted_by};
use fathom_state::here;
use fathom_workload::{Existing, FileSet, Files};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// From this number on, small files are not synced one by one.
const MANY: u64 = 16;

/// Creates the files that must exist; with `Existing::Reuse`, uses those that are large enough.
pub(super) fn prepare(laying: &mut Laying<'_>) -> Result<(), EngineError> {
    let (sets, set) = (laying.sets, laying.set);
    let total = set.files.count();
    let mut writer = None;
    let bytes = AtomicU64::new(0);
    let mut disks = BTreeMap::new();
    laying.report(Step::Files, 0, total, 0, true);
    for index in 0..total {
        if interrupted_by().is_some() {
            break;
        }
        let Some(path) = sets.path(set, index) else { continue };
        if !sets.exists(set, index) {
            // Files to be created later must not exist.
            if set.existing != Existing::Reuse {
                make_way(set, &path, laying.ledger)?;
            }
            continue;
        }
        let size = sets.size(set, index);
        let (done, from) = match found(laying, &path, size)? {
            Prepared::Reused => (Prepared::Reused, size),
            extended @ Prepared::Extended { from, .. } => (extended, from),
            made => {
                make_way(set, &path, laying.ledger)?;
                (made, 0)
            }
        };
        (laying.report)(&path, done);
        if done == Prepared::Reused {
            continue;
        }
        let file = match done {
            Prepared::Created { .. } => create(set, &path, laying.ledger)?,
            _ => open_for_data(&path).map_err(|e| EngineError::file("open", &path, e))?,
        };
        if size > from {
            if writer.is_none() {
                writer = Some(Writer::new(laying.workload, set, set.data.clone())?);
            }
            let Some(writer) = &mut writer else { continue };
            writer
                .write(&file, index as u32, from..size, &bytes)
                .map_err(|e| EngineError::file("write", &path, e))?;
        }
        laying.report(Step::Files, index + 1, total, bytes.load(Relaxed), false);
        if set.leave_dirty {
            continue;
        }
        if total >= MANY && size - from < CHUNK as u64 {
            let about = file.metadata().map_err(|e| EngineError::file("stat", &path, e))?;
            disks.insert(about.dev(), (path, file));
        } else {
            file.sync_all().map_err(|e| EngineError::file("write back", &path, e))?;
        }
    }
    laying.report(Step::Files, total, total, bytes.load(Relaxed), true);
    if !disks.is_empty() {
        laying.report(Step::WritingBack, 0, total, bytes.load(Relaxed), true);
    }
    for (path, file) in disks.into_values() {
        rustix::fs::syncfs(&file).map_err(|e| EngineError::file("write back", &path, e))?;
    }
    Ok(())
}

/// Creates all files again and leaves them empty.
pub(super) fn recreate(laying: &mut Laying<'_>) -> Result<(), EngineError> {
    for path in laying.sets.paths(laying.set) {
        make_way(laying.set, &path, laying.ledger)?;
        create(laying.set, &path, laying.ledger)?;
    }
    Ok(())
}

/// What missing or short files get, without being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reservation {
    /// Size and space.
    Both,
    /// Size alone.
    Size,
    /// Space alone.
    Space,
}

/// Gives missing or short files their size, their space or both, without writing them. Where the file system cannot reserve
/// space, only the size is set, if requested: other programs get no more there either.
pub(super) fn reserve(
    sets: &Sets,
    set: &FileSet,
    given: Reservation,
    ledger: &mut Ledger,
) -> Result<(), EngineError> {
    if matches!(set.files, Files::Tree(_)) {
        return Err(unsupported("reserve", "the files of a tree are written, not reserved; use prepare"));
    }
    for index in 0..set.files.count() {
        let Some(path) = sets.path(set, index) else { continue };
        let size = sets.size(set, index);
        let file = match here(&path).symlink_metadata() {
            Err(_) => create(set, &path, ledger)?,
            Ok(found) => {
                if found.is_file() && found.len() >= size {
                    continue;
                }
                // A device already has its space.
                if is_bottomless(&found) || super::device::may_write(&path, &found, size, ledger)? {
                    continue;
                }
                must_be_a_file(&path, &found)?;
                if !may_change(set, &path, ledger) {
                    return Err(EngineError::NotOurs(path));
                }
                open_for_data(&path).map_err(|e| EngineError::file("open", &path, e))?
            }
        };
        if size == 0 {
            continue;
        }
        let reserved = match given {
            Reservation::Both => rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, size),
            Reservation::Space => rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, size),
            Reservation::Size => Err(Errno::OPNOTSUPP),
        };
        match reserved {
            Ok(()) => {}
            Err(Errno::OPNOTSUPP) if given == Reservation::Space => {}
            Err(Errno::OPNOTSUPP) => file.set_len(size).map_err(|e| EngineError::file("extend", &path, e))?,
            Err(e) => return Err(EngineError::file("reserve", &path, std::io::Error::from(e))),
        }
    }
    Ok(())
}

/// What to do with a file: use it as it is, extend it, or create it (again).
fn found(laying: &Laying<'_>, path: &Path, size: u64) -> Result<Prepared, EngineError> {
    let set = laying.set;
    let create = Prepared::Created { bytes: size };
    if set.existing != Existing::Reuse {
        return Ok(create);
    }
    if set.trust_sizes {
        open_to_read(path)?;
        return Ok(Prepared::Reused);
    }
    let Ok(about) = here(path).metadata() else { return Ok(create) };
    if is_bottomless(&about) {
        return Ok(Prepared::Reused);
    }
    let from = if about.file_type().is_block_device() {
        let mut device = open_to_read(path)?;
        super::device::end(&mut device).map_err(|e| EngineError::file("find the size of", path, e))?
    } else {
        about.len()
    };
    if from >= size && (about.is_file() || about.file_type().is_block_device()) {
        return Ok(Prepared::Reused);
    }
    let itself = here(path).symlink_metadata().map_err(|e| EngineError::file("stat", path, e))?;
    must_be_a_file(path, &itself)?;
    if !may_change(set, path, laying.ledger) {
        return Err(EngineError::WouldChange {
            path: path.into(),
            what: format!("has {from} bytes instead of {size}"),
        });
    }
    Ok(Prepared::Extended { from, bytes: size - from })
}
