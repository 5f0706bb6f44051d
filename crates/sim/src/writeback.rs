//! Write-back: the flusher, who looks every few seconds for data that is old or too much, and the writer who is made to help.

use crate::block::Who;
use crate::files::FileNumber;
use crate::machine::Machine;

/// Pages of one file that are written before the next file's turn comes.
const PAGES_OF_A_FILE: u32 = 1024;
/// Pages that a writer who is held back writes before he looks again.
const PAGES_OF_A_WRITER: u32 = 1536;

impl Machine {
    /// Writes back for ever.
    pub(crate) async fn flush_old_data(&self) {
        let w = &self.host.writeback;
        let interval_ns = u64::from(w.interval_s.get()) * 1_000_000_000;
        let expire_ns = u64::from(w.expire_s.get()) * 1_000_000_000;
        loop {
            self.sleep_until((self.now() / interval_ns + 1) * interval_ns).await;
            self.commit_if_old();
            let files = self.files.borrow().count();
            for _ in 0..files {
                let old_ns = self.now().saturating_sub(expire_ns);
                let Some(file) =
                    self.next_file(|since_ns| since_ns <= old_ns || self.above(w.background_percent.get()))
                else {
                    break;
                };
                self.write_out(Who::FLUSHER, file, PAGES_OF_A_FILE, false).await;
            }
        }
    }

    /// A writer above the limit writes back until it is below.
    pub(crate) async fn hold_back(&self, who: Who) {
        while self.above(self.host.writeback.limit_percent.get()) {
            let Some(file) = self.next_file(|_| true) else { break };
            self.write_out(who, file, PAGES_OF_A_WRITER, false).await;
            self.until_written(who, file).await;
        }
    }

    /// Writes everything that is dirty, and waits for it: sync().
    pub(crate) async fn sync_all(&self, who: Who) {
        while let Some(file) = self.next_file(|_| true) {
            self.write_out(who, file, u32::MAX, false).await;
        }
        let files = self.files.borrow().count();
        for file in 0..files {
            self.until_written(who, file as FileNumber).await;
        }
    }

    /// Whether more than so many percent of the cache are dirty.
    fn above(&self, percent: u32) -> bool {
        let cache = self.cache.borrow();
        u64::from(cache.dirty()) * 100 > cache.capacity() as u64 * u64::from(percent)
    }

    /// The next file, round and round, that has dirty pages for which this holds of the time since when.
    fn next_file(&self, wanted: impl Fn(u64) -> bool) -> Option<FileNumber> {
        let mut files = self.files.borrow_mut();
        let count = files.count();
        let found = (1..=count).map(|n| (files.cursor + n) % count.max(1)).find(|&n| {
            let file = files.get(n as FileNumber);
            !file.dirty.is_empty() && wanted(file.dirty_since_ns)
        })?;
        files.cursor = found;
        Some(found as FileNumber)
    }
}
