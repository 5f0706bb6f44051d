//! Which workers of a phase know each other: those that wait for each other, as their streams name the same group of ratios, and
//! those of a company, which ends when one of them is done.

use crate::job::Job;
use fathom_workload::{Isolation, Phase};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Gives every worker with a ratio the members of its group, including itself.
pub(crate) fn set_ratio_peers(jobs: &mut [(Isolation, u32, Job<'_>)]) {
    let group = |job: &Job| job.stream().and_then(|plan| plan.stream.pace.ratio).map(|ratio| ratio.group);
    let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (_, _, job) in jobs.iter() {
        if let Some(number) = group(job) {
            groups.entry(number).or_default().push(job.index());
        }
    }
    let groups: BTreeMap<u32, (Arc<[usize]>, bool)> = groups
        .into_iter()
        .map(|(number, workers)| {
            let plans = jobs.iter().filter(|j| group(&j.2) == Some(number)).filter_map(|j| j.2.stream());
            let mut times = plans.map(|p| p.time_ns.filter(|_| !p.delayed).map(|ns| (ns, p.ramp_ns)));
            let first = times.next().flatten();
            let together = first.is_some() && times.all(|time| time == first);
            (number, (Arc::from(workers), together))
        })
        .collect();
    for (_, _, job) in jobs {
        let number = group(job);
        if let (Job::Stream(plan), Some((workers, together))) = (job, number.and_then(|n| groups.get(&n))) {
            plan.peers = Arc::clone(workers);
            plan.peers_end_together = *together;
        }
    }
}

/// Gives every worker the members of its company, including itself.
pub(crate) fn set_companies(phase: &Phase, jobs: &mut [(Isolation, u32, Job<'_>)]) {
    let groups = phase.groups.iter();
    let numbers: Vec<Option<u32>> =
        groups.flat_map(|g| crate::layout::instances(g).map(move |_| g.times.company)).collect();
    let mut companies: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (worker, number) in numbers.iter().enumerate() {
        if let Some(number) = number {
            companies.entry(*number).or_default().push(worker);
        }
    }
    let companies: BTreeMap<u32, Arc<[usize]>> =
        companies.into_iter().map(|(number, workers)| (number, Arc::from(workers))).collect();
    for (_, _, job) in jobs {
        let number = numbers.get(job.index()).copied().flatten();
        if let (Job::Stream(plan), Some(workers)) = (job, number.and_then(|n| companies.get(&n))) {
            plan.company = Some(Arc::clone(workers));
        }
    }
}
