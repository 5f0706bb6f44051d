//! The layout of a directory tree: its directories and files, the file sizes, and which of them exist at the start. It follows from the
//! request and the generators' state alone, name by name and byte by byte as Filebench 1.5 lays its trees out. Pure: it only names files;
//! the executor creates them.
//!
//! A million files take about 30 MB and a tenth of a second.

mod choose;
mod grow;
mod of_workload;
#[cfg(test)]
mod tests;

pub use of_workload::{Layouts, SetError, layouts};

use crate::ops::generators::{GlibcRandom, Mt19937, Rand48};
use std::fmt::Write as _;

/// A random variable as the layout sees it: returns the next value, given the stream of the process in case it draws from that one. It is
/// called through a shared reference because one variable may serve as width, depth and size of the same tree.
pub type Draw<'a> = dyn Fn(&mut Rand48) -> f64 + 'a;

/// A number of the request: fixed, or drawn each time.
#[derive(Clone, Copy)]
pub enum Amount<'a> {
    /// Always this.
    Fixed(u64),
    /// Drawn.
    Drawn {
        /// Mean of the variable, before rounding and bounds.
        mean: f64,
        /// Where the values come from.
        draw: &'a Draw<'a>,
    },
}

/// Parameters of a tree.
#[derive(Clone, Copy)]
pub struct LayoutRequest<'a> {
    /// Number of files.
    pub entries: u64,
    /// Number of empty leaf directories; a tree has either files or these.
    pub leaf_directories: u64,
    /// Mean number of entries of a directory.
    pub width: Amount<'a>,
    /// Shape of the gamma distribution of depths and of fixed widths, in thousandths; 0: they are exact.
    pub gamma_thousandths: u32,
    /// Source of depths; without it they follow from entries and width. It should have the mean [`LayoutRequest::mean_depth`].
    pub depth: Option<&'a Draw<'a>>,
    /// Bytes of each file.
    pub size: Amount<'a>,
    /// Percent of the files, or of the leaf directories, that exist at the start.
    pub preallocated_percent: u8,
}

/// The generators that all trees of a run draw from, one tree after the other. The result therefore depends on the order of the trees.
#[derive(Clone, Debug)]
pub struct LayoutState {
    /// Draws depths, widths, and variables of the process's stream.
    pub rand48: Rand48,
    /// Decides whether an entry exists.
    pub random: GlibcRandom,
    /// Chooses the next entry to decide.
    pub twister: Mt19937,
}

impl Default for LayoutState {
    /// The state at the start of Filebench.
    fn default() -> Self {
        Self {
            rand48: Rand48::default(),
            random: GlibcRandom::new(1),
            twister: Mt19937::new(Mt19937::FIRST_SEED),
        }
    }
}

/// A directory. Its position in [`Layout::directories`] is its index; parents come before children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Index of its parent; the root is its own parent.
    pub parent: u32,
    /// Number that is its name; 0 for the root, which is named by the creator of the tree.
    pub number: u32,
}

/// A file. Its position in [`Layout::files`] is its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Index of its directory.
    pub directory: u32,
    /// Number that is its name.
    pub number: u32,
    /// Its size in bytes, once it exists.
    pub size: u64,
    /// It exists at the start.
    pub exists: bool,
}

/// An empty directory that flows create and remove. Its position in [`Layout::leaf_directories`] is its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafDirectory {
    /// Index of its parent directory.
    pub directory: u32,
    /// Number that is its name.
    pub number: u32,
    /// It exists at the start.
    pub exists: bool,
}

/// A tree laid out.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Its directories, the root first; all of them exist at the start.
    pub directories: Vec<Directory>,
    /// Its files.
    pub files: Vec<FileEntry>,
    /// Its empty directories.
    pub leaf_directories: Vec<LeafDirectory>,
    /// The requested width, as an integer: Filebench's "avg. dir. width".
    pub mean_width: u64,
    /// The depth that follows from entries and width, whatever the tree's own is: "avg. dir. depth". Infinite for a width of 1.
    pub mean_depth: f64,
}

/// Why a tree is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Both kinds of entries.
    #[error(
        "a tree cannot have both files and leaf directories, whose names would be the same; make two trees of it"
    )]
    FilesAndLeafDirectories,
    /// More entries than can be numbered.
    #[error("a tree of {entries} entries is too large; at most {} are possible", Layout::MOST_ENTRIES)]
    TooManyEntries {
        /// Requested number.
        entries: u64,
    },
    /// Deeper than paths can be.
    #[error(
        "a directory of the tree would be more than {} levels deep, and its path longer than the system takes; choose a larger \
         width or a smaller depth",
        Layout::MOST_LEVELS
    )]
    TooDeep,
    /// A percentage above 100.
    #[error("{percent} % of the entries of a tree cannot exist; expected 0 to 100")]
    TooManyExist {
        /// Requested percentage.
        percent: u8,
    },
}

impl LayoutRequest<'_> {
    /// The width as an integer, or the integer part of its mean.
    #[must_use]
    pub fn mean_width(&self) -> u64 {
        match self.width {
            Amount::Fixed(width) => width,
            Amount::Drawn { mean, .. } => mean as u64,
        }
    }

    /// Levels of directories of that width needed for the entries: ln(entries) / ln(width).
    #[must_use]
    pub fn mean_depth(&self) -> f64 {
        let entries = self.entries.saturating_add(self.leaf_directories);
        (entries as f64).ln() / (self.mean_width() as f64).ln()
    }
}

impl Layout {
    /// Entries and directories are numbered in 32 bits.
    pub const MOST_ENTRIES: u32 = u32::MAX >> 1;
    /// Levels of directories below the root. A path of 4096 bytes can hold a few more.
    pub const MOST_LEVELS: u32 = 440;

    /// Lays a tree out.
    ///
    /// # Errors
    /// If the tree is impossible; the state may have been drawn from all the same.
    pub fn new(request: &LayoutRequest, state: &mut LayoutState) -> Result<Self, LayoutError> {
        let percent = request.preallocated_percent;
        if percent > 100 {
            return Err(LayoutError::TooManyExist { percent });
        }
        let mut layout = grow::grow(request, &mut state.rand48)?;
        choose::choose(layout.files.len(), percent, choose::Edge::Absent, state, |i| {
            layout.files[i].exists = true;
        });
        choose::choose(layout.leaf_directories.len(), percent, choose::Edge::Present, state, |i| {
            layout.leaf_directories[i].exists = true;
        });
        Ok(layout)
    }

    /// Bytes of all files together, existing or not.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.size))
    }

    /// Path of a directory relative to the root, which is "".
    ///
    /// # Panics
    /// If there is no directory of that index.
    #[must_use]
    pub fn directory_path(&self, index: usize) -> String {
        let mut path = String::new();
        self.push_directory(index, &mut path);
        path
    }

    /// Path of a file relative to the root: `00000003/00000001`.
    ///
    /// # Panics
    /// If there is no file of that index.
    #[must_use]
    pub fn file_path(&self, index: usize) -> String {
        let FileEntry { directory, number, .. } = self.files[index];
        self.entry_path(directory, number)
    }

    /// Path of a leaf directory relative to the root.
    ///
    /// # Panics
    /// If there is no leaf directory of that index.
    #[must_use]
    pub fn leaf_directory_path(&self, index: usize) -> String {
        let LeafDirectory { directory, number, .. } = self.leaf_directories[index];
        self.entry_path(directory, number)
    }

    fn entry_path(&self, directory: u32, number: u32) -> String {
        let mut path = self.directory_path(directory as usize);
        push_name(number, &mut path);
        path
    }

    /// Recursion is no deeper than [`Layout::MOST_LEVELS`].
    fn push_directory(&self, index: usize, path: &mut String) {
        let Directory { parent, number } = self.directories[index];
        if index > 0 {
            self.push_directory(parent as usize, path);
            push_name(number, path);
        }
    }
}

fn push_name(number: u32, path: &mut String) {
    if !path.is_empty() {
        path.push('/');
    }
    // Writing to a String cannot fail.
    let _ = write!(path, "{number:08}");
}
