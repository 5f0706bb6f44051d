//! Optional records of a run: the operations of flows in order, and the messages that flows print.

use fathom_record::OpKind;

/// Number of messages kept.
const MOST_SAID: usize = 1000;

/// One operation of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    /// Index of the worker in its phase.
    pub worker: u32,
    /// The operation.
    pub op: OpKind,
    /// Index of the file set in the workload.
    pub set: u32,
    /// Index of the file in the set.
    pub file: u32,
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Bytes moved.
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct CallLog {
    most: usize,
    pub calls: Vec<LoggedCall>,
    pub said: Vec<String>,
}

impl CallLog {
    /// Records up to `most` operations from now on.
    pub fn keep_calls(&mut self, most: usize) {
        self.most = most;
    }

    /// Records an operation.
    pub fn note(&mut self, call: impl FnOnce() -> LoggedCall) {
        if self.calls.len() < self.most {
            self.calls.push(call());
        }
    }

    /// Records a message of a flow.
    pub fn say(&mut self, text: &str) {
        if self.said.len() < MOST_SAID {
            self.said.push(text.into());
        }
    }
}
