//! The layout of a directory tree: which directories and files it consists of, how large the files are, and which of them exist
//! at the start. It follows from the request and from the generators' state alone, name by name and byte by byte as Filebench
//! 1.5 lays its trees out. Pure: it names files; whoever has a file system makes them.
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

/// A random variable as the layout sees it: asked for the next value, and handed the stream of the process in case it draws from
/// that one. It is called through a shared reference because one variable may serve as width, depth and size of the same tree.
pub type Draw<'a> = dyn Fn(&mut Rand48) -> f64 + 'a;

/// A number of the request: the same each time, or drawn anew.
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

/// What tree is wanted.
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
    /// Where depths come from; without it they follow from entries and width. It should have the mean [`LayoutRequest::mean_depth`].
    pub depth: Option<&'a Draw<'a>>,
    /// Bytes of each file.
    pub size: Amount<'a>,
    /// Percent of the files, or of the leaf directories, that exist at the start.
    pub preallocated_percent: u8,
}

/// The generators that all trees of one run draw from, one tree after the other. The order of the trees is therefore part of
/// the result.
#[derive(Clone, Debug)]
pub struct LayoutState {
    /// Depths, widths, and variables of the process's stream.
    pub rand48: Rand48,
    /// Whether an entry exists.
    pub random: GlibcRandom,
    /// Which entry is decided next.
    pub twister: Mt19937,
}

impl Default for LayoutState {
    /// As at the start of Filebench.
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
    /// Index of its parent; that of the root is the root.
    pub parent: u32,
    /// Its name is this number; 0 for the root, which is named by whoever makes the tree.
    pub number: u32,
}

/// A file. Its position in [`Layout::files`] is its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Index of its directory.
    pub directory: u32,
    /// Its name is this number.
    pub number: u32,
    /// Its size in bytes, once it exists.
    pub size: u64,
    /// It exists at the start.
    pub exists: bool,
}

/// An empty directory that flows make and remove. Its position in [`Layout::leaf_directories`] is its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafDirectory {
    /// Index of the directory it is in.
    pub directory: u32,
    /// Its name is this number.
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
    /// The width that was asked for, as a whole number: what Filebench calls "avg. dir. width".
    pub mean_width: u64,
    /// The depth that entries and width give, whatever the tree's own is: "avg. dir. depth". Infinite for a width of 1.
    pub mean_depth: f64,
}

/// Why there is no such tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Both kinds of entries.
    #[error(
        "a tree cannot have both files and leaf directories, whose names would be the same; make two trees of it"
    )]
    FilesAndLeafDirectories,
    /// More than can be numbered.
    #[error("a tree of {entries} entries is too large; at most {} are possible", Layout::MOST_ENTRIES)]
    TooManyEntries {
        /// As many as were asked for.
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
        /// As was asked for.
        percent: u8,
    },
}

impl LayoutRequest<'_> {
    /// The width as a whole number, or the whole part of its mean.
    #[must_use]
    pub fn mean_width(&self) -> u64 {
        match self.width {
            Amount::Fixed(width) => width,
            Amount::Drawn { mean, .. } => mean as u64,
        }
    }

    /// How many levels of directories of that width hold so many entries: ln(entries) / ln(width).
    #[must_use]
    pub fn mean_depth(&self) -> f64 {
        let entries = self.entries.saturating_add(self.leaf_directories);
        (entries as f64).ln() / (self.mean_width() as f64).ln()
    }
}

impl Layout {
    /// Entries and directories are numbered in 32 bits.
    pub const MOST_ENTRIES: u32 = u32::MAX >> 1;
    /// Levels of directories below the root. A path of 4096 bytes has room for a few more.
    pub const MOST_LEVELS: u32 = 440;

    /// Lays a tree out.
    ///
    /// # Errors
    /// If there is no such tree; the state may have been drawn from all the same.
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

    /// Bytes of all files together, whether they exist or not.
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
