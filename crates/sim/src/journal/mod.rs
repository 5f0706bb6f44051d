//! The journal of ext3 and ext4 with ordered data. The running transaction holds the inodes touched; in ext3 also every data page written,
//! overwrites included. A commit writes the remaining data, then the metadata, then the commit block, and waits for each. When a commit is
//! requested depends on the kernel (`rules`); a dedicated task commits (`commit`).

mod commit;
mod rules;

use crate::files::FileNumber;
use crate::host::JournalRule;
use crate::layout::BLOCK_SECTORS;
use crate::machine::task::TaskNumber;
use std::collections::BTreeSet;

pub(crate) type Tid = u64;

/// Sectors of a bitmap and of the group descriptors: one of each for a whole file system.
const FREE_BLOCK_TABLES: [u64; 2] = [8, 16];

#[derive(Default)]
struct Transaction {
    tid: Tid,
    inodes: BTreeSet<u32>,
    /// Those among them whose size or blocks changed.
    resized: BTreeSet<u32>,
    /// Other changed metadata blocks (directories), by sector.
    blocks: BTreeSet<u64>,
    /// Data pages in order of their first write.
    data: Vec<(FileNumber, u32)>,
    /// Handles opened on it, that is, tasks that join it before it is closed.
    handles: u64,
}

/// A transaction that is being committed: its inodes, and those among them whose size or blocks changed.
struct CommittingInodes {
    tid: Tid,
    inodes: BTreeSet<u32>,
    resized: BTreeSet<u32>,
}

pub(crate) struct Journal {
    rule: JournalRule,
    running: Option<Transaction>,
    committing: Option<CommittingInodes>,
    /// The last transaction whose commit was requested, and the last committed.
    requested: Tid,
    committed: Tid,
    next: Tid,
    /// Tasks waiting for a commit.
    waiting: Vec<(Tid, TaskNumber)>,
    /// The committing task while it is idle.
    idle: Option<TaskNumber>,
    first_sector: u64,
    blocks: u64,
    /// The block to be written next.
    head: u64,
    /// Data pages of the running transaction, so that each is entered once.
    noted: BTreeSet<(FileNumber, u32)>,
    /// A new transaction without a commit timer.
    begun: Option<Tid>,
}

impl Journal {
    /// A journal of `size_mib` MiB, `at_mib` MiB from the start of the device.
    pub fn new(rule: JournalRule, at_mib: u64, size_mib: u32) -> Self {
        Self {
            rule,
            running: None,
            committing: None,
            requested: 0,
            committed: 0,
            next: 1,
            waiting: Vec::new(),
            idle: None,
            first_sector: at_mib * 2048,
            blocks: u64::from(size_mib) * 256,
            head: 0,
            noted: BTreeSet::new(),
            begun: None,
        }
    }

    /// Opens a handle on the running transaction, starting one if there is none.
    fn join(&mut self) -> &mut Transaction {
        let (next, begun) = (&mut self.next, &mut self.begun);
        let transaction = self.running.get_or_insert_with(|| {
            let tid = *next;
            *next += 1;
            *begun = Some(tid);
            Transaction { tid, ..Transaction::default() }
        });
        transaction.handles += 1;
        transaction
    }

    /// Adds an inode to the running transaction.
    pub fn note_inode(&mut self, inode: u32) {
        if self.rule != JournalRule::None {
            self.join().inodes.insert(inode);
        }
    }

    /// Adds an inode whose size or blocks changed, with the blocks that say which are free.
    pub fn note_growth(&mut self, inode: u32) {
        if self.rule != JournalRule::None {
            let transaction = self.join();
            transaction.inodes.insert(inode);
            transaction.resized.insert(inode);
            transaction.blocks.extend(FREE_BLOCK_TABLES);
        }
    }

    /// The transaction not yet committed that changes an inode; with `growth`, only one that changes its size or blocks.
    pub(super) fn of_inode(&self, inode: u32, growth: bool) -> Option<Tid> {
        let running = self.running.as_ref().map(|t| (t.tid, &t.inodes, &t.resized));
        let committing = self.committing.as_ref().map(|t| (t.tid, &t.inodes, &t.resized));
        let holds = |&(_, inodes, resized): &(Tid, &BTreeSet<u32>, &BTreeSet<u32>)| {
            if growth { resized.contains(&inode) } else { inodes.contains(&inode) }
        };
        [running, committing].into_iter().flatten().find(holds).map(|(tid, ..)| tid)
    }

    /// Adds a directory block.
    pub fn note_block(&mut self, sector: u64) {
        if self.rule != JournalRule::None {
            self.join().blocks.insert(sector);
        }
    }

    /// Adds a data page, in ext3.
    pub fn note_data(&mut self, file: FileNumber, page: u32) {
        if self.rule.orders_overwrites() && self.noted.insert((file, page)) {
            self.join().data.push((file, page));
        }
    }

    /// Requests the commit of a transaction. Returns the task to wake for it.
    fn request(&mut self, tid: Tid) -> Option<TaskNumber> {
        self.requested = self.requested.max(tid);
        self.idle.take()
    }

    /// Passes on the locations of `blocks` blocks: one run, or several if there are more than the journal holds.
    fn places(&mut self, blocks: u64, mut each: impl FnMut(u64, u64)) {
        let mut left = blocks;
        while left > 0 {
            let here = left.min(self.blocks);
            each(self.place(here), here);
            left -= here;
        }
    }

    /// The sector for a run of `blocks` blocks; wraps at the end of the journal.
    fn place(&mut self, blocks: u64) -> u64 {
        if self.head + blocks > self.blocks {
            self.head = 0;
        }
        let sector = self.first_sector + self.head * BLOCK_SECTORS;
        self.head += blocks;
        sector
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_before_a_commit_form_one_transaction() {
        let mut journal = Journal::new(JournalRule::Linux26, 100, 32);
        journal.note_inode(3);
        journal.note_data(0, 7);
        journal.note_data(0, 7);
        journal.note_inode(3);
        let running = journal.running.as_ref().unwrap();
        assert_eq!((running.tid, running.inodes.len(), running.data.as_slice()), (1, 1, &[(0, 7)][..]));
        assert_eq!(running.handles, 3, "a page that is there already needs no separate handle");
    }

    #[test]
    fn without_a_journal_nothing_is_noted() {
        let mut journal = Journal::new(JournalRule::None, 100, 32);
        journal.note_inode(3);
        journal.note_data(0, 7);
        assert!(journal.running.is_none());
    }

    #[test]
    fn the_journal_is_written_round_and_round() {
        let mut journal = Journal::new(JournalRule::Linux24, 100, 1);
        assert_eq!((journal.place(250), journal.place(6), journal.place(1)), (204_800, 206_800, 204_800));
    }

    #[test]
    fn a_transaction_longer_than_the_journal_stays_inside_it() {
        let mut journal = Journal::new(JournalRule::Linux24, 100, 1);
        let mut pieces = Vec::new();
        journal.places(600, |sector, blocks| pieces.push((sector, blocks)));
        assert_eq!(pieces, [(204_800, 256), (204_800, 256), (204_800, 88)]);
        journal.places(3, |sector, blocks| pieces.push((sector, blocks)));
        assert_eq!(pieces[3], (204_800 + 88 * 8, 3));
    }
}
