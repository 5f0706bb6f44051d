//! One file: how long it is, which of its pages have something in them, and what its inode has to say.

use super::PAGE;
use crate::cache::PageNumber;
use crate::layout::Places;
use crate::machine::Gate;
use crate::machine::task::TaskNumber;
use crate::runs::Runs;

/// A block of metadata that must be in memory to go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Metadata {
    /// On the device only.
    #[default]
    Absent,
    /// Being read; these wait.
    InFlight(Vec<TaskNumber>),
    /// In memory.
    Present,
}

/// A file.
#[derive(Default)]
pub(crate) struct File {
    /// The number of its first page among the pages of all files.
    pub first_page: PageNumber,
    /// Pages that have a number among those of all files: at least all up to its end.
    pub pages: u32,
    /// Its pages that were added when it grew, where their numbers do not follow on the first ones.
    pub(super) more: Vec<Piece>,
    /// There is a file of this name; a flow may remove it and make it again.
    pub exists: bool,
    /// Its length.
    pub bytes: u64,
    /// Behind the last of its pages that may be in memory although it lies behind the end.
    pub reach: u32,
    /// Where it lies.
    pub places: Places,
    /// Pages that have blocks and were never written: as much holes as those that have none.
    pub(super) unwritten: Runs,
    /// Rises when all that was in it has gone; who opened it before then means another file of its name.
    pub generation: u32,
    /// Its indirect blocks, as far as they are in memory.
    pub indirect: Vec<Metadata>,
    /// Its inode.
    pub inode: u32,
    /// Its dirty pages, counted in the file.
    pub dirty: Runs,
    /// When the first of them was written to.
    pub dirty_since_ns: u64,
    /// A flusher or a writer who is held back is at it; another one takes another file.
    pub being_written: bool,
    /// Pages on their way to the device.
    pub writeback: u32,
    /// Who waits until there are none.
    pub waiters: Vec<TaskNumber>,
    /// The inode was changed since it was last written.
    pub inode_dirty: bool,
    /// The second in which its time of access was last noted; plus one, 0 for never.
    pub accessed_s: u64,
    /// Who writes or syncs it.
    pub gate: Gate,
}

/// Pages of a file whose numbers follow each other.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// The first of them in the file.
    pub page: u32,
    /// Its number among the pages of all files.
    pub number: PageNumber,
}

impl File {
    /// Pages up to its end; it may have blocks behind that.
    pub fn pages_of_data(&self) -> u32 {
        self.bytes.div_ceil(PAGE).min(self.pages.into()) as u32
    }

    /// Pages from one on in which nothing was ever written; 0 if there is something in it.
    pub fn hole(&self, page: u32) -> u32 {
        match self.places.run(page) {
            None => self.places.hole(page),
            Some((_, run)) => self.unwritten.run_at(page).min(run),
        }
    }

    /// The sector of a page, and how many pages from it on lie in one piece and have something in them; `None` in holes.
    pub fn run(&self, page: u32) -> Option<(u64, u32)> {
        let (sector, run) = self.places.run(page)?;
        let run = run.min(self.unwritten.gap_at(page));
        (run > 0).then_some((sector, run))
    }

    /// Something is written into a page.
    pub fn is_written(&mut self, page: u32) {
        if !self.unwritten.is_empty() {
            self.unwritten.remove(page);
        }
    }

    /// Its first so many bytes were written, and nothing behind them.
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

    /// Its first pages, so many that there are none in memory behind them.
    pub fn in_memory(&self) -> u32 {
        self.reach.max(self.pages_of_data())
    }

    /// The number of one of its pages among the pages of all files.
    pub fn page(&self, page: u32) -> PageNumber {
        match self.more.partition_point(|piece| piece.page <= page).checked_sub(1) {
            None => self.first_page + page,
            Some(at) => self.more[at].number + (page - self.more[at].page),
        }
    }

    /// How many pages from one on have numbers that follow each other.
    pub fn numbered_together(&self, page: u32) -> u32 {
        let next = self.more.partition_point(|piece| piece.page <= page);
        self.more.get(next).map_or(u32::MAX, |piece| piece.page - page)
    }
}
