//! Calls on names, and the end of an open file. Names and inodes are in memory; changing them dirties the inode and adds it to the
//! journal, together with the directory's block.

use crate::files::{FileNumber, GrowError, PAGE};
use crate::machine::Machine;
use crate::names::Directory;

impl Machine {
    /// Opens a file: creates its read-ahead state and returns its index.
    pub(crate) fn begin_reading(&self) -> u32 {
        let mut opens = self.opens.borrow_mut();
        if let Some(open) = self.closed.borrow_mut().pop() {
            opens[open as usize] = self.policy.open();
            return open;
        }
        opens.push(self.policy.open());
        (opens.len() - 1) as u32
    }

    /// Closes a file: adds up its read-ahead counters and frees the state.
    pub(crate) fn end_reading(&self, open: u32) {
        let mut opens = self.opens.borrow_mut();
        let state = &mut opens[open as usize];
        self.counts.borrow_mut().add_readahead(state.counters());
        *state = self.policy.open();
        self.closed.borrow_mut().push(open);
    }

    /// Allocates the blocks for a write at an offset of a file.
    pub(crate) fn make_room(&self, file: FileNumber, offset: u64, bytes: u64) -> Result<(), GrowError> {
        let end = offset.saturating_add(bytes).div_ceil(PAGE);
        let end = u32::try_from(end).map_err(|_| GrowError::Numbers)?;
        let mut files = self.files.borrow_mut();
        files.allocate(file, (offset / PAGE) as u32..end)?;
        self.cache.borrow_mut().grow(files.pages());
        Ok(())
    }

    /// Records that the inode of a directory entry is created or removed.
    pub(crate) fn name_changed(&self, inode: u32, directory: &Directory) {
        self.note(|journal| {
            journal.note_inode(inode);
            journal.note_inode(directory.inode);
            journal.note_block(directory.block);
        });
    }

    /// Creates an empty file, even if an older file of that name is still open.
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

    /// Removes a name, and the file with it unless the file is `open`; its last close must then remove it.
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

    /// Deletes a file of this generation: its dirty data need not reach the device, and handles still open refer to the deleted file.
    pub(crate) async fn forget(&self, file: FileNumber, generation: u32) {
        // A running write finishes first.
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
