//! Submission of a piece of I/O to the queue: sleeps while the queue is full and reports the outcome.

use super::{Purpose, Submitter};
use crate::machine::Machine;
use fathom_iopath::{Bio, MergeKind, Nanos, Op, PageSpan, Submitted, TaskId};
use fathom_record::block::BlockAction;

/// A piece of I/O as the file system submits it.
#[derive(Clone, Copy)]
pub(crate) struct BlockIo {
    pub write: bool,
    /// A task waits for it, even if it is a write.
    pub sync: bool,
    pub sector: u64,
    pub sectors: u32,
    /// Memory segments; scattered whole pages have one each.
    pub span: PageSpan,
    pub purpose: Purpose,
}

impl Machine {
    /// Submits a bio; sleeps while the queue is full. Its CPU cost is computed first.
    pub async fn submit(&self, who: Submitter, piece: BlockIo) {
        self.compute(self.costs.bio_ns).await;
        let block = &self.block;
        let op = if piece.write { Op::Write } else { Op::Read };
        let token = block.purposes.borrow_mut().put(piece.purpose);
        let mut bio = Bio::new(op, piece.sector, piece.sectors)
            .by(TaskId(who.0))
            .on((self.cpu() % 32) as u8)
            .with_token(token)
            .memory(piece.span);
        if piece.sync {
            bio = bio.sync();
        }
        block.watch().tell(self.now(), BlockAction::Queue, piece.write, piece.sector, piece.sectors, who);
        self.plot.borrow_mut().is_queued(self.now(), piece.sector, piece.write);
        let mut ticket = None;
        loop {
            let submitted = block.queue.borrow_mut().submit(Nanos(self.now()), bio);
            let action = match submitted {
                Submitted::Merged { kind: MergeKind::Back, .. } => BlockAction::BackMerge,
                Submitted::Merged { .. } => BlockAction::FrontMerge,
                Submitted::Queued(_) => BlockAction::GetRequest,
                // Pieces are cut to the limits beforehand; none is larger.
                Submitted::TooLarge => {
                    debug_assert!(false, "a bio of {} sectors is too large for the queue", piece.sectors);
                    self.is_done(block.purposes.borrow_mut().take(token));
                    return;
                }
                Submitted::Full => {
                    self.counts.borrow_mut().full_queue_waits += 1;
                    block.drive(self);
                    match ticket {
                        None => ticket = Some(block.line.borrow_mut().enter(self.task(), op)),
                        Some(ticket) => {
                            // The elevator refuses this one despite free requests: another may succeed.
                            block.line.borrow_mut().go_back(ticket, self.task(), op);
                            block.let_one_in(self, ticket);
                        }
                    }
                    self.park().await;
                    block.queue.borrow_mut().let_in(Nanos(self.now()), TaskId(who.0));
                    continue;
                }
            };
            block.watch().tell(self.now(), action, piece.write, piece.sector, piece.sectors, who);
            break;
        }
        // A task that waited for this before it was queued could not open the plug, and the submitter may never wait.
        if block.waits_to_be_opened && self.is_awaited(piece.purpose) {
            block.queue.borrow_mut().unplug(Nanos(self.now()));
        }
        block.let_one_in(self, 0);
        block.drive(self);
    }
}
