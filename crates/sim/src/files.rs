//! The files of the simulated file system: where each lies, how long it is, what of it is dirty, and what its inode has to say. Made
//! from the file sets of a workload; the layout is decided when a set is made.

use crate::cache::PageNumber;
use crate::layout::{Allocator, Places};
use crate::machine::Gate;
use crate::machine::task::TaskNumber;
use crate::runs::Runs;

/// A file's number in the table.
pub(crate) type FileNumber = u32;

/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;

/// A block of metadata that must be in memory to go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Metadata {
    /// On the device only.
    #[default]
    Absent,
    /// Being read; these wait.
    InFlight(Vec<TaskNumber>),
    /// In memory.
    Present,
}

/// A file.
#[derive(Default)]
pub(crate) struct File {
    /// The number of its first page among the pages of all files.
    pub first_page: PageNumber,
    /// Pages it has blocks for.
    pub pages: u32,
    /// Its length.
    pub bytes: u64,
    /// Behind the last of its pages that may be in memory although it lies behind the end.
    pub reach: u32,
    /// Where it lies.
    pub places: Places,
    /// Its indirect blocks, as far as they are in memory.
    pub indirect: Vec<Metadata>,
    /// Its inode.
    pub inode: u32,
    /// Its dirty pages, counted in the file.
    pub dirty: Runs,
    /// When the first of them was written to.
    pub dirty_since_ns: u64,
    /// A flusher or a writer who is held back is at it; another one takes another file.
    pub being_written: bool,
    /// Pages on their way to the device.
    pub writeback: u32,
    /// Who waits until there are none.
    pub waiters: Vec<TaskNumber>,
    /// The inode was changed since it was last written.
    pub inode_dirty: bool,
    /// The second in which its time of access was last noted; plus one, 0 for never.
    pub accessed_s: u64,
    /// Who writes or syncs it.
    pub gate: Gate,
}

impl File {
    /// Pages up to its end; it may have blocks behind that.
    pub fn pages_of_data(&self) -> u32 {
        self.bytes.div_ceil(PAGE).min(self.pages.into()) as u32
    }

    /// Its first pages, so many that there are none in memory behind them.
    pub fn in_memory(&self) -> u32 {
        self.reach.max(self.pages_of_data())
    }

    /// The number of one of its pages among the pages of all files.
    pub fn page(&self, page: u32) -> PageNumber {
        self.first_page + page
    }
}

/// All files.
pub(crate) struct Files {
    files: Vec<File>,
    allocator: Allocator,
    pages: u64,
    /// Where the flusher goes on.
    pub cursor: usize,
}

/// The files are more than the simulator can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file sets have {pages} pages of 4 KiB; the simulator holds 2^32 - 1 (16 TiB)")]
pub struct TooLarge {
    /// How many they have.
    pub pages: u64,
}

impl Files {
    pub fn new(allocator: Allocator) -> Self {
        Self { files: Vec::new(), allocator, pages: 0, cursor: 0 }
    }

    /// Makes files of these lengths, laid out together. Returns the number of the first.
    pub fn make(&mut self, bytes: &[u64]) -> Result<FileNumber, TooLarge> {
        let total = bytes.iter().fold(self.pages, |sum, b| sum.saturating_add(b.div_ceil(PAGE)));
        if total >= u64::from(u32::MAX) {
            return Err(TooLarge { pages: total });
        }
        let pages: Vec<u32> = bytes.iter().map(|b| b.div_ceil(PAGE) as u32).collect();
        let first = self.files.len() as FileNumber;
        for ((places, &pages), &bytes) in self.allocator.lay_out(&pages).into_iter().zip(&pages).zip(bytes) {
            let indirect = vec![Metadata::Absent; places.indirect.len()];
            let inode = self.allocator.inode();
            let first_page = self.pages as PageNumber;
            self.pages += u64::from(pages);
            self.files.push(File { first_page, pages, bytes, places, indirect, inode, ..File::default() });
        }
        Ok(first)
    }

    /// Numbers for so many pages of files that nobody will ask for; as many as there are numbers left.
    pub fn others(&mut self, pages: u64) -> std::ops::Range<PageNumber> {
        let first = self.pages;
        self.pages = (first + pages).min(u64::from(u32::MAX) - 1);
        first as PageNumber..self.pages as PageNumber
    }

    /// Pages of all files.
    pub fn pages(&self) -> PageNumber {
        self.pages as PageNumber
    }

    /// Number of files.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    pub fn get(&self, file: FileNumber) -> &File {
        &self.files[file as usize]
    }

    pub fn get_mut(&mut self, file: FileNumber) -> &mut File {
        &mut self.files[file as usize]
    }

    /// The sector of the inode table's block that holds an inode.
    pub fn inode_sector(&self, inode: u32) -> u64 {
        self.allocator.inode_sector(inode)
    }

    /// The first sector that no file uses.
    pub fn end_sector(&self) -> u64 {
        self.allocator.end_sector()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Layout;

    #[test]
    fn pages_of_all_files_are_numbered_through() {
        let mut files = Files::new(Allocator::new(Layout::Extents, 1, 0));
        assert_eq!(files.make(&[10_000, 4096]), Ok(0));
        assert_eq!(files.make(&[1]), Ok(2));
        assert_eq!((files.pages(), files.count()), (5, 3));
        assert_eq!((files.get(1).page(0), files.get(2).page(0)), (3, 4));
        let error = files.make(&[1 << 60]).unwrap_err().to_string();
        assert!(error.contains("16 TiB"), "{error}");
    }
}
