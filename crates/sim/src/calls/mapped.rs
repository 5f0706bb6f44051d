//! Memory-mapped files. A page that is in the page table costs only its copying; the first touch is a fault. A fault costs as much as a
//! call (a guess), waits for the page, and triggers reads: around itself, as Linux does since 2.6, or, where the mapping was advised to
//! be sequential, what a read() of the page would have read ahead. Evicting a page also removes it from the page table. A page that was
//! written back faults again at the next write, because that is how the kernel learns of it.
//!
//! Today's kernels also map cached neighbours at a fault. That is not modelled: each page faults.

use super::Handle;
use crate::cache::Flags;
use crate::copying::CopyDirection;
use crate::files::PAGE;
use crate::machine::Machine;
use fathom_iopath::readahead::Call;
use std::ops::Range;

/// Pages read around a fault: 128 KiB, the kernel's default.
const AROUND: u32 = 32;
/// Faults with a cache miss minus faults with a hit, above which the kernel reads single pages.
const LOTS_OF_MISSES: u32 = 100;
/// Upper limit of that counter.
const MOST_MISSES: u32 = 10 * LOTS_OF_MISSES;

/// Advice given for a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MappingAdvice {
    /// None: read around a fault.
    #[default]
    Around,
    /// MADV_SEQUENTIAL.
    Sequential,
    /// MADV_RANDOM.
    Never,
}

/// The page table of a mapping and its read-ahead state.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageTable {
    pub ahead: MappingAdvice,
    /// One bit per page: those that may be read, and those that may be written while they stay dirty.
    readable: Vec<u64>,
    writable: Vec<u64>,
    misses: u32,
    /// First page after the last read-around, and the page whose fault triggers the next one.
    end: u32,
    mark: Option<u32>,
    /// Number of write faults.
    stores: u64,
}

impl PageTable {
    /// An empty page table with this advice.
    pub fn new(ahead: MappingAdvice) -> Self {
        Self { ahead, ..Self::default() }
    }

    fn has(bits: &[u64], page: u32) -> bool {
        bits.get(page as usize / 64).is_some_and(|word| (word >> (page % 64)) & 1 == 1)
    }

    fn put(bits: &mut Vec<u64>, page: u32) {
        let word = page as usize / 64;
        if bits.len() <= word {
            bits.resize(word + 1, 0);
        }
        bits[word] |= 1 << (page % 64);
    }

    fn allow(&mut self, way: CopyDirection, page: u32) {
        Self::put(&mut self.readable, page);
        if way == CopyDirection::Write {
            Self::put(&mut self.writable, page);
        }
    }

    /// Pages that were not in memory are not in the page table; clears their stale bits.
    fn forget(&mut self, pages: Range<u32>) {
        for page in pages {
            for bits in [&mut self.readable, &mut self.writable] {
                if let Some(word) = bits.get_mut(page as usize / 64) {
                    *word &= !(1 << (page % 64));
                }
            }
        }
    }

    /// Pages to read at a fault unless cached: none if the page is in memory and not marked.
    fn window(&mut self, page: u32, is_there: bool, never: bool) -> Range<u32> {
        if is_there {
            self.misses = self.misses.saturating_sub(1);
            if self.mark != Some(page) {
                return page..page;
            }
            let from = self.end;
            self.mark = Some(from);
            self.end = from.saturating_add(AROUND);
            return from..self.end;
        }
        self.misses = (self.misses + 1).min(MOST_MISSES);
        if never || self.misses > LOTS_OF_MISSES {
            return page..page.saturating_add(1);
        }
        let from = page.saturating_sub(AROUND / 2);
        self.end = from.saturating_add(AROUND);
        self.mark = Some(from.saturating_add(AROUND / 4 * 3));
        from..self.end
    }
}

impl Machine {
    /// Copies bytes between a mapping and the caller's memory. The range must lie inside the file.
    pub(crate) async fn copy_mapped(
        &self,
        handle: Handle,
        table: &mut PageTable,
        way: CopyDirection,
        offset: u64,
        bytes: u64,
    ) {
        let pages = offset / PAGE..(offset + bytes).div_ceil(PAGE);
        let count = pages.end - pages.start;
        let copy_ns = self.costs.page_ns + self.copies.buffer_ns(way, count);
        let mut copying_ns = 0;
        for page in pages {
            let page = page as u32;
            if !self.is_mapped(handle, table, way, page) {
                self.compute(std::mem::take(&mut copying_ns)).await;
                self.fault(handle, table, way, page).await;
            }
            let number = self.files.borrow().get(handle.file).page(page);
            copying_ns += copy_ns
                + match way {
                    CopyDirection::Read => self.copy_out(number, count),
                    CopyDirection::Write => {
                        self.cache.borrow_mut().touch_to_write(number);
                        self.page_ns(way, number, count)
                    }
                };
            if !self.goes_on_after(copying_ns) {
                self.compute(std::mem::take(&mut copying_ns)).await;
            }
        }
        self.compute(copying_ns).await;
    }

    /// Maps all pages of the first `bytes` bytes.
    pub(crate) async fn populate(
        &self,
        handle: Handle,
        table: &mut PageTable,
        way: CopyDirection,
        bytes: u64,
    ) {
        for page in 0..bytes.div_ceil(PAGE) as u32 {
            if !self.is_mapped(handle, table, way, page) {
                self.fault(handle, table, way, page).await;
            }
        }
    }

    /// Extends a file to at least `bytes`; the new part is a hole.
    pub(crate) fn lengthen(&self, handle: Handle, bytes: u64) {
        let mut files = self.files.borrow_mut();
        let file = files.get_mut(handle.file);
        if file.bytes < bytes {
            file.bytes = bytes;
            file.inode_dirty = true;
            self.note(|journal| journal.note_growth(file.inode));
        }
    }

    fn is_mapped(&self, handle: Handle, table: &PageTable, way: CopyDirection, page: u32) -> bool {
        let number = self.files.borrow().get(handle.file).page(page);
        let Some(flags) = self.cache.borrow().flags(number) else { return false };
        flags.has(Flags::READY)
            && match way {
                CopyDirection::Read => PageTable::has(&table.readable, page),
                CopyDirection::Write => flags.has(Flags::DIRTY) && PageTable::has(&table.writable, page),
            }
    }

    /// Returns once a page is in memory and in the page table, and dirty if it is to be written.
    async fn fault(&self, handle: Handle, table: &mut PageTable, way: CopyDirection, page: u32) {
        self.compute(self.costs.call_ns).await;
        if way == CopyDirection::Write {
            if table.stores.is_multiple_of(self.pages_between_looks()) {
                self.hold_back(handle.who).await;
            }
            table.stores += 1;
            self.know_place(handle.who, handle.file, page).await;
        }
        for (first, pages) in self.wanted_at(handle, table, page) {
            table.forget(first..first + pages);
            self.plot.borrow_mut().is_read_ahead(self.now(), pages);
            self.read_in(handle.who, handle.file, first, pages).await;
        }
        let number = self.files.borrow().get(handle.file).page(page);
        self.wait_for_page(handle, page, number).await;
        table.allow(way, page);
        if way == CopyDirection::Write {
            self.make_dirty(handle, page);
            let mut files = self.files.borrow_mut();
            let file = files.get_mut(handle.file);
            file.inode_dirty = true;
            self.note(|journal| journal.note_inode(file.inode));
        }
    }

    /// The pages that a fault reads. They are in flight from now on.
    fn wanted_at(&self, handle: Handle, table: &mut PageTable, page: u32) -> Vec<(u32, u32)> {
        if table.ahead == MappingAdvice::Sequential {
            let file_bytes = self.files.borrow().get(handle.file).bytes;
            let call = Call { offset: u64::from(page) * PAGE, bytes: PAGE, file_bytes };
            let mut reading = {
                let mut opens = self.opens.borrow_mut();
                self.policy.begin_call(&mut opens[handle.open as usize], call)
            };
            let wanted = self.touch(handle, &mut reading, page);
            self.policy.end_call(&mut self.opens.borrow_mut()[handle.open as usize], reading);
            return wanted;
        }
        let is_there = self.is_asked_for(handle, page);
        let never = table.ahead == MappingAdvice::Never || self.policy.name() == "none";
        let window = table.window(page, is_there, never);
        // The page itself is read even if it is past the end of the file as the cache knows it.
        let end = self.files.borrow().get(handle.file).pages_of_data().max(page + 1).min(window.end);
        self.missing_of(handle, window.start.min(end)..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_table_knows_what_may_be_read_and_written() {
        let mut table = PageTable::new(MappingAdvice::Around);
        table.allow(CopyDirection::Read, 70);
        table.allow(CopyDirection::Write, 3);
        let readable: Vec<u32> = (0..200).filter(|&p| PageTable::has(&table.readable, p)).collect();
        assert_eq!(readable, [3, 70]);
        assert!(PageTable::has(&table.writable, 3) && !PageTable::has(&table.writable, 70));
        table.forget(3..300);
        assert!(!PageTable::has(&table.readable, 3) && !PageTable::has(&table.writable, 3));
        assert!(!PageTable::has(&table.readable, 70));
    }

    #[test]
    fn a_fault_reads_around_itself_and_goes_on_at_its_mark() {
        let mut table = PageTable::new(MappingAdvice::Around);
        assert_eq!(table.window(100, false, false), 84..116);
        assert_eq!(table.window(101, true, false), 101..101);
        // Three quarters of the window have been used.
        assert_eq!(table.window(108, true, false), 116..148);
        assert_eq!(table.window(116, true, false), 148..180);
        assert_eq!(table.window(0, false, true), 0..1);
    }

    #[test]
    fn after_a_hundred_misses_faults_read_single_pages() {
        let mut table = PageTable::new(MappingAdvice::Around);
        let single = (0..150).position(|n| table.window(n * 1000 + 500, false, false).len() == 1);
        assert_eq!(single, Some(100));
    }
}
