//! write() through the page cache: pages become dirty and part of the running transaction. Who makes too many dirty writes back
//! himself before he goes on.

use super::Handle;
use crate::cache::Flags;
use crate::files::PAGE;
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
            self.transfer(handle, true, offset, bytes).await;
            self.compute(self.costs.page_ns * bytes.div_ceil(PAGE)).await;
            let mut files = self.files.borrow_mut();
            let file = files.get_mut(handle.file);
            file.bytes = file.bytes.max(offset + bytes);
            return;
        }
        self.lock(handle.file).await;
        let mut known_until = 0;
        for page in offset / PAGE..(offset + bytes).div_ceil(PAGE) {
            if page >= known_until {
                self.know_place(handle.who, handle.file, page as u32).await;
                let files = self.files.borrow();
                known_until = files.get(handle.file).places.named_until(page as u32).into();
            }
            // Not once per call: one call may write more than memory holds.
            if (page - offset / PAGE).is_multiple_of(self.pages_between_looks()) {
                self.hold_back(handle.who).await;
            }
            let whole = page * PAGE >= offset && (page + 1) * PAGE <= offset + bytes;
            self.write_page(handle, page as u32, whole).await;
        }
        {
            let mut files = self.files.borrow_mut();
            let file = files.get_mut(handle.file);
            file.bytes = file.bytes.max(offset + bytes);
            file.inode_dirty = true;
            self.note(|journal| journal.note_inode(file.inode));
        }
        self.unlock(handle.file);
    }

    async fn write_page(&self, handle: Handle, page: u32, whole: bool) {
        let (number, file_bytes) = {
            let files = self.files.borrow();
            let file = files.get(handle.file);
            (file.page(page), file.bytes)
        };
        let there = self.cache.borrow().flags(number);
        match there {
            Some(flags) if flags.has(Flags::READY) => {}
            Some(_) => self.wait_for_page(handle, page, number).await,
            // What is to be replaced as a whole, or lies behind the end, need not be read.
            None if whole || u64::from(page) * PAGE >= file_bytes => {
                self.cache.borrow_mut().insert(number, Flags::READY, self.cpu());
            }
            None => {
                self.cache.borrow_mut().insert(number, Flags::default(), self.cpu());
                self.read_in(handle.who, handle.file, page, 1).await;
                self.wait_for_page(handle, page, number).await;
            }
        }
        {
            let mut cache = self.cache.borrow_mut();
            cache.set(number, Flags::DIRTY, true);
            cache.touch(number);
            let mut files = self.files.borrow_mut();
            let file = files.get_mut(handle.file);
            if file.dirty.is_empty() {
                file.dirty_since_ns = self.now();
            }
            file.dirty.insert(page);
            self.note(|journal| journal.note_data(handle.file, page));
        }
        self.compute(self.costs.page_ns).await;
    }

    /// Takes the lock of an inode.
    pub(super) async fn lock(&self, file: u32) {
        let entered = self.files.borrow_mut().get_mut(file).gate.enter(self.task());
        if !entered {
            self.park().await;
        }
    }

    /// Gives it back.
    pub(super) fn unlock(&self, file: u32) {
        let next = self.files.borrow_mut().get_mut(file).gate.leave();
        if let Some(task) = next {
            self.wake(task);
        }
    }
}
