//! A file set as flows see it: paths and sizes, fixed before the workers start, and beside them in shared memory what changes (which
//! entries exist, which are open). What exists is read from the file system when a phase begins.

use super::pool::Pool;
use crate::EngineError;
use crate::action::Sets;
use crate::mapped::Mapped;
use fathom_workload::{Data, Existing, FileSet, Files, Share};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// One file of a set.
pub(crate) struct Entry {
    pub path: CString,
    /// The size that the workload says it has.
    pub bytes: u64,
    /// A block device: opening it is no operation on a file system.
    pub device: bool,
}

/// What a set consists of.
#[derive(Default)]
pub(crate) struct Names {
    pub files: Vec<(PathBuf, u64)>,
    pub leaves: Vec<PathBuf>,
    /// Every directory, the topmost first.
    pub directories: Vec<PathBuf>,
}

/// A file set.
pub(crate) struct Set {
    pub name: String,
    pub entries: Vec<Entry>,
    pub leaves: Vec<CString>,
    pub directories: Vec<CString>,
    pub files: Pool,
    pub leaf_pool: Pool,
    /// How often each file is open now.
    pub opens: Mapped<AtomicU32>,
    /// Directories listed so far.
    pub listed: Mapped<AtomicU64>,
    pub share: Share,
    pub mode: u32,
    pub data: Data,
    /// Some operation of the phase changes it: it is opened for that, and links are not followed.
    pub changed: bool,
}

impl Set {
    /// The set as it is found now.
    pub fn new(set: &FileSet, names: Names, changed: bool) -> Result<Self, EngineError> {
        let found: Vec<Option<std::fs::Metadata>> =
            names.files.iter().map(|(path, _)| path.metadata().ok()).collect();
        let entries = names.files.iter().zip(&found).map(|((path, bytes), found)| {
            let here = found.as_ref().map_or(0, std::fs::Metadata::len);
            // Files that are used as they are and of which nobody said how large they are.
            let as_found = *bytes == 0 && set.existing == Existing::Reuse;
            Ok(Entry {
                path: c_path(path)?,
                bytes: if as_found { here } else { *bytes },
                device: found.as_ref().is_some_and(|m| m.file_type().is_block_device()),
            })
        });
        Ok(Self {
            name: set.name.clone(),
            files: Pool::new(names.files.len(), |i| found[i].is_some())?,
            entries: entries.collect::<Result<_, EngineError>>()?,
            leaf_pool: Pool::new(names.leaves.len(), |i| names.leaves[i].is_dir())?,
            leaves: names.leaves.iter().map(|p| c_path(p)).collect::<Result<_, _>>()?,
            directories: names.directories.iter().map(|p| c_path(p)).collect::<Result<_, _>>()?,
            opens: Mapped::new(names.files.len())?,
            listed: Mapped::new(1)?,
            share: set.share,
            mode: set.mode,
            data: set.data.clone(),
            changed,
        })
    }

    /// Size of its largest file.
    pub fn largest_bytes(&self) -> u64 {
        self.entries.iter().map(|e| e.bytes).max().unwrap_or(0)
    }
}

fn c_path(path: &Path) -> Result<CString, EngineError> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    CString::new(path.as_os_str().as_bytes())
        .map_err(|e| EngineError::file("name", path, std::io::Error::from(e)))
}

/// A path for a message.
pub(crate) fn text(path: &CStr) -> String {
    path.to_string_lossy().into_owned()
}

/// What a set consists of, by its layout.
pub(crate) fn names_of(set: &FileSet, sets: &Sets) -> Result<Names, EngineError> {
    let files: Vec<(PathBuf, u64)> = sets.paths(set).zip(0..).map(|(p, i)| (p, sets.size(set, i))).collect();
    if let (Files::Tree(tree), Some(layout)) = (&set.files, sets.layout(set)) {
        let leaves =
            (0..layout.leaf_directories.len()).map(|i| tree.root.join(layout.leaf_directory_path(i)));
        let directories = (0..layout.directories.len()).map(|i| tree.root.join(layout.directory_path(i)));
        return Ok(Names { files, leaves: leaves.collect(), directories: directories.collect() });
    }
    let parents = files.iter().filter_map(|(path, _)| path.parent());
    let mut directories: Vec<PathBuf> =
        parents.map(|p| if p.as_os_str().is_empty() { PathBuf::from(".") } else { p.into() }).collect();
    directories.sort();
    directories.dedup();
    Ok(Names { files, leaves: Vec::new(), directories })
}
