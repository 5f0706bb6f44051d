//! Warm-ups: the counters in which workers publish the bytes they have moved.

use super::plan::WorkerPlan;
use fathom_workload::drive::WarmUp;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

/// Bytes moved by every worker of a phase that warms up.
#[derive(Default)]
pub(crate) struct Warming {
    /// By worker: the company it warms up with, and its counter.
    workers: BTreeMap<usize, (Option<u32>, AtomicU64)>,
}

impl Warming {
    pub fn of<'a, 'p: 'a>(plans: impl IntoIterator<Item = &'a WorkerPlan<'p>>) -> Self {
        let warm = |plan: &&WorkerPlan<'_>| plan.ramp_ns > 0 || plan.ramp_bytes > 0;
        let worker = |plan: &WorkerPlan<'_>| {
            let company = plan.company.filter(|_| plan.ramp_together);
            (plan.index, (company, AtomicU64::new(0)))
        };
        Self { workers: plans.into_iter().filter(warm).map(worker).collect() }
    }

    /// The warm-up of a worker that starts at `now`, if it has one.
    pub fn begin(&self, plan: &WorkerPlan<'_>, now: u64) -> Option<WarmUp<'_>> {
        let (company, own) = self.workers.get(&plan.index)?;
        let others =
            self.workers.iter().filter(|(at, (of, _))| **at != plan.index && of.is_some() && of == company);
        let others = others.map(|(_, (_, word))| word).collect();
        Some(WarmUp::new(now.saturating_add(plan.ramp_ns), plan.ramp_bytes, own, others))
    }
}
