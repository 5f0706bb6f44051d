//! The engine's face: checks a workload, acts between phases, executes phases, cleans up.

use crate::clock::Clock;
use crate::hot::rare::Quota;
use crate::phase::{self, Moments};
use crate::pooled::Pooled;
use crate::worker::Plan;
use crate::{EngineError, Ledger, action, check, memory};
use fathom_record::Repetition;
use fathom_workload::ops::{Place, Region, StreamOps};
use fathom_workload::{Access, Action, Group, Isolation, Phase, Pick, Pinning, Program, Stream, Workload};
use std::path::PathBuf;

/// Executes workloads for real.
pub struct Engine {
    clock: Clock,
    start: (u64, u64),
    ledger: Ledger,
}

impl Engine {
    /// An engine with a calibrated clock that enters the files it makes in `ledger`.
    #[must_use]
    pub fn new(ledger: Ledger) -> Self {
        let clock = Clock::calibrated();
        Self { clock, start: clock.mark(), ledger }
    }

    /// Whether this engine can execute all of the workload.
    ///
    /// # Errors
    /// The first thing that makes no sense or that it cannot do.
    pub fn check(&self, workload: &Workload) -> Result<(), EngineError> {
        check::check(workload)
    }

    /// The ledger, for directories that the caller wants to make and have removed.
    pub fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// The clock's description, with its drift since the engine was made.
    #[must_use]
    pub fn describe_clock(&self) -> fathom_record::Clock {
        fathom_record::Clock { drift_ppm: self.clock.drift_ppm(self.start), ..self.clock.describe() }
    }

    /// Nanoseconds since the engine was made.
    #[must_use]
    pub fn elapsed_ns(&self) -> u64 {
        self.clock.between(self.start.0, self.clock.now())
    }

    /// Does one step between phases.
    ///
    /// # Errors
    /// If it cannot be done.
    pub fn act(&mut self, workload: &Workload, action: &Action) -> Result<(), EngineError> {
        action::act(workload, action, &mut self.ledger)
    }

    /// The files that a phase works on, each once, in order of the workers.
    #[must_use]
    pub fn paths(&self, workload: &Workload, phase: &Phase) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut index = 0;
        for group in &phase.groups {
            for (thread, _) in instances(group) {
                if let Program::Stream(stream) = &thread.program
                    && stream.backend != fathom_workload::Backend::Null
                {
                    for path in paths_of(workload, stream, index) {
                        if seen.insert(path.clone()) {
                            paths.push(path);
                        }
                    }
                }
                index += 1;
            }
        }
        paths
    }

    /// Executes one phase once: starts its workers, waits for all, and returns what they did. Failures of single operations are
    /// in the result. `moments` is told when to read
    /// counters that belong to the rates.
    ///
    /// # Errors
    /// If the phase could not be started.
    pub fn execute(
        &mut self,
        workload: &Workload,
        number: usize,
        repetition: u32,
        moments: &mut dyn Moments,
    ) -> Result<Repetition, EngineError> {
        let this = &workload.phases[number];
        if self.clock.is_young(self.start) {
            self.clock = self.clock.refined(self.start);
        }
        self.make_files(workload, this)?;
        let place = |worker: usize| Place { phase: number as u32, worker: worker as u32, repetition };
        let pooled = Pooled::of(workload, this)?;
        let plans = plans(workload, this, &pooled, place);
        memory::check(this, plans.iter().map(|p| &p.2))?;
        let log_entries = plans.iter().map(|p| log_entries(&p.2)).max().unwrap_or(0);
        let started_ns = self.elapsed_ns();
        let mut result = phase::run(this, plans, self.clock, log_entries, moments)?;
        result.n = repetition;
        result.ramp_ns = this.ramp.0;
        result.started_ns = started_ns;
        Ok(result)
    }

    /// Files that streams would create are created by the parent, so that they are in the ledger before a worker writes them.
    fn make_files(&mut self, workload: &Workload, phase: &Phase) -> Result<(), EngineError> {
        for group in &phase.groups {
            for thread in &group.threads {
                if let Program::Stream(stream) = &thread.program
                    && stream.backend != fathom_workload::Backend::Null
                    && let Some(set) = workload.fileset(&stream.fileset)
                {
                    let only_reads = !crate::files::writes(stream) && !stream.open.read_write;
                    if only_reads && !stream.open.create {
                        action::must_be_readable(set)?;
                        continue;
                    }
                    action::ensure(set, &mut self.ledger)?;
                }
            }
        }
        Ok(())
    }

    /// Notes the files of sets that are to be kept, however the run ended.
    ///
    /// # Errors
    /// If the list of kept files cannot be written.
    pub fn keep(&mut self, workload: &Workload) -> Result<(), EngineError> {
        for path in workload.filesets.iter().filter(|s| s.keep).flat_map(action::paths) {
            if self.ledger.owns(&path) {
                self.ledger.keep(&path)?;
            }
        }
        Ok(())
    }

    /// Removes every file that is ours and not kept. Returns what could not be removed.
    pub fn clean_up(&mut self) -> Vec<PathBuf> {
        self.ledger.finish()
    }
}

/// Each thread of each process of a group, with the number of its process inside the group.
pub(crate) fn instances(group: &Group) -> impl Iterator<Item = (&fathom_workload::Thread, u32)> {
    (0..group.instances).flat_map(move |process| {
        group.threads.iter().flat_map(move |t| (0..t.instances).map(move |_| (t, process)))
    })
}

/// Number, in its set, of the file that a worker uses.
fn file_of(workload: &Workload, stream: &Stream, worker: usize) -> u64 {
    let count = workload.fileset(&stream.fileset).map_or(1, |s| s.files.count().max(1));
    match stream.pick {
        Pick::ByWorker | Pick::All => worker as u64 % count,
        Pick::One(index) => u64::from(index),
    }
}

/// The files that a worker works on.
pub(crate) fn paths_of(workload: &Workload, stream: &Stream, worker: usize) -> Vec<PathBuf> {
    match stream.pick {
        Pick::All => workload.fileset(&stream.fileset).map(action::paths).unwrap_or_default(),
        _ => path_of(workload, stream, worker).into_iter().collect(),
    }
}

pub(crate) fn path_of(workload: &Workload, stream: &Stream, worker: usize) -> Option<PathBuf> {
    workload.fileset(&stream.fileset)?.files.path(file_of(workload, stream, worker))
}

fn plans<'a>(
    workload: &'a Workload,
    phase: &'a Phase,
    pooled: &'a Pooled,
    place: impl Fn(usize) -> Place,
) -> Vec<(Isolation, u32, Plan<'a>)> {
    let cpus = allowed_cpus();
    let mut plans = Vec::new();
    let mut process_base = 0;
    for group in &phase.groups {
        for (thread, process) in instances(group) {
            let Program::Stream(stream) = &thread.program else { continue };
            let index = plans.len();
            let pool = pooled.of_worker(index);
            let set = workload.fileset(&stream.fileset);
            let file_bytes = set.map_or(0, action::size);
            let plan = Plan {
                group: if thread.name.is_empty() { group.name.clone() } else { thread.name.clone() },
                index,
                stream,
                path: path_of(workload, stream, index).unwrap_or_default(),
                file: file_of(workload, stream, index) as u32,
                mode: set.map_or(0o640, |s| s.mode),
                region: pool.as_ref().map_or_else(
                    || region_of(stream, file_bytes),
                    |p| Region { start: 0, length: p.files.file_bytes * u64::from(p.files.count) },
                ),
                largest: largest(stream),
                seed: workload.seed.0,
                place: place(index),
                cpu: match group.pinning {
                    Pinning::Free => None,
                    Pinning::From(first) => cpus.get((first as usize + index) % cpus.len().max(1)).copied(),
                },
                start_cpu: None,
                nice: group.nice,
                time_ns: phase.stop.time.map(|t| t.0),
                ramp_ns: phase.ramp.0,
                searching: 0,
                quota: Quota { operations: phase.stop.operations, bytes: phase.stop.bytes.map(|b| b.0) },
                raise: phase.stop.first_done.map(|s| s.raise),
                pool,
            };
            plans.push((group.isolation, process_base + process, plan));
        }
        process_base += group.instances;
    }
    let searching = plans.iter().filter(|(_, _, p)| p.stream.adaptive_depth.is_some()).count() as u32;
    plans.iter_mut().for_each(|(_, _, plan)| plan.searching = searching);
    spread(&mut plans);
    plans
}

/// Gives each of several free workers a CPU to start on, round robin over those we may use.
fn spread(plans: &mut [(Isolation, u32, Plan<'_>)]) {
    let cpus = allowed_cpus();
    if plans.len() < 2 || cpus.len() < 2 {
        return;
    }
    for (_, _, plan) in plans.iter_mut().filter(|p| p.2.cpu.is_none()) {
        plan.start_cpu = Some(cpus[plan.index % cpus.len()]);
    }
}

pub(crate) fn region_of(stream: &Stream, file_bytes: u64) -> Region {
    let start = stream.start.0;
    if let Access::Listed(list) = &stream.access {
        let end = list.iter().map(|op| op.offset + u64::from(op.bytes)).max().unwrap_or(0);
        return Region { start: 0, length: end };
    }
    Region { start, length: stream.length.map_or(file_bytes.saturating_sub(start), |b| b.0) }
}

fn largest(stream: &Stream) -> usize {
    if let Access::Listed(list) = &stream.access {
        return list.iter().map(|op| op.bytes as usize).max().unwrap_or(1);
    }
    stream.record.largest().0 as usize
}

/// Entries the worker's operation log needs.
fn log_entries(plan: &Plan) -> usize {
    if !plan.stream.log_operations {
        return 0;
    }
    let ops = StreamOps::new(plan.stream, plan.region, plan.seed, plan.place)
        .and_then(|o| o.remaining_operations());
    ops.map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX / 64))
}

/// The CPUs we may use, ascending.
fn allowed_cpus() -> Vec<usize> {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return Vec::new() };
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|&c| allowed.is_set(c)).collect()
}
