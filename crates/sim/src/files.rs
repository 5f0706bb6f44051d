//! The files of the simulated file system: where each lies, how long it is, what of it is dirty, and what its inode has to say. Made
//! from the file sets of a workload; the layout is decided when a set is made.

use crate::cache::PageNumber;
use crate::layout::{Allocator, BLOCK_SECTORS, Places};
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
    /// Its pages that were added when it grew, where their numbers do not follow on the first ones.
    more: Vec<Piece>,
    /// There is a file of this name; a flow may remove it and make it again.
    pub exists: bool,
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

/// Pages of a file whose numbers follow each other.
#[derive(Clone, Copy)]
struct Piece {
    /// The first of them in the file.
    page: u32,
    /// Its number among the pages of all files.
    number: PageNumber,
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
        match self.more.partition_point(|piece| piece.page <= page).checked_sub(1) {
            None => self.first_page + page,
            Some(at) => self.more[at].number + (page - self.more[at].page),
        }
    }

    /// How many pages from one on have numbers that follow each other.
    pub fn numbered_together(&self, page: u32) -> u32 {
        let next = self.more.partition_point(|piece| piece.page <= page);
        self.more.get(next).map_or(u32::MAX, |piece| piece.page - page)
    }
}

/// All files.
pub(crate) struct Files {
    files: Vec<File>,
    allocator: Allocator,
    pages: u64,
    /// Where the flusher goes on.
    pub cursor: usize,
    /// Where the room for files ends.
    limit_sector: u64,
}

/// Nothing is left of the device, or of the numbers of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// Pages by which a file grows at least and at most, beside what is asked for.
const GROWTH: (u32, u32) = (16, 2048);

/// The files are more than the simulator can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file sets have {pages} pages of 4 KiB; the simulator holds 2^32 - 1 (16 TiB)")]
pub struct TooLarge {
    /// How many they have.
    pub pages: u64,
}

impl Files {
    pub fn new(allocator: Allocator) -> Self {
        Self { files: Vec::new(), allocator, pages: 0, cursor: 0, limit_sector: u64::MAX }
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
            self.files.push(File {
                first_page,
                pages,
                bytes,
                places,
                indirect,
                inode,
                exists: true,
                ..File::default()
            });
        }
        Ok(first)
    }

    /// Files that grow may go up to this sector.
    pub fn limit(&mut self, sector: u64) {
        self.limit_sector = sector;
    }

    /// Gives a file blocks for so many pages, and some more, as file systems reserve them for a file that grows.
    pub fn grow(&mut self, file: FileNumber, pages: u32) -> Result<(), Full> {
        let this = &mut self.files[file as usize];
        let have = this.pages;
        if pages <= have {
            return Ok(());
        }
        let wanted = pages.saturating_add((have / 4).clamp(GROWTH.0, GROWTH.1));
        let added = u64::from(wanted - have);
        // What names them and the tables of groups on the way come on top.
        let blocks = added + added / 64 + GROWTH.0 as u64;
        if self.pages + added >= u64::from(u32::MAX)
            || self.allocator.end_sector() + blocks * BLOCK_SECTORS > self.limit_sector
        {
            return Err(Full);
        }
        let number = self.pages as PageNumber;
        if this.page(have) != number {
            this.more.push(Piece { page: have, number });
        }
        self.pages += added;
        self.allocator.extend(&mut this.places, have, wanted);
        // What names new pages is made in memory.
        this.indirect.resize(this.places.indirect.len(), Metadata::Present);
        this.pages = wanted;
        Ok(())
    }

    /// An inode and a block of its own: those of a directory. Returns the inode's number and the block's sector.
    pub fn directory(&mut self) -> (u32, u64) {
        (self.allocator.inode(), self.allocator.block())
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
    fn a_file_that_grows_goes_on_where_there_is_room() {
        for layout in [Layout::Extents, Layout::IndirectBlocks] {
            let mut files = Files::new(Allocator::new(layout, 1024, 0));
            files.make(&[4096, 4096]).unwrap();
            for pages in 2..5000 {
                files.grow(0, pages).unwrap();
                files.grow(1, pages).unwrap();
            }
            let mut seen = std::collections::BTreeSet::new();
            for file in [files.get(0), files.get(1)] {
                assert!(file.pages >= 4999 && file.indirect.len() == file.places.indirect.len());
                for page in 0..file.pages {
                    let together = file.numbered_together(page);
                    assert!(together > 0);
                    if together > 1 && page + 1 < file.pages {
                        assert_eq!(file.page(page) + 1, file.page(page + 1));
                    }
                    assert!(file.places.run(page).is_some());
                    assert!(seen.insert(file.page(page)), "two pages of one number");
                }
            }
            assert_eq!(seen.len() as u32, files.pages());
        }
    }

    #[test]
    fn growth_ends_with_the_room() {
        let mut files = Files::new(Allocator::new(Layout::Extents, 1, 0));
        files.make(&[4096]).unwrap();
        files.limit(2048 + 100 * BLOCK_SECTORS);
        assert_eq!((files.grow(0, 20), files.grow(0, 1 << 20)), (Ok(()), Err(Full)));
        assert!(files.end_sector() <= 2048 + 100 * BLOCK_SECTORS);
    }

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
