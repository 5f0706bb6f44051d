//! The task that commits, kjournald: one transaction after the other. Its writes are nobody's fsync to the scheduler, although somebody
//! waits for them.

use super::{Journal, Tid, Transaction};
use crate::block::Who;
use crate::cache::Flags;
use crate::files::FileNumber;
use crate::machine::Machine;
use std::collections::BTreeSet;

/// Age at which a transaction is committed although nobody asks.
const OLDEST_NS: u64 = 5_000_000_000;

impl Machine {
    /// Commits for ever.
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
        let Transaction { tid, inodes, data, .. } = transaction;
        self.write_data(&data).await;
        let empty = inodes.is_empty();
        if !empty {
            let blocks = self.metadata_blocks(&inodes) + 1;
            self.write_journal(blocks).await;
        }
        self.write_journal(1).await;
        {
            let mut counts = self.counts.borrow_mut();
            counts.commits += 1;
            counts.empty_commits += u64::from(empty);
        }
        let mut done = Vec::new();
        self.journal.borrow_mut().end_commit(tid, &mut done);
        done.into_iter().for_each(|task| self.wake(task));
    }

    /// Ordered data: the pages of the transaction that are still dirty are handed in, and all of them waited for, those too that an
    /// fsync has handed in before.
    async fn write_data(&self, data: &[(FileNumber, u32)]) {
        self.block.plug(Who::JOURNAL);
        for &(file, page) in data {
            self.write_one(Who::JOURNAL, file, page).await;
        }
        self.block.finish_plug(self, Who::JOURNAL);
        for &(file, page) in data {
            let number = self.files.borrow().get(file).page(page);
            loop {
                let under_way = self.cache.borrow().flags(number).is_some_and(|f| f.has(Flags::WRITEBACK));
                if !under_way {
                    break;
                }
                self.cache.borrow_mut().wait(number, self.task());
                self.about_to_wait(Who::JOURNAL);
                self.park().await;
            }
        }
    }

    /// Blocks of the inode table that a transaction touches.
    fn metadata_blocks(&self, inodes: &BTreeSet<u32>) -> u32 {
        let files = self.files.borrow();
        let blocks: BTreeSet<u64> = inodes.iter().map(|&inode| files.inode_sector(inode)).collect();
        blocks.len() as u32
    }

    async fn write_journal(&self, blocks: u32) {
        let sector = self.journal.borrow_mut().place(blocks.into());
        self.counts.borrow_mut().journal_blocks += u64::from(blocks);
        self.write_block(Who::JOURNAL, sector, blocks, false).await;
    }

    /// Asks for the commit of a transaction that has become old. Called by the flusher, now and then.
    pub(crate) fn commit_if_old(&self) {
        let committer = {
            let mut journal = self.journal.borrow_mut();
            journal.clock_ns = self.now();
            match &journal.running {
                Some(t) if self.now() - t.began_ns >= OLDEST_NS => {
                    let tid = t.tid;
                    journal.request(tid)
                }
                _ => None,
            }
        };
        if let Some(task) = committer {
            self.wake(task);
        }
    }
}

impl Journal {
    /// Takes the running transaction, if its commit was asked for.
    fn begin_commit(&mut self) -> Option<Transaction> {
        if self.requested <= self.committed {
            return None;
        }
        let transaction = self.running.take_if(|t| t.tid <= self.requested)?;
        self.noted.clear();
        self.committing = Some(transaction.tid);
        Some(transaction)
    }

    /// It is committed: hands over who waits for it.
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
