//! Files named by several sets of a workload, like fio jobs that use the same file. They are one file in the simulated file system, as
//! long as the longest set requires. Sets used by flows have their own names and directories and stay separate.

use crate::regions::{Regions, written};
use fathom_workload::{FileSet, Files, Sizing, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Combined requirements of the sets that name a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathNeeds {
    /// Bytes to lay out.
    pub bytes: u64,
    /// Regions written by streams.
    pub written: Regions,
    /// Number of sets that name it.
    pub sets: u32,
}

/// All paths that sets list explicitly.
#[derive(Debug, Default)]
pub(crate) struct SharedPaths<'w> {
    by_flows: BTreeSet<&'w str>,
    paths: BTreeMap<&'w Path, PathNeeds>,
}

impl<'w> SharedPaths<'w> {
    /// Collects the paths of a workload's sets; `by_flows` are the sets used by flows.
    pub fn of(workload: &'w Workload, by_flows: BTreeSet<&'w str>) -> Self {
        let mut all = Self { by_flows, paths: BTreeMap::new() };
        for set in &workload.filesets {
            let written = written(workload, set);
            for (index, path) in all.listed(set).iter().enumerate() {
                let bytes = match &set.size {
                    Sizing::Fixed(bytes) => bytes.0,
                    Sizing::Each(sizes) => sizes.get(index).map_or(0, |bytes| bytes.0),
                    Sizing::Variable(_) => continue,
                };
                let named = all.paths.entry(path).or_default();
                named.bytes = named.bytes.max(bytes);
                named.written = named.written.with(&written);
                named.sets += 1;
            }
        }
        all
    }

    /// Paths of a set whose files may be shared with another set.
    pub fn listed(&self, set: &'w FileSet) -> &'w [PathBuf] {
        match (&set.files, &set.size) {
            (Files::List(list), Sizing::Fixed(_) | Sizing::Each(_))
                if !self.by_flows.contains(set.name.as_str()) =>
            {
                list
            }
            _ => &[],
        }
    }

    /// Requirements on a path.
    pub fn named(&self, path: &Path) -> Option<&PathNeeds> {
        self.paths.get(path)
    }

    /// Each path once.
    pub fn all(&self) -> impl Iterator<Item = &PathNeeds> {
        self.paths.values()
    }
}
