//! A stream that does one operation at a time: its warm-up and its counted part.

use super::hot::{Hot, LoopEnd, perform};
use super::pace::{PaceResult, is_stopped};
use crate::calls::ShortTransfer;
use crate::files::PAGE;
use fathom_workload::drive::WarmUp;
use fathom_workload::ops::{Op, OpCode, Source};

impl Hot<'_, '_> {
    /// Runs the warm-up until counting begins; `Some` if the worker ended before.
    pub async fn warm_up(&mut self, source: &mut dyn Source, warm: &WarmUp<'_>) -> Option<LoopEnd> {
        self.deadline_ns = warm.deadline();
        while !warm.is_over(self.machine.now()) {
            if is_stopped(self.machine, self.plan, self.together) {
                return Some(LoopEnd::Stopped);
            }
            self.done.early = self.pace.early(self.machine.now());
            let drawn = self.pending.take().or_else(|| source.next(&self.done)).or_else(|| {
                source.refill(None);
                source.next(&self.done)
            });
            let Some(op) = drawn else { return Some(LoopEnd::Completed) };
            if self.evicts(&op) {
                continue;
            }
            if let Some(outcome) = self.one(source, op, false).await {
                if outcome == LoopEnd::Stopped && self.pending.is_some() {
                    continue;
                }
                return Some(outcome);
            }
            self.worked.ramp_ops += 1;
            warm.moved(self.warmed);
        }
        source.refill(self.pending.as_ref());
        self.begin_counting();
        None
    }

    /// Does one operation with everything before and after it. `Stopped` with an operation pending means that it must not be issued.
    async fn one(&mut self, source: &mut dyn Source, op: Op, counts: bool) -> Option<LoopEnd> {
        let (machine, plan, together) = (self.machine, self.plan, self.together);
        let drawn = (&op, source.pauses(&op));
        let waited =
            self.pace.before(machine, plan, together, drawn, self.deadline_ns, &mut self.paused).await;
        if waited == PaceResult::Cut || counts && !plan.quota.take(&together.taken, &op) {
            self.pending = Some(op);
            if counts {
                self.cut();
            }
            return Some(LoopEnd::Stopped);
        }
        if let Some(turn) = &mut self.pace.turn
            && !matches!(op.kind, OpCode::Sync { .. })
        {
            turn.gone();
        }
        if counts {
            self.excluded_ns += std::mem::take(&mut self.paused.ns);
        }
        if let Err((op, short)) = self.unsettle(&op).await {
            return Some(self.fail(&op, short));
        }
        let began = machine.now();
        if let Err((op, short)) = perform(machine, plan, &op).await {
            return Some(self.fail(&op, short));
        }
        self.ended(source, &op, began, counts);
        self.note_response(&op, began, counts);
        self.pace.after(machine, plan, together, &op, self.deadline_ns, &mut self.paused).await;
        None
    }

    /// Makes an operation harder: walks through other memory so that its buffer is in no CPU cache, and reads at the beginning of the
    /// file, which moves read-ahead and the disk arm away. As in the engine, none of this counts as latency.
    async fn unsettle(&self, op: &Op) -> Result<(), (Op, ShortTransfer)> {
        let (machine, stream) = (self.machine, self.plan.stream);
        let pages = stream.purge.0.div_ceil(PAGE);
        if pages > 0 {
            machine.compute(machine.costs.page_ns.saturating_mul(pages)).await;
            machine.copies.walk(pages);
        }
        let disturbs = stream.disturb_every > 0 && op.kind == OpCode::Read;
        if disturbs && self.done.reads.is_multiple_of(stream.disturb_every) {
            // With O_DIRECT a single byte cannot be read.
            let bytes = if stream.open.direct { PAGE } else { 1 };
            for offset in [0, PAGE.min(op.offset / PAGE * PAGE)] {
                let disturbing = Op { offset, bytes: bytes as u32, ..*op };
                self.plan.read(machine, op.file, offset, bytes).await.map_err(|short| (disturbing, short))?;
            }
        }
        Ok(())
    }

    /// Runs the counted part.
    pub async fn counted(&mut self, source: &mut dyn Source) -> LoopEnd {
        loop {
            if is_stopped(self.machine, self.plan, self.together) {
                return LoopEnd::Stopped;
            }
            if self.last_ns >= self.deadline_ns {
                return LoopEnd::Stopped;
            }
            if self.paused.ns > 0 && self.machine.now() >= self.deadline_ns {
                self.cut();
                return LoopEnd::Stopped;
            }
            self.done.early = self.pace.early(self.machine.now());
            let Some(op) = self.pending.take().or_else(|| source.next(&self.done)) else {
                return LoopEnd::Completed;
            };
            if self.evicts(&op) {
                continue;
            }
            if let Some(outcome) = self.one(source, op, true).await {
                return outcome;
            }
        }
    }
}
