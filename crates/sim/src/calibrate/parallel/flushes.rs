//! Durations of cache flushes. A flush has no position, and the kernel completes it again for each request that wanted it: the first
//! completion after an issue is the device's.

use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber, RequestFlags};
use std::collections::VecDeque;

/// The kernel has at most two in flight; the limit is for lost completions.
const MOST_OPEN: usize = 16;

/// Flushes of a device in flight.
#[derive(Clone, Debug)]
pub(super) struct OpenFlushes {
    device: DeviceNumber,
    open: VecDeque<(u64, bool)>,
}

impl OpenFlushes {
    pub fn new(device: DeviceNumber) -> Self {
        Self { device, open: VecDeque::new() }
    }

    /// Processes the next event: returns the time of a flush that it ends, ns, and the mark given at its issue.
    pub fn take(&mut self, event: &BlockEvent, marked: bool) -> Option<(u64, bool)> {
        let other = RequestFlags::READ.0 | RequestFlags::DISCARD.0;
        if event.device != self.device || event.sectors != 0 || event.flags.0 & other != 0 {
            return None;
        }
        match event.action {
            BlockAction::Issue if event.flags.has(RequestFlags::PREFLUSH) => {
                if self.open.len() == MOST_OPEN {
                    self.open.pop_front();
                }
                self.open.push_back((event.time_ns, marked));
                None
            }
            BlockAction::Complete => {
                let (issued, marked) = self.open.pop_front()?;
                (event.error == 0).then(|| (event.time_ns.saturating_sub(issued), marked))
            }
            _ => None,
        }
    }
}
