//! How long flushes of the device's cache took. A flush lies nowhere, and the kernel completes it again for each request that wanted it:
//! the first completion behind an issue is the device's.

use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber, RequestFlags};
use std::collections::VecDeque;

/// The kernel has two under way at most; a recorder that lost completions must not pile them up.
const MOST_OPEN: usize = 16;

/// Flushes of a device that are under way.
#[derive(Clone, Debug)]
pub(super) struct Flushes {
    device: DeviceNumber,
    open: VecDeque<(u64, bool)>,
}

impl Flushes {
    pub fn new(device: DeviceNumber) -> Self {
        Self { device, open: VecDeque::new() }
    }

    /// Takes the next event: the time of a flush that it ends, ns, and how that was marked at its issue.
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
