//! Limits and ends: what the interpreter needs to know of the work so far, waiting for events, and leaving.

use super::setting::RowStat;
use super::worker::{Break, FlowWorker};
use crate::shared::Shared;
use fathom_record::OpKind;
use fathom_workload::flow::{Counts, FlatOp, Totals};

/// The work so far of a worker and of the workers of its process.
struct Done<'a> {
    rows: &'a [RowStat],
    crew: &'a [usize],
    shared: &'a Shared,
}

impl Counts for Done<'_> {
    fn of_row(&self, row: usize) -> (u64, u64) {
        let times = &self.rows[row].times;
        (times.ops(), times.bytes())
    }

    fn of_process(&self) -> Totals {
        let mut sum = Totals::default();
        for &worker in self.crew {
            let (ops, bytes) = self.shared.totals(worker);
            let stats = self.shared.stats(worker);
            sum.ios += stats[OpKind::Read].ops() + stats[OpKind::Write].ops();
            sum.io_ops += ops;
            sum.bytes += bytes;
            sum.all += self.shared.tally(worker).all();
        }
        sum
    }
}

impl<'a> FlowWorker<'a> {
    fn so_far(&self) -> Done<'a> {
        let crew = &self.setting.crews[self.place.process];
        Done { rows: self.rows, crew, shared: self.shared }
    }

    /// Executes a finishing operation (finish-on-count, finish-on-bytes). It is counted as an operation even if it ends the worker.
    pub(super) fn finish(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.clock.now();
        let done = self.so_far();
        let over = self.thread.is_over(op, &done);
        self.done(op, from, 0)?;
        if over { Err(Break::Finished) } else { Ok(()) }
    }

    /// One of the limiting operations.
    pub(super) fn limit(&mut self, op: &FlatOp) -> Result<(), Break> {
        let Some(supply) = self.thread.supply() else { return Ok(()) };
        let from = self.clock.now();
        let done = self.so_far();
        let events = self.thread.events(op, &done);
        let begin = supply.begin(self.released);
        let now_ns = self.clock.between(begin, from);
        let there_ns = supply.take(events, now_ns);
        if there_ns > now_ns {
            self.wait_until(begin.saturating_add(self.clock.ticks(there_ns)))?;
        }
        self.done(op, from, 0)
    }
}
