//! Operations in a ratio to those of other workers, by the engine's rule: nobody begins one while another of his group has done less
//! for his weight. Who ends is no longer waited for, and who begins later begins where the others are.

use super::pace::{Waited, is_stopped};
use super::plan::Plan;
use super::stop::Together;
use crate::machine::Machine;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// How far an operation of the weight 1 goes.
const UNIT: u64 = 1 << 20;
/// What the engine sleeps when a wait takes long.
const SHORT_NS: u64 = 20_000;
/// Longest sleep: a stop is to be seen.
const LONG_NS: u64 = 50_000_000;

/// How far the workers of every group are, those that take part at the moment.
#[derive(Default)]
pub(crate) struct Progress {
    by_group: RefCell<BTreeMap<u32, BTreeMap<usize, Far>>>,
}

#[derive(Clone, Copy)]
struct Far {
    joined: u64,
    operations: u64,
    weight: u64,
}

impl Far {
    fn now(self) -> u64 {
        self.joined.saturating_add(self.operations.saturating_mul(UNIT) / self.weight)
    }
}

impl Progress {
    /// A worker takes part from now on, if it is one of a group and does not yet.
    pub fn join(&self, plan: &Plan<'_>) {
        let Some(ratio) = plan.stream.pace.ratio else { return };
        let mut groups = self.by_group.borrow_mut();
        let group = groups.entry(ratio.group).or_default();
        let joined = group.values().map(|far| far.now()).min().unwrap_or(0);
        let weight = u64::from(ratio.weight.max(1));
        group.entry(plan.index).or_insert(Far { joined, operations: 0, weight });
    }

    /// It does no longer.
    pub fn leave(&self, plan: &Plan<'_>) {
        let Some(ratio) = plan.stream.pace.ratio else { return };
        if let Some(group) = self.by_group.borrow_mut().get_mut(&ratio.group) {
            group.remove(&plan.index);
        }
    }

    fn may_go(&self, group: u32, index: usize) -> bool {
        let groups = self.by_group.borrow();
        let Some(group) = groups.get(&group) else { return true };
        let least = group.values().map(|far| far.now()).min();
        group.get(&index).is_none_or(|own| least.is_none_or(|least| own.now() <= least))
    }

    fn gone(&self, group: u32, index: usize) {
        if let Some(own) = self.by_group.borrow_mut().get_mut(&group).and_then(|g| g.get_mut(&index)) {
            own.operations += 1;
        }
    }
}

/// Waits until it is the worker's turn, unless a stop or the end of the time comes before.
pub(super) async fn wait(
    machine: &Machine,
    plan: &Plan<'_>,
    together: &Together,
    deadline_ns: u64,
) -> Waited {
    let Some(ratio) = plan.stream.pace.ratio else { return Waited::Enough };
    let nap_ns = if ratio.sleep.0 == 0 { SHORT_NS } else { ratio.sleep.0.min(LONG_NS) };
    while !together.progress.may_go(ratio.group, plan.index) {
        let now = machine.now();
        if is_stopped(machine, plan, together) || now >= deadline_ns {
            return Waited::Cut;
        }
        machine.sleep_until(deadline_ns.min(now.saturating_add(nap_ns))).await;
    }
    Waited::Enough
}

/// The worker begins an operation.
pub(super) fn gone(plan: &Plan<'_>, together: &Together) {
    if let Some(ratio) = plan.stream.pace.ratio {
        together.progress.gone(ratio.group, plan.index);
    }
}
