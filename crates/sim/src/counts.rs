//! Counters of the simulated machine: they explain a result, and some can be checked against kernel counters published in 2004
//! ([`crate::reproduce`], sysbench).

use fathom_iopath::readahead;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Total CPU time, ns.
    pub cpu_ns: u64,
    /// Pages requested by calls.
    pub pages_asked: u64,
    /// Requested pages found in the cache.
    pub pages_cached: u64,
    /// Requested pages found in flight.
    pub pages_in_flight: u64,
    /// Pages evicted to free memory.
    pub pages_evicted: u64,
    /// Pages evicted again before the task waiting for them ran.
    pub pages_lost: u64,
    /// Pages written back.
    pub pages_written: u64,
    /// Indirect blocks read.
    pub indirect_reads: u64,
    /// Number of fsync calls.
    pub fsyncs: u64,
    /// Time inside fsync, ns, summed over all tasks.
    pub fsync_ns: u64,
    /// Journal commits.
    pub commits: u64,
    /// Commits that consisted of a commit block only.
    pub empty_commits: u64,
    /// Blocks written to the journal.
    pub journal_blocks: u64,
    /// Flushes of the device's cache.
    pub flushes: u64,
    /// Times a task waited for a free request.
    pub full_queue_waits: u64,
    /// Open files whose read-ahead was switched off at least once.
    pub readahead_off_files: u64,
    /// Read-ahead counters summed over all open files.
    pub readahead: readahead::Counters,
}

impl Counts {
    /// Adds the read-ahead counters of an open file.
    pub(crate) fn add_readahead(&mut self, of: &readahead::Counters) {
        self.readahead += *of;
        self.readahead_off_files += u64::from(of.went_off > 0);
    }

    /// Every count with its name, for reports.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let r = &self.readahead;
        vec![
            ("cpu_ns", self.cpu_ns),
            ("pages_asked", self.pages_asked),
            ("pages_cached", self.pages_cached),
            ("pages_in_flight", self.pages_in_flight),
            ("pages_evicted", self.pages_evicted),
            ("pages_lost", self.pages_lost),
            ("pages_written", self.pages_written),
            ("indirect_reads", self.indirect_reads),
            ("fsyncs", self.fsyncs),
            ("fsync_ns", self.fsync_ns),
            ("commits", self.commits),
            ("empty_commits", self.empty_commits),
            ("journal_blocks", self.journal_blocks),
            ("flushes", self.flushes),
            ("full_queue_waits", self.full_queue_waits),
            ("readahead_off_files", self.readahead_off_files),
            ("readahead_went_off", r.went_off),
            ("readahead_went_off_cached", r.went_off_cached),
            ("readahead_came_back", r.came_back),
            ("readahead_contiguous_pages", r.contiguous_pages),
            ("readahead_jump_pages", r.jump_pages),
            ("readahead_cached_windows", r.cached_windows),
            ("readahead_sync_windows", r.sync_windows),
            ("readahead_async_windows", r.async_windows),
            ("readahead_window_pages", r.window_pages),
            ("readahead_single_pages", r.single_pages),
            ("readahead_lost_pages", r.lost_pages),
        ]
    }
}
