//! Operations on names: open, create, close, remove, stat, directories. Each is a call; changes of names go into the journal.

use super::runner::{Break, FlowRunner, Opened};
use crate::calls::Handle;
use crate::files::PAGE;
use crate::names::Names;
use fathom_workload::flow::{Deletion, FlatOp, Wanted, Wrong};

/// Bytes of names returned by one call of a listing.
const LISTED_AT_ONCE: u64 = 32 << 10;

impl<'a> FlowRunner<'_, 'a> {
    /// The file set.
    fn names(&self, set: usize) -> Option<&'a crate::sets::Set> {
        self.state.wheres.get(set).copied().flatten()
    }

    /// The file of an entry.
    fn file(&self, (set, entry): (usize, usize)) -> u32 {
        self.names(set).map_or(0, |s| s.first() + entry as u32)
    }

    /// Opens a file with the flags of set and operation.
    pub(super) fn open_file(&self, op: &FlatOp, of: (usize, usize)) -> Opened {
        let open = self.machine.begin_reading();
        let file = self.file(of);
        let generation = Some(self.machine.files.borrow().get(file).generation);
        let handle = Handle {
            file,
            open,
            who: self.who,
            direct: op.direct,
            access_time: true,
            no_readahead: op.no_readahead,
            generation,
        };
        Opened { handle, sync: op.sync }
    }

    /// Closes an open file of this set and entry. If its name was removed and no other handle is open, the file is deleted.
    pub(super) async fn closed(&self, opened: Opened, of: Option<(usize, usize)>) {
        self.machine.end_reading(opened.handle.open);
        let Handle { file, generation: Some(generation), .. } = opened.handle else { return };
        let is_removed = !self.machine.files.borrow().get(file).exists;
        if is_removed && of.is_some_and(|(set, entry)| self.state.sets[set].open_count(entry) == 0) {
            self.machine.forget(file, generation).await;
        }
    }

    pub(super) async fn open_existing(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.thread.closed_slot(op)?;
        let from = self.machine.now();
        self.open_into(op, slot).await?;
        self.name_call(slot);
        self.done(op, from, 0).await
    }

    /// For recorded calls: sets the slot's file, as a whole.
    fn name_call(&mut self, slot: usize) {
        self.thread.at_file = self.thread.slots.get(slot).of;
        self.at_offset = 0;
    }

    pub(super) async fn create(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.thread.closed_slot(op)?;
        let from = self.machine.now();
        let pick = self.thread.file(op, Wanted::Missing)?;
        let (set, entry) = (pick.set, self.pick(&pick).await?);
        self.call().await;
        if let Some(names) = self.names(set).and_then(|s| s.names.as_ref()) {
            self.machine.create(self.file((set, entry)), names.directory_of(entry)).await;
            names.file_is(entry, true);
        }
        self.state.sets[set].files.set_exists(entry, true);
        let opened = self.open_file(op, (set, entry));
        self.thread.opened(slot, opened, (set, entry));
        self.release(&pick, entry);
        self.name_call(slot);
        self.done(op, from, 0).await
    }

    pub(super) async fn close(&mut self, op: &FlatOp) -> Result<(), Break> {
        let opened = self.thread.close(op)?;
        let from = self.machine.now();
        self.at_offset = 0;
        self.call().await;
        self.closed(opened, self.thread.at_file).await;
        self.done(op, from, 0).await
    }

    pub(super) async fn delete(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.machine.now();
        let (set, entry, own, open) = match self.thread.deletion(op)? {
            Deletion::Own { set, file, open } => {
                self.claim(set, file).await?;
                (set, file, true, open)
            }
            Deletion::Any(pick) => (pick.set, self.pick(&pick).await?, false, false),
        };
        let may = self.thread.may_delete((set, entry), open);
        if may {
            self.call().await;
            if let Some(names) = self.names(set).and_then(|s| s.names.as_ref()) {
                self.machine.remove(self.file((set, entry)), names.directory_of(entry), open).await;
                names.file_is(entry, false);
            }
            self.state.sets[set].files.set_exists(entry, false);
        }
        self.state.sets[set].files.release(entry);
        self.state.file_is_free(self.machine, set);
        if !may {
            // Nothing is done or counted, but the check took its time.
            self.call().await;
            return self.over();
        }
        self.thread.deleted(op, own);
        self.thread.at_file = Some((set, entry));
        self.at_offset = 0;
        self.done(op, from, 0).await
    }

    pub(super) async fn stat(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.machine.now();
        if let Some(slot) = op.slot.filter(|&slot| self.thread.slots.is_open(slot)) {
            self.call().await;
            self.name_call(slot);
            return self.done(op, from, 0).await;
        }
        let pick = self.thread.file(op, Wanted::Existing)?;
        let (set, entry) = (pick.set, self.pick(&pick).await?);
        self.call().await;
        self.release(&pick, entry);
        self.thread.at_file = Some((set, entry));
        self.at_offset = 0;
        self.done(op, from, 0).await
    }

    /// Creates or removes a leaf directory.
    pub(super) async fn leaf_directory(&mut self, op: &FlatOp, wanted: Wanted) -> Result<(), Break> {
        let from = self.machine.now();
        let pick = self.thread.leaf(op, wanted)?;
        let (set, leaf) = (pick.set, self.pick(&pick).await?);
        let exists = wanted == Wanted::Missing;
        self.call().await;
        if let Some(names) = self.names(set).and_then(|s| s.names.as_ref()) {
            let (inode, parent) = names.leaf(leaf);
            self.machine.name_changed(inode, parent);
            names.leaf_is(leaf, exists);
        }
        self.state.sets[set].leaves.set_exists(leaf, exists);
        self.release(&pick, leaf);
        self.done(op, from, 0).await
    }

    /// Reads the set's next directory to its end. Counts the bytes that its entries take in memory.
    pub(super) async fn list_directory(&mut self, op: &FlatOp) -> Result<(), Break> {
        let set = self.thread.set_of(op)?;
        let names: Option<&Names> = self.names(set).and_then(|s| s.names.as_ref());
        let turn = self.state.sets[set].next_directory();
        let Some(directory) = turn.zip(names).and_then(|(at, names)| names.directories.get(at)) else {
            return Err(Wrong::Exhausted.into());
        };
        let from = self.machine.now();
        let (bytes, pages) = (directory.listed_bytes(), directory.pages());
        // Opened, read until nothing more comes, and closed.
        let calls = 3 + (pages * PAGE).div_ceil(LISTED_AT_ONCE);
        self.machine.compute(calls * self.machine.costs.call_ns + pages * self.machine.costs.page_ns).await;
        self.done(op, from, bytes).await
    }
}
