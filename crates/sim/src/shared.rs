//! Files that several sets of a workload name, as the jobs of fio do that work on one file: they are one file of the simulated file system,
//! too, as long as the longest of the sets wants it. Sets that flows work on have names and directories of their own and stay apart.

use crate::regions::{Regions, written};
use fathom_workload::{FileSet, Files, Sizing, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the sets that name a path want of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Bytes that it is laid out with.
    pub bytes: u64,
    /// What streams write of it.
    pub written: Regions,
    /// How many sets name it.
    pub sets: u32,
}

/// All paths that sets name one by one.
#[derive(Debug, Default)]
pub(crate) struct Shared<'w> {
    by_flows: BTreeSet<&'w str>,
    paths: BTreeMap<&'w Path, Named>,
}

impl<'w> Shared<'w> {
    /// Looks through the sets of a workload; `by_flows` are those that flows work on.
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

    /// The paths of a set whose files may be those of another.
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

    /// What is wanted of a path.
    pub fn named(&self, path: &Path) -> Option<&Named> {
        self.paths.get(path)
    }

    /// Each path once.
    pub fn all(&self) -> impl Iterator<Item = &Named> {
        self.paths.values()
    }
}
