//! The shape of a tree: directories are created depth first, each with a drawn final depth and width, until all entries are placed. Uses
//! an explicit stack, because a drawn depth may exceed any thread's stack.

use super::{Amount, Directory, FileEntry, Layout, LayoutError, LayoutRequest, LeafDirectory};
use crate::ops::StandardGamma;
use crate::ops::generators::Rand48;

/// A directory that is being filled.
struct OpenDirectory {
    index: u32,
    level: u32,
    /// Entries go into it, not directories.
    leaf: bool,
    width: f64,
    /// Name of its next entry.
    next: u32,
}

/// The distributions of directories.
struct Forms<'a> {
    request: &'a LayoutRequest<'a>,
    /// Distribution of depths and fixed widths, and its shape; `None`: they are exact.
    gamma: Option<(StandardGamma, f64)>,
    mean_depth: f64,
}

/// All entries with their sizes; none of them exists yet.
pub(super) fn grow(request: &LayoutRequest, rand48: &mut Rand48) -> Result<Layout, LayoutError> {
    if request.entries > 0 && request.leaf_directories > 0 {
        return Err(LayoutError::FilesAndLeafDirectories);
    }
    let entries = request.entries + request.leaf_directories;
    if entries > u64::from(Layout::MOST_ENTRIES) {
        return Err(LayoutError::TooManyEntries { entries });
    }
    let shape = f64::from(request.gamma_thousandths) / 1000.0;
    let forms = Forms {
        request,
        gamma: StandardGamma::new(shape).map(|gamma| (gamma, shape)),
        mean_depth: request.mean_depth(),
    };
    let mut layout = Layout {
        directories: vec![Directory { parent: 0, number: 0 }],
        files: Vec::with_capacity(request.entries as usize),
        leaf_directories: Vec::with_capacity(request.leaf_directories as usize),
        mean_width: request.mean_width(),
        mean_depth: forms.mean_depth,
    };
    let mut open = vec![forms.open(0, 1, rand48)];
    let mut left = entries;
    while left > 0 {
        let top = open.len() - 1;
        let directory = &mut open[top];
        // The root is never full and never a leaf.
        if top > 0 && f64::from(directory.next) >= directory.width + 1.0 {
            open.pop();
            continue;
        }
        let number = directory.next;
        directory.next += 1;
        let (parent, level) = (directory.index, directory.level);
        if top > 0 && directory.leaf {
            left -= 1;
            if request.entries > 0 {
                let size = match request.size {
                    Amount::Fixed(bytes) => bytes,
                    Amount::Drawn { draw, .. } => draw(rand48) as u64,
                };
                layout.files.push(FileEntry { directory: parent, number, size, exists: false });
            } else {
                layout.leaf_directories.push(LeafDirectory { directory: parent, number, exists: false });
            }
            continue;
        }
        if level > Layout::MOST_LEVELS {
            return Err(LayoutError::TooDeep);
        }
        let index = layout.directories.len();
        if index > Layout::MOST_ENTRIES as usize {
            return Err(LayoutError::TooManyEntries { entries });
        }
        layout.directories.push(Directory { parent, number });
        open.push(forms.open(index as u32, level + 1, rand48));
    }
    Ok(layout)
}

impl Forms<'_> {
    /// Draws the depth, then the width.
    fn open(&self, index: u32, level: u32, rand48: &mut Rand48) -> OpenDirectory {
        let depth = match self.request.depth {
            Some(draw) => draw(rand48),
            None => self.spread(self.mean_depth, rand48),
        };
        let width = match self.request.width {
            Amount::Fixed(width) => self.spread(width as f64, rand48),
            Amount::Drawn { draw, .. } => draw(rand48),
        };
        let depth = match c_int(depth) {
            0 => 1,
            depth => depth,
        };
        // A directory that takes nothing would keep the tree from ending.
        let width = if width > 0.0 { width } else { 1.0 };
        OpenDirectory { index, level, leaf: i64::from(level) >= i64::from(depth), width, next: 1 }
    }

    fn spread(&self, mean: f64, rand48: &mut Rand48) -> f64 {
        match self.gamma {
            Some((gamma, shape)) => gamma.draw(&mut || rand48.unit()) * (mean / shape),
            None => mean,
        }
    }
}

/// Converts to a C int as x86 does: values out of range, including infinity, become the smallest int. Trees of width 1 have an infinite
/// mean depth, and because of this each of their directories is a leaf.
fn c_int(value: f64) -> i32 {
    if value > -2_147_483_649.0 && value < 2_147_483_648.0 { value as i32 } else { i32::MIN }
}
