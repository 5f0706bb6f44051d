//! Errors of operations caused by earlier operations of the flow, and their messages.

use super::point::PATIENCE_NS;
use super::program::{FlatOp, NAMED_SLOTS};
use crate::Act;

/// Why an operation cannot be done. Slot numbers are those of the thread; one beyond the named ones is printed as "its slot".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// No entry of its set is left to work on.
    Exhausted,
    /// It opens a slot that is already open.
    OpenSlot(u64),
    /// It needs an open slot that is closed.
    ClosedSlot(u64),
    /// It names a slot that has had no file yet, and no file set.
    UnknownSlot(u64),
    /// Its slot holds a file of another set.
    ForeignSlot(u64),
    /// It moves more bytes than its range has.
    Range {
        /// Bytes that it moves.
        bytes: u64,
        /// Bytes of the range.
        range: u64,
    },
    /// It moves more than the thread's memory holds.
    Area {
        /// Bytes that it moves.
        bytes: u64,
        /// Bytes of the memory.
        area: u64,
    },
    /// Its drawn size is 0.
    Empty,
    /// It has waited for its semaphore so long that it counts as a deadlock.
    Patience,
}

impl Wrong {
    /// The message: `on` is the file it works on, `set` its file set.
    #[must_use]
    pub fn sentence(self, op: &FlatOp, on: &str, set: &str) -> String {
        let number = |slot: u64| match slot {
            n if n < u64::from(NAMED_SLOTS) => format!("slot {n}"),
            _ => "its slot".into(),
        };
        match self {
            Self::Exhausted => {
                let what = match op.act {
                    Act::Create => "file that does not exist yet",
                    Act::MakeDirectory => "leaf directory that does not exist yet",
                    Act::RemoveDirectory => "leaf directory",
                    Act::ListDirectory => "directory",
                    _ => "file",
                };
                format!(
                    "no {what} is left in {set}; give the set more entries, run for a shorter time, or let this end the phase (stop.exhausted)"
                )
            }
            Self::OpenSlot(slot) => {
                format!(
                    "opens {}, which is open already ({on}); close it first, or use another",
                    number(slot)
                )
            }
            Self::ClosedSlot(slot) => {
                format!("needs {} open, and it is closed ({on}); open it first", number(slot))
            }
            Self::UnknownSlot(slot) => {
                format!("{} has had no file yet, but the operation names no file set", number(slot))
            }
            Self::ForeignSlot(slot) => {
                format!("{} holds {on}, which is of another file set; use another slot", number(slot))
            }
            Self::Range { bytes, range } => format!(
                "the range of {range} bytes is smaller than an operation of {bytes} bytes ({on}); choose a larger file or working set, or a smaller size"
            ),
            Self::Area { bytes, area } => format!(
                "the thread's memory of {area} bytes is smaller than an operation of {bytes} bytes ({on}); give the thread more memory, or none"
            ),
            Self::Empty => "its size is 0 bytes; reads and writes need at least 1".into(),
            Self::Patience => format!(
                "has waited {} s for its semaphore: no thread posts it, or none waits on it",
                PATIENCE_NS / 1_000_000_000
            ),
        }
    }
}
