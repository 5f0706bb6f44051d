//! A worker's mapped file, as in the engine's back-end: records are copied in or out, msync flushes every N written records, and the rest
//! is flushed before the file is closed. `calls::mapped` has the cost of pages.

use super::plan::WorkerPlan;
use crate::calls::{Handle, MappingAdvice, PageTable, ShortTransfer};
use crate::copying::CopyDirection;
use crate::machine::Machine;
use crate::stack::Stack;
use fathom_workload::{Backend, Direction, MapFlush};

/// madvise advice values on Linux.
const RANDOM: u8 = 1;
const SEQUENTIAL: u8 = 2;
const POPULATE_READ: u8 = 22;
const POPULATE_WRITE: u8 = 23;

#[derive(Clone, Debug, Default)]
pub(super) struct Mapping {
    table: PageTable,
    flush: MapFlush,
    flush_every: u64,
    /// Records written since the last flush.
    waiting: u64,
    /// Pages are mapped in advance, for reading or writing.
    populate: Option<CopyDirection>,
}

/// Whether an advice is simulated, or has no effect on a fresh mapping.
pub(super) fn is_known(advice: u8) -> bool {
    const NORMAL: u8 = 0;
    const DONTNEED: u8 = 4;
    matches!(advice, NORMAL | RANDOM | SEQUENTIAL | DONTNEED | POPULATE_READ | POPULATE_WRITE)
}

impl Mapping {
    /// For a back-end that maps files.
    pub fn of(backend: &Backend) -> Self {
        let Backend::Mmap { flush, flush_every, populate, advice, .. } = *backend else {
            return Self::default();
        };
        let ahead = match advice {
            Some(RANDOM) => MappingAdvice::Never,
            Some(SEQUENTIAL) => MappingAdvice::Sequential,
            _ => MappingAdvice::Around,
        };
        let populate = match advice {
            Some(POPULATE_WRITE) => Some(CopyDirection::Write),
            Some(POPULATE_READ) => Some(CopyDirection::Read),
            _ => populate.then_some(CopyDirection::Read),
        };
        Self { table: PageTable::new(ahead), flush, flush_every, waiting: 0, populate }
    }

    /// Called when the file is open: extends it to the region to be written, and maps it.
    pub async fn begin(&mut self, machine: &Machine, plan: &WorkerPlan<'_>, file: u32) {
        let handle = plan.handle(file);
        let end = match &plan.pool {
            Some(pool) => match plan.parts.get(file as usize) {
                Some(part) => part.start + part.length,
                None => pool.files.file_bytes,
            },
            None => plan.region.start + plan.region.length,
        };
        if plan.stream.direction != Direction::Read {
            machine.lengthen(handle, end);
        }
        machine.compute(machine.costs.call_ns).await;
        if let Some(way) = self.populate.filter(|_| machine.stack == Stack::Full) {
            machine.populate(handle, &mut self.table, way, end).await;
        }
    }

    /// Copies a record out.
    pub async fn read(
        &mut self,
        machine: &Machine,
        handle: Handle,
        offset: u64,
        bytes: u64,
    ) -> Result<(), ShortTransfer> {
        // The engine does not map a file that is too short.
        let there = machine.files.borrow().get(handle.file).bytes.saturating_sub(offset);
        if there < bytes {
            return Err(ShortTransfer { moved: there });
        }
        machine.copy_mapped(handle, &mut self.table, CopyDirection::Read, offset, bytes).await;
        Ok(())
    }

    /// Copies a record in.
    pub async fn write(&mut self, machine: &Machine, handle: Handle, offset: u64, bytes: u64) {
        machine.copy_mapped(handle, &mut self.table, CopyDirection::Write, offset, bytes).await;
        if self.flush != MapFlush::No {
            self.waiting += 1;
            if self.waiting >= self.flush_every {
                self.flush(machine, handle).await;
            }
        }
    }

    /// msync of the whole mapping, which the kernel does as fdatasync.
    pub async fn sync(&mut self, machine: &Machine, handle: Handle) {
        self.waiting = 0;
        machine.fsync(handle, true).await;
    }

    /// Flushes what was written since the last flush, and unmaps the file.
    pub async fn end(&mut self, machine: &Machine, handle: Handle) {
        self.flush(machine, handle).await;
        machine.compute(machine.costs.call_ns).await;
    }

    async fn flush(&mut self, machine: &Machine, handle: Handle) {
        if std::mem::take(&mut self.waiting) == 0 {
            return;
        }
        match self.flush {
            MapFlush::No => {}
            // A call that starts no I/O since linux 2.6.19.
            MapFlush::Async => machine.compute(machine.costs.call_ns).await,
            MapFlush::Sync => self.sync(machine, handle).await,
        }
    }
}
