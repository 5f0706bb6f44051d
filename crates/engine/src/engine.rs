//! Entry point of the engine: checks a workload, acts between phases, executes phases, cleans up.

use crate::action::Sets;
use crate::calls::Calls;
use crate::clock::Clock;
use crate::flow::{self, Setting};
use crate::job::Job;
use crate::kept::ReadBackStore;
use crate::layout::{
    allowed_cpus, file_of, files_of, instances, largest, only_cpu, region_of, sets_of_flows,
};
use crate::ledger::CreatedKind;
use crate::phase::{self, Moments};
use crate::pooled::Pooled;
use crate::spool::{self, Operations};
use crate::stream_plan::StreamPlan;
use crate::zoned::ZoneTables;
use crate::{EngineError, Ledger, action, check, memory, priorities};
use fathom_record::Repetition;
use fathom_workload::drive::Quota;
use fathom_workload::ops::{Place, Region, StreamOps};
use fathom_workload::{
    Act, Backend, Donor, FileCall, FileSet, Files, Isolation, Phase, Pinning, Program, Workload, WrittenBy,
};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files that workers are expected to create in a phase.
#[derive(Default)]
struct Expected {
    files: Vec<PathBuf>,
    directories: Vec<PathBuf>,
}

/// Executes workloads with real I/O.
pub struct Engine {
    clock: Clock,
    start: (u64, u64),
    pub(crate) ledger: Ledger,
    pub(crate) sets: action::Cache,
    pub(crate) progress: Option<action::Listener>,
    /// Calls noted per worker (0: none), and those of the last phase.
    calls_per_worker: usize,
    calls: Option<Calls>,
    /// Directory of the operation logs, and the logs of the phases so far.
    spool_in: Option<PathBuf>,
    operations: Vec<Operations>,
    /// Data written that is still to be read back.
    written: ReadBackStore,
}

impl Engine {
    /// Creates an engine with a calibrated clock. Files it makes are entered in `ledger`.
    #[must_use]
    pub fn new(ledger: Ledger) -> Self {
        let clock = Clock::calibrated();
        Self {
            clock,
            start: clock.mark(),
            ledger,
            sets: action::Cache::default(),
            progress: None,
            calls_per_worker: 0,
            calls: None,
            spool_in: None,
            operations: Vec::new(),
            written: ReadBackStore::default(),
        }
    }

    /// From now on notes every call that reads, writes or syncs a file, at most `per_worker` for each worker of a phase; 0 turns
    /// this off.
    pub fn note_calls(&mut self, per_worker: usize) {
        self.calls_per_worker = per_worker;
    }

    /// Takes the calls of the last phase, if they were noted.
    pub fn take_calls(&mut self) -> Option<Calls> {
        self.calls.take()
    }

    /// Logs the operations of streams with `log_operations` to unnamed files in this directory instead of the record, so their
    /// number need not be known in advance.
    pub fn spool_operations(&mut self, directory: &Path) {
        self.spool_in = Some(directory.to_owned());
    }

    /// Takes the operations logged so far: those of every logging worker, in its last repetition of each phase.
    pub fn take_operations(&mut self) -> Vec<Operations> {
        std::mem::take(&mut self.operations)
    }

    /// Checks that this engine can execute the whole workload.
    ///
    /// # Errors
    /// The first part that is invalid or unsupported.
    pub fn check(&self, workload: &Workload) -> Result<(), EngineError> {
        check::check(workload, self.spool_in.is_some(), || self.sets(workload))
    }

    /// Checks that the files of all streams may be modified. Called before the first phase, so that the last phase is not refused
    /// after the others have run. A file that cannot lose data becomes owned until another process changes it, and is kept.
    ///
    /// # Errors
    /// The first file that is not owned, or not a regular file.
    pub fn check_files(&mut self, workload: &Workload) -> Result<(), EngineError> {
        loop {
            let checked = action::check_all(workload, &*self.sets(workload)?, &self.ledger);
            let (Err(EngineError::NotOurs(path)) | Err(EngineError::WouldChange { path, .. })) = &checked
            else {
                checked?;
                let sets = self.sets(workload)?;
                action::free_space::check(workload, &sets)?;
                for set in workload.filesets.iter().filter(|set| !matches!(set.files, Files::Tree(_))) {
                    let paths: Vec<PathBuf> = sets.paths(set).collect();
                    self.ledger.look_for_marks(paths.iter().map(PathBuf::as_path));
                }
                return Ok(());
            };
            if !self.ledger.take_harmless(path) {
                return checked;
            }
        }
    }

    /// The ledger, for callers that want directories created and removed later.
    pub fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// The clock's description, with its drift since the engine was created.
    #[must_use]
    pub fn describe_clock(&self) -> fathom_record::Clock {
        fathom_record::Clock { drift_ppm: self.clock.drift_ppm(self.start), ..self.clock.describe() }
    }

    /// Nanoseconds since the engine was created.
    #[must_use]
    pub fn elapsed_ns(&self) -> u64 {
        self.clock.between(self.start.0, self.clock.now())
    }

    /// The files that a phase works on, without duplicates, in worker order.
    #[must_use]
    pub fn paths(&self, workload: &Workload, phase: &Phase) -> Vec<PathBuf> {
        let Ok(sets) = self.sets(workload) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut index = 0;
        for group in &phase.groups {
            for (thread, _) in instances(group) {
                if let Program::Stream(stream) = &thread.program
                    && stream.backend.has_files()
                {
                    let set = workload.fileset(&stream.fileset);
                    let files = files_of(workload, stream, index);
                    paths.extend(files.filter_map(|i| sets.path(set?, i)).filter(|p| seen.insert(p.clone())));
                }
                index += 1;
            }
        }
        for set in sets_of_flows(workload, phase, |_| true) {
            paths.extend(sets.paths(set).filter(|path| seen.insert(path.clone())));
        }
        paths
    }

    /// Executes one phase once: starts its workers, waits for all, and returns their results. Failures of single operations are
    /// part of the result. `moments` is called when counters that belong to the rates should be read.
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
        let sets = self.sets(workload)?;
        let expected = self.make_files(workload, &sets, this)?;
        let place = |worker: usize| Place { phase: number as u32, worker: worker as u32, repetition };
        let pooled = Pooled::of(workload, &sets, this)?;
        let names = |set: &FileSet| flow::names_of(set, &sets);
        let flows = Setting::new(workload, this, sets.layouts(), names, &self.ledger)?;
        let spools = self.spools(this)?;
        self.written.begin(number as u32, this)?;
        let zones = zones_of(workload, &sets, this)?;
        let shared = (&pooled, spools.as_slice(), &self.written, &zones);
        self.ledger.settle();
        let jobs = jobs(workload, &sets, this, shared, flows.as_ref(), &self.ledger, place);
        memory::check(this, jobs.iter().map(|j| &j.2))?;
        let log_entries = jobs.iter().map(|j| log_entries(&j.2)).max().unwrap_or(0);
        let (began, started_ns) = (SystemTime::now(), self.elapsed_ns());
        let entries = (log_entries, self.calls_per_worker);
        let ran = phase::run(this, jobs, flows.as_ref(), self.clock, entries, moments);
        self.ledger.adopt(&expected.files, began, CreatedKind::File)?;
        self.ledger.adopt(&expected.directories, began, CreatedKind::Directory)?;
        let (mut result, calls) = ran?;
        self.calls = calls;
        self.operations.retain(|of| of.phase != number as u32);
        let of_workers = (0u32..).zip(spools).filter_map(|(worker, file)| Some((worker, file?)));
        self.operations.extend(of_workers.map(|(worker, file)| Operations::new(number as u32, worker, file)));
        for of in self.operations.iter().filter(|of| of.phase == number as u32) {
            let thread = this.groups.iter().flat_map(instances).nth(of.worker as usize);
            if matches!(thread.map(|t| &t.0.program), Some(Program::Stream(s)) if !s.priorities.is_empty()) {
                let stats =
                    priorities::of(of).map_err(|error| EngineError::system("read the operations", error))?;
                result.priorities.extend(stats);
            }
        }
        result.n = repetition;
        result.ramp_ns = this.longest_ramp_ns(result.workers.iter().map(|w| w.start_ns));
        result.started_ns = started_ns;
        Ok(result)
    }

    /// One log file for each worker whose operations are logged.
    fn spools(&self, phase: &Phase) -> Result<Vec<Option<File>>, EngineError> {
        let Some(directory) = &self.spool_in else { return Ok(Vec::new()) };
        let threads = phase.groups.iter().flat_map(instances);
        let logs = |program: &Program| matches!(program, Program::Stream(stream) if stream.log_operations);
        threads
            .map(|(thread, _)| logs(&thread.program).then(|| spool::file_in(directory)).transpose())
            .collect()
    }

    /// Creates the files that streams would create, so that they are in the ledger before a worker writes them. Where creation
    /// itself is measured (streams that create, flows on listed files), returns them instead; they are entered after the phase.
    fn make_files(
        &mut self,
        workload: &Workload,
        sets: &Sets,
        phase: &Phase,
    ) -> Result<Expected, EngineError> {
        let mut expected = Expected::default();
        for group in &phase.groups {
            for thread in &group.threads {
                if let Program::Stream(stream) = &thread.program
                    && stream.backend.has_files()
                    && let Some(set) = workload.fileset(&stream.fileset)
                {
                    match stream.backend {
                        Backend::Calls(FileCall::Create) => {
                            // Workers create the files; existing ones must be owned or given to us.
                            expected.files.extend(action::make_room(sets, set, &mut self.ledger)?);
                            continue;
                        }
                        Backend::Calls(FileCall::Remove) => {
                            action::must_be_ours(sets, set, &self.ledger)?;
                            continue;
                        }
                        Backend::Calls(FileCall::MakeDirectory) => {
                            let missing = action::make_way_to_directories(sets, set, &mut self.ledger)?;
                            expected.directories.extend(missing);
                            continue;
                        }
                        Backend::Calls(FileCall::RemoveDirectory) => {
                            action::directories_must_be_ours(sets, set, &self.ledger)?;
                            continue;
                        }
                        _ => {}
                    }
                    if let Some(donor) = stream.donor.as_ref().and_then(|d| workload.fileset(&d.fileset)) {
                        action::ensure(sets, donor, &mut self.ledger)?;
                    }
                    let only_reads = !crate::files::writes(stream) && !stream.open.read_write;
                    if only_reads && !stream.open.create {
                        if !crate::files::only_asks(stream, set) {
                            action::must_be_readable(sets, set, &self.ledger)?;
                        }
                        continue;
                    }
                    action::ensure(sets, set, &mut self.ledger)?;
                }
            }
        }
        let changed = sets_of_flows(workload, phase, Act::changes);
        let made = sets_of_flows(workload, phase, |act| act == Act::Create);
        let deleted = sets_of_flows(workload, phase, |act| act == Act::Delete);
        for set in sets_of_flows(workload, phase, |_| true) {
            let is_in = |sets: &[&FileSet]| sets.iter().any(|s| s.name == set.name);
            if is_in(&made) && !matches!(set.files, Files::Tree(_)) {
                // A tree is owned as a whole; files of a list become owned one by one.
                expected.files.extend(action::make_room(sets, set, &mut self.ledger)?);
                if is_in(&deleted) {
                    // An owned file that is removed and created again is a different file of the same name.
                    expected.files.extend(sets.paths(set).filter(|path| self.ledger.owns(path)));
                }
            } else if is_in(&changed) {
                action::must_be_ours(sets, set, &self.ledger)?;
            } else {
                action::must_be_readable(sets, set, &self.ledger)?;
            }
        }
        Ok(expected)
    }

    /// Marks the files of sets that are to be kept, however the run ended.
    ///
    /// # Errors
    /// If the list of kept files cannot be written.
    pub fn keep(&mut self, workload: &Workload) -> Result<(), EngineError> {
        let sets = self.sets(workload)?;
        workload.filesets.iter().filter(|s| s.keep).try_for_each(|s| action::keep(&sets, s, &mut self.ledger))
    }

    /// Removes every file that is owned and not kept. Returns those that could not be removed.
    pub fn clean_up(&mut self) -> Vec<PathBuf> {
        self.ledger.finish()
    }
}

fn donor_of(workload: &Workload, sets: &Sets, donor: &Donor) -> Option<crate::stream_plan::Donor> {
    let set = workload.fileset(&donor.fileset)?;
    let bytes = (!donor.each).then(|| sets.size(set, 0));
    Some(crate::stream_plan::Donor { path: sets.path(set, 0)?, bytes })
}

/// The zones of the files of streams that are about them.
fn zones_of(workload: &Workload, sets: &Sets, phase: &Phase) -> Result<ZoneTables, EngineError> {
    let mut zones = ZoneTables::default();
    let mut index = 0;
    for group in &phase.groups {
        for (thread, _) in instances(group) {
            if let Program::Stream(stream) = &thread.program
                && stream.zoned_device.is_some()
                && let Some(path) = sets.path_of(workload, stream, index)
            {
                let bytes = workload
                    .fileset(&stream.fileset)
                    .map_or(0, |set| sets.size(set, file_of(workload, stream, index)));
                let place = format!("phase {}, group {}", phase.name, group.name);
                zones.add(&place, stream, &path, region_of(stream, bytes))?;
            }
            index += 1;
        }
    }
    Ok(zones)
}

fn jobs<'a>(
    workload: &'a Workload,
    sets: &Sets,
    phase: &'a Phase,
    (pooled, spools, written, zones): (&'a Pooled, &'a [Option<File>], &'a ReadBackStore, &'a ZoneTables),
    flows: Option<&'a Setting>,
    ledger: &'a Ledger,
    place: impl Fn(usize) -> Place,
) -> Vec<(Isolation, u32, Job<'a>)> {
    let cpus = allowed_cpus();
    let mut jobs = Vec::new();
    let mut process_base = 0;
    for group in &phase.groups {
        for (thread, process) in instances(group) {
            let index = jobs.len();
            let cpu = only_cpu(&group.pinning, index, &cpus);
            let among: &[u32] = match &group.pinning {
                Pinning::Among(list) => list,
                _ => &[],
            };
            let quota = Quota::of(&phase.stop);
            let name = if thread.name.is_empty() { group.name.clone() } else { thread.name.clone() };
            let stream = match (&thread.program, flows) {
                (Program::Stream(stream), _) => stream,
                (Program::Flow(_), None) => continue,
                (Program::Flow(_), Some(setting)) => {
                    let plan = flow::FlowPlan {
                        group: name,
                        index,
                        workload,
                        setting,
                        path: flow::directory_of(setting, index),
                        place: place(index),
                        cpu,
                        among,
                        start_cpu: None,
                        nice: group.nice,
                        locked_bytes: thread.locked_memory.0,
                        time_ns: phase.stop.time.map(|t| t.0),
                        ramp_ns: phase.ramp.0,
                        quota,
                        raise: phase.stop.first_done.map(|s| s.raise),
                    };
                    jobs.push((group.isolation, process_base + process, Job::Flow(plan)));
                    continue;
                }
            };
            let pool = pooled.of_worker(index);
            let set = workload.fileset(&stream.fileset);
            let file = file_of(workload, stream, index);
            let file_bytes = set.map_or(0, |s| sets.size(s, file));
            let plan = StreamPlan {
                group: name,
                index,
                stream,
                alike: group.instances.saturating_mul(thread.instances),
                ledger,
                path: sets.path_of(workload, stream, index).unwrap_or_default(),
                file: file as u32,
                mode: set.map_or(0o640, |s| s.mode),
                donor: stream.donor.as_ref().and_then(|donor| donor_of(workload, sets, donor)),
                region: pool.as_ref().map_or_else(
                    || region_of(stream, file_bytes),
                    |p| Region { start: 0, length: p.files.file_bytes.saturating_mul(p.files.count.into()) },
                ),
                largest: largest(stream),
                seed: workload.seed.0,
                place: place(index),
                cpu,
                among,
                delayed: group.times.delay.0 > 0,
                start_cpu: None,
                nice: group.nice,
                thread,
                time_ns: group.time(phase).map(|t| t.0),
                own_time: group.times.stop.is_some(),
                ramp_ns: group.ramp(phase).0,
                ramp_bytes: group.times.ramp_bytes.0,
                ramp_together: group.times.ramp_together,
                searching: 0,
                peers: std::sync::Arc::default(),
                peers_end_together: false,
                company: None,
                ends_company: group.times.ends_company,
                quota,
                raise: group.raise(phase),
                pool,
                spool: spools.get(index).and_then(Option::as_ref).map(|file| (file, spools.len())),
                zones: stream.zoned_device.and_then(|_| zones.of(&sets.path_of(workload, stream, index)?)),
                keeps: written.of(WrittenBy { phase: place(index).phase, worker: index as u32 }),
                reads_back: stream.written_by.and_then(|by| written.of(by)),
            };
            jobs.push((group.isolation, process_base + process, Job::Stream(plan)));
        }
        process_base += group.instances;
    }
    let searches = |job: &Job| matches!(job, Job::Stream(plan) if plan.stream.adaptive_depth.is_some_and(|how| !how.goes_on));
    let searching = jobs.iter().filter(|j| searches(&j.2)).count() as u32;
    for (_, _, job) in &mut jobs {
        if let Job::Stream(plan) = job {
            plan.searching = searching;
        }
    }
    crate::ratios::set_ratio_peers(&mut jobs);
    crate::ratios::set_companies(phase, &mut jobs);
    spread(&mut jobs);
    jobs
}

/// Gives each worker that is not pinned a CPU to start on, round robin over the allowed CPUs.
fn spread(jobs: &mut [(Isolation, u32, Job<'_>)]) {
    let cpus = allowed_cpus();
    if jobs.len() < 2 || cpus.len() < 2 {
        return;
    }
    for (_, _, job) in jobs {
        let index = job.index();
        let (free, start_cpu) = match job {
            Job::Stream(plan) => (plan.cpu.is_none() && plan.among.is_empty(), &mut plan.start_cpu),
            Job::Flow(plan) => (plan.cpu.is_none() && plan.among.is_empty(), &mut plan.start_cpu),
        };
        if free {
            *start_cpu = Some(cpus[index % cpus.len()]);
        }
    }
}

/// Number of entries that the worker's operation log needs.
fn log_entries(job: &Job) -> usize {
    let Job::Stream(plan) = job else { return 0 };
    if !plan.stream.log_operations || plan.spool.is_some() {
        return 0;
    }
    let ops = StreamOps::new(plan.stream, plan.region, plan.seed, plan.place)
        .and_then(|o| o.remaining_operations());
    ops.map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX / 64))
}
