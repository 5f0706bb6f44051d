//! Names in the simulated file system, for sets that flows use: directories with their inode and block, which files and leaf directories
//! are in which, and how many bytes a listing returns. Names are in memory from the start; changes go into the journal.

use crate::files::{FileNumber, Files};
use crate::machine::Machine;
use fathom_workload::flow::set_names;
use fathom_workload::tree::Layout;
use fathom_workload::{FileSet, Workload};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Bytes that a listing counts per name on top of its length: the size of the system's directory record.
const NAME_EXTRA: u64 = 279;
/// Bytes that a name takes in a directory's block: its ext2 record.
const ENTRY_BYTES: u64 = 16;

#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// Its inode number, and the sector of its block.
    pub inode: u32,
    pub block: u64,
    /// Bytes that a listing of it returns.
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
        // The entries `.` and `..`.
        self.listed_bytes.set(1 + 2 + 2 * NAME_EXTRA);
        self.names.set(2);
    }

    /// Bytes that a listing returns.
    pub fn listed_bytes(&self) -> u64 {
        self.listed_bytes.get()
    }

    /// Pages taken by its names.
    pub fn pages(&self) -> u64 {
        (self.names.get() * ENTRY_BYTES).div_ceil(crate::files::PAGE)
    }
}

/// A leaf directory, which may not exist.
#[derive(Clone, Debug)]
struct Leaf {
    inode: u32,
    /// The parent directory.
    parent: u32,
    at_first: bool,
    exists: Cell<bool>,
}

/// Names and directories of a set.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub directories: Vec<Directory>,
    first: FileNumber,
    /// For each file: its directory, the length of its name, and whether it exists at first.
    parents: Vec<u32>,
    lengths: Vec<u16>,
    pub existing: Vec<bool>,
    leaves: Vec<Leaf>,
    /// Parent of each nested directory.
    inner: Vec<u32>,
}

/// Names of the sets used by flows of a workload.
pub(crate) fn used_by_flows(workload: &Workload) -> BTreeSet<&str> {
    workload.phases.iter().flat_map(|phase| set_names(phase, |_| true)).collect()
}

/// Names in a tree are numbers of at least eight digits.
fn digits(number: u32) -> u16 {
    number.checked_ilog10().map_or(1, |n| n as u16 + 1).max(8)
}

impl Names {
    /// Makes the names of a set; `tree` is its layout if it is a tree. Directories get an inode and a block.
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

    /// Files listed one by one, in the directories of their paths, in path order.
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

    /// Restores the state right after creation: the initial leaf directories exist, and every directory contains its entries.
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

    /// The directory of a file.
    pub fn directory_of(&self, file: usize) -> &Directory {
        &self.directories[self.parents[file] as usize]
    }

    /// Updates the directory after a file was created or removed.
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

    /// The inode of a leaf directory, and its parent.
    pub fn leaf(&self, leaf: usize) -> (u32, &Directory) {
        let of = &self.leaves[leaf];
        (of.inode, &self.directories[of.parent as usize])
    }

    /// Updates a leaf directory that was created or removed.
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
