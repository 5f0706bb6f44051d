//! Locations of files' blocks. The allocator moves upwards from a goal, like a file system that is filled by one writer after another.
//! With indirect blocks it skips the tables at the start of every group of 128 MiB, and allocates each indirect block on the way. A block
//! is a page of 4 KiB.

use crate::host::Layout;
use std::collections::BTreeMap;

/// Sectors per block.
pub(crate) const BLOCK_SECTORS: u64 = 8;
/// Blocks per group.
const GROUP_BLOCKS: u64 = 32_768;
/// Tables at the start of a group: copy of the superblock, group descriptors, two bitmaps, 16384 inodes of 128 bytes.
const GROUP_TABLES: u64 = 516;
/// Inodes per block of the table, and per group's table.
const INODES_PER_BLOCK: u32 = 32;
const INODES_PER_GROUP: u32 = 16_384;
/// Blocks named by an inode, and by an indirect block.
const DIRECT: u64 = 12;
const NAMED: u64 = 1024;

/// A contiguous piece of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileExtent {
    /// First page in the file.
    pub page: u32,
    /// Length in pages.
    pub pages: u32,
    /// First sector.
    pub sector: u64,
}

impl FileExtent {
    /// The sector of a page, and how many pages of the extent start there.
    fn run(self, page: u32) -> Option<(u64, u32)> {
        let skipped = page.checked_sub(self.page)?;
        let left = self.pages.checked_sub(skipped).filter(|&n| n > 0)?;
        Some((self.sector + u64::from(skipped) * BLOCK_SECTORS, left))
    }

    /// Extends it by a page if that page is contiguous.
    fn grow(&mut self, page: u32, sector: u64) -> bool {
        let follows =
            self.page + self.pages == page && self.sector + u64::from(self.pages) * BLOCK_SECTORS == sector;
        self.pages += u32::from(follows);
        follows
    }
}

/// No such indirect block: the pages it would name are a hole.
const NO_BLOCK: u64 = u64::MAX;

/// Location of a file's pages. Pages without an extent are holes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockMap {
    /// Ordered by page.
    extents: Vec<FileExtent>,
    /// Extents that were put into holes, by first page.
    filling: BTreeMap<u32, FileExtent>,
    /// Sector of each indirect block, ordered by the pages they name: the first one names the pages from 12 on.
    pub indirect: Vec<u64>,
}

impl BlockMap {
    /// The sector of a page and the length of the contiguous run from it, in pages; `None` in holes and past the last page.
    pub fn run(&self, page: u32) -> Option<(u64, u32)> {
        let after = self.extents.partition_point(|e| e.page <= page);
        let in_order = after.checked_sub(1).and_then(|at| self.extents[at].run(page));
        in_order.or_else(|| self.filling.range(..=page).next_back()?.1.run(page))
    }

    /// Number of pages without blocks from `page`, which has none, on; `u32::MAX` if there is no end.
    pub fn hole(&self, page: u32) -> u32 {
        let in_order = self.extents.get(self.extents.partition_point(|e| e.page <= page)).map(|e| e.page);
        let filling = self.filling.range(page..).next().map(|(&first, _)| first);
        in_order.into_iter().chain(filling).min().map_or(u32::MAX, |next| next - page)
    }

    /// The first page after all that have blocks.
    pub fn end(&self) -> u32 {
        self.extents.last().map_or(0, |last| last.page + last.pages)
    }

    /// The index of the indirect block that names a page, and the first page that it no longer names; `None` if the inode names the page
    /// or the layout has no indirect blocks.
    pub fn indirect_of(&self, page: u32) -> Option<(usize, u32)> {
        let behind = u64::from(page).checked_sub(DIRECT)?;
        let number = (behind / NAMED) as usize;
        let end = DIRECT + (number as u64 + 1) * NAMED;
        (number < self.indirect.len()).then(|| (number, u32::try_from(end).unwrap_or(u32::MAX)))
    }

    /// The first page whose location is not known without further metadata: the first that the inode does not name, or `u32::MAX`.
    pub fn named_until(&self, page: u32) -> u32 {
        match self.indirect_of(page) {
            Some((_, end)) => end,
            None if self.indirect.is_empty() => u32::MAX,
            None => DIRECT as u32,
        }
    }

    fn put(&mut self, page: u32, block: u64) {
        let sector = block * BLOCK_SECTORS;
        let new = FileExtent { page, pages: 1, sector };
        if page >= self.end() {
            if !self.extents.last_mut().is_some_and(|last| last.grow(page, sector)) {
                self.extents.push(new);
            }
            return;
        }
        let mut before = self.filling.range_mut(..page);
        if !before.next_back().is_some_and(|(_, extent)| extent.grow(page, sector)) {
            self.filling.insert(page, new);
        }
    }
}

/// Block and inode allocator.
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    layout: Layout,
    next_block: u64,
    /// Contiguous blocks per file where several are laid out side by side; 0: each file is laid out alone.
    interleave: u32,
    inodes: u32,
    /// First block of the group that holds the inodes.
    home_block: u64,
}

impl Allocator {
    /// Starts `data_mib` MiB from the start of the device.
    pub fn new(layout: Layout, data_mib: u64, interleave: u32) -> Self {
        let block = data_mib * 256;
        let home_block = block / GROUP_BLOCKS * GROUP_BLOCKS;
        Self { layout, next_block: block, interleave, inodes: 0, home_block }
    }

    /// Lays out files with these numbers of pages.
    pub fn lay_out(&mut self, sizes: &[u32]) -> Vec<BlockMap> {
        let mut files = vec![BlockMap::default(); sizes.len()];
        if self.interleave == 0 {
            for (file, &pages) in files.iter_mut().zip(sizes) {
                self.extend(file, 0, pages);
            }
            return files;
        }
        let mut done = 0;
        while sizes.iter().any(|&pages| pages > done) {
            let until = done.saturating_add(self.interleave);
            for (file, &pages) in files.iter_mut().zip(sizes) {
                if pages > done {
                    self.extend(file, done, pages.min(until));
                }
            }
            done = until;
        }
        files
    }

    /// Allocates blocks for the pages from `from` to `to` of a file, which have none.
    pub fn extend(&mut self, file: &mut BlockMap, from: u32, to: u32) {
        for page in from..to {
            if self.layout == Layout::IndirectBlocks {
                self.indirect_before(file, page);
            }
            let block = self.take();
            file.put(page, block);
        }
    }

    /// Allocates the indirect blocks needed before a page can be named: one per 4 MiB, and for the first of each level the blocks above
    /// it, which are always in memory and only take space.
    fn indirect_before(&mut self, file: &mut BlockMap, page: u32) {
        let Some(behind) = u64::from(page).checked_sub(DIRECT) else { return };
        let number = (behind / NAMED) as usize;
        if file.indirect.get(number).is_some_and(|&sector| sector != NO_BLOCK) {
            return;
        }
        if number > 0 && file.indirect.iter().skip(1).all(|&sector| sector == NO_BLOCK) {
            self.take();
        }
        let block = self.take();
        if file.indirect.len() <= number {
            file.indirect.resize(number + 1, NO_BLOCK);
        }
        file.indirect[number] = block * BLOCK_SECTORS;
    }

    fn take(&mut self) -> u64 {
        if self.layout == Layout::IndirectBlocks && self.next_block % GROUP_BLOCKS < GROUP_TABLES {
            self.next_block = self.next_block / GROUP_BLOCKS * GROUP_BLOCKS + GROUP_TABLES;
        }
        self.next_block += 1;
        self.next_block - 1
    }

    /// Allocates a single block and returns its sector.
    pub fn block(&mut self) -> u64 {
        self.take() * BLOCK_SECTORS
    }

    /// Allocates an inode and returns its number.
    pub fn inode(&mut self) -> u32 {
        self.inodes += 1;
        self.inodes - 1
    }

    /// Sector of the inode-table block that holds an inode. A full table continues in the next group's.
    pub fn inode_sector(&self, inode: u32) -> u64 {
        let group = self.home_block + u64::from(inode / INODES_PER_GROUP) * GROUP_BLOCKS;
        let block = inode % INODES_PER_GROUP / INODES_PER_BLOCK;
        (group + 4 + u64::from(block)) * BLOCK_SECTORS
    }

    /// The first sector after everything allocated.
    pub fn end_sector(&self) -> u64 {
        self.next_block * BLOCK_SECTORS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(layout: Layout, pages: u32) -> BlockMap {
        Allocator::new(layout, 1024, 0).lay_out(&[pages]).remove(0)
    }

    #[test]
    fn indirect_blocks_stand_before_what_they_name() {
        let file = one(Layout::IndirectBlocks, 6144);
        assert_eq!(file.indirect.len(), 6);
        let first = (1024 * 256 + GROUP_TABLES) * BLOCK_SECTORS;
        assert_eq!(file.run(0), Some((first, 12)));
        assert_eq!(file.indirect[0], first + 12 * 8);
        assert_eq!(file.run(12), Some((first + 13 * 8, 1024)));
        // The double-indirect block and the one below it.
        assert_eq!(file.run(1036), Some((first + (1037 + 2) * 8, 1024)));
        assert_eq!((file.indirect_of(11), file.indirect_of(12)), (None, Some((0, 1036))));
        assert_eq!((file.named_until(0), file.named_until(1036)), (12, 2060));
        assert_eq!(file.run(6144), None);
    }

    #[test]
    fn extents_need_nothing_between() {
        let file = one(Layout::Extents, 100_000);
        assert_eq!(file.extents.len(), 1);
        assert_eq!((file.indirect_of(5000), file.named_until(5000)), (None, u32::MAX));
    }

    #[test]
    fn holes_have_no_blocks_and_can_be_filled() {
        for layout in [Layout::Extents, Layout::IndirectBlocks] {
            let mut allocator = Allocator::new(layout, 1024, 0);
            let mut file = BlockMap::default();
            let before = allocator.end_sector();
            allocator.extend(&mut file, 100_000, 100_004);
            // Includes a group's tables, an indirect block and the one above it.
            assert!(allocator.end_sector() - before <= (4 + GROUP_TABLES + 2) * BLOCK_SECTORS);
            assert_eq!((file.run(0), file.hole(0), file.end()), (None, 100_000, 100_004));
            allocator.extend(&mut file, 50, 52);
            allocator.extend(&mut file, 52, 53);
            assert_eq!((file.hole(0), file.hole(53), file.hole(100_004)), (50, 99_947, u32::MAX));
            let runs = [50, 51, 52, 100_001].map(|page| file.run(page).unwrap().1);
            assert_eq!(runs, [3, 2, 1, 3]);
            assert!((0..50).chain(53..200).all(|page| file.run(page).is_none()));
        }
    }

    #[test]
    fn groups_begin_with_their_tables() {
        let file = one(Layout::IndirectBlocks, 70_000);
        let in_tables = |sector: u64| sector / 8 % GROUP_BLOCKS < GROUP_TABLES;
        assert!(file.extents.iter().all(|e| !in_tables(e.sector)));
        assert!(file.extents.len() > 70);
    }

    #[test]
    fn inodes_beyond_a_groups_table_lie_in_the_next_groups() {
        let allocator = Allocator::new(Layout::IndirectBlocks, 1024, 0);
        let (first, last) = (allocator.inode_sector(0), allocator.inode_sector(16_383));
        assert_eq!((last - first) / BLOCK_SECTORS, 511);
        let group = GROUP_BLOCKS * BLOCK_SECTORS;
        assert_eq!(allocator.inode_sector(16_384), first + group);
        let in_tables = |inode| allocator.inode_sector(inode) / BLOCK_SECTORS % GROUP_BLOCKS < GROUP_TABLES;
        assert!((0..200_000).step_by(999).all(in_tables));
    }

    proptest! {
        #[test]
        fn no_block_is_given_out_twice(sizes in prop::collection::vec(0u32..3000, 1..6), interleave in 0u32..40, indirect: bool) {
            let layout = if indirect { Layout::IndirectBlocks } else { Layout::Extents };
            let files = Allocator::new(layout, 10, interleave).lay_out(&sizes);
            let mut blocks: Vec<u64> = Vec::new();
            for (file, &pages) in files.iter().zip(&sizes) {
                blocks.extend(file.indirect.iter().filter(|&&s| s != NO_BLOCK).map(|s| s / 8));
                for page in 0..pages {
                    blocks.push(file.run(page).unwrap().0 / 8);
                }
                prop_assert!(file.run(pages).is_none());
            }
            let all = blocks.len();
            blocks.sort_unstable();
            blocks.dedup();
            prop_assert_eq!(blocks.len(), all);
        }
    }
}
