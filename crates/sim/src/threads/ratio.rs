//! Operations in a ratio to those of other workers: the published progress counters, and how a worker waits for its turn.

use super::pace::{PaceResult, is_stopped};
use super::plan::WorkerPlan;
use super::stop::PhaseControl;
use crate::machine::Machine;
use fathom_workload::drive::{AWAY, RatioTurn};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sleep of a worker that waits for its turn, as in the engine during long waits.
const SHORT_NS: u64 = 20_000;
/// Longest sleep, so that a stop is noticed.
const LONG_NS: u64 = 50_000_000;

/// Progress of every worker of a phase that has a ratio.
#[derive(Default)]
pub(crate) struct Progress {
    /// By worker: its group's number and its counter.
    workers: BTreeMap<usize, (u32, AtomicU64)>,
}

impl Progress {
    /// The counters of all workers with a ratio. A worker that begins later counts as absent until then.
    pub fn of<'a, 'p: 'a>(plans: impl IntoIterator<Item = &'a WorkerPlan<'p>>) -> Self {
        let worker = |plan: &WorkerPlan<'_>| {
            let far = if plan.stagger_ns == 0 { 0 } else { AWAY };
            Some((plan.index, (plan.stream.pace.ratio?.group, AtomicU64::new(far))))
        };
        Self { workers: plans.into_iter().filter_map(worker).collect() }
    }

    /// The turn of a worker that starts now, if it has a ratio.
    pub fn join(&self, plan: &WorkerPlan<'_>) -> Option<RatioTurn<'_>> {
        let ratio = plan.stream.pace.ratio?;
        let others = self.workers.iter();
        let others = others.filter(|(at, (group, _))| **at != plan.index && *group == ratio.group);
        let own = &self.workers.get(&plan.index)?.1;
        let mut turn = RatioTurn::new(own, others.map(|(_, (_, word))| word).collect(), ratio.weight);
        turn.join();
        Some(turn)
    }

    /// Others no longer wait for this worker.
    pub fn leave(&self, plan: &WorkerPlan<'_>) {
        if let Some((_, word)) = self.workers.get(&plan.index) {
            word.store(AWAY, Ordering::Relaxed);
        }
    }
}

/// Waits for the worker's turn, unless a stop or the end of the time comes first.
pub(super) async fn wait(
    machine: &Machine,
    plan: &WorkerPlan<'_>,
    together: &PhaseControl,
    turn: Option<&RatioTurn<'_>>,
    deadline_ns: u64,
) -> PaceResult {
    let sleep_ns = plan.stream.pace.ratio.map_or(0, |ratio| ratio.sleep.0);
    let nap_ns = if sleep_ns == 0 { SHORT_NS } else { sleep_ns.min(LONG_NS) };
    while turn.is_some_and(|turn| !turn.may_go()) {
        let now = machine.now();
        if is_stopped(machine, plan, together) || now >= deadline_ns {
            return PaceResult::Cut;
        }
        machine.sleep_until(deadline_ns.min(now.saturating_add(nap_ns))).await;
    }
    PaceResult::Enough
}
