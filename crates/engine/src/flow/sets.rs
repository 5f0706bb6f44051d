//! Locations of the files of a set: paths and open modes, fixed before the workers start. The changing state (which entries
//! exist, which are open) belongs to the interpreter and is in shared memory; it is initialised from the file system when a phase
//! begins.

use super::setting::SharedWords;
use super::spot::{Bases, Spot, c_path};
use crate::action::Sets;
use crate::{EngineError, Ledger};
use fathom_state::absolute;
use fathom_workload::flow::Set;
use fathom_workload::{Data, Existing, FileSet, Files, Share};
use std::ffi::{CStr, CString};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// One file of a set.
pub(crate) struct SetFile {
    pub spot: Spot,
    /// A block device, which is opened without file system operations.
    pub device: bool,
}

/// Files and directories of a set.
#[derive(Default)]
pub(crate) struct SetNames {
    pub files: Vec<(PathBuf, u64)>,
    pub leaves: Vec<PathBuf>,
    /// All directories, parents first.
    pub directories: Vec<PathBuf>,
}

/// Where the files of a set are, and how they are opened.
pub(crate) struct SetPlace {
    pub name: String,
    pub entries: Vec<SetFile>,
    pub leaves: Vec<Spot>,
    pub directories: Vec<CString>,
    pub share: Share,
    pub mode: u32,
    pub data: Data,
    /// Part of a tree; otherwise missing directories are created along with a file in them.
    pub tree: bool,
    /// Some operation of the phase changes it: it is opened for writing, and links are not followed.
    pub changed: bool,
    /// Directories that contain its spots.
    pub bases: Bases,
}

/// The current state of a set.
pub(super) fn found(
    set: &FileSet,
    names: &SetNames,
    changed: bool,
    ledger: &Ledger,
) -> Result<(Set<SharedWords>, SetPlace), EngineError> {
    let found: Vec<Option<std::fs::Metadata>> =
        names.files.iter().map(|(path, _)| path.metadata().ok()).collect();
    let bytes = names.files.iter().zip(&found).map(|((_, bytes), found)| {
        // Files used as found, without a given size.
        let as_found = *bytes == 0 && set.existing == Existing::Reuse;
        if as_found { found.as_ref().map_or(0, std::fs::Metadata::len) } else { *bytes }
    });
    let leaves = (names.leaves.len(), |i: usize| names.leaves[i].is_dir());
    let exists = |i: usize| found[i].is_some();
    let state = Set::new(bytes.collect(), exists, leaves, names.directories.len(), SharedWords::new)?;
    let mut bases = match &set.files {
        Files::Tree(tree) if changed => {
            let root = absolute(&tree.root);
            Bases::of_tree(&root, |open| ledger.may_be_tree(&root, open))?
        }
        _ => Bases::default(),
    };
    bases.given = set.may_modify || set.existing == Existing::Replace;
    let mut spot = |path: &Path| {
        let path = absolute(path);
        if changed { bases.spot(&path) } else { Spot::by_path(&path) }
    };
    let entries = names.files.iter().zip(&found).map(|((path, _), found)| {
        Ok(SetFile {
            spot: spot(path)?,
            device: found.as_ref().is_some_and(|m| m.file_type().is_block_device()),
        })
    });
    let entries = entries.collect::<Result<_, EngineError>>()?;
    let leaves = names.leaves.iter().map(|p| spot(p)).collect::<Result<_, _>>()?;
    let place = SetPlace {
        name: set.name.clone(),
        entries,
        leaves,
        directories: names.directories.iter().map(|p| c_path(p)).collect::<Result<_, _>>()?,
        share: set.share,
        mode: set.mode,
        data: set.data.clone(),
        tree: matches!(set.files, Files::Tree(_)),
        changed,
        bases,
    };
    Ok((state, place))
}

/// A path for a message.
pub(crate) fn text(path: &CStr) -> String {
    path.to_string_lossy().into_owned()
}

/// Files and directories of a set, by its layout.
pub(crate) fn names_of(set: &FileSet, sets: &Sets) -> Result<SetNames, EngineError> {
    let files: Vec<(PathBuf, u64)> = sets.paths(set).zip(0..).map(|(p, i)| (p, sets.size(set, i))).collect();
    if let (Files::Tree(tree), Some(layout)) = (&set.files, sets.layout(set)) {
        let leaves =
            (0..layout.leaf_directories.len()).map(|i| tree.root.join(layout.leaf_directory_path(i)));
        let directories = (0..layout.directories.len()).map(|i| tree.root.join(layout.directory_path(i)));
        return Ok(SetNames { files, leaves: leaves.collect(), directories: directories.collect() });
    }
    let parents = files.iter().filter_map(|(path, _)| path.parent());
    let mut directories: Vec<PathBuf> =
        parents.map(|p| if p.as_os_str().is_empty() { PathBuf::from(".") } else { p.into() }).collect();
    directories.sort();
    directories.dedup();
    Ok(SetNames { files, leaves: Vec::new(), directories })
}
