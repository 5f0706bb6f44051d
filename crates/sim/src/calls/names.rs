//! Calls on names, and what of an open file ends with it. Names and inodes are in memory; what changes them makes the inode dirty and
//! goes into the journal, with the block of the directory.

use crate::files::{FileNumber, Full, PAGE};
use crate::machine::Machine;
use crate::names::Directory;

impl Machine {
    /// A file is opened: its read-ahead begins. Returns where that is kept.
    pub(crate) fn begin_reading(&self) -> u32 {
        let mut opens = self.opens.borrow_mut();
        if let Some(open) = self.closed.borrow_mut().pop() {
            opens[open as usize] = self.policy.open();
            return open;
        }
        opens.push(self.policy.open());
        (opens.len() - 1) as u32
    }

    /// It is closed: what its read-ahead did is counted, and its place is free for another one.
    pub(crate) fn end_reading(&self, open: u32) {
        let mut opens = self.opens.borrow_mut();
        let state = &mut opens[open as usize];
        self.counts.borrow_mut().add_readahead(state.counters());
        *state = self.policy.open();
        self.closed.borrow_mut().push(open);
    }

    /// Something is to be written at an offset of a file: it gets blocks for that.
    pub(crate) fn make_room(&self, file: FileNumber, offset: u64, bytes: u64) -> Result<(), Full> {
        let end = offset.saturating_add(bytes).div_ceil(PAGE);
        let end = u32::try_from(end).map_err(|_| Full::Numbers)?;
        let mut files = self.files.borrow_mut();
        files.allocate(file, (offset / PAGE) as u32..end)?;
        self.cache.borrow_mut().grow(files.pages());
        Ok(())
    }

    /// The inode of something in a directory is new, or goes.
    pub(crate) fn name_changed(&self, inode: u32, directory: &Directory) {
        self.note(|journal| {
            journal.note_inode(inode);
            journal.note_inode(directory.inode);
            journal.note_block(directory.block);
        });
    }

    /// A file is made, and empty, also if somebody still has one open that had its name.
    pub(crate) async fn create(&self, file: FileNumber, directory: &Directory) {
        let generation = self.files.borrow().get(file).generation;
        self.forget(file, generation).await;
        let inode = {
            let mut files = self.files.borrow_mut();
            let this = files.get_mut(file);
            this.exists = true;
            this.inode_dirty = true;
            this.inode
        };
        self.name_changed(inode, directory);
    }

    /// A name is removed. The file goes with it, unless it is `open`: then who closes it has to see to that.
    pub(crate) async fn remove(&self, file: FileNumber, directory: &Directory, open: bool) {
        if !open {
            let generation = self.files.borrow().get(file).generation;
            self.forget(file, generation).await;
        }
        let inode = {
            let mut files = self.files.borrow_mut();
            let this = files.get_mut(file);
            this.exists = false;
            this.inode
        };
        self.name_changed(inode, directory);
    }

    /// A file goes, of this generation: what was written to it need not reach the device, and who still has it open means none.
    pub(crate) async fn forget(&self, file: FileNumber, generation: u32) {
        // Who is writing finishes before.
        self.lock(file).await;
        if self.files.borrow().get(file).generation == generation {
            self.make_empty(file).await;
            let mut files = self.files.borrow_mut();
            let this = files.get_mut(file);
            this.generation += 1;
            this.inode_dirty = false;
        }
        self.unlock(file);
    }
}
