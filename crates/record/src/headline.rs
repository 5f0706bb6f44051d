//! The figure a phase is quoted by: bytes per second if it moved file data, else operations per second (a flow that creates and
//! deletes, opens and closes), so that no report says "0 MiB/s" of a workload that moves no data. Decided only here; the
//! reports format it.

use crate::{OpKind, Phase};
use std::collections::BTreeMap;

/// The rate a phase is quoted by, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Headline {
    /// File data, bytes/s.
    Bytes(f64),
    /// Operations of a phase that moved no file data.
    Ops(f64),
}

impl Phase {
    /// Whether operations were done, but none of them moved file data or was meant to.
    #[must_use]
    pub fn is_metadata_only(&self) -> bool {
        let workers = || self.repetitions.iter().flat_map(|r| &r.workers);
        !self.reads && !self.writes && workers().all(|w| w.bytes == 0) && workers().any(|w| w.ops > 0)
    }

    /// The figure to quote: median over the repetitions of the sum of the workers' rates; `None` if nothing was timed.
    #[must_use]
    pub fn headline(&self) -> Option<Headline> {
        if self.is_metadata_only() || self.bytes_per_s().is_none() {
            self.ops_per_s().map(Headline::Ops)
        } else {
            self.bytes_per_s().map(Headline::Bytes)
        }
    }

    /// The phase's main kind of operation: write if it only writes; the most frequent kind if it neither reads nor writes (the
    /// first of equals); else read.
    #[must_use]
    pub fn main_op(&self) -> OpKind {
        match (self.reads, self.writes) {
            (false, true) => OpKind::Write,
            (false, false) => self.most_frequent().unwrap_or(OpKind::Read),
            _ => OpKind::Read,
        }
    }

    fn most_frequent(&self) -> Option<OpKind> {
        let mut ops = BTreeMap::new();
        let stats = self.repetitions.iter().flat_map(|r| &r.workers).flat_map(|w| &w.stats);
        for stat in stats.filter(|s| !s.op.is_part()) {
            let sum: &mut u64 = ops.entry(stat.op).or_default();
            *sum = sum.saturating_add(stat.ops);
        }
        // `max_by_key` returns the last of equals.
        ops.into_iter().rev().max_by_key(|&(_, n)| n).map(|(op, _)| op)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Axes, Histogram, OpStat, Repetition, Worker};

    pub(crate) fn nothing() -> Phase {
        Phase {
            seq: 0,
            name: String::new(),
            axes: Axes::default(),
            reads: false,
            writes: false,
            sync_in_clock: false,
            direct: false,
            repetitions: Vec::new(),
        }
    }

    fn phase(stats: &[(OpKind, u64, u64)]) -> Phase {
        let stat = |&(op, ops, bytes): &(OpKind, u64, u64)| OpStat {
            op,
            ops,
            bytes,
            latency: Histogram::from_values((0..ops).map(|n| 1000 + n)),
        };
        let worker = Worker {
            elapsed_ns: 1_000_000_000,
            ops: stats.iter().map(|s| s.1).sum(),
            bytes: stats.iter().map(|s| s.2).sum(),
            stats: stats.iter().map(stat).collect(),
            ..Worker::default()
        };
        let repetition = Repetition { workers: vec![worker], ..Repetition::default() };
        Phase { repetitions: vec![repetition], ..nothing() }
    }

    #[test]
    fn creating_and_deleting_is_quoted_in_operations() {
        let phase = phase(&[(OpKind::Open, 20, 0), (OpKind::Delete, 30, 0), (OpKind::Close, 30, 0)]);
        assert_eq!(phase.headline(), Some(Headline::Ops(80.0)));
        assert_eq!(phase.main_op(), OpKind::Close, "the first of those there are most of");
        assert_eq!(phase.latency().count(), 30);
    }

    #[test]
    fn phases_that_move_data_are_quoted_in_bytes() {
        let mut phase = phase(&[(OpKind::Read, 10, 4096), (OpKind::Open, 100, 0)]);
        assert_eq!(phase.headline(), Some(Headline::Bytes(4096.0)), "whatever the phase says of itself");
        phase.reads = true;
        assert_eq!(phase.main_op(), OpKind::Read);
        phase.repetitions[0].workers[0].bytes = 0;
        assert_eq!(phase.headline(), Some(Headline::Bytes(0.0)), "it was meant to read and did not");
        assert_eq!(nothing().headline(), None);
        assert_eq!(nothing().main_op(), OpKind::Read);
    }

    #[test]
    fn parts_of_a_latency_are_no_kind_of_their_own() {
        let phase = phase(&[(OpKind::Stat, 2, 0), (OpKind::Response, 9, 0)]);
        assert_eq!(phase.main_op(), OpKind::Stat);
    }
}
