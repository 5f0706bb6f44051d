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

    /// A file is to reach up to an end: it gets blocks for that.
    pub(crate) fn make_room(&self, file: FileNumber, end: u64) -> Result<(), Full> {
        let pages = u32::try_from(end.div_ceil(PAGE)).map_err(|_| Full)?;
        let mut files = self.files.borrow_mut();
        if files.get(file).pages < pages {
            files.grow(file, pages)?;
            self.cache.borrow_mut().grow(files.pages());
        }
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

    /// A file is made, and empty.
    pub(crate) fn create(&self, file: FileNumber, directory: &Directory) {
        let inode = {
            let mut files = self.files.borrow_mut();
            let this = files.get_mut(file);
            this.exists = true;
            this.inode_dirty = true;
            this.inode
        };
        self.name_changed(inode, directory);
    }

    /// A file is removed. What was written to it need not reach the device.
    pub(crate) async fn remove(&self, file: FileNumber, directory: &Directory) {
        self.make_empty(file).await;
        let inode = {
            let mut files = self.files.borrow_mut();
            let this = files.get_mut(file);
            this.exists = false;
            this.inode_dirty = false;
            this.inode
        };
        self.name_changed(inode, directory);
    }
}
