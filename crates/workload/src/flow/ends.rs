//! Limits and ends of a flow: the number of events a limiting operation takes, and whether a finishing operation ends the flow.

use super::act::Kind;
use super::program::FlatOp;
use super::supply::{Due, Supply};
use super::thread::FlowThread;
use crate::Act;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

const MIB: u64 = 1 << 20;

/// Completions so far, as finishing and limiting operations see them.
pub trait Counts {
    /// Executions of a row of this thread, and bytes it moved.
    fn of_row(&self, row: usize) -> (u64, u64);
    /// Totals of the threads of this thread's process.
    fn of_process(&self) -> Totals;
}

/// Totals of several threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Reads and writes.
    pub ios: u64,
    /// I/O operations of all kinds.
    pub io_ops: u64,
    /// All counted operations.
    pub all: u64,
    /// Bytes moved.
    pub bytes: u64,
}

impl<'a, A: Deref<Target = [AtomicU64]>, F> FlowThread<'a, A, F> {
    /// Whether a finishing operation ends the flow.
    pub fn is_over(&mut self, op: &FlatOp, counts: &impl Counts) -> bool {
        let value = self.numbers.of(op.value);
        match (op.act, op.target_row) {
            (Act::FinishOnCount, Some(row)) => counts.of_row(row).0 >= value,
            (Act::FinishOnCount, None) => counts.of_process().all >= value,
            (_, Some(row)) => counts.of_row(row).1 > value,
            (_, None) => counts.of_process().bytes > value,
        }
    }

    /// The supply that limiting operations take events from.
    #[must_use]
    pub fn supply(&self) -> Option<&'a Supply<A>> {
        self.supply
    }

    /// Number of events that a limiting operation takes.
    pub fn events(&mut self, op: &FlatOp, counts: &impl Counts) -> u64 {
        let due = match op.act {
            Act::LimitEvents => return 1,
            Act::LimitIops => Due::Ios,
            Act::LimitOps => Due::Ops,
            _ => Due::Mebibytes,
        };
        let Some(row) = op.target_row else {
            let done = counts.of_process();
            let done = match due {
                Due::Ios => done.ios,
                Due::Ops => done.io_ops,
                Due::Mebibytes => done.bytes / MIB,
            };
            return self.supply.map_or(0, |supply| supply.due(self.process, due, done));
        };
        let (ops, bytes) = counts.of_row(row);
        let done = match due {
            Due::Ios if matches!(self.ops[row].kind, Some(Kind::Read | Kind::Write)) => ops,
            Due::Ios => 0,
            Due::Ops => ops,
            Due::Mebibytes => bytes / MIB,
        };
        let before = std::mem::replace(&mut self.paid[op.row], done);
        done.saturating_sub(before)
    }
}
