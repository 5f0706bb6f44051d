//! write() through the page cache: pages become dirty and join the running transaction. A writer that dirties too much must write back
//! before it continues.

use super::Handle;
use crate::cache::{Flags, PageNumber};
use crate::copying::CopyDirection;
use crate::files::{FileNumber, PAGE};
use crate::host::JournalRule;
use crate::machine::Machine;
use crate::stack::Stack;

impl Machine {
    /// Writes to an open file.
    pub async fn write(&self, handle: Handle, offset: u64, bytes: u64) {
        self.compute(self.costs.call_ns).await;
        if bytes == 0 {
            return;
        }
        if self.stack != Stack::Full || handle.direct {
            let fills = self.fills_holes(handle.file, offset, bytes);
            self.transfer(handle, true, offset, bytes).await;
            self.compute(self.costs.page_ns * bytes.div_ceil(PAGE)).await;
            if !self.is_gone(handle) {
                self.note_write(handle, offset, bytes, fills);
            }
            return;
        }
        self.lock(handle.file).await;
        if self.is_gone(handle) {
            self.unlock(handle.file);
            return;
        }
        let fills = self.fills_holes(handle.file, offset, bytes);
        let pages = (offset + bytes).div_ceil(PAGE) - offset / PAGE;
        let copy_ns = self.costs.page_ns + self.copies.buffer_ns(CopyDirection::Write, pages);
        let between_looks = self.pages_between_looks();
        // As in a read, the clock is advanced only when something else could happen. A journal of data needs the time at every page.
        let notes_data = self.host.filesystem.journal.get().orders_overwrites();
        let mut copying_ns = 0;
        for page in offset / PAGE..offset / PAGE + pages {
            let whole = page * PAGE >= offset && (page + 1) * PAGE <= offset + bytes;
            // Not once per call, since one call may write more than memory holds.
            if (page - offset / PAGE).is_multiple_of(between_looks) {
                self.compute(std::mem::take(&mut copying_ns)).await;
                self.hold_back(handle.who).await;
            }
            let page = page as u32;
            if !self.make_ready(handle.file, page, whole) {
                self.compute(std::mem::take(&mut copying_ns)).await;
                self.bring_in(handle, page, whole).await;
            }
            copying_ns += copy_ns + self.copy_in(handle, page, pages);
            if notes_data || !self.goes_on_after(copying_ns) {
                self.compute(std::mem::take(&mut copying_ns)).await;
            }
        }
        self.compute(copying_ns).await;
        self.note_write(handle, offset, bytes, fills);
        self.unlock(handle.file);
    }

    /// Whether a write gives blocks to a hole.
    fn fills_holes(&self, file: FileNumber, offset: u64, bytes: u64) -> bool {
        let files = self.files.borrow();
        let file = files.get(file);
        let (mut page, end) = ((offset / PAGE) as u32, (offset + bytes).div_ceil(PAGE) as u32);
        while page < end {
            if file.hole(page) > 0 {
                return true;
            }
            page += file.run(page).map_or(1, |(_, run)| run.max(1));
        }
        false
    }

    /// Updates size and inode after a write. `fills`: it gave blocks to a hole.
    fn note_write(&self, handle: Handle, offset: u64, bytes: u64, fills: bool) {
        let mut files = self.files.borrow_mut();
        let file = files.get_mut(handle.file);
        let grows = fills || offset + bytes > file.bytes;
        file.bytes = file.bytes.max(offset + bytes);
        if self.stack != Stack::Full {
            return;
        }
        match self.host.filesystem.journal.get() {
            JournalRule::Jbd2 => {
                let tick = Some(self.now() / self.costs.tick_ns);
                if grows {
                    self.note(|journal| journal.note_growth(file.inode));
                } else if file.changed_tick != tick {
                    self.note(|journal| journal.note_inode(file.inode));
                }
                file.changed_tick = tick;
            }
            JournalRule::Linux24 | JournalRule::Linux26 | JournalRule::None => {
                if !handle.direct {
                    file.inode_dirty = true;
                    self.note(|journal| journal.note_inode(file.inode));
                }
            }
        }
    }

    /// Prepares a page for writing if that needs no wait: a page that is overwritten whole, or lies in a hole or past the end, is not
    /// read. Returns whether it succeeded.
    fn make_ready(&self, file: FileNumber, page: u32, whole: bool) -> bool {
        if !self.is_place_known(file, page) {
            return false;
        }
        let (number, is_empty) = {
            let files = self.files.borrow();
            let file = files.get(file);
            (file.page(page), u64::from(page) * PAGE >= file.bytes || file.hole(page) > 0)
        };
        let flags = self.cache.borrow().flags(number);
        match flags {
            Some(flags) => flags.has(Flags::READY),
            None if whole || is_empty => {
                self.cache.borrow_mut().insert(number, Flags::READY, self.cpu());
                true
            }
            None => false,
        }
    }

    /// Returns once a page can be written.
    async fn bring_in(&self, handle: Handle, page: u32, whole: bool) {
        self.know_place(handle.who, handle.file, page).await;
        if self.make_ready(handle.file, page, whole) {
            return;
        }
        let number = self.files.borrow().get(handle.file).page(page);
        if self.cache.borrow().flags(number).is_none() {
            self.cache.borrow_mut().insert(number, Flags::default(), self.cpu());
            self.read_in(handle.who, handle.file, page, 1).await;
        }
        self.wait_for_page(handle, page, number).await;
    }

    /// Copies in a page of a call of `pages` pages and dirties it. Returns the extra cost by its CPU cache level, ns.
    fn copy_in(&self, handle: Handle, page: u32, pages: u64) -> u64 {
        let number = self.make_dirty(handle, page);
        self.page_ns(CopyDirection::Write, number, pages)
    }

    /// Marks a page dirty and returns its number.
    pub(super) fn make_dirty(&self, handle: Handle, page: u32) -> PageNumber {
        let number = {
            let mut files = self.files.borrow_mut();
            let file = files.get_mut(handle.file);
            if file.dirty.is_empty() {
                file.dirty_since_ns = self.now();
            }
            file.dirty.insert(page);
            file.is_written(page);
            file.reach = file.reach.max(page + 1);
            file.page(page)
        };
        {
            let mut cache = self.cache.borrow_mut();
            cache.set(number, Flags::DIRTY, true);
            cache.touch_to_write(number);
        }
        self.note(|journal| journal.note_data(handle.file, page));
        number
    }

    /// Takes the inode lock of a file.
    pub(super) async fn lock(&self, file: u32) {
        let entered = self.files.borrow_mut().get_mut(file).gate.enter(self.task());
        if !entered {
            self.park().await;
        }
    }

    /// Releases the inode lock.
    pub(super) fn unlock(&self, file: u32) {
        let next = self.files.borrow_mut().get_mut(file).gate.leave();
        if let Some(task) = next {
            self.wake(task);
        }
    }
}
