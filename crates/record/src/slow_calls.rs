//! Where the slowest hundredth of our own calls waited: kernel stacks with their file and layer, and the slowest calls one by one.

use crate::OpKind;
use serde::{Deserialize, Serialize};

/// The slowest hundredth of the calls of one kind in a repetition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowCalls {
    /// Read, write or sync.
    pub op: OpKind,
    /// Calls of this kind that were noted.
    pub calls: u64,
    /// Whether more calls followed than are noted.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub first_only: bool,
    /// How many of them these are.
    pub slowest: u64,
    /// Latency of the fastest of these, ns.
    pub from_ns: u64,
    /// Sum of their latencies, ns.
    pub total_ns: u64,
    /// Stacks in which they waited, the longest total first. The same functions with another file are another stack.
    pub stacks: Vec<WaitStack>,
    /// The very slowest calls, in order of their start.
    pub examples: Vec<SlowCall>,
}

/// A kernel stack in which calls waited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WaitStack {
    /// The file of the calls; `None`: several, each too rare for an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Part of the kernel that was waited in: "journal", "page cache", "device", ...
    pub layer: String,
    /// The function that says so.
    pub waits_in: String,
    /// Functions, the outermost first.
    pub frames: Vec<String>,
    /// Number of waits.
    pub waits: u64,
    /// Number of calls with such a wait.
    pub calls: u64,
    /// Sum of the waits, ns.
    pub total_ns: u64,
    /// The longest, ns.
    pub longest_ns: u64,
}

/// One slow call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlowCall {
    /// Index of its worker.
    pub worker: u32,
    /// After the first noted call of the repetition, ns.
    pub start_ns: u64,
    /// Duration, ns.
    pub latency_ns: u64,
    /// Its file.
    pub file: String,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes requested.
    pub bytes: u64,
    /// What it waited for, in order.
    pub waits: Vec<Wait>,
}

/// One wait of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Index in [`SlowCalls::stacks`].
    pub stack: u32,
    /// After the call's start, ns.
    pub start_ns: u64,
    /// Duration, ns.
    pub ns: u64,
}

impl SlowCalls {
    /// Functions that were waited in with their layer, files together, and the share of the calls' time, the largest first.
    #[must_use]
    pub fn shares(&self) -> Vec<(&str, &str, f64)> {
        let mut all: Vec<(&str, &str, u64)> = Vec::new();
        for stack in &self.stacks {
            match all.iter_mut().find(|a| (a.0, a.1) == (&stack.waits_in, &stack.layer)) {
                Some(known) => known.2 = known.2.saturating_add(stack.total_ns),
                None => all.push((&stack.waits_in, &stack.layer, stack.total_ns)),
            }
        }
        all.sort_by_key(|a| std::cmp::Reverse(a.2));
        let whole = self.total_ns.max(1) as f64;
        all.into_iter().map(|(function, layer, ns)| (function, layer, ns as f64 / whole)).collect()
    }

    /// Share of the calls' time that no stack accounts for: they ran, or the wait was too short or too rare to be noted.
    #[must_use]
    pub fn rest(&self) -> f64 {
        let waited = self.stacks.iter().fold(0u64, |sum, s| sum.saturating_add(s.total_ns));
        1.0 - waited as f64 / self.total_ns.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_do_not_split_a_share() {
        let stack = |waits_in: &str, file: &str, total_ns| WaitStack {
            file: Some(file.into()),
            layer: "journal".into(),
            waits_in: waits_in.into(),
            total_ns,
            ..WaitStack::default()
        };
        let slow = SlowCalls {
            op: OpKind::Sync,
            calls: 1000,
            first_only: false,
            slowest: 10,
            from_ns: 50,
            total_ns: 1000,
            stacks: vec![
                stack("start_this_handle", "/a", 300),
                stack("jbd2_log_wait_commit", "/a", 250),
                stack("jbd2_log_wait_commit", "/b", 250),
            ],
            examples: Vec::new(),
        };
        let expected = [("jbd2_log_wait_commit", "journal", 0.5), ("start_this_handle", "journal", 0.3)];
        assert_eq!(slow.shares(), expected);
        assert!((slow.rest() - 0.2).abs() < 1e-9);
    }
}
