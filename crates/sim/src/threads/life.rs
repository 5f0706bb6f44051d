//! One worker from release to end: warm-up, counted part, final syncs inside the clock, and completion of a stopped stream. The order of
//! steps follows the engine, because the workload model defines what is inside the clock.

use super::hot::{Hot, LoopEnd, perform};
use super::open::open;
use super::pace::{Pace, Paused};
use super::plan::WorkerPlan;
use super::queued::{self, Slots};
use super::stop::PhaseControl;
use super::worker_result::WorkerResult;
use crate::machine::Machine;
use fathom_record::{Ending, OpError, OpKind};
use fathom_workload::ops::{Done, Source};
use fathom_workload::{Raise, WhenStopped};

impl Hot<'_, '_> {
    /// Runs the uncounted rest after a stop.
    async fn finish(&mut self, source: &mut dyn Source) {
        while !self.together.failed.get() {
            let Some(op) = self.pending.take().or_else(|| source.next(&self.done)) else { break };
            let began = self.machine.now();
            if perform(self.machine, self.plan, &op).await.is_err() {
                break;
            }
            self.ended(source, &op, began, false);
            self.worked.uncounted_bytes += u64::from(op.bytes);
        }
    }

    /// fsync of all its files, and the mark.
    async fn sync_and_mark(&mut self) {
        let series = self.plan.stream.sync_series;
        let kind = if series.is_some() { OpKind::FinalSync } else { OpKind::Sync };
        let data_only = series.is_some_and(|s| s.data_only);
        for file in 0..self.plan.files.len() as u32 {
            let from = self.machine.now();
            self.plan.fsync(self.machine, file, data_only).await;
            self.worked.record(kind, self.machine.now() - from, 0);
            self.worked.fsync_ns = self.machine.now() - self.worked.start_ns;
        }
    }

    async fn close_and_mark(&mut self) {
        let from = self.machine.now();
        self.plan.end(self.machine).await;
        self.machine.compute(self.machine.costs.call_ns).await;
        self.worked.record(OpKind::Close, self.machine.now() - from, 0);
        self.worked.close_ns = self.machine.now() - self.worked.start_ns;
    }
}

/// Runs a worker released at `first_ns` plus its stagger.
pub(crate) async fn live<'a>(
    machine: &Machine,
    plan: &WorkerPlan<'a>,
    together: &PhaseControl,
    slots: Option<&Slots>,
    first_ns: u64,
) -> WorkerResult {
    machine.own_cpu(plan.who);
    machine.sleep_until(first_ns.saturating_add(plan.stagger_ns)).await;
    let released_ns = machine.now();
    let turn = together.progress.join(plan);
    let worked = WorkerResult {
        group: plan.group.clone(),
        index: plan.index as u32,
        released_ns,
        ..WorkerResult::default()
    };
    let mut hot = Hot {
        machine,
        plan,
        together,
        worked,
        pace: Pace::of(plan, turn, released_ns),
        done: Done::default(),
        counting: false,
        warmed: 0,
        deadline_ns: u64::MAX,
        last_ns: released_ns,
        excluded_ns: 0,
        paused: Paused::default(),
        pending: None,
    };
    hot.worked.start_ns = released_ns;
    let Some(mut source) = plan.source(machine) else {
        hot.worked.ending = too_small(plan);
        together.progress.leave(plan);
        together.has_failed();
        return hot.worked;
    };
    let source = &mut *source;
    if plan.ramp_ns == 0 && plan.ramp_bytes == 0 {
        hot.begin_counting();
    }
    if plan.stream.timed.open {
        let from = machine.now();
        machine.compute(machine.costs.call_ns).await;
        hot.worked.record(OpKind::Open, machine.now() - from, 0);
        open(machine, plan).await;
    }
    let outcome = match slots {
        Some(slots) => queued::run(&mut hot, source, slots).await,
        None => {
            let warm = together.warming.begin(plan, machine.now());
            let early = match &warm {
                Some(warm) => hot.warm_up(source, warm).await,
                None => None,
            };
            match early {
                Some(outcome) => outcome,
                None => hot.counted(source).await,
            }
        }
    };
    if !hot.counting {
        hot.begin_counting();
    }
    conclude(hot, source, outcome).await
}

async fn conclude(mut hot: Hot<'_, '_>, source: &mut dyn Source, outcome: LoopEnd) -> WorkerResult {
    let (machine, plan, stream) = (hot.machine, hot.plan, hot.plan.stream);
    let start_ns = hot.worked.start_ns;
    // Work after its operations does not count in the ratio.
    hot.together.progress.leave(plan);
    hot.worked.last_ns = hot.last_ns;
    hot.worked.elapsed_ns = (hot.last_ns - start_ns).saturating_sub(hot.excluded_ns);
    if outcome == LoopEnd::Failed {
        hot.worked.cpu_ns = hot.cpu_ns();
        return hot.worked;
    }
    // A worker past its group's time limit also counts as done.
    let timed_out = plan.own_time && outcome == LoopEnd::Stopped && machine.now() >= hot.deadline_ns;
    let done = outcome == LoopEnd::Completed || timed_out;
    let raise_first = |when: Raise| {
        if done && plan.raise == Some(when) {
            hot.together.is_done(plan.company.filter(|_| plan.ends_company));
        }
    };
    raise_first(Raise::AfterLastOp);
    let mut closed = false;
    if stream.timed.fsync {
        hot.sync_and_mark().await;
    }
    if stream.timed.close {
        hot.close_and_mark().await;
        closed = true;
    }
    if stream.timed.fsync || stream.timed.close {
        let not_counted_ns = hot.excluded_ns + hot.paused.ns;
        hot.worked.elapsed_ns = (machine.now() - start_ns).saturating_sub(not_counted_ns);
    }
    if done && plan.raise == Some(Raise::AfterFinish) {
        hot.together.is_done(plan.company.filter(|_| plan.ends_company));
    }
    hot.worked.cpu_ns = hot.cpu_ns();
    hot.together.written_bytes.set(machine.block.written_bytes());
    if outcome == LoopEnd::Stopped && stream.when_stopped == WhenStopped::FinishUncounted {
        hot.finish(source).await;
    }
    if stream.sync_after && !closed {
        hot.sync_and_mark().await;
    }
    if !closed {
        hot.close_and_mark().await;
    }
    if let Some(left) = source.left_to_read() {
        machine.written.borrow_mut().insert((plan.place.phase, plan.place.worker), left);
    }
    if hot.worked.ending == Ending::Completed && outcome == LoopEnd::Stopped {
        hot.worked.ending = Ending::Stopped;
    }
    machine.block.has_exited(machine, plan.who);
    hot.worked
}

fn too_small(plan: &WorkerPlan<'_>) -> Ending {
    let path = format!("a file of the set {}", plan.set);
    let message = format!(
        "the region of {path} ({} bytes) is smaller than a record ({} bytes)",
        plan.region.length,
        plan.stream.record.largest().0
    );
    Ending::Failed(OpError { call: "start".into(), path, message, ..OpError::default() })
}
