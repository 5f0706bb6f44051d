//! Virtual time before and after an operation: computing, waiting for its scheduled time, pauses after bursts.

use super::plan::WorkerPlan;
use super::ratio;
use super::stop::PhaseControl;
use crate::machine::Machine;
use fathom_workload::WhenStopped;
use fathom_workload::drive::{Nanoseconds, Pacing, RatioTurn};
use fathom_workload::ops::{Early, Op, OpCode};

/// Longest wait between two checks for a stop.
const NAP_NS: u64 = 50_000_000;

/// Whether an operation may be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PaceResult {
    /// It may.
    Enough,
    /// A stop was requested, the time is over, or the common amount is used up.
    Cut,
}

/// Pause caused by the worker's pace around an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Paused {
    /// Time that must not be counted, ns.
    pub ns: u64,
}

/// The pace of a worker.
pub(super) struct Pace<'a> {
    pub rules: Pacing<'a>,
    /// Turn-taking with other workers in a ratio.
    pub turn: Option<RatioTurn<'a>>,
    released_ns: u64,
}

impl<'a> Pace<'a> {
    /// For a worker released at `released_ns`.
    pub fn of(plan: &WorkerPlan<'a>, turn: Option<RatioTurn<'a>>, released_ns: u64) -> Self {
        let common = plan.pool.as_ref().map(|p| &p.common.due);
        Self { rules: Pacing::of(plan.stream, plan.seed, plan.place, common), turn, released_ns }
    }

    /// Scheduled time of the current operation, with a rate or a list.
    pub fn due_ns(&mut self) -> Option<u64> {
        Some(self.rules.schedule.as_mut()?.due(Nanoseconds, self.released_ns))
    }

    /// The operation is issued. Returns its scheduled time, and for how long consecutive operations have been late.
    pub fn issued(&mut self, op: &Op, at_ns: u64) -> Option<(u64, u64)> {
        if !self.rules.is_due_by_schedule(op) {
            return None;
        }
        let due_ns = self.due_ns()?;
        Some((due_ns, self.rules.schedule.as_mut()?.issued(Nanoseconds, at_ns, op.bytes.into())))
    }

    /// The kinds that must not be issued yet, where only one kind of a mix has a rate.
    pub fn early(&mut self, now: u64) -> Option<Early> {
        self.rules.early(Nanoseconds, self.released_ns, || now)
    }

    /// Computes and waits until an operation may be issued; `pauses` says whether the pace applies to it.
    pub async fn before(
        &mut self,
        machine: &Machine,
        plan: &WorkerPlan<'_>,
        together: &PhaseControl,
        (op, pauses): (&Op, bool),
        deadline_ns: u64,
        paused: &mut Paused,
    ) -> PaceResult {
        self.rules.comes(pauses);
        let mut due_ns = self.due_ns();
        let think_ns = match op.kind {
            OpCode::Sync { .. } => 0,
            _ if !pauses => 0,
            _ => self.rules.think.next_ns(Nanoseconds, self.released_ns, || machine.now()),
        };
        let think_ns = think_ns.saturating_add(op.think_ns);
        let think = self.rules.think.asked();
        if think_ns > 0 {
            let from = machine.now();
            let left_ns = deadline_ns.saturating_sub(from);
            if think.asleep {
                if think.busy.0 > 0 {
                    compute(machine, plan, together, think.busy.0.min(left_ns)).await;
                }
                wait_until(machine, plan, together, from.saturating_add(think_ns), deadline_ns).await;
            } else {
                compute(machine, plan, together, think_ns.min(left_ns)).await;
            }
            if !think.counted {
                paused.ns += machine.now() - from;
            }
            if think.shifts_schedule
                && let Some(schedule) = &mut self.rules.schedule
            {
                schedule.postpone(machine.now() - from);
                due_ns = self.due_ns();
            }
            if think_ns > left_ns || is_stopped(machine, plan, together) {
                return PaceResult::Cut;
            }
        }
        if let Some(due) = due_ns.filter(|_| self.rules.is_due_by_schedule(op))
            && wait_until(machine, plan, together, due, deadline_ns).await == PaceResult::Cut
        {
            return PaceResult::Cut;
        }
        if matches!(op.kind, OpCode::Sync { .. }) {
            return PaceResult::Enough;
        }
        ratio::wait(machine, plan, together, self.turn.as_ref(), deadline_ns).await
    }

    /// After an operation issued at `issued_ns`: scheduled time, the worker's lag, and a pause.
    pub async fn after(
        &mut self,
        machine: &Machine,
        plan: &WorkerPlan<'_>,
        together: &PhaseControl,
        op: &Op,
        deadline_ns: u64,
        paused: &mut Paused,
    ) {
        let Some(pause_ns) = self.rules.bursts.moved(op.bytes) else { return };
        plan.fsync(machine, op.file, false).await;
        let from = machine.now();
        let until_ns = from.saturating_add(pause_ns);
        wait_until(machine, plan, together, until_ns, deadline_ns).await;
        paused.ns += machine.now() - from;
    }
}

/// Whether this worker must stop.
pub(super) fn is_stopped(machine: &Machine, plan: &WorkerPlan<'_>, together: &PhaseControl) -> bool {
    together.look(machine.now());
    together.failed.get()
        || together.rule.get()
        || plan.stream.when_stopped != WhenStopped::Ignore
            && (together.first_done.get()
                || plan.company.is_some_and(|company| together.companies.borrow().contains(&company)))
}

/// Computes for a time unless a stop comes first.
async fn compute(machine: &Machine, plan: &WorkerPlan<'_>, together: &PhaseControl, mut ns: u64) {
    while ns > 0 && !is_stopped(machine, plan, together) {
        let part = ns.min(NAP_NS);
        machine.compute(part).await;
        ns -= part;
    }
}

/// Waits until a time unless a stop or the end of the phase's time comes first.
pub(super) async fn wait_until(
    machine: &Machine,
    plan: &WorkerPlan<'_>,
    together: &PhaseControl,
    at_ns: u64,
    deadline_ns: u64,
) -> PaceResult {
    loop {
        let now = machine.now();
        if is_stopped(machine, plan, together) || now >= deadline_ns {
            return PaceResult::Cut;
        }
        if now >= at_ns {
            return PaceResult::Enough;
        }
        machine.sleep_until(at_ns.min(deadline_ns).min(now + NAP_NS)).await;
    }
}
