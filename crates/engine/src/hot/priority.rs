//! I/O priorities of single operations, for streams that request them. Only the loops with rare features use this.

use crate::stream_plan::StreamPlan;
use fathom_workload::PriorityShare;
use fathom_workload::ops::{Op, OpCode, Place, derive_seed};

/// Purpose number of the derived seed (contents have 200).
const FOR_PRIORITIES: u64 = 201;

/// The priorities to draw from.
pub(crate) struct Priorities {
    shares: Vec<PriorityShare>,
    seed: u64,
    drawn: u64,
}

impl Priorities {
    pub fn of(plan: &StreamPlan) -> Option<Self> {
        let shares = plan.stream.priorities.clone();
        let seed = derive_seed(plan.stream.seed_or(plan.seed), plan.place, FOR_PRIORITIES);
        (!shares.is_empty()).then_some(Self { shares, seed, drawn: 0 })
    }

    /// The priority of an operation; 0: its thread's.
    pub fn of_operation(&mut self, op: &Op) -> u16 {
        if matches!(op.kind, OpCode::Sync { .. }) {
            return 0;
        }
        self.drawn += 1;
        let bits = derive_seed(self.seed, Place::default(), self.drawn) >> 11;
        let mut percent = bits as f64 / (1u64 << 53) as f64 * 100.0;
        let writes = op.kind == OpCode::Write;
        for share in &self.shares {
            let size = share.bytes.is_none_or(|bytes| bytes.0 == u64::from(op.bytes));
            if share.writes != writes || !size {
                continue;
            }
            if percent < share.percent {
                return share.number();
            }
            percent -= share.percent;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::{Bytes, IoClass};

    #[test]
    fn shares_are_kept_by_kind_and_size() {
        let share = |writes, bytes, percent, class| PriorityShare {
            writes,
            bytes,
            percent,
            class,
            level: 2,
            hint: 0,
        };
        let shares = vec![
            share(false, Some(Bytes(4096)), 20.0, IoClass::RealTime),
            share(false, Some(Bytes(4096)), 30.0, IoClass::Idle),
            share(true, None, 100.0, IoClass::BestEffort),
        ];
        let mut priorities = Priorities { shares, seed: 7, drawn: 0 };
        let mut count = |kind, bytes, wanted: u16| {
            let op = Op { kind, file: 0, offset: 0, bytes, think_ns: 0 };
            (0..10_000).filter(|_| priorities.of_operation(&op) == wanted).count()
        };
        let near = |n: usize, wanted: usize| n.abs_diff(wanted) < 200;
        assert!(near(count(OpCode::Read, 4096, 1 << 13 | 2), 2000));
        assert!(near(count(OpCode::Read, 4096, 3 << 13 | 2), 3000));
        assert!(near(count(OpCode::Read, 4096, 0), 5000));
        assert_eq!(count(OpCode::Read, 8192, 0), 10_000);
        assert_eq!(count(OpCode::Write, 8192, 2 << 13 | 2), 10_000);
        assert_eq!(count(OpCode::Sync { data_only: false }, 0, 0), 10_000);
    }
}
