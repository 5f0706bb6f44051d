//! Messages of flows on their way to the user: a worker may not print, so it leaves in shared memory who says which operation's text,
//! and the parent, which knows the texts, passes it on when it looks next.

use super::setting::Setting;
use crate::EngineError;
use crate::mapped::Mapped;
use std::sync::atomic::{AtomicU64, Ordering};

/// Messages that may wait for the parent. A worker that finds the ring full waits, so that none is lost.
const ROOM: usize = 1024;
const HEAD: usize = ROOM;
const TAIL: usize = ROOM + 1;

/// Something that a flow says to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// Name of the group, and which of its processes.
    pub group: &'a str,
    /// See `group`.
    pub process: u32,
    /// Name of the thread, empty if it has none, and which of its instances.
    pub thread: &'a str,
    /// See `thread`.
    pub instance: u32,
    /// The message.
    pub text: &'a str,
}

/// The ring.
pub(crate) struct Messages(Mapped<AtomicU64>);

impl Messages {
    pub fn new() -> Result<Self, EngineError> {
        Ok(Self(Mapped::new(ROOM + 2)?))
    }

    /// Leaves a message; false if there is no room now.
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

    /// Takes the next message: who, and which operation. By the parent only.
    fn take(&self) -> Option<(usize, usize)> {
        let tail = self.0[TAIL].load(Ordering::Relaxed);
        if tail >= self.0[HEAD].load(Ordering::Acquire) {
            return None;
        }
        // 0: the place is taken, and the message on its way.
        let message = self.0[(tail % ROOM as u64) as usize].swap(0, Ordering::AcqRel).checked_sub(1)?;
        self.0[TAIL].store(tail + 1, Ordering::Release);
        Some(((message >> 32) as usize, message as u32 as usize))
    }
}

impl Setting {
    /// Passes on what was said since the last call.
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
