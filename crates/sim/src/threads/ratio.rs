//! Operations in a ratio to those of other workers: the words they publish in, and how a worker waits for its turn.

use super::pace::{Waited, is_stopped};
use super::plan::Plan;
use super::stop::Together;
use crate::machine::Machine;
use fathom_workload::drive::{AWAY, Turn};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a worker sleeps that waits for its turn, as the engine does when that takes long.
const SHORT_NS: u64 = 20_000;
/// Longest sleep: a stop is to be seen.
const LONG_NS: u64 = 50_000_000;

/// How far every worker of a phase is that has a ratio.
#[derive(Default)]
pub(crate) struct Progress {
    /// By worker: the number of its group, and its word.
    workers: BTreeMap<usize, (u32, AtomicU64)>,
}

impl Progress {
    /// Those that begin later are away until then.
    pub fn of<'a, 'p: 'a>(plans: impl IntoIterator<Item = &'a Plan<'p>>) -> Self {
        let worker = |plan: &Plan<'_>| {
            let far = if plan.stagger_ns == 0 { 0 } else { AWAY };
            Some((plan.index, (plan.stream.pace.ratio?.group, AtomicU64::new(far))))
        };
        Self { workers: plans.into_iter().filter_map(worker).collect() }
    }

    /// The turn of a worker that begins now, if it has a ratio.
    pub fn join(&self, plan: &Plan<'_>) -> Option<Turn<'_>> {
        let ratio = plan.stream.pace.ratio?;
        let others = self.workers.iter();
        let others = others.filter(|(at, (group, _))| **at != plan.index && *group == ratio.group);
        let own = &self.workers.get(&plan.index)?.1;
        let mut turn = Turn::new(own, others.map(|(_, (_, word))| word).collect(), ratio.weight);
        turn.join();
        Some(turn)
    }

    /// A worker is no longer waited for.
    pub fn leave(&self, plan: &Plan<'_>) {
        if let Some((_, word)) = self.workers.get(&plan.index) {
            word.store(AWAY, Ordering::Relaxed);
        }
    }
}

/// Waits until it is the worker's turn, unless a stop or the end of the time comes before.
pub(super) async fn wait(
    machine: &Machine,
    plan: &Plan<'_>,
    together: &Together,
    turn: Option<&Turn<'_>>,
    deadline_ns: u64,
) -> Waited {
    let sleep_ns = plan.stream.pace.ratio.map_or(0, |ratio| ratio.sleep.0);
    let nap_ns = if sleep_ns == 0 { SHORT_NS } else { sleep_ns.min(LONG_NS) };
    while turn.is_some_and(|turn| !turn.may_go()) {
        let now = machine.now();
        if is_stopped(machine, plan, together) || now >= deadline_ns {
            return Waited::Cut;
        }
        machine.sleep_until(deadline_ns.min(now.saturating_add(nap_ns))).await;
    }
    Waited::Enough
}
