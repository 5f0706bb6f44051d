//! What all workers of a phase may do together.

use crate::Stop;
use crate::ops::{Op, OpKind};
use std::sync::atomic::{AtomicU64, Ordering};

/// The limits; without any, workers share none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// Operations of all workers.
    pub operations: Option<u64>,
    /// Bytes of all workers.
    pub bytes: Option<u64>,
}

/// How much of it was taken. It may lie in memory that processes share, and has cache lines of its own: all workers write to it.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Taken {
    operations: AtomicU64,
    bytes: AtomicU64,
}

impl Quota {
    /// What a phase's rules say.
    #[must_use]
    pub fn of(stop: &Stop) -> Self {
        Self { operations: stop.operations, bytes: stop.bytes.map(|b| b.0) }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_used_up(&self, taken: &Taken) -> bool {
        let gone = |limit: Option<u64>, so_far: &AtomicU64| {
            limit.is_some_and(|limit| so_far.load(Ordering::Relaxed) >= limit)
        };
        gone(self.operations, &taken.operations) || gone(self.bytes, &taken.bytes)
    }

    /// Takes an operation; false if nothing is left. Syncs are free.
    pub fn take(&self, taken: &Taken, op: &Op) -> bool {
        matches!(op.kind, OpKind::Sync { .. }) || self.take_bytes(taken, u64::from(op.bytes))
    }

    /// Takes an operation of a number of bytes; false if nothing is left. Exact: each is taken by one worker.
    pub fn take_bytes(&self, taken: &Taken, bytes: u64) -> bool {
        let within = |limit: Option<u64>, so_far: &AtomicU64, amount: u64| {
            limit.is_none_or(|limit| so_far.fetch_add(amount, Ordering::Relaxed) < limit)
        };
        within(self.operations, &taken.operations, 1) && within(self.bytes, &taken.bytes, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_taken_once() {
        let taken = Taken::default();
        let quota = Quota { operations: Some(3), bytes: Some(8192) };
        assert!(quota.take_bytes(&taken, 4096) && !quota.is_used_up(&taken));
        assert!(quota.take_bytes(&taken, 8192), "the last one may reach beyond the end");
        assert!(quota.is_used_up(&taken) && !quota.take_bytes(&taken, 1));
        let sync = Op { kind: OpKind::Sync { data_only: false }, file: 0, offset: 0, bytes: 0, think_ns: 0 };
        assert!(quota.take(&taken, &sync));
        assert!(!Quota::default().is_used_up(&taken));
    }
}
