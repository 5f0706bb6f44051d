//! The committing task, kjournald: commits one transaction after the other. To the scheduler its writes belong to no fsync, although a
//! task waits for them.

use super::{CommittingInodes, Journal, Tid, Transaction};
use crate::block::Submitter;
use crate::cache::Flags;
use crate::files::FileNumber;
use crate::machine::{Event, Machine};
use std::collections::BTreeSet;

impl Machine {
    /// Commits transactions, for ever.
    pub(crate) async fn commit_transactions(&self) {
        loop {
            let next = self.journal.borrow_mut().begin_commit();
            match next {
                Some(transaction) => self.commit(transaction).await,
                None => {
                    self.journal.borrow_mut().idle = Some(self.task());
                    self.park().await;
                }
            }
        }
    }

    async fn commit(&self, transaction: Transaction) {
        let Transaction { tid, inodes, blocks, data, .. } = transaction;
        self.write_data(&data).await;
        let empty = inodes.is_empty() && blocks.is_empty();
        if !empty {
            let blocks = self.metadata_blocks(&inodes) + blocks.len() as u32 + 1;
            self.write_journal(blocks).await;
        }
        // The commit block must not reach the medium before what it commits, and waiting tasks must find it there.
        let barriers = self.host.filesystem.barriers.get();
        if barriers {
            self.flush_device(Submitter::JOURNAL).await;
        }
        self.write_journal(1).await;
        if barriers {
            self.flush_device(Submitter::JOURNAL).await;
        }
        {
            let mut counts = self.counts.borrow_mut();
            counts.commits += 1;
            counts.empty_commits += u64::from(empty);
        }
        let mut done = Vec::new();
        self.journal.borrow_mut().end_commit(tid, &mut done);
        done.into_iter().for_each(|task| self.wake(task));
    }

    /// Ordered data: submits the pages of the transaction that are still dirty and waits for all of them, including those that an fsync
    /// submitted before.
    async fn write_data(&self, data: &[(FileNumber, u32)]) {
        self.block.plug(Submitter::JOURNAL);
        for &(file, page) in data {
            self.write_one(Submitter::JOURNAL, file, page).await;
        }
        self.block.finish_plug(self, Submitter::JOURNAL);
        for &(file, page) in data {
            let number = self.files.borrow().get(file).page(page);
            loop {
                let under_way = self.cache.borrow().flags(number).is_some_and(|f| f.has(Flags::WRITEBACK));
                if !under_way {
                    break;
                }
                self.cache.borrow_mut().wait(number, self.task());
                self.about_to_wait(Submitter::JOURNAL);
                self.park().await;
            }
        }
    }

    /// Number of inode-table blocks that a transaction touches.
    fn metadata_blocks(&self, inodes: &BTreeSet<u32>) -> u32 {
        let files = self.files.borrow();
        let blocks: BTreeSet<u64> = inodes.iter().map(|&inode| files.inode_sector(inode)).collect();
        blocks.len() as u32
    }

    async fn write_journal(&self, blocks: u32) {
        let mut places = Vec::new();
        self.journal
            .borrow_mut()
            .places(blocks.into(), |sector, blocks| places.push((sector, blocks as u32)));
        self.counts.borrow_mut().journal_blocks += u64::from(blocks);
        for (sector, blocks) in places {
            self.write_block(Submitter::JOURNAL, sector, blocks, false).await;
        }
    }

    /// Modifies the running transaction. If this starts one, sets the timer that commits it at a certain age even if no task requests it.
    pub(crate) fn note<R>(&self, what: impl FnOnce(&mut Journal) -> R) -> R {
        let mut journal = self.journal.borrow_mut();
        let result = what(&mut journal);
        if let Some(tid) = journal.begun.take() {
            let age_ns = u64::from(self.host.filesystem.commit_s.get()) * 1_000_000_000;
            self.clock_at(self.now() + age_ns, Event::Commit(tid));
        }
        result
    }

    /// Commits a transaction that has reached the commit age.
    pub(crate) fn commit_the_old(&self, tid: Tid) {
        let committer = {
            let mut journal = self.journal.borrow_mut();
            let runs = journal.running.as_ref().is_some_and(|t| t.tid == tid);
            if runs { journal.request(tid) } else { None }
        };
        if let Some(task) = committer {
            self.wake(task);
        }
    }
}

impl Journal {
    /// Takes the running transaction if its commit was requested.
    fn begin_commit(&mut self) -> Option<Transaction> {
        if self.requested <= self.committed {
            return None;
        }
        let transaction = self.running.take_if(|t| t.tid <= self.requested)?;
        self.noted.clear();
        let Transaction { tid, ref inodes, ref resized, .. } = transaction;
        self.committing = Some(CommittingInodes { tid, inodes: inodes.clone(), resized: resized.clone() });
        Some(transaction)
    }

    /// Ends a commit and passes on the tasks that wait for it.
    fn end_commit(&mut self, tid: Tid, done: &mut Vec<u32>) {
        self.committed = tid;
        self.committing = None;
        self.waiting.retain(|&(wanted, task)| {
            if wanted <= tid {
                done.push(task);
            }
            wanted > tid
        });
    }
}
