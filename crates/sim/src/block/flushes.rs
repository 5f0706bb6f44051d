//! Flushes of the device's cache. They bypass the scheduler and wait only for a free slot in the device. A flush is done when everything
//! written before it is on the medium.

use super::{Block, Submitter, TagUse};
use crate::devices::Command;
use crate::machine::Machine;
use fathom_record::block::BlockAction;
use std::cell::RefCell;
use std::collections::VecDeque;

#[derive(Clone, Copy)]
pub(super) struct QueuedFlush {
    /// The group of parts that it belongs to.
    pub part: u32,
    pub who: Submitter,
}

/// Flushes that wait for a free slot in the device.
#[derive(Default)]
pub(super) struct FlushQueue(RefCell<VecDeque<QueuedFlush>>);

impl Block {
    /// Starts flushes while the device has free slots.
    pub(super) fn start_flushes(&self, machine: &Machine) {
        while self.in_flight.get() < self.depth {
            let next = self.flushes.0.borrow_mut().pop_front();
            let Some(flush) = next else { return };
            let command = Command { tag: 0, write: true, sector: 0, sectors: 0, segments: 1 };
            self.hand_over(machine, command, TagUse::Flush(flush), flush.who);
        }
    }
}

impl Machine {
    /// Flushes the device's cache and waits for it.
    pub(crate) async fn flush_device(&self, who: Submitter) {
        let part = self.parts.borrow_mut().make();
        self.parts.borrow_mut().more(part);
        self.block.watch().tell(self.now(), BlockAction::Queue, true, 0, 0, who);
        self.block.flushes.0.borrow_mut().push_back(QueuedFlush { part, who });
        self.counts.borrow_mut().flushes += 1;
        self.block.drive(self);
        self.all_parts(part, who).await;
    }
}
