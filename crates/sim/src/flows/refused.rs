//! Parts of flows that the simulator cannot execute, and those that have no effect in it.

use fathom_workload::flow::flows;
use fathom_workload::{Flow, Phase, Thread, Workload};

/// Number of workers of a phase that can be distinguished.
const MOST_WORKERS: u64 = 60_000;

/// Why a flow cannot be executed.
pub(crate) fn refusal(workload: &Workload, phase: &Phase, thread: &Thread, flow: &Flow) -> Option<String> {
    if let Some((name, why)) = fathom_workload::flow::refusal(workload, phase, thread, flow) {
        return Some(format!("operation {name}: {why}"));
    }
    let workers = phase.groups.iter().fold(0u64, |sum, g| {
        let threads = g.threads.iter().fold(0u64, |sum, t| sum.saturating_add(t.instances.into()));
        sum.saturating_add(threads.saturating_mul(g.instances.into()))
    });
    if workers > MOST_WORKERS {
        return Some(format!(
            "the phase has {workers} threads; the simulator executes at most {MOST_WORKERS} at once"
        ));
    }
    None
}

/// Settings of a workload's flows that have no effect in the simulator, as sentences.
pub(crate) fn notes(workload: &Workload) -> Vec<String> {
    let groups = || workload.phases.iter().filter(|p| flows(p).next().is_some()).flat_map(|p| &p.groups);
    let mut notes = Vec::new();
    if groups().any(|g| g.nice != 0) {
        notes.push("CPU priorities are not simulated: the niceness of processes has no effect".into());
    }
    // Those of streams are reported, too.
    let mut threads = workload.phases.iter().flat_map(|p| &p.groups).flat_map(|g| &g.threads);
    if threads.any(|t| t.io_priority_number().is_some()) {
        notes.push("all requests have the same priority: I/O priorities have no effect".into());
    }
    let mut threads = workload.phases.iter().flat_map(|p| &p.groups).flat_map(|g| &g.threads);
    if threads.any(|t| t.run_as != fathom_workload::RunAs::default()) {
        notes.push("permissions are not simulated: users and groups (run_as) have no effect".into());
    }
    notes
}
