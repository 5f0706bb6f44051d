//! A simulation from a workload and what it is to run on, to what came out. One thread, no clock, no files: the same inputs give the
//! same outcome. Several may run side by side.

use crate::block::{Block, Who};
use crate::cache::{Cache, Physical};
use crate::devices::Device;
use crate::files::{Files, Metadata, PAGE};
use crate::host::{Host, QueueRules, Start};
use crate::journal::Journal;
use crate::layout::Allocator;
use crate::machine::{Build, Executor, Machine, Standstill};
use crate::outcome::{self, Inside, Simulated};
use crate::sets::{Set, Sets, SetsError};
use crate::stack::Stack;
use crate::threads::{self, Pools, Setting, Slots, Together, Worked};
use fathom_iopath::elevator::{self, NameError};
use fathom_iopath::readahead;
use fathom_iopath::{Elevator as _, Hz, Limits, Queue, Rules};
use fathom_record::Repetition;
use fathom_workload::{Action, CacheState, Phase, Program, Stream, Workload};
use std::cell::RefCell;
use std::rc::Rc;

/// What a workload is to run on.
pub struct Setup {
    /// The host and its kernel.
    pub host: Host,
    /// The device.
    pub device: Box<dyn Device>,
    /// What it is called in the record.
    pub device_name: String,
    /// What it takes in one request.
    pub limits: Limits,
    /// `NAME[@VERSION][,tunable=value...]`.
    pub scheduler: String,
    /// `NAME[,tunable=value...]`.
    pub readahead: String,
    /// Layers.
    pub stack: Stack,
    /// Leave out the reads of indirect blocks: they are in memory from the start.
    pub indirect_in_memory: bool,
}

/// A simulation that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The workload has something that the simulator does not know.
    #[error("{0}")]
    Unsupported(String),
    /// No such scheduler, version or tunable.
    #[error(transparent)]
    Scheduler(#[from] NameError),
    /// No such read-ahead or tunable.
    #[error(transparent)]
    Readahead(#[from] readahead::NameError),
    /// The files do not fit on the device, or overlap the journal.
    #[error("the files end at {end_mib} MiB, and {what} {at_mib} MiB; choose a larger device or less data")]
    Space {
        /// Where the files end.
        end_mib: u64,
        /// What is in the way.
        what: &'static str,
        /// Where that is.
        at_mib: u64,
    },
    /// An error in the model.
    #[error(transparent)]
    Standstill(#[from] Standstill),
}

impl From<SetsError> for SimError {
    fn from(error: SetsError) -> Self {
        Self::Unsupported(error.to_string())
    }
}

/// Executes a workload in virtual time.
///
/// # Errors
/// If something of the workload or the set-up cannot be simulated. Operations that fail are in the outcome.
pub fn simulate(workload: &Workload, setup: Setup) -> Result<Simulated, SimError> {
    if let Some(why) = threads::refusal(workload) {
        return Err(SimError::Unsupported(why));
    }
    if setup.stack == Stack::Replay {
        let why = "the layers \"replay\" belong to traces; a workload has the layers full or nocache";
        return Err(SimError::Unsupported(why.into()));
    }
    let indirect_in_memory = setup.indirect_in_memory;
    let capacity_sectors = setup.device.capacity_sectors();
    let machine = machine(setup)?;
    let sets = Sets::make(&machine, workload)?;
    check_space(&machine, capacity_sectors)?;
    begin(&machine, workload, &sets);
    if indirect_in_memory {
        let mut files = machine.files.borrow_mut();
        for file in 0..files.count() {
            let known = &mut files.get_mut(file as u32).indirect;
            known.iter_mut().for_each(|block| *block = Metadata::Present);
        }
    }
    let pools: Vec<Pools> =
        (0..workload.repetitions).flat_map(|_| workload.phases.iter().map(Pools::of)).collect();
    let mut out = Simulated { phases: vec![Vec::new(); workload.phases.len()], inside: Inside::default() };
    let mut executor = Executor::new(&machine);
    executor.serve(Box::pin(async {
        machine.own_cpu(Who::JOURNAL);
        machine.commit_transactions().await;
    }));
    executor.serve(Box::pin(async {
        machine.own_cpu(Who::FLUSHER);
        machine.flush_old_data().await;
    }));
    executor.serve(Box::pin(async {
        machine.own_cpu(Who::FLUSHER);
        machine.write_in_background().await;
    }));
    'all: for repetition in 0..workload.repetitions {
        for number in 0..workload.phases.len() {
            let pools = &pools[repetition as usize * workload.phases.len() + number];
            let setting = Setting { workload, number, repetition, pools, sets: &sets };
            let done = one_phase(&machine, &mut executor, &setting, &mut out.inside)?;
            let failed = done.error().is_some();
            out.phases[number].push(done);
            if failed {
                break 'all;
            }
        }
    }
    drop(executor);
    out.inside.gather(&machine);
    Ok(out)
}

fn machine(setup: Setup) -> Result<Machine, SimError> {
    let Setup { host, device, device_name, limits, scheduler, readahead, stack, .. } = setup;
    let elevator = elevator::by_name(&scheduler)?;
    let policy = readahead::by_name(&readahead)?;
    let mut rules = match host.block.queue.get() {
        QueueRules::Linux24 => Rules::linux24(limits),
        QueueRules::Linux26 if device.depth() > 1 => Rules::linux26(limits).parking(),
        QueueRules::Linux26 => Rules::linux26(limits),
        QueueRules::Today => Rules::today(limits, device.depth()),
        QueueRules::Bare => Rules::bare(limits),
    };
    rules.hz = Hz::new(host.cpu.hz.get());
    let requests = host.block.requests.get();
    if requests > 0 {
        rules = rules.with_requests(requests);
    }
    let block = Block::new(Queue::new(elevator, rules), device, &device_name);
    let fs = &host.filesystem;
    let allocator = Allocator::new(fs.layout.get(), fs.data_mib.get(), fs.interleave_blocks.get());
    let journal = Journal::new(fs.journal.get(), fs.journal_mib.get(), fs.journal_size_mib.get());
    let pages = u64::from(host.memory.cache_mib.get()) * (1 << 20) / PAGE;
    let physical = host.pages.as_ref().map(|p| Physical::new(p, host.cpu.cpus.get(), pages as u32));
    let cache = Cache::new(pages as usize, host.memory.replacement.get(), physical);
    Ok(Machine::new(Build { host, stack, policy, block, cache, files: Files::new(allocator), journal }))
}

/// The files must lie on the device and beside the journal.
fn check_space(machine: &Machine, capacity_sectors: u64) -> Result<(), SimError> {
    const SECTORS_PER_MIB: u64 = 2048;
    let end_mib = machine.files.borrow().end_sector().div_ceil(SECTORS_PER_MIB);
    let capacity_mib = capacity_sectors / SECTORS_PER_MIB;
    let fs = &machine.host.filesystem;
    let (data_mib, journal_mib) = (fs.data_mib.get(), fs.journal_mib.get());
    let journal_end_mib = journal_mib + u64::from(fs.journal_size_mib.get());
    if end_mib > capacity_mib {
        return Err(SimError::Space { end_mib, what: "the device at", at_mib: capacity_mib });
    }
    if fs.journal.get() != crate::host::JournalRule::None {
        if journal_end_mib > capacity_mib {
            return Err(SimError::Space {
                end_mib: journal_end_mib,
                what: "the device at",
                at_mib: capacity_mib,
            });
        }
        if data_mib < journal_end_mib && journal_mib < end_mib {
            return Err(SimError::Space { end_mib, what: "the journal lies at", at_mib: journal_mib });
        }
    }
    Ok(())
}

/// What memory holds at the start of the sets that were there before.
fn begin(machine: &Machine, workload: &Workload, sets: &Sets) {
    for set in &workload.filesets {
        let Some(files) = sets.get(&set.name) else { continue };
        if is_made_by(workload, &set.name) {
            machine.not_there_yet(files);
            continue;
        }
        if machine.host.memory.start.get() == Start::FilesJustWritten && machine.stack == Stack::Full {
            machine.just_written(files);
        }
    }
}

/// Whether a workload makes the files of a set itself before it works on them.
fn is_made_by(workload: &Workload, set: &str) -> bool {
    let makes = |a: &Action| matches!(a, Action::Prepare(name) | Action::Recreate(name) if name == set);
    let first = workload.phases.iter().find(|phase| {
        phase.before.iter().any(makes) || streams_of(phase).any(|stream| stream.fileset == set)
    });
    first.is_some_and(|phase| {
        let cut = |s: &Stream| s.fileset == set && (s.open.truncate || s.open.create);
        phase.before.iter().any(makes) || streams_of(phase).any(cut)
    })
}

fn streams_of(phase: &Phase) -> impl Iterator<Item = &Stream> {
    phase.groups.iter().flat_map(|g| &g.threads).filter_map(|thread| match &thread.program {
        Program::Stream(stream) => Some(&**stream),
        Program::Flow(_) => None,
    })
}

/// The sets that the streams of a phase work on, each once.
fn sets_of<'s>(phase: &Phase, sets: &'s Sets) -> Vec<&'s Set> {
    let mut names: Vec<&str> = Vec::new();
    for stream in streams_of(phase) {
        if !names.contains(&stream.fileset.as_str()) {
            names.push(&stream.fileset);
        }
    }
    names.into_iter().filter_map(|name| sets.get(name)).collect()
}

fn one_phase<'m>(
    machine: &'m Machine,
    executor: &mut Executor<'m>,
    setting: &Setting<'m>,
    inside: &mut Inside,
) -> Result<Repetition, SimError> {
    let (sets, workload) = (setting.sets, setting.workload);
    let phase = &workload.phases[setting.number];
    executor.add(Box::pin(between(machine, sets, phase, &phase.before, true)));
    executor.run(1)?;
    let plans: Vec<Rc<_>> = threads::plans(machine, setting).into_iter().map(Rc::new).collect();
    let prepared: Vec<_> = plans.clone();
    executor.add(Box::pin(async move {
        machine.own_cpu(Who::BETWEEN);
        for plan in &prepared {
            threads::prologue(machine, plan).await;
        }
    }));
    executor.run(1)?;

    let of_phase = sets_of(phase, sets);
    let resident_before = outcome::residency(machine, of_phase.iter().copied());
    let first_ns = machine.now();
    machine.block.restart(first_ns);
    let together = Rc::new(Together::new(phase.interval.0));
    let worked: Rc<RefCell<Vec<Worked>>> = Rc::default();
    let mut helpers: Vec<(Rc<_>, Rc<Slots>)> = Vec::new();
    for plan in &plans {
        let (plan, together, worked) = (Rc::clone(plan), Rc::clone(&together), Rc::clone(&worked));
        let slots = (plan.depth() > 1).then(|| Rc::new(Slots::default()));
        if let Some(slots) = &slots {
            helpers.push((Rc::clone(&plan), Rc::clone(slots)));
        }
        executor.add(Box::pin(async move {
            let done = threads::live(machine, &plan, &together, slots.as_deref(), first_ns).await;
            worked.borrow_mut().push(done);
        }));
    }
    for (plan, slots) in helpers {
        for _ in 0..plan.depth() {
            let (plan, slots) = (Rc::clone(&plan), Rc::clone(&slots));
            executor.add(Box::pin(async move { threads::serve(machine, &plan, &slots).await }));
        }
    }
    executor.run(plans.len())?;
    let end_ns = machine.now();

    let mut layer = machine.block.watch().analysis.finish(end_ns);
    layer.source = "sim".into();
    let mut workers = worked.take();
    workers.sort_by_key(|w| w.index);
    let releases = workers.iter().map(|w| w.released_ns);
    let skew = releases.clone().max().unwrap_or(0) - releases.clone().min().unwrap_or(0);
    let last_release = releases.max().unwrap_or(first_ns);
    let clock_end = workers.iter().map(|w| w.start_ns + w.last_ns.saturating_sub(w.start_ns)).max();
    let mut done = Repetition {
        n: setting.repetition,
        started_ns: last_release,
        elapsed_ns: end_ns - last_release,
        start_skew_ns: skew,
        intervals: together.intervals(first_ns, clock_end.unwrap_or(end_ns)),
        ramp_ns: phase.ramp.0,
        cache: outcome::intent(phase.cache),
        physical: outcome::physical(&layer, together.written_bytes.get(), "simulated"),
        resident_before: Some(resident_before),
        resident_after: Some(outcome::residency(machine, of_phase.iter().copied())),
        workers: workers.into_iter().map(|w| w.into_worker(first_ns)).collect(),
        ..Repetition::default()
    };
    done.block = Some(layer);
    inside.add_readahead(machine);
    executor.add(Box::pin(between(machine, sets, phase, &phase.after, false)));
    executor.run(1)?;
    Ok(done)
}

/// What is done before or after a phase, outside every clock.
async fn between(machine: &Machine, sets: &Sets, phase: &Phase, actions: &[Action], before: bool) {
    machine.own_cpu(Who::BETWEEN);
    for action in actions {
        act(machine, sets, action).await;
    }
    if !before {
        return;
    }
    for set in sets_of(phase, sets) {
        match phase.cache {
            CacheState::AsFound => {}
            CacheState::Cold => machine.evict(set).await,
            CacheState::Warm => machine.just_written(set),
        }
    }
}

async fn act(machine: &Machine, sets: &Sets, action: &Action) {
    match action {
        Action::Sync => machine.sync_all(Who::BETWEEN).await,
        Action::Sleep(time) => machine.sleep_until(machine.now().saturating_add(time.0)).await,
        Action::Evict(name) => {
            if let Some(set) = sets.get(name) {
                machine.evict(set).await;
            }
        }
        Action::Warm(name) | Action::Prepare(name) => {
            if let Some(set) = sets.get(name) {
                machine.make_full(set);
                machine.just_written(set);
            }
        }
        Action::Recreate(name) | Action::Remove(name) => {
            if let Some(set) = sets.get(name) {
                for file in set.files() {
                    machine.make_empty(file).await;
                }
            }
        }
        Action::Remount(_) => {
            machine.sync_all(Who::BETWEEN).await;
            for set in sets.all() {
                machine.evict(set).await;
            }
        }
        // Refused before.
        Action::Command(_) => {}
    }
}

impl Inside {
    /// Adds what read-ahead did to the files that were open in a phase.
    fn add_readahead(&mut self, machine: &Machine) {
        let mut counts = machine.counts.borrow_mut();
        for open in machine.opens.borrow().iter() {
            counts.readahead += *open.counters();
            counts.readahead_off_files += u64::from(open.counters().went_off > 0);
        }
    }

    /// Takes the figures of the whole run.
    fn gather(&mut self, machine: &Machine) {
        self.elapsed_ns = machine.now();
        self.events = machine.events();
        self.counts = *machine.counts.borrow();
        self.counts.pages_evicted = machine.cache.borrow().evicted();
        self.merges = machine.block.merges();
        self.device = machine.block.device_counters();
        machine.block.queue().elevator().counters(&mut |name, n| self.elevator.push((name, n)));
        let watch = machine.block.watch();
        (self.depth_ns, self.response_ns) = (watch.depth_ns, watch.response_ns);
        self.shapes = watch.shapes.clone();
    }
}

#[cfg(test)]
#[path = "simulation_tests.rs"]
mod tests;
