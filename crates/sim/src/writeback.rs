//! Write-back: the flusher, which checks every few seconds for old data; the background writer, which is woken when too much is dirty;
//! and writers that are throttled and must help. Each takes a file that no other is working on, so several files are written in parallel.

use crate::block::Submitter;
use crate::files::{File, FileNumber};
use crate::machine::Machine;
use crate::machine::task::TaskNumber;
use std::cell::{Cell, RefCell};

/// Pages written of one file before moving to the next.
const PAGES_OF_A_FILE: u32 = 1024;
/// Pages that a throttled writer writes before it continues.
const PAGES_OF_A_WRITER: u32 = 1536;

/// State of the background writer, and the tasks that wait for write-back to progress.
#[derive(Default)]
pub(crate) struct Background {
    /// Its task number while it sleeps.
    sleeping: Cell<Option<TaskNumber>>,
    waiting: RefCell<Vec<TaskNumber>>,
}

impl Background {
    /// Whether any task waits for write-back.
    pub fn is_awaited(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }
}

impl Machine {
    /// Writes back old data, for ever.
    pub(crate) async fn flush_old_data(&self) {
        let w = &self.host.writeback;
        let interval_ns = u64::from(w.interval_s.get()) * 1_000_000_000;
        let expire_ns = u64::from(w.expire_s.get()) * 1_000_000_000;
        loop {
            self.tick_at((self.now() / interval_ns + 1) * interval_ns).await;
            let files = self.files.borrow().count();
            for _ in 0..files {
                let old_ns = self.now().saturating_sub(expire_ns);
                let Some(file) = self.next_file(|f| !f.being_written && f.dirty_since_ns <= old_ns) else {
                    break;
                };
                self.at_file(file, true);
                self.write_out(Submitter::FLUSHER, file, PAGES_OF_A_FILE, false).await;
                self.at_file(file, false);
            }
        }
    }

    /// Writes back while more is dirty than the background limit, for ever; sleeps otherwise and while the queue is congested.
    pub(crate) async fn write_in_background(&self) {
        loop {
            if !self.is_too_much_for_the_background() {
                self.background.sleeping.set(Some(self.task()));
                self.park().await;
                continue;
            }
            if self.block.congested(true) {
                self.block.hold_off(self.task());
                self.park().await;
                continue;
            }
            let Some(file) = self.next_file(|f| !f.being_written) else {
                self.until_writeback_moves(Submitter::FLUSHER).await;
                continue;
            };
            self.at_file(file, true);
            self.write_out_politely(Submitter::FLUSHER, file, PAGES_OF_A_FILE).await;
            self.at_file(file, false);
        }
    }

    /// A writer wakes the background writer, and above the limit writes back itself: a fixed number of pages, or until it is below.
    pub(crate) async fn hold_back(&self, who: Submitter) {
        if self.is_too_much_for_the_background()
            && let Some(sleeping) = self.background.sleeping.take()
        {
            self.wake(sleeping);
        }
        let mut done = 0;
        while done < PAGES_OF_A_WRITER && self.is_too_much_for_a_writer() {
            let Some(file) = self.next_file(|f| !f.being_written) else {
                self.until_writeback_moves(who).await;
                continue;
            };
            self.at_file(file, true);
            done += self.write_out(who, file, PAGES_OF_A_WRITER - done, false).await;
            self.at_file(file, false);
        }
    }

    /// Pages that a writer dirties between two checks of the limits: a 32nd of memory per CPU, at most 4 MiB (the kernel's
    /// ratelimit_pages).
    pub(crate) fn pages_between_looks(&self) -> u64 {
        let memory = self.cache.borrow().capacity() as u64;
        (memory / 32 / u64::from(self.host.cpu.cpus.get())).clamp(1, 1024)
    }

    /// sync(): writes everything that is dirty and waits for it.
    pub(crate) async fn sync_all(&self, who: Submitter) {
        while let Some(file) = self.next_file(|_| true) {
            self.write_out(who, file, u32::MAX, false).await;
        }
        let files = self.files.borrow().count();
        for file in 0..files {
            self.until_written(who, file as FileNumber).await;
        }
    }

    fn is_too_much_for_the_background(&self) -> bool {
        let cache = self.cache.borrow();
        let percent = self.host.writeback.background_percent.get();
        u64::from(cache.dirty()) * 100 > cache.capacity() as u64 * u64::from(percent)
    }

    /// Pages in flight count for a writer.
    fn is_too_much_for_a_writer(&self) -> bool {
        let cache = self.cache.borrow();
        let percent = self.host.writeback.limit_percent.get();
        u64::from(cache.dirty() + cache.writeback()) * 100 > cache.capacity() as u64 * u64::from(percent)
    }

    /// Marks whether a task is working on a file.
    fn at_file(&self, file: FileNumber, is: bool) {
        self.files.borrow_mut().get_mut(file).being_written = is;
        if !is {
            self.writeback_moved();
        }
    }

    /// Pages have reached the device, or a task has left a file: waiting tasks check again.
    pub(crate) fn writeback_moved(&self) {
        self.background.waiting.borrow_mut().drain(..).for_each(|task| self.wake(task));
    }

    async fn until_writeback_moves(&self, who: Submitter) {
        self.background.waiting.borrow_mut().push(self.task());
        self.about_to_wait(who);
        self.park().await;
    }

    /// The next file, round-robin, that has dirty pages and is wanted.
    fn next_file(&self, wanted: impl Fn(&File) -> bool) -> Option<FileNumber> {
        let mut files = self.files.borrow_mut();
        let count = files.count();
        let found = (1..=count).map(|n| (files.cursor + n) % count.max(1)).find(|&n| {
            let file = files.get(n as FileNumber);
            !file.dirty.is_empty() && wanted(file)
        })?;
        files.cursor = found;
        Some(found as FileNumber)
    }
}

#[cfg(test)]
#[path = "writeback_tests.rs"]
mod tests;
