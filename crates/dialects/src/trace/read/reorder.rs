//! A window that sorts events by time, for formats that give a request's completion together with its start. Its size is fixed to bound
//! memory; events that are too late for the window are passed on late and counted.

use fathom_record::BlockEvent;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Capacity of the window in events; 5 MiB.
pub(super) const WINDOW_EVENTS: usize = 1 << 16;

#[derive(Default)]
pub(super) struct Reorder {
    held: BinaryHeap<Reverse<HeldEvent>>,
    put: u64,
    last_ns: u64,
    late: u64,
}

struct HeldEvent {
    event: BlockEvent,
    /// Sequence number, which keeps events of equal time in input order.
    nth: u64,
}

impl HeldEvent {
    fn key(&self) -> (u64, u64) {
        (self.event.time_ns, self.nth)
    }
}

impl PartialEq for HeldEvent {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for HeldEvent {}

impl PartialOrd for HeldEvent {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HeldEvent {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Reorder {
    pub(super) fn put(&mut self, event: BlockEvent) {
        self.held.push(Reverse(HeldEvent { event, nth: self.put }));
        self.put += 1;
    }

    /// Removes the earliest event if the window is full or the input has ended.
    pub(super) fn take(&mut self, ended: bool) -> Option<BlockEvent> {
        if self.held.len() <= WINDOW_EVENTS && !ended {
            return None;
        }
        let Reverse(held) = self.held.pop()?;
        if held.event.time_ns < self.last_ns {
            self.late += 1;
        }
        self.last_ns = self.last_ns.max(held.event.time_ns);
        Some(held.event)
    }

    /// A message if the window was too small.
    pub(super) fn note(&self) -> Option<String> {
        (self.late > 0).then(|| {
            format!(
                "{} events could not be sorted by time: they came more than {WINDOW_EVENTS} events too late.",
                self.late
            )
        })
    }
}
