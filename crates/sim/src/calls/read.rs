//! read() through the page cache, page by page, as the kernel does it. Read-ahead is consulted at each page; the pages it wants are read,
//! and a page that is not there yet is waited for. Other threads may run between two pages, and if they share the open file they change
//! the state that the next page finds.

use super::{Handle, ShortTransfer};
use crate::block::{Block, BlockIo, Purpose, Submitter};
use crate::cache::{Cache, Flags, PageNumber};
use crate::copying::CopyDirection;
use crate::files::{File, FileNumber};
use crate::layout::BLOCK_SECTORS;
use crate::machine::Machine;
use crate::stack::Stack;
use fathom_iopath::readahead::{Call, Kind, Mark, Pages, Presence, Reading, Touch};
use std::collections::BTreeMap;

/// The cache of one file as a read-ahead policy sees it. The pages it requests are recorded and are in flight from then on.
struct OneFile<'a> {
    cache: &'a mut Cache,
    marks: &'a mut BTreeMap<PageNumber, u32>,
    file: &'a File,
    cpu: usize,
    block: &'a Block,
    /// Pages to read, as (first page, length) of each piece.
    wanted: Vec<(u32, u32)>,
}

impl OneFile<'_> {
    fn number(&self, page: u64) -> PageNumber {
        self.file.page(page as u32)
    }
}

impl Pages for OneFile<'_> {
    fn present(&self, page: u64) -> bool {
        self.cache.flags(self.number(page)).is_some()
    }

    fn read(&mut self, first: u64, pages: u32, mark: Option<Mark>, _kind: Kind) {
        for page in first..first + u64::from(pages) {
            self.cache.insert(self.number(page), Flags::default(), self.cpu);
        }
        if let Some(mark) = mark {
            let page = self.number(mark.page);
            self.cache.set(page, Flags::MARKED, true);
            self.marks.insert(page, mark.pages);
        }
        self.wanted.push((first as u32, pages));
    }

    fn unmark(&mut self, mark: Mark) {
        let page = self.number(mark.page);
        self.cache.set(page, Flags::MARKED, false);
        self.marks.remove(&page);
    }

    fn congested(&self) -> bool {
        self.block.congested(false)
    }
}

impl Machine {
    /// Reads from an open file.
    pub async fn read(&self, handle: Handle, offset: u64, bytes: u64) -> Result<(), ShortTransfer> {
        self.compute(self.costs.call_ns).await;
        let file_bytes = self.files.borrow().get(handle.file).bytes;
        let call = Call { offset, bytes, file_bytes };
        let moved = call.end().saturating_sub(offset);
        if self.stack == Stack::Full && !handle.direct {
            let mut reading = {
                let mut opens = self.opens.borrow_mut();
                self.policy.begin_call(&mut opens[handle.open as usize], call)
            };
            let pages = call.pages().end - call.pages().start;
            let copy_ns = self.costs.page_ns + self.copies.buffer_ns(CopyDirection::Read, pages);
            // Cached pages are copied one after the other; the clock is advanced when something else could happen.
            let mut copying_ns = 0;
            for page in call.pages() {
                let page = page as u32;
                let wanted = if handle.no_readahead {
                    self.touch_alone(handle, page..call.pages().end as u32)
                } else {
                    self.touch(handle, &mut reading, page)
                };
                let number = self.files.borrow().get(handle.file).page(page);
                if !wanted.is_empty() || !self.is_ready(number) {
                    self.compute(std::mem::take(&mut copying_ns)).await;
                    for (first, pages) in wanted {
                        self.plot.borrow_mut().is_read_ahead(self.now(), pages);
                        self.read_in(handle.who, handle.file, first, pages).await;
                    }
                    self.wait_for_page(handle, page, number).await;
                }
                copying_ns += copy_ns + self.copy_out(number, pages);
                if !self.goes_on_after(copying_ns) {
                    self.compute(std::mem::take(&mut copying_ns)).await;
                }
            }
            self.compute(copying_ns).await;
            self.policy.end_call(&mut self.opens.borrow_mut()[handle.open as usize], reading);
            if handle.access_time {
                self.note_access(handle.file);
            }
        } else {
            self.transfer(handle, false, offset, moved).await;
            self.compute(self.costs.page_ns * (call.pages().end - call.pages().start)).await;
        }
        if moved < bytes { Err(ShortTransfer { moved }) } else { Ok(()) }
    }

    /// Whether a page-cache read would find all its pages and so never wait.
    pub(crate) fn finds_all(&self, handle: Handle, offset: u64, bytes: u64) -> bool {
        let files = self.files.borrow();
        let file = files.get(handle.file);
        let call = Call { offset, bytes, file_bytes: file.bytes };
        call.pages().all(|page| self.is_ready(file.page(page as u32)))
    }

    /// Whether a page is in memory with its data.
    fn is_ready(&self, page: PageNumber) -> bool {
        self.cache.borrow().flags(page).is_some_and(|f| f.has(Flags::READY))
    }

    /// Copies a page of a call of `pages` pages to the caller. Returns the extra cost from where it lies and from its activation, ns.
    pub(super) fn copy_out(&self, page: PageNumber, pages: u64) -> u64 {
        let activated = self.cache.borrow_mut().touch(page);
        let activation_ns = if activated { self.copies.activation_ns() } else { 0 };
        activation_ns + self.page_ns(CopyDirection::Read, page, pages)
    }

    /// Extra cost of copying a page, by the CPU cache level it is in, ns. It is in the nearest cache afterwards.
    pub(super) fn page_ns(&self, way: CopyDirection, page: PageNumber, pages: u64) -> u64 {
        if !self.copies.matter() {
            return 0;
        }
        let now = self.copies.tick();
        let before = self.cache.borrow_mut().copied(page, now);
        self.copies.page_ns(way, now, before, pages)
    }

    /// Passes a page to read-ahead and returns the pages to read.
    pub(super) fn touch(&self, handle: Handle, reading: &mut Reading, page: u32) -> Vec<(u32, u32)> {
        let mut cache = self.cache.borrow_mut();
        let mut marks = self.marks.borrow_mut();
        let mut counts = self.counts.borrow_mut();
        let files = self.files.borrow();
        let of = files.get(handle.file);
        let number = of.page(page);
        let flags = cache.flags(number);
        counts.pages_asked += 1;
        let presence = match flags {
            None => Presence::Absent,
            Some(flags) if flags.has(Flags::READY) => {
                counts.pages_cached += 1;
                Presence::Cached
            }
            Some(_) => {
                counts.pages_in_flight += 1;
                Presence::InFlight
            }
        };
        let mark = flags
            .filter(|f| f.has(Flags::MARKED))
            .and_then(|_| marks.get(&number))
            .map(|&pages| Mark { page: page.into(), pages });
        let block = &self.block;
        let cpu = self.cpu();
        let mut file =
            OneFile { cache: &mut cache, marks: &mut marks, file: of, cpu, block, wanted: Vec::new() };
        let touch = Touch { page: page.into(), presence, mark };
        self.policy.touch(&mut self.opens.borrow_mut()[handle.open as usize], reading, touch, &mut file);
        file.wanted
    }

    /// Returns once a page is in memory. If it was evicted again while this task waited, it is read alone.
    pub(super) async fn wait_for_page(&self, handle: Handle, page: u32, number: PageNumber) {
        loop {
            let flags = self.cache.borrow().flags(number);
            match flags {
                Some(flags) if flags.has(Flags::READY) => return,
                Some(_) => {
                    self.cache.borrow_mut().wait(number, self.task());
                    self.about_to_wait(handle.who);
                    self.park().await;
                }
                None => {
                    self.counts.borrow_mut().pages_lost += 1;
                    self.cache.borrow_mut().insert(number, Flags::default(), self.cpu());
                    self.read_in(handle.who, handle.file, page, 1).await;
                }
            }
        }
    }

    /// Reads pages of a file that were marked in flight when requested.
    pub(super) async fn read_in(&self, who: Submitter, file: FileNumber, first: u32, pages: u32) {
        let (longest, limits) = (self.host.block.read_bio_pages.get(), self.block.limits());
        let end = first + pages;
        let mut at = first;
        self.block.plug(who);
        while at < end {
            let hole = self.files.borrow().get(file).hole(at).min(end - at);
            if hole > 0 {
                self.fill_with_zeroes(file, at..at + hole);
                at += hole;
                continue;
            }
            self.know_place(who, file, at).await;
            let (sector, run, number) = {
                let files = self.files.borrow();
                let this = files.get(file);
                let Some((sector, run)) = this.run(at) else { continue };
                let run = run.min(this.places.named_until(at) - at).min(this.numbered_together(at));
                (sector, run, this.page(at))
            };
            let (pages, span) = self.cache.borrow().memory(number, run.min(end - at).min(longest), &limits);
            let purpose = Purpose::Read { page: number, pages };
            let sectors = pages * BLOCK_SECTORS as u32;
            self.submit(who, BlockIo { write: false, sync: true, sector, sectors, span, purpose }).await;
            at += pages;
        }
        self.block.finish_plug(self, who);
    }

    /// Pages in a hole become ready without the device.
    fn fill_with_zeroes(&self, file: FileNumber, pages: std::ops::Range<u32>) {
        let (files, mut cache) = (self.files.borrow(), self.cache.borrow_mut());
        for page in pages {
            let number = files.get(file).page(page);
            cache.set(number, Flags::READY, true);
            cache.waiters(number, |task| self.wake(task));
        }
    }

    /// The access time changes once a second, which dirties the inode.
    fn note_access(&self, file: FileNumber) {
        let second = self.now() / 1_000_000_000 + 1;
        let mut files = self.files.borrow_mut();
        let file = files.get_mut(file);
        if file.accessed_s != second {
            file.accessed_s = second;
            file.inode_dirty = true;
            self.note(|journal| journal.note_inode(file.inode));
        }
    }
}
