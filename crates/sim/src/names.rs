//! Names of the simulated file system, of sets that flows work on: directories with their inode and block, which files and leaf
//! directories are in which, and how much a listing of one says. Names are in memory from the start; what changes them goes into the
//! journal.

use crate::files::{FileNumber, Files};
use crate::machine::Machine;
use fathom_workload::flow::set_names;
use fathom_workload::tree::Layout;
use fathom_workload::{FileSet, Workload};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Bytes that a name of a directory counts for in a listing, beside its own: what a record of the system's takes.
const NAME_EXTRA: u64 = 279;
/// Bytes of a directory's block that a name takes: its record in ext2 and its followers.
const ENTRY_BYTES: u64 = 16;

/// A directory.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// Its inode, and the sector of its block.
    pub inode: u32,
    pub block: u64,
    /// What a listing of it says.
    listed_bytes: Cell<u64>,
    names: Cell<u64>,
}

impl Directory {
    fn add(&self, name_bytes: u64) {
        self.listed_bytes.set(self.listed_bytes.get() + name_bytes + NAME_EXTRA);
        self.names.set(self.names.get() + 1);
    }

    fn remove(&self, name_bytes: u64) {
        self.listed_bytes.set(self.listed_bytes.get().saturating_sub(name_bytes + NAME_EXTRA));
        self.names.set(self.names.get().saturating_sub(1));
    }

    fn empty(&self) {
        // Itself and its parent.
        self.listed_bytes.set(1 + 2 + 2 * NAME_EXTRA);
        self.names.set(2);
    }

    /// Bytes that a listing counts.
    pub fn listed_bytes(&self) -> u64 {
        self.listed_bytes.get()
    }

    /// Pages that its names take.
    pub fn pages(&self) -> u64 {
        (self.names.get() * ENTRY_BYTES).div_ceil(crate::files::PAGE)
    }
}

/// A leaf directory, which may exist or not.
#[derive(Clone, Debug)]
struct Leaf {
    inode: u32,
    /// The directory it is in.
    parent: u32,
    at_first: bool,
    exists: Cell<bool>,
}

/// What there is of a set beside its files' data.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub directories: Vec<Directory>,
    first: FileNumber,
    /// Of each file: the directory it is in, the length of its name, and whether it exists at first.
    parents: Vec<u32>,
    lengths: Vec<u16>,
    pub existing: Vec<bool>,
    leaves: Vec<Leaf>,
    /// Directories that are in others: the other one.
    inner: Vec<u32>,
}

/// The sets that flows of a workload work on.
pub(crate) fn used_by_flows(workload: &Workload) -> BTreeSet<&str> {
    workload.phases.iter().flat_map(|phase| set_names(phase, |_| true)).collect()
}

/// Names in a tree are numbers of eight digits at least.
fn digits(number: u32) -> u16 {
    number.checked_ilog10().map_or(1, |n| n as u16 + 1).max(8)
}

impl Names {
    /// The names of a set, of which `tree` is the layout if it is one. Directories get an inode and a block.
    pub fn make(machine: &Machine, set: &FileSet, tree: Option<&Layout>, first: FileNumber) -> Self {
        let mut files = machine.files.borrow_mut();
        let mut directory = || {
            let (inode, block) = files.directory();
            Directory { inode, block, listed_bytes: Cell::new(0), names: Cell::new(0) }
        };
        let Some(tree) = tree else { return Self::listed(set, first, directory) };
        let directories: Vec<Directory> = tree.directories.iter().map(|_| directory()).collect();
        let leaves = tree.leaf_directories.iter().map(|leaf| Leaf {
            inode: directory().inode,
            parent: leaf.directory,
            at_first: leaf.exists,
            exists: Cell::new(false),
        });
        Self {
            leaves: leaves.collect(),
            directories,
            first,
            parents: tree.files.iter().map(|f| f.directory).collect(),
            lengths: tree.files.iter().map(|f| digits(f.number)).collect(),
            existing: tree.files.iter().map(|f| f.exists).collect(),
            inner: tree.directories.iter().skip(1).map(|d| d.parent).collect(),
        }
    }

    /// Files that are named one by one, in the directories that their paths name, in the order of these.
    fn listed(set: &FileSet, first: FileNumber, mut directory: impl FnMut() -> Directory) -> Self {
        let paths: Vec<PathBuf> = (0..set.files.count()).filter_map(|i| set.files.path(i)).collect();
        let parent = |path: &PathBuf| path.parent().map(Path::to_path_buf).unwrap_or_default();
        let all: BTreeSet<PathBuf> = paths.iter().map(parent).collect();
        let number: BTreeMap<&Path, u32> = all.iter().map(PathBuf::as_path).zip(0..).collect();
        let length = |path: &PathBuf| path.file_name().map_or(0, |n| n.len().min(255) as u16);
        Self {
            directories: all.iter().map(|_| directory()).collect(),
            first,
            parents: paths.iter().map(|p| number.get(parent(p).as_path()).copied().unwrap_or(0)).collect(),
            lengths: paths.iter().map(length).collect(),
            existing: (0..paths.len() as u64).map(|n| set.exists_at_first(n)).collect(),
            leaves: Vec::new(),
            inner: Vec::new(),
        }
    }

    /// As it is when the set has been made: the leaf directories that are to exist do, and every directory has the names of what is
    /// in it.
    pub fn begin(&self, files: &Files) {
        self.directories.iter().for_each(Directory::empty);
        for &parent in &self.inner {
            self.directories[parent as usize].add(8);
        }
        for (n, (&parent, &length)) in self.parents.iter().zip(&self.lengths).enumerate() {
            if files.get(self.first + n as FileNumber).exists {
                self.directories[parent as usize].add(length.into());
            }
        }
        for leaf in &self.leaves {
            leaf.exists.set(leaf.at_first);
            if leaf.at_first {
                self.directories[leaf.parent as usize].add(8);
            }
        }
    }

    /// The directory that a file is in.
    pub fn directory_of(&self, file: usize) -> &Directory {
        &self.directories[self.parents[file] as usize]
    }

    /// A file was made or removed: its directory says so.
    pub fn file_is(&self, file: usize, exists: bool) {
        let (directory, length) = (self.directory_of(file), self.lengths[file].into());
        if exists { directory.add(length) } else { directory.remove(length) }
    }

    /// Number of leaf directories.
    pub fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// Whether a leaf directory exists.
    pub fn leaf_exists(&self, leaf: usize) -> bool {
        self.leaves[leaf].exists.get()
    }

    /// The inode of a leaf directory, and the directory it is in.
    pub fn leaf(&self, leaf: usize) -> (u32, &Directory) {
        let of = &self.leaves[leaf];
        (of.inode, &self.directories[of.parent as usize])
    }

    /// A leaf directory was made or removed.
    pub fn leaf_is(&self, leaf: usize, exists: bool) {
        let of = &self.leaves[leaf];
        of.exists.set(exists);
        let parent = &self.directories[of.parent as usize];
        if exists { parent.add(8) } else { parent.remove(8) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_says_what_is_there() {
        let directory = Directory { inode: 0, block: 0, listed_bytes: Cell::new(0), names: Cell::new(0) };
        directory.empty();
        directory.add(3);
        assert_eq!(directory.listed_bytes(), 1 + 2 + 3 + 3 * NAME_EXTRA);
        directory.remove(3);
        assert_eq!((directory.listed_bytes(), directory.pages()), (1 + 2 + 2 * NAME_EXTRA, 1));
        assert_eq!((digits(0), digits(99_999_999), digits(100_000_000)), (8, 8, 9));
    }
}
