//! Operations that end a flow: after so many completions, or so many bytes, of one operation or of the whole process.

use super::hand::{Break, Hand};
use super::program::Op;
use crate::shared::{READ, WRITE};
use fathom_workload::Act;

/// What the workers of a process have done together.
pub(crate) struct ProcessTotals {
    /// Reads and writes.
    pub ios: u64,
    /// I/O operations of all kinds.
    pub io_ops: u64,
    /// Everything that counts.
    pub all: u64,
    pub bytes: u64,
}

impl ProcessTotals {
    pub fn of(hand: &Hand) -> Self {
        let mut this = Self { ios: 0, io_ops: 0, all: 0, bytes: 0 };
        for &worker in &hand.setting.crews[hand.place.process] {
            let (ops, bytes) = hand.shared.totals(worker);
            let stats = hand.shared.stats(worker);
            this.ios += stats[READ].ops() + stats[WRITE].ops();
            this.io_ops += ops;
            this.bytes += bytes;
            this.all += hand.shared.tally(worker).all();
        }
        this
    }
}

impl Hand<'_> {
    /// One of the finishing operations. It counts, also when it is the last one.
    pub(super) fn finish(&mut self, op: &Op) -> Result<(), Break> {
        let from = self.clock.now();
        let value = self.numbers.of(op.value);
        let over = match (op.act, op.target_row) {
            (Act::FinishOnCount, Some(row)) => self.rows[row].times.ops() >= value,
            (Act::FinishOnCount, None) => ProcessTotals::of(self).all >= value,
            (_, Some(row)) => self.rows[row].times.bytes() > value,
            (_, None) => ProcessTotals::of(self).bytes > value,
        };
        self.done(op, from, 0)?;
        if over { Err(Break::Finished) } else { Ok(()) }
    }
}
