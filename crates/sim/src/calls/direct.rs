//! Transfers that bypass the page cache (O_DIRECT): all pieces of a call are in flight at once, and the call waits for the last.

use super::Handle;
use crate::block::{BlockIo, Purpose};
use crate::devices::SECTOR_BYTES;
use crate::files::PAGE;
use crate::layout::BLOCK_SECTORS;
use crate::machine::Machine;
use fathom_iopath::PageSpan;

impl Machine {
    /// Moves bytes between a file and memory. The transfer is split where the file's blocks are not contiguous; holes are not read.
    /// Partial sectors are moved whole.
    pub(super) async fn transfer(&self, handle: Handle, write: bool, offset: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let (mut at, end) =
            (offset / SECTOR_BYTES * SECTOR_BYTES, (offset + bytes).next_multiple_of(SECTOR_BYTES));
        let most_sectors = u64::from(self.block.max_sectors());
        // A program's memory is not contiguous: one segment per page, plus one if the call does not start on a page boundary.
        let most = most_sectors.min(u64::from(self.block.max_segments().max(2) - 1) * BLOCK_SECTORS);
        let parts = self.parts.borrow_mut().make();
        self.block.plug(handle.who);
        while at < end {
            let page = (at / PAGE) as u32;
            if !write && let hole @ 1.. = self.files.borrow().get(handle.file).hole(page) {
                at = (u64::from(page) + u64::from(hole)) * PAGE;
                continue;
            }
            self.know_place(handle.who, handle.file, page).await;
            let place = {
                let files = self.files.borrow();
                let file = files.get(handle.file);
                let place = if write { file.places.run(page) } else { file.run(page) };
                place.map(|(sector, run)| (sector, run.min(file.places.named_until(page) - page)))
            };
            let Some((sector, run)) = place else { break };
            let inside = at % PAGE / SECTOR_BYTES;
            let sectors = (u64::from(run) * BLOCK_SECTORS - inside).min((end - at) / SECTOR_BYTES).min(most);
            let segments = (sectors + inside).div_ceil(BLOCK_SECTORS) as u16;
            self.parts.borrow_mut().more(parts);
            let piece = BlockIo {
                write,
                sync: true,
                sector: sector + inside,
                sectors: sectors as u32,
                span: PageSpan::scattered(segments),
                purpose: Purpose::Part(parts),
            };
            self.submit(handle.who, piece).await;
            at += sectors * SECTOR_BYTES;
            if write {
                let mut files = self.files.borrow_mut();
                let file = files.get_mut(handle.file);
                (page..at.div_ceil(PAGE) as u32).for_each(|page| file.is_written(page));
            }
        }
        self.block.finish_plug(self, handle.who);
        self.all_parts(parts, handle.who).await;
    }
}
