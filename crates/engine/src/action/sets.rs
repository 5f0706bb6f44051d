//! The file sets of a workload as files: number, location, size, and which of them exist at the start. Trees and drawn sizes are
//! computed once and cached while the workload requests the same.

use crate::error::unsupported;
use crate::layout::file_of;
use crate::{Engine, EngineError};
use fathom_workload::tree::{Layout, Layouts, layouts};
use fathom_workload::{Bytes, FileSet, Files, RandomVariable, Seed, Sizing, Stream, Workload};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of entries of one set whose locations or sizes are cached, about 2 GB.
const MOST_KEPT: u64 = 1 << 26;

/// The sets of the last request.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Option<Arc<Sets>>>);

/// All file sets of a workload.
pub(crate) struct Sets {
    asked: SetKey,
    layouts: Layouts,
}

/// Everything that determines the files.
#[derive(PartialEq)]
struct SetKey {
    seed: Seed,
    variables: BTreeMap<String, RandomVariable>,
    filesets: Vec<FileSet>,
}

impl Engine {
    /// The files of a workload.
    pub(crate) fn sets(&self, workload: &Workload) -> Result<Arc<Sets>, EngineError> {
        let mut kept = self.sets.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sets) = kept.as_ref().filter(|sets| sets.are_of(workload)) {
            return Ok(Arc::clone(sets));
        }
        // Free the old ones first: two sets of a million files need not be in memory together.
        *kept = None;
        let sets = Arc::new(Sets::of(workload)?);
        *kept = Some(Arc::clone(&sets));
        Ok(sets)
    }
}

impl Sets {
    fn of(workload: &Workload) -> Result<Self, EngineError> {
        for set in &workload.filesets {
            let kept = match (&set.files, &set.size) {
                (Files::Tree(tree), _) => tree.entries.saturating_add(tree.leaf_directories),
                (files, Sizing::Variable(_) | Sizing::Each(_)) => files.count(),
                _ => 0,
            };
            if kept > MOST_KEPT {
                let place = format!("fileset {}", set.name);
                return Err(unsupported(
                    &place,
                    &format!("{kept} entries are too many to lay out; the limit of a set is {MOST_KEPT}"),
                ));
            }
        }
        let layouts =
            layouts(workload).map_err(|e| unsupported(&format!("fileset {}", e.set), &e.message))?;
        let asked = SetKey {
            seed: workload.seed,
            variables: workload.variables.clone(),
            filesets: workload.filesets.clone(),
        };
        Ok(Self { asked, layouts })
    }

    fn are_of(&self, workload: &Workload) -> bool {
        self.asked.seed == workload.seed
            && self.asked.variables == workload.variables
            && self.asked.filesets == workload.filesets
    }

    /// The layouts themselves, including leaf directories, with the state of the generators that they were drawn from.
    pub fn layouts(&self) -> &Layouts {
        &self.layouts
    }

    /// The layout of a set that is a tree.
    pub fn layout(&self, set: &FileSet) -> Option<&Layout> {
        self.layouts.trees.get(&set.name)
    }

    /// Path of a file; `None` past the end.
    pub fn path(&self, set: &FileSet, index: u64) -> Option<PathBuf> {
        match (&set.files, self.layout(set)) {
            (Files::Tree(tree), Some(layout)) => {
                let index = usize::try_from(index).ok().filter(|i| *i < layout.files.len())?;
                Some(tree.root.join(layout.file_path(index)))
            }
            (files, _) => files.path(index),
        }
    }

    /// Path of the file that a worker of a stream uses.
    pub fn path_of(&self, workload: &Workload, stream: &Stream, worker: usize) -> Option<PathBuf> {
        self.path(workload.fileset(&stream.fileset)?, file_of(workload, stream, worker))
    }

    /// Paths of all files, whether or not they exist at the start.
    pub fn paths(&self, set: &FileSet) -> impl Iterator<Item = PathBuf> {
        (0..set.files.count()).filter_map(|i| self.path(set, i))
    }

    /// Size that a file should have.
    pub fn size(&self, set: &FileSet, index: u64) -> u64 {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        if let Some(layout) = self.layout(set) {
            return layout.files.get(index).map_or(0, |f| f.size);
        }
        match set.size {
            Sizing::Fixed(Bytes(bytes)) => bytes,
            Sizing::Variable(_) | Sizing::Each(_) => {
                self.layouts.sizes.get(&set.name).and_then(|s| s.get(index)).copied().unwrap_or(0)
            }
        }
    }

    /// Bytes of the largest file.
    pub fn largest(&self, set: &FileSet) -> u64 {
        match set.size {
            Sizing::Fixed(Bytes(bytes)) => bytes,
            Sizing::Variable(_) | Sizing::Each(_) => {
                (0..set.files.count()).map(|i| self.size(set, i)).max().unwrap_or(0)
            }
        }
    }

    /// Whether a file exists at the start. For lists and numbered files the share is spread evenly; trees draw it.
    pub fn exists(&self, set: &FileSet, index: u64) -> bool {
        if let Some(layout) = self.layout(set) {
            return usize::try_from(index).ok().and_then(|i| layout.files.get(i)).is_some_and(|f| f.exists);
        }
        set.exists_at_first(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_listed_files_is_spread_evenly_and_exact() {
        let set: FileSet = Workload::from_toml(
            "name = \"t\"\n[[fileset]]\nname = \"f\"\nfiles = { numbered = { prefix = \"f\", count = 10 } }\npreallocated_percent = 30",
        )
        .unwrap()
        .filesets
        .remove(0);
        let workload = Workload { filesets: vec![set.clone()], ..Workload::default() };
        let sets = Sets::of(&workload).unwrap();
        let there: Vec<u64> = (0..10).filter(|i| sets.exists(&set, *i)).collect();
        assert_eq!(there, [3, 6, 9]);
        assert!(sets.are_of(&workload) && !sets.are_of(&Workload { seed: Seed(9), ..workload }));
    }
}
