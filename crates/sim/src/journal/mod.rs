//! The journal of ext3 with ordered data. The running transaction is the inodes touched and every data page written, overwrites
//! included; a commit writes the data that is left, then the metadata, then the commit block, and waits for each. When a commit is
//! asked for is the kernel's rule (`rules`); committing is the work of a task of its own (`commit`).

mod commit;
mod rules;

use crate::files::FileNumber;
use crate::host::JournalRule;
use crate::layout::BLOCK_SECTORS;
use crate::machine::task::TaskNumber;
use std::collections::BTreeSet;

/// A transaction's number.
pub(crate) type Tid = u64;

/// What a transaction holds.
#[derive(Default)]
struct Transaction {
    tid: Tid,
    /// Inodes that were touched.
    inodes: BTreeSet<u32>,
    /// Other blocks of metadata that were changed, by sector: those of directories.
    blocks: BTreeSet<u64>,
    /// Data pages in the order in which they were first written to.
    data: Vec<(FileNumber, u32)>,
    /// Handles that were opened on it: who joins it before it is closed.
    handles: u64,
}

/// The journal.
pub(crate) struct Journal {
    rule: JournalRule,
    running: Option<Transaction>,
    committing: Option<Tid>,
    /// The last transaction whose commit was asked for, and the last that was committed.
    requested: Tid,
    committed: Tid,
    next: Tid,
    /// Who waits for which commit.
    waiting: Vec<(Tid, TaskNumber)>,
    /// The task that commits, while it has nothing to do.
    idle: Option<TaskNumber>,
    first_sector: u64,
    blocks: u64,
    /// The block that is written next.
    head: u64,
    /// Data pages of the running transaction, to enter each once.
    noted: BTreeSet<(FileNumber, u32)>,
    /// A transaction that has begun and for whose age nobody has set a clock yet.
    begun: Option<Tid>,
}

impl Journal {
    /// A journal of so many MiB at so many MiB from the start of the device.
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

    /// The running transaction, begun if there is none, with a new handle on it.
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

    /// An inode was touched.
    pub fn note_inode(&mut self, inode: u32) {
        if self.rule != JournalRule::None {
            self.join().inodes.insert(inode);
        }
    }

    /// A block of a directory was changed.
    pub fn note_block(&mut self, sector: u64) {
        if self.rule != JournalRule::None {
            self.join().blocks.insert(sector);
        }
    }

    /// A page was written to.
    pub fn note_data(&mut self, file: FileNumber, page: u32) {
        if self.rule != JournalRule::None && self.noted.insert((file, page)) {
            self.join().data.push((file, page));
        }
    }

    /// Asks for the commit of a transaction. Returns the task to be woken for it.
    fn request(&mut self, tid: Tid) -> Option<TaskNumber> {
        self.requested = self.requested.max(tid);
        self.idle.take()
    }

    /// Tells where so many blocks go: in a row, or if they are more than the journal has, in as many rows as it takes.
    fn places(&mut self, blocks: u64, mut each: impl FnMut(u64, u64)) {
        let mut left = blocks;
        while left > 0 {
            let here = left.min(self.blocks);
            each(self.place(here), here);
            left -= here;
        }
    }

    /// The sector for so many blocks in a row; at the end of the journal it begins anew.
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
    fn what_is_noted_before_a_commit_is_one_transaction() {
        let mut journal = Journal::new(JournalRule::Linux26, 100, 32);
        journal.note_inode(3);
        journal.note_data(0, 7);
        journal.note_data(0, 7);
        journal.note_inode(3);
        let running = journal.running.as_ref().unwrap();
        assert_eq!((running.tid, running.inodes.len(), running.data.as_slice()), (1, 1, &[(0, 7)][..]));
        assert_eq!(running.handles, 3, "a page that is there already needs no handle of its own");
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
