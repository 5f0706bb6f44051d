//! Limits on what all workers of a phase do together.

use crate::Stop;
use crate::ops::{Op, OpCode};
use std::sync::atomic::{AtomicU64, Ordering};

/// The limits of a phase; with none set, workers share nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// Total operations of all workers; `None`: unlimited.
    pub operations: Option<u64>,
    /// Total bytes of all workers; `None`: unlimited.
    pub bytes: Option<u64>,
}

/// The part of the quota already taken. It may lie in memory shared by processes, and has separate cache lines because all workers write
/// to it.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Taken {
    operations: AtomicU64,
    bytes: AtomicU64,
}

impl Quota {
    /// The limits in a phase's stop rules.
    #[must_use]
    pub fn of(stop: &Stop) -> Self {
        Self { operations: stop.operations, bytes: stop.bytes.map(|b| b.0) }
    }

    /// Whether the quota is used up.
    #[must_use]
    pub fn is_used_up(&self, taken: &Taken) -> bool {
        let gone = |limit: Option<u64>, so_far: &AtomicU64| {
            limit.is_some_and(|limit| so_far.load(Ordering::Relaxed) >= limit)
        };
        gone(self.operations, &taken.operations) || gone(self.bytes, &taken.bytes)
    }

    /// Takes an operation; false if nothing is left. Syncs are not counted.
    pub fn take(&self, taken: &Taken, op: &Op) -> bool {
        matches!(op.kind, OpCode::Sync { .. }) || self.take_bytes(taken, u64::from(op.bytes))
    }

    /// Takes an operation of `bytes` bytes; false if nothing is left. Exact: no operation is taken twice.
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
    fn a_shared_quota_is_taken_once() {
        let taken = Taken::default();
        let quota = Quota { operations: Some(3), bytes: Some(8192) };
        assert!(quota.take_bytes(&taken, 4096) && !quota.is_used_up(&taken));
        assert!(quota.take_bytes(&taken, 8192), "the last one may reach beyond the end");
        assert!(quota.is_used_up(&taken) && !quota.take_bytes(&taken, 1));
        let sync = Op { kind: OpCode::Sync { data_only: false }, file: 0, offset: 0, bytes: 0, think_ns: 0 };
        assert!(quota.take(&taken, &sync));
        assert!(!Quota::default().is_used_up(&taken));
    }
}
