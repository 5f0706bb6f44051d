//! Messages of flows to the user: a worker may not print, so it leaves its index and that of the operation in shared memory. The
//! parent, which knows the texts, passes the message on at its next look.

use super::setting::Setting;
use crate::EngineError;
use crate::shared_memory::Mapped;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of pending messages. A worker that finds the ring full waits, so that none is lost.
const ROOM: usize = 1024;
const HEAD: usize = ROOM;
const TAIL: usize = ROOM + 1;

/// A message of a flow to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// Name of the group.
    pub group: &'a str,
    /// Index of the process in the group.
    pub process: u32,
    /// Name of the thread; empty if it has none.
    pub thread: &'a str,
    /// Index among the instances of the thread.
    pub instance: u32,
    /// Text of the message.
    pub text: &'a str,
}

/// A ring of pending messages.
pub(crate) struct Messages(Mapped<AtomicU64>);

impl Messages {
    pub fn new() -> Result<Self, EngineError> {
        Ok(Self(Mapped::new(ROOM + 2)?))
    }

    /// Adds a message; false if the ring is full.
    pub fn leave(&self, worker: usize, row: usize) -> bool {
        let mut head = self.0[HEAD].load(Ordering::Acquire);
        loop {
            if head - self.0[TAIL].load(Ordering::Acquire) >= ROOM as u64 {
                return false;
            }
            match self.0[HEAD].compare_exchange_weak(head, head + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        let message = (worker as u64) << 32 | (row as u64 + 1);
        self.0[(head % ROOM as u64) as usize].store(message, Ordering::Release);
        true
    }

    /// Takes the next message: worker and operation. Called by the parent only.
    fn take(&self) -> Option<(usize, usize)> {
        let tail = self.0[TAIL].load(Ordering::Relaxed);
        if tail >= self.0[HEAD].load(Ordering::Acquire) {
            return None;
        }
        // 0: the slot is reserved, but the message is not stored yet.
        let message = self.0[(tail % ROOM as u64) as usize].swap(0, Ordering::AcqRel).checked_sub(1)?;
        self.0[TAIL].store(tail + 1, Ordering::Release);
        Some(((message >> 32) as usize, message as u32 as usize))
    }
}

impl Setting {
    /// Passes on the messages since the last call.
    pub fn pass_on(&self, mut to: impl FnMut(&Said<'_>)) {
        while let Some((worker, row)) = self.messages.take() {
            let Some(place) = self.places.get(worker).and_then(Option::as_ref) else { continue };
            let Some(op) = self.programs[place.program].ops.get(row) else { continue };
            to(&Said {
                group: &place.group,
                process: place.instance,
                thread: &place.thread,
                instance: place.thread_instance,
                text: &op.text,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_in_order_and_none_is_lost_in_a_full_ring() {
        let messages = Messages::new().unwrap();
        for row in 0..ROOM {
            assert!(messages.leave(3, row));
        }
        assert!(!messages.leave(3, 0));
        for row in 0..ROOM {
            assert_eq!(messages.take(), Some((3, row)));
        }
        assert_eq!(messages.take(), None);
        assert!(messages.leave(65535, 7));
        assert_eq!(messages.take(), Some((65535, 7)));
    }
}
