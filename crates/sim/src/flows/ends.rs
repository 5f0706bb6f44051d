//! Limits and ends of a flow in virtual time: when a thread is done, and what a stage counts until then.

use super::runner::{Break, FlowRunner};
use fathom_workload::flow::FlatOp;

impl FlowRunner<'_, '_> {
    /// A finishing operation. It counts even if it is the last one.
    pub(super) async fn finish(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.machine.now();
        let done = self.so_far();
        let over = self.thread.is_over(op, &done);
        self.done(op, from, 0).await?;
        if over { Err(Break::Finished) } else { Ok(()) }
    }

    /// A limiting operation.
    pub(super) async fn limit(&mut self, op: &FlatOp) -> Result<(), Break> {
        let Some(supply) = self.thread.supply() else { return Ok(()) };
        let from = self.machine.now();
        let done = self.so_far();
        let events = self.thread.events(op, &done);
        let begin = supply.begin(self.released_ns);
        let now_ns = from.saturating_sub(begin);
        let there_ns = supply.take(events, now_ns);
        if there_ns > now_ns {
            self.wait_until(begin.saturating_add(there_ns)).await?;
        }
        self.done(op, from, 0).await
    }
}
