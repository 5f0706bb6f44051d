//! Files of the simulated file system: location, length, dirty pages and inode state. They are made from a workload's file sets; the
//! layout is decided when a set is made. `file` describes one file, this module the table of all.

mod file;

use crate::cache::PageNumber;
use crate::layout::{Allocator, BLOCK_SECTORS, BlockMap};
use file::PageRun;
pub(crate) use file::{File, Metadata};
use std::ops::Range;

/// Index of a file in the table.
pub(crate) type FileNumber = u32;

/// Page size, bytes.
pub(crate) const PAGE: u64 = 4096;

pub(crate) struct Files {
    files: Vec<File>,
    allocator: Allocator,
    pages: u64,
    /// File at which the flusher continues.
    pub cursor: usize,
    /// First sector past the space for files.
    limit_sector: u64,
}

/// Why a file cannot grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GrowError {
    /// The device is full.
    #[error("the simulated device is full; choose a larger device or less data")]
    Device,
    /// The page numbers are used up, holes included.
    #[error("growing files are limited to 4 TiB in all, holes included; choose a smaller working set")]
    Numbers,
}

/// Limit on all pages when a file grows: each takes 4 bytes, even in a hole.
const MOST_PAGES: u64 = 1 << 30;

/// Minimum and maximum of the extra pages allocated when a file grows.
const GROWTH: (u32, u32) = (16, 2048);

/// The files have more pages than the simulator can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file sets have {pages} pages of 4 KiB; the simulator holds 2^32 - 1 (16 TiB)")]
pub struct TooLarge {
    /// Number of pages requested.
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

    /// Sets the sector up to which files may grow.
    pub fn limit(&mut self, sector: u64) {
        self.limit_sector = sector;
    }

    /// Allocates blocks for the pages of a range that are holes. A file that grows at its end gets a few more, like the reservations of
    /// real file systems.
    pub fn allocate(&mut self, file: FileNumber, pages: Range<u32>) -> Result<(), GrowError> {
        let this = &mut self.files[file as usize];
        let have = this.places.end();
        let goes_on = pages.start <= have && pages.end > have;
        let ahead = if goes_on { (have / 4).clamp(GROWTH.0, GROWTH.1) } else { 0 };
        let missing = without_blocks(&this.places, pages.start..pages.end.saturating_add(ahead));
        let Some(last) = missing.last() else { return Ok(()) };
        let end = this.pages.max(last.end);
        let numbers = self.pages + u64::from(end - this.pages);
        if numbers > MOST_PAGES {
            return Err(GrowError::Numbers);
        }
        // Plus the indirect blocks and any group tables on the way.
        let added: u64 = missing.iter().map(|hole| u64::from(hole.end - hole.start)).sum();
        let blocks = added + added / 64 + u64::from(GROWTH.0);
        if self.allocator.end_sector() + blocks * BLOCK_SECTORS > self.limit_sector {
            return Err(GrowError::Device);
        }
        let number = self.pages as PageNumber;
        if end > this.pages && this.page(this.pages) != number {
            this.more.push(PageRun { page: this.pages, number });
        }
        (self.pages, this.pages) = (numbers, end);
        for hole in missing {
            self.allocator.extend(&mut this.places, hole.start, hole.end);
            this.unwritten.insert_run(hole);
        }
        // Indirect blocks of new pages are created in memory.
        this.indirect.resize(this.places.indirect.len(), Metadata::Present);
        Ok(())
    }

    /// Allocates an inode and a block for a directory. Returns the inode's number and the block's sector.
    pub fn directory(&mut self) -> (u32, u64) {
        (self.allocator.inode(), self.allocator.block())
    }

    /// Page numbers for `pages` pages of files that no task will request; fewer if not enough numbers are left.
    pub fn others(&mut self, pages: u64) -> Range<PageNumber> {
        let first = self.pages;
        self.pages = (first + pages).min(u64::from(u32::MAX) - 1);
        first as PageNumber..self.pages as PageNumber
    }

    /// Number of pages of all files.
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

    /// Sector of the inode-table block that holds an inode.
    pub fn inode_sector(&self, inode: u32) -> u64 {
        self.allocator.inode_sector(inode)
    }

    /// The first sector that no file uses.
    pub fn end_sector(&self) -> u64 {
        self.allocator.end_sector()
    }
}

/// The parts of a range that have no blocks.
fn without_blocks(places: &BlockMap, pages: Range<u32>) -> Vec<Range<u32>> {
    let (mut at, mut found) = (pages.start, Vec::new());
    while at < pages.end {
        let from = at;
        match places.run(at) {
            Some((_, run)) => at = at.saturating_add(run),
            None => {
                at = pages.end.min(at.saturating_add(places.hole(at)));
                found.push(from..at);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Layout;

    #[test]
    fn a_growing_file_gets_unused_page_numbers_and_blocks() {
        for layout in [Layout::Extents, Layout::IndirectBlocks] {
            let mut files = Files::new(Allocator::new(layout, 1024, 0));
            files.make(&[4096, 4096]).unwrap();
            for pages in 2..5000 {
                files.allocate(0, 0..pages).unwrap();
                files.allocate(1, pages - 1..pages).unwrap();
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
    fn growth_stops_when_the_device_is_full() {
        let mut files = Files::new(Allocator::new(Layout::Extents, 1, 0));
        files.make(&[4096]).unwrap();
        files.limit(2048 + 100 * BLOCK_SECTORS);
        assert_eq!(
            (files.allocate(0, 0..20), files.allocate(0, 0..1 << 20)),
            (Ok(()), Err(GrowError::Device))
        );
        assert_eq!(files.allocate(0, 1 << 30..(1 << 30) + 1), Err(GrowError::Numbers));
        assert!(files.end_sector() <= 2048 + 100 * BLOCK_SECTORS);
    }

    #[test]
    fn holes_and_unwritten_pages_read_as_holes_without_blocks() {
        let mut files = Files::new(Allocator::new(Layout::Extents, 1024, 0));
        files.make(&[2 * PAGE]).unwrap();
        let before = files.end_sector();
        files.allocate(0, 1000..1001).unwrap();
        assert_eq!(files.end_sector() - before, BLOCK_SECTORS);
        let file = files.get_mut(0);
        assert_eq!((file.hole(0), file.hole(2), file.hole(1000), file.pages), (0, 998, 1, 1001));
        assert_eq!((file.run(1).map(|r| r.1), file.run(2), file.run(1000)), (Some(1), None, None));
        file.is_written(1000);
        assert_eq!((file.hole(2), file.hole(1000), file.run(1000).map(|r| r.1)), (998, 0, Some(1)));
        file.is_written_up_to(PAGE + 1);
        assert_eq!((file.hole(0), file.hole(1), file.hole(1000)), (0, 0, 1));
        file.is_written_up_to(0);
        assert_eq!([0, 1, 2, 1000].map(|page| file.hole(page)), [2, 1, 998, 1]);
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
