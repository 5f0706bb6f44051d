//! When fsync asks the journal for a commit, and what it waits for.

use super::Tid;
use crate::block::Submitter;
use crate::calls::Handle;
use crate::machine::Machine;

impl Machine {
    /// 2.4: commits whatever the running transaction holds; without one, waits for the commit in progress, if any.
    ///
    /// Returns whether there was one.
    pub(crate) async fn commit_running(&self, who: Submitter) -> bool {
        let (tid, committer) = {
            let mut journal = self.journal.borrow_mut();
            match journal.running.as_ref().map(|t| t.tid) {
                Some(tid) => (tid, journal.request(tid)),
                None => (journal.requested, None),
            }
        };
        if let Some(task) = committer {
            self.wake(task);
        }
        self.until_committed(who, tid).await
    }

    /// 2.6: does nothing if the inode is clean. Otherwise opens a handle, so that a transaction exists, and sleeps tick after tick while
    /// other tasks join it. Returns whether anything was committed.
    pub(crate) async fn commit_for(&self, handle: Handle) -> bool {
        let tid = {
            let mut files = self.files.borrow_mut();
            if !std::mem::take(&mut files.get_mut(handle.file).inode_dirty) {
                return false;
            }
            self.note(|journal| journal.join().tid)
        };
        while let Some(before) = self.handles_of(tid) {
            self.sleep_a_tick().await;
            if self.handles_of(tid) == Some(before) {
                break;
            }
        }
        let committer = self.journal.borrow_mut().request(tid);
        if let Some(task) = committer {
            self.wake(task);
        }
        self.until_committed(handle.who, tid).await;
        true
    }

    /// ext4: commits the transaction that holds the inode. Returns whether there was one.
    pub(crate) async fn commit_inode(&self, handle: Handle, data_only: bool) -> bool {
        let inode = self.files.borrow().get(handle.file).inode;
        let (tid, committer) = {
            let mut journal = self.journal.borrow_mut();
            let Some(tid) = journal.of_inode(inode, data_only) else { return false };
            (tid, journal.request(tid))
        };
        if let Some(task) = committer {
            self.wake(task);
        }
        self.until_committed(handle.who, tid).await
    }

    /// Number of handles on a transaction; `None` once it is being committed.
    fn handles_of(&self, tid: Tid) -> Option<u64> {
        self.journal.borrow().running.as_ref().filter(|t| t.tid == tid).map(|t| t.handles)
    }

    /// Waits for a commit. Returns whether there was anything to wait for.
    async fn until_committed(&self, who: Submitter, tid: Tid) -> bool {
        let mut waited = false;
        loop {
            {
                let mut journal = self.journal.borrow_mut();
                if journal.committed >= tid {
                    return waited;
                }
                waited = true;
                journal.waiting.push((tid, self.task()));
            }
            self.about_to_wait(who);
            self.park().await;
        }
    }
}
