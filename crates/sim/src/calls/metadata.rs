//! Indirect blocks: before a page of an ext2 or ext3 file can be read or written, the block with its location must be in memory. The
//! first task that needs the block reads it, and all others that need it wait.

use crate::block::{BlockIo, Purpose, Submitter};
use crate::files::{FileNumber, Metadata};
use crate::layout::BLOCK_SECTORS;
use crate::machine::Machine;
use fathom_iopath::PageSpan;

enum Step {
    Known,
    Wait,
    Read { number: usize, sector: u64 },
}

impl Machine {
    /// Returns once the location of a page is known.
    pub(super) async fn know_place(&self, who: Submitter, file: FileNumber, page: u32) {
        loop {
            match self.step_to(file, page) {
                Step::Known => return,
                Step::Wait => {}
                Step::Read { number, sector } => {
                    self.counts.borrow_mut().indirect_reads += 1;
                    let purpose = Purpose::Indirect { file, number: number as u32 };
                    let span = PageSpan::scattered(1);
                    let sectors = BLOCK_SECTORS as u32;
                    self.submit(who, BlockIo { write: false, sync: true, sector, sectors, span, purpose })
                        .await;
                    // It may have arrived while the queue was full.
                    continue;
                }
            }
            if self.queue_for(file, page) {
                self.about_to_wait(who);
                self.park().await;
            }
        }
    }

    /// Whether the location of a page is known.
    pub(super) fn is_place_known(&self, file: FileNumber, page: u32) -> bool {
        let files = self.files.borrow();
        let file = files.get(file);
        file.places.indirect_of(page).is_none_or(|(number, _)| file.indirect[number] == Metadata::Present)
    }

    fn step_to(&self, file: FileNumber, page: u32) -> Step {
        let mut files = self.files.borrow_mut();
        let file = files.get_mut(file);
        let Some((number, _)) = file.places.indirect_of(page) else { return Step::Known };
        match &mut file.indirect[number] {
            Metadata::Present => Step::Known,
            Metadata::InFlight(_) => Step::Wait,
            absent => {
                *absent = Metadata::InFlight(Vec::new());
                Step::Read { number, sector: file.places.indirect[number] }
            }
        }
    }

    /// Adds the task to those that wait for the block; returns false if the block is in memory.
    fn queue_for(&self, file: FileNumber, page: u32) -> bool {
        let mut files = self.files.borrow_mut();
        let file = files.get_mut(file);
        let Some((number, _)) = file.places.indirect_of(page) else { return false };
        let Metadata::InFlight(waiting) = &mut file.indirect[number] else { return false };
        waiting.push(self.task());
        true
    }
}
