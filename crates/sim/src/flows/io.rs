//! Reading and writing through a slot: one operation, or a whole file. An operation on a closed slot first opens a file of its set, which
//! counts as one more operation of 0 bytes.

use super::runner::{Break, FlowRunner, Opened};
use super::state::Need;
use super::wait_queue::WaitQueue;
use fathom_workload::flow::{EntryPick, FlatOp, Transfer, Whole, Wrong};

/// Longest wait for an entry that another worker uses before checking again.
const GLANCE_NS: u64 = 20_000_000;

impl FlowRunner<'_, '_> {
    /// A system call without extra cost.
    pub(super) async fn call(&self) {
        self.machine.compute(self.machine.costs.call_ns).await;
    }

    /// Returns the slot, opening it if needed.
    pub(super) async fn open_slot(&mut self, op: &FlatOp) -> Result<usize, Break> {
        let slot = self.thread.slot_of(op)?;
        if !self.thread.slots.is_open(slot) {
            let from = self.machine.now();
            self.open_into(op, slot).await?;
            self.done(op, from, 0).await?;
        }
        self.thread.works_on(op, slot)?;
        Ok(slot)
    }

    /// The open file of a slot.
    pub(super) fn opened(&self, slot: usize) -> Result<Opened, Break> {
        self.thread.slots.get(slot).file.ok_or_else(|| Wrong::ClosedSlot(slot as u64).into())
    }

    /// Picks an existing file and opens it.
    pub(super) async fn open_into(&mut self, op: &FlatOp, slot: usize) -> Result<(), Break> {
        let pick = self.thread.to_open(op, slot)?;
        let (set, entry) = (pick.set, self.pick(&pick).await?);
        self.call().await;
        self.release(&pick, entry);
        let opened = self.open_file(op, (set, entry));
        self.thread.opened(slot, opened, (set, entry));
        Ok(())
    }

    /// Takes an entry; it is busy until released.
    pub(super) async fn pick(&mut self, pick: &EntryPick) -> Result<usize, Break> {
        let line = self.state.line_of(pick);
        self.after_those_called(line).await;
        if let Some(entry) = self.thread.try_pick(pick)? {
            return Ok(entry);
        }
        line.enter(self.machine, Need::Any(*pick));
        let found = loop {
            if let Err(why) = self.give_way(line).await {
                break Err(why);
            }
            match self.thread.try_pick(pick) {
                Ok(Some(entry)) => break Ok(entry),
                Ok(None) => {}
                Err(wrong) => break Err(wrong.into()),
            }
        };
        line.leave(self.machine);
        found
    }

    /// Takes a specific file of a set; it is busy until released.
    pub(super) async fn claim(&mut self, set: usize, file: usize) -> Result<(), Break> {
        let (line, files) = (&self.state.busy[set].files, &self.state.sets[set].files);
        self.after_those_called(line).await;
        if files.claim(file) {
            return Ok(());
        }
        line.enter(self.machine, Need::Entry(file));
        let mut outcome = Ok(());
        while outcome.is_ok() {
            outcome = self.give_way(line).await;
            if outcome.is_ok() && files.claim(file) {
                break;
            }
        }
        line.leave(self.machine);
        outcome
    }

    /// Lets tasks called at this very time go first. Otherwise a task that releases an entry and wants another at once would overtake
    /// them each time.
    async fn after_those_called(&self, line: &WaitQueue<Need>) {
        if line.has_called() {
            self.machine.wake(self.machine.task());
            self.machine.park().await;
        }
    }

    /// Another worker is busy with what this one waits for.
    async fn give_way(&mut self, line: &WaitQueue<Need>) -> Result<(), Break> {
        self.over()?;
        let until_ns = self.latest_ns().min(self.machine.now() + GLANCE_NS);
        line.sleep(self.machine, until_ns).await;
        Ok(())
    }

    /// Frees an entry.
    pub(super) fn release(&self, pick: &EntryPick, entry: usize) {
        pick.pool(self.state.sets.as_slice()).release(entry);
        self.state.entry_is_free(self.machine, pick);
    }

    /// One read. Returns the bytes available.
    async fn read_once(&self, opened: Opened, offset: u64, bytes: u64) -> u64 {
        if self.machine.is_gone(opened.handle) {
            self.call().await;
            return 0;
        }
        match self.machine.read(opened.handle, offset, bytes).await {
            Ok(()) => bytes,
            Err(short) => short.moved,
        }
    }

    /// Writes all bytes.
    async fn write_all(&self, opened: Opened, offset: u64, bytes: u64) -> Result<(), Break> {
        if self.machine.is_gone(opened.handle) {
            self.call().await;
            return Ok(());
        }
        self.machine.make_room(opened.handle.file, offset, bytes)?;
        self.machine.write(opened.handle, offset, bytes).await;
        if opened.sync {
            self.machine.fsync(opened.handle, false).await;
        }
        Ok(())
    }

    /// fsync(2) of an open file.
    async fn sync_file(&self, opened: Opened) {
        if self.machine.is_gone(opened.handle) {
            self.call().await;
        } else {
            self.machine.fsync(opened.handle, false).await;
        }
    }

    pub(super) async fn read(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op).await?;
        let transfer = self.thread.transfer(op, slot)?;
        self.at_offset = transfer.offset;
        let opened = self.opened(slot)?;
        let from = self.machine.now();
        let moved = self.read_once(opened, transfer.offset, transfer.bytes).await;
        self.thread.was_read(op, &transfer, moved);
        self.done(op, from, moved).await
    }

    pub(super) async fn write(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op).await?;
        let transfer = self.thread.transfer(op, slot)?;
        self.at_offset = transfer.offset;
        let opened = self.opened(slot)?;
        let from = self.machine.now();
        self.write_all(opened, transfer.offset, transfer.bytes).await?;
        self.thread.was_written(op, &transfer);
        self.done(op, from, transfer.bytes).await
    }

    pub(super) async fn read_whole_file(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op).await?;
        let Whole { piece, .. } = self.thread.whole_read(op, slot)?;
        let opened = self.opened(slot)?;
        self.at_offset = 0;
        let from = self.machine.now();
        let mut moved = 0;
        loop {
            match self.read_once(opened, moved, piece).await {
                0 => break,
                n => moved += n,
            }
            if self.together.is_over() {
                break;
            }
        }
        self.thread.stands_at(slot, moved);
        self.done(op, from, moved).await
    }

    pub(super) async fn write_whole_file(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op).await?;
        let whole = self.thread.whole_write(op, slot)?;
        self.at_offset = whole.offset;
        let opened = self.opened(slot)?;
        let from = self.machine.now();
        let mut moved = 0;
        while moved < whole.bytes {
            let bytes = whole.piece.min(whole.bytes - moved);
            self.write_all(opened, whole.offset + moved, bytes).await?;
            moved += bytes;
            if self.together.is_over() {
                break;
            }
        }
        self.thread.stands_at(slot, whole.offset + moved);
        self.done(op, from, moved).await
    }

    pub(super) async fn append(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op).await?;
        let (bytes, _) = self.thread.append(op)?;
        let from = self.machine.now();
        if bytes > 0 {
            let opened = self.opened(slot)?;
            self.call().await;
            let end = self.machine.files.borrow().get(opened.handle.file).bytes;
            self.at_offset = end;
            self.write_all(opened, end, bytes).await?;
            self.thread.stands_at(slot, end + bytes);
        }
        self.done(op, from, bytes).await
    }

    /// Submits a write that is still in flight when the operation ends.
    pub(super) async fn async_write(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op).await?;
        let Transfer { offset, bytes, .. } = self.thread.transfer(op, slot)?;
        let flights = self.flights;
        flights.room(self).await?;
        let opened = self.opened(slot)?;
        let from = self.machine.now();
        self.at_offset = offset;
        if !self.machine.is_gone(opened.handle) {
            self.machine.make_room(opened.handle.file, offset, bytes)?;
        }
        self.call().await;
        flights.hand(self.machine, (opened, offset, bytes));
        self.done(op, from, bytes).await
    }

    pub(super) async fn sync(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.thread.used_slot(op)?;
        let opened = self.opened(slot)?;
        let from = self.machine.now();
        self.at_offset = 0;
        self.sync_file(opened).await;
        self.done(op, from, 0).await
    }

    pub(super) async fn sync_set(&mut self, op: &FlatOp) -> Result<(), Break> {
        let set = self.thread.set_of(op)?;
        self.at_offset = 0;
        for slot in 0..self.thread.slots.count() {
            let of = self.thread.slots.get(slot).of;
            let file = self.thread.slots.get(slot).file;
            let Some(opened) = file.filter(|_| of.is_some_and(|o| o.0 == set)) else { continue };
            let from = self.machine.now();
            self.sync_file(opened).await;
            self.thread.at_file = of;
            self.done(op, from, 0).await?;
        }
        Ok(())
    }
}
