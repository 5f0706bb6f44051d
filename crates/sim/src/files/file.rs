//! One file: its length, which of its pages were written, and the state of its inode.

use super::PAGE;
use crate::cache::PageNumber;
use crate::layout::BlockMap;
use crate::machine::Gate;
use crate::machine::task::TaskNumber;
use crate::runs::Runs;

/// State of a metadata block that must be in memory to proceed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Metadata {
    /// On the device only.
    #[default]
    Absent,
    /// Being read, with the waiting tasks.
    InFlight(Vec<TaskNumber>),
    Present,
}

#[derive(Default)]
pub(crate) struct File {
    /// Number of its first page among the pages of all files.
    pub first_page: PageNumber,
    /// Number of pages with a page number: at least all up to its end.
    pub pages: u32,
    /// Pages added when it grew, where their numbers do not continue the first ones.
    pub(super) more: Vec<PageRun>,
    /// Whether a file of this name exists; a flow may remove and recreate it.
    pub exists: bool,
    /// Its length, bytes.
    pub bytes: u64,
    /// End of the pages that may be in memory although they are past the end of the file.
    pub reach: u32,
    pub places: BlockMap,
    /// Pages with blocks that were never written: holes like those without blocks.
    pub(super) unwritten: Runs,
    /// Incremented when all of its content is discarded. A handle opened before then means the older file of the same name.
    pub generation: u32,
    /// State of its indirect blocks.
    pub indirect: Vec<Metadata>,
    /// Inode number.
    pub inode: u32,
    /// Its dirty pages, numbered within the file.
    pub dirty: Runs,
    /// When the oldest of them was dirtied.
    pub dirty_since_ns: u64,
    /// A flusher or a throttled writer is working on it; others take another file.
    pub being_written: bool,
    /// Number of pages in write-back.
    pub writeback: u32,
    /// Tasks that wait until there are none.
    pub waiters: Vec<TaskNumber>,
    /// The inode was changed since it was last written.
    pub inode_dirty: bool,
    /// Clock tick of the last write.
    pub changed_tick: Option<u64>,
    /// Second of the last access-time update plus one; 0 for never.
    pub accessed_s: u64,
    /// Serialises writes and syncs.
    pub gate: Gate,
}

/// Pages of a file with consecutive numbers.
#[derive(Clone, Copy)]
pub(super) struct PageRun {
    /// First page in the file.
    pub page: u32,
    /// Its number among the pages of all files.
    pub number: PageNumber,
}

impl File {
    /// Number of pages up to its end; blocks may be allocated past it.
    pub fn pages_of_data(&self) -> u32 {
        self.bytes.div_ceil(PAGE).min(self.pages.into()) as u32
    }

    /// Number of pages from `page` on that were never written; 0 if `page` was.
    pub fn hole(&self, page: u32) -> u32 {
        match self.places.run(page) {
            None => self.places.hole(page),
            Some((_, run)) => self.unwritten.run_at(page).min(run),
        }
    }

    /// The sector of a page, and the number of contiguous, written pages from it on; `None` in holes.
    pub fn run(&self, page: u32) -> Option<(u64, u32)> {
        let (sector, run) = self.places.run(page)?;
        let run = run.min(self.unwritten.gap_at(page));
        (run > 0).then_some((sector, run))
    }

    /// Marks a page as written.
    pub fn is_written(&mut self, page: u32) {
        if !self.unwritten.is_empty() {
            self.unwritten.remove(page);
        }
    }

    /// Marks the first `bytes` bytes as written, and nothing past them.
    pub fn is_written_up_to(&mut self, bytes: u64) {
        self.unwritten.clear();
        let (mut at, end) = (bytes.div_ceil(PAGE), self.places.end());
        while at < u64::from(end) {
            let page = at as u32;
            let run = self.places.run(page).map(|(_, run)| page..page + run);
            at += u64::from(run.as_ref().map_or_else(|| self.places.hole(page), |run| run.end - run.start));
            self.unwritten.insert_run(run.unwrap_or_default());
        }
    }

    /// A number of leading pages beyond which none is in memory.
    pub fn in_memory(&self) -> u32 {
        self.reach.max(self.pages_of_data())
    }

    /// Number of a page among the pages of all files.
    pub fn page(&self, page: u32) -> PageNumber {
        match self.more.partition_point(|piece| piece.page <= page).checked_sub(1) {
            None => self.first_page + page,
            Some(at) => self.more[at].number + (page - self.more[at].page),
        }
    }

    /// How many pages from `page` on have consecutive numbers.
    pub fn numbered_together(&self, page: u32) -> u32 {
        let next = self.more.partition_point(|piece| piece.page <= page);
        self.more.get(next).map_or(u32::MAX, |piece| piece.page - page)
    }
}
