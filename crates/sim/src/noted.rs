//! What is noted of a run beside its figures, if somebody wants it: the operations of flows in their order, and what flows say.

use fathom_record::OpKind;

/// Messages of flows that are kept.
const MOST_SAID: usize = 1000;

/// One operation of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Number of the worker in its phase.
    pub worker: u32,
    /// What it did.
    pub op: OpKind,
    /// Number of the file set in the workload.
    pub set: u32,
    /// Number of the file in the set.
    pub file: u32,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes moved.
    pub bytes: u64,
}

/// What was noted.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    most: usize,
    pub calls: Vec<Noted>,
    pub said: Vec<String>,
}

impl Notes {
    /// Operations are to be noted, up to so many.
    pub fn note_calls(&mut self, most: usize) {
        self.most = most;
    }

    /// An operation was done.
    pub fn note(&mut self, call: impl FnOnce() -> Noted) {
        if self.calls.len() < self.most {
            self.calls.push(call());
        }
    }

    /// A flow says something to the user.
    pub fn say(&mut self, text: &str) {
        if self.said.len() < MOST_SAID {
            self.said.push(text.into());
        }
    }
}
