//! fsync(): submits the file's dirty pages, then handles the journal or the inode by the rule of the kernel in question, then waits for
//! all writes of the file in flight, and with barriers flushes the device's cache.

use super::Handle;
use crate::block::{BlockIo, Purpose, Submitter};
use crate::cache::Flags;
use crate::files::FileNumber;
use crate::host::JournalRule;
use crate::layout::BLOCK_SECTORS;
use crate::machine::Machine;
use crate::stack::Stack;
use fathom_iopath::PageSpan;

/// Pages of a file in one bio: first page, count, and their memory.
type Pages = (u32, u32, PageSpan);

impl Machine {
    /// fsync or fdatasync. Only the rules of ext4 treat them differently where a journal is concerned.
    pub async fn fsync(&self, handle: Handle, data_only: bool) {
        let began = self.now();
        self.compute(self.costs.call_ns).await;
        // Without a file system nothing is dirty, so the written data is in the device's cache.
        let committed = self.stack == Stack::Full && self.write_file(handle, data_only).await;
        // A commit has already flushed.
        if !committed && self.host.filesystem.barriers.get() {
            self.flush_device(handle.who).await;
        }
        let mut counts = self.counts.borrow_mut();
        counts.fsyncs += 1;
        counts.fsync_ns += self.now() - began;
    }

    /// Writes a file's dirty pages and its inode. Returns whether a transaction was committed.
    async fn write_file(&self, handle: Handle, data_only: bool) -> bool {
        self.write_out(handle.who, handle.file, u32::MAX, true).await;
        let rule = self.host.filesystem.journal.get();
        if rule == JournalRule::Jbd2 {
            self.until_written(handle.who, handle.file).await;
            return self.commit_inode(handle, data_only).await;
        }
        self.lock(handle.file).await;
        let committed = match rule {
            JournalRule::Linux24 => self.commit_running(handle.who).await,
            JournalRule::Linux26 => self.commit_for(handle).await,
            JournalRule::None | JournalRule::Jbd2 => {
                if !data_only {
                    self.write_inode(handle).await;
                }
                false
            }
        };
        self.unlock(handle.file);
        self.until_written(handle.who, handle.file).await;
        committed
    }

    /// Submits at most `most` dirty pages of a file, in ascending order. Returns how many.
    pub(crate) async fn write_out(&self, who: Submitter, file: FileNumber, most: u32, sync: bool) -> u32 {
        let longest = self.host.block.write_bio_pages.get();
        let mut done = 0;
        self.block.plug(who);
        while done < most {
            let Some((page, pages, span)) = self.next_dirty(file, longest.min(most - done)) else { break };
            // Their location may have to be read first. The pages already count as in flight, so no other task submits them.
            self.write_pages(who, file, (page, pages, span), sync).await;
            done += pages;
        }
        self.block.finish_plug(self, who);
        done
    }

    /// Like [`Machine::write_out`], but stops where the queue is congested: for callers that can wait.
    pub(crate) async fn write_out_politely(&self, who: Submitter, file: FileNumber, most: u32) {
        let longest = self.host.block.write_bio_pages.get();
        let mut done = 0;
        self.block.plug(who);
        while done < most && !self.block.congested(true) {
            let Some((page, pages, span)) = self.next_dirty(file, longest.min(most - done)) else { break };
            self.write_pages(who, file, (page, pages, span), false).await;
            done += pages;
        }
        self.block.finish_plug(self, who);
    }

    /// Takes the next contiguous dirty pages of a file that fit one bio, and marks them in flight.
    fn next_dirty(&self, file: FileNumber, most: u32) -> Option<Pages> {
        let mut files = self.files.borrow_mut();
        let mut cache = self.cache.borrow_mut();
        let this = files.get_mut(file);
        let (first, length) = this.dirty.first()?;
        let run = this.places.run(first).map_or(1, |(_, run)| run);
        let together = this.numbered_together(first);
        let run = run.min(this.places.named_until(first) - first).min(most).min(length).min(together);
        let (pages, span) = cache.memory(this.page(first), run, &self.block.limits());
        this.dirty.take_first(pages);
        for page in first..first + pages {
            let number = this.page(page);
            cache.set(number, Flags::DIRTY, false);
            cache.set(number, Flags::WRITEBACK, true);
        }
        this.writeback += pages;
        self.counts.borrow_mut().pages_written += u64::from(pages);
        Some((first, pages, span))
    }

    /// Submits one page if it is still dirty. Returns whether it was.
    pub(crate) async fn write_one(&self, who: Submitter, file: FileNumber, page: u32) -> bool {
        {
            let mut files = self.files.borrow_mut();
            let this = files.get_mut(file);
            if !this.dirty.remove(page) {
                return false;
            }
            let number = this.page(page);
            this.writeback += 1;
            let mut cache = self.cache.borrow_mut();
            cache.set(number, Flags::DIRTY, false);
            cache.set(number, Flags::WRITEBACK, true);
            self.counts.borrow_mut().pages_written += 1;
        }
        let number = self.files.borrow().get(file).page(page);
        let (_, span) = self.cache.borrow().memory(number, 1, &self.block.limits());
        self.write_pages(who, file, (page, 1, span), false).await;
        true
    }

    async fn write_pages(&self, who: Submitter, file: FileNumber, (page, pages, span): Pages, sync: bool) {
        self.know_place(who, file, page).await;
        let place = {
            let files = self.files.borrow();
            let this = files.get(file);
            this.places.run(page).map(|(sector, _)| (sector, this.page(page)))
        };
        let Some((sector, number)) = place else { return };
        let purpose = Purpose::Write { file, page: number, pages };
        let sectors = pages * BLOCK_SECTORS as u32;
        self.submit(who, BlockIo { write: true, sync, sector, sectors, span, purpose }).await;
    }

    /// Returns once no write of a file is in flight.
    pub(crate) async fn until_written(&self, who: Submitter, file: FileNumber) {
        loop {
            {
                let mut files = self.files.borrow_mut();
                let this = files.get_mut(file);
                if this.writeback == 0 {
                    return;
                }
                this.waiters.push(self.task());
            }
            self.about_to_wait(who);
            self.park().await;
        }
    }

    /// Without a journal: writes the inode's block and waits for it.
    async fn write_inode(&self, handle: Handle) {
        let sector = {
            let mut files = self.files.borrow_mut();
            let file = files.get_mut(handle.file);
            if !std::mem::take(&mut file.inode_dirty) {
                return;
            }
            let inode = file.inode;
            files.inode_sector(inode)
        };
        self.write_block(handle.who, sector, 1, true).await;
    }

    /// Writes contiguous metadata blocks, one bio each, and waits for all of them.
    pub(crate) async fn write_block(&self, who: Submitter, sector: u64, blocks: u32, sync: bool) {
        let parts = self.parts.borrow_mut().make();
        self.block.plug(who);
        for n in 0..u64::from(blocks) {
            self.parts.borrow_mut().more(parts);
            let piece = BlockIo {
                write: true,
                sync,
                sector: sector + n * BLOCK_SECTORS,
                sectors: BLOCK_SECTORS as u32,
                span: PageSpan::scattered(1),
                purpose: Purpose::Part(parts),
            };
            self.submit(who, piece).await;
        }
        self.block.finish_plug(self, who);
        self.all_parts(parts, who).await;
    }
}
