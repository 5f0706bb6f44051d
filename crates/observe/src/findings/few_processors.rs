//! More workers than processors they may use, on a machine that has more.

use super::facts::{Facts, processor_wait_share_of};
use super::{THREADS, cpu_quota, evidence, finding};
use fathom_record::{Finding, Worker};
use std::collections::BTreeSet;

/// Minimum share of their time that the workers waited for a processor.
const NOTABLE: f64 = 0.2;
/// The workers would have used at least this many times the available processors.
const MORE: f64 = 1.25;
/// The workers used at least this share of them; with less, they waited for other programs.
const OURS: f64 = 0.25;
/// In a shorter time, a few time slices of another program would weigh too much.
const LEAST_NS: u64 = 100_000_000;
/// Longest list of processors in a sentence.
const MOST_NAMED: usize = 4;

/// Workers that may use no processors but these.
struct BoundWorkers<'a> {
    workers: Vec<&'a Worker>,
    usable: f64,
    /// Mean number of processors they used.
    used: f64,
    /// Share of their time that they waited for one.
    waited: f64,
    /// Processors that the workload binds them to; empty if it does not.
    bound: BTreeSet<u32>,
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let online = facts.processors_online()?;
    if facts.repetition.elapsed_ns < LEAST_NS || cpu_quota::find(facts).is_some() {
        return None;
    }
    let crowd = crowds(facts, online).into_iter().find(|c| c.is_short(facts, online))?;
    let BoundWorkers { workers, usable, used, waited, bound } = &crowd;
    let (count, wanted) = (workers.len(), crowd.wanted());
    let (whose, many, advice) = if bound.is_empty() {
        (
            "This program may use".to_owned(),
            format!("{count} workers"),
            "`taskset -p` and the cpuset of its control group show what was set. Measure outside of it, or with as many workers as it has processors.",
        )
    } else {
        let advice = "Let it name more processors, or take no more workers than it names.";
        match crowd.name_among(&facts.repetition.workers) {
            None => ("The workload lets its workers use".to_owned(), format!("{count} workers"), advice),
            Some(name) => (format!("The workload lets {name} use"), count.to_string(), advice),
        }
    };
    let cpus: Vec<String> = bound.iter().map(ToString::to_string).collect();
    let part = count < facts.repetition.workers.len();
    let list = match cpus.len() {
        1 if part => format!(" (CPU {})", cpus[0]),
        2..=MOST_NAMED if part => format!(" (CPUs {})", cpus.join(", ")),
        _ => String::new(),
    };
    Some(finding(
        format!(
            "{whose} only {usable:.0} of the machine's {online:.0} processors{list}, and on average {wanted:.1} of {many} were running or ready to run."
        ),
        advice,
        vec![
            evidence(
                "processors that the workers may use",
                *usable,
                "processors",
                "cpu.allowed, the workload",
            ),
            evidence("used by the workers", *used, "processors", THREADS),
            evidence("time ready to run without a processor", *waited, "ratio", THREADS),
        ],
    ))
}

/// All workers, then those that are bound to the processors of all groups that are short of them, then each such group.
fn crowds<'a>(facts: &Facts<'a>, online: f64) -> Vec<BoundWorkers<'a>> {
    let bound = &facts.workload.bound;
    let allowed = facts.processors_allowed().unwrap_or(online);
    let all: Vec<&Worker> = facts.repetition.workers.iter().collect();
    let cpus_of = |worker: &Worker| {
        bound.get(worker.index as usize)?.as_ref().map(|list| list.iter().copied().collect())
    };
    let sets: Vec<Option<BTreeSet<u32>>> = all.iter().map(|w| cpus_of(w)).collect();
    let union =
        |of: &mut dyn Iterator<Item = &BTreeSet<u32>>| of.flatten().copied().collect::<BTreeSet<u32>>();
    let within = |cpus: BTreeSet<u32>| {
        let inside = |set: &Option<BTreeSet<u32>>| set.as_ref().is_some_and(|set| set.is_subset(&cpus));
        let workers = all.iter().zip(&sets).filter(|(_, set)| inside(set)).map(|(w, _)| *w).collect();
        BoundWorkers::of(facts, workers, cpus.len() as f64, cpus)
    };
    let together = union(&mut sets.iter().flatten());
    let restricted = sets.iter().all(Option::is_some) && (together.len() as f64) < allowed;
    let everyone = if restricted {
        BoundWorkers::of(facts, all.clone(), together.len() as f64, together)
    } else {
        BoundWorkers::of(facts, all.clone(), allowed, BTreeSet::new())
    };
    let distinct: BTreeSet<BTreeSet<u32>> = sets.iter().flatten().cloned().collect();
    let short: Vec<BoundWorkers<'a>> =
        distinct.into_iter().filter_map(within).filter(BoundWorkers::is_full).collect();
    let shared = within(union(&mut short.iter().map(|c| &c.bound)));
    everyone.into_iter().chain(shared).chain(short).collect()
}

impl<'a> BoundWorkers<'a> {
    fn of(facts: &Facts<'_>, workers: Vec<&'a Worker>, usable: f64, bound: BTreeSet<u32>) -> Option<Self> {
        let used = facts.processors_used_by(workers.iter().copied());
        let waited = processor_wait_share_of(workers.iter().copied())?;
        Some(Self { workers, usable, used, waited, bound })
    }

    /// Mean number of workers that were running or ready to run.
    fn wanted(&self) -> f64 {
        let workers = self.workers.len() as f64;
        (self.used + self.waited * workers).min(workers)
    }

    /// Whether they wait for each other.
    fn is_full(&self) -> bool {
        self.waited >= NOTABLE && self.wanted() >= MORE * self.usable && self.used >= OURS * self.usable
    }

    /// Whether the machine has processors that they could have used: those that the other workers leave.
    fn is_short(&self, facts: &Facts<'a>, online: f64) -> bool {
        let ours: BTreeSet<u32> = self.workers.iter().map(|w| w.index).collect();
        let others: Vec<&Worker> =
            facts.repetition.workers.iter().filter(|w| !ours.contains(&w.index)).collect();
        let taken = Self::of(facts, others, 0.0, BTreeSet::new()).map_or(0.0, |c| c.wanted());
        self.is_full() && online >= MORE * self.usable + taken
    }

    /// How a sentence names a part of the workers; `None` if it is all of them.
    fn name_among(&self, all: &[Worker]) -> Option<String> {
        let (part, whole) = (self.workers.len(), all.len());
        let group = &self.workers.first()?.group;
        let of_group = |w: &Worker| w.group == *group;
        let whole_group =
            self.workers.iter().all(|w| of_group(w)) && all.iter().filter(|w| of_group(w)).count() == part;
        match part {
            _ if part == whole => None,
            _ if whole_group && !group.is_empty() => Some(format!("the {part} workers of {group}")),
            _ => Some(format!("{part} of its {whole} workers")),
        }
    }
}
