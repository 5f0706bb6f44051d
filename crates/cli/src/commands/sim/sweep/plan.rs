//! The plan of a sweep in virtual time: every simulation with its host, device and workload, read and checked before
//! the first one starts. Shared parts exist once.

use super::super::line::{Replay, RunSimulated, SweepSimulated};
use super::super::machine::{self, SimulatedMachine};
use super::super::{SEED, only_read, stack_of, traced};
use crate::commands::fio::JobHost;
use crate::commands::sweep::stage::combinations;
use crate::commands::sweep::subject::SweepSubject;
use crate::commands::sweep::vary::{self, Target, Varied};
use crate::exit::Usage;
use fathom_iopath::{elevator, readahead};
use fathom_workload::{Seed, Workload};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Inputs of a simulation besides the workload; those that a replay uses come first.
const MODEL: [&str; 6] = ["host", "device", "scheduler", "limits", "readahead", "stack"];
/// Number of those a replay uses.
const OF_REPLAY: usize = 4;
/// More runs are a typing error.
const MOST_RUNS: usize = 100_000;

/// What to execute.
pub enum SimulatedSubject {
    Workloads(SweepSubject),
    Trace,
}

/// One simulation of the plan.
pub struct PlannedSimulation {
    pub cell: usize,
    pub block: usize,
    pub options: RunSimulated,
    pub machine: Arc<SimulatedMachine>,
    /// Empty for a replay.
    pub workloads: Arc<Vec<Workload>>,
}

pub struct SimSweepPlan {
    pub what: SimulatedSubject,
    pub varied: Vec<Varied>,
    pub cells: Vec<Vec<usize>>,
    pub order: Vec<Vec<usize>>,
    pub turns: Vec<PlannedSimulation>,
    /// Notes on how it was parsed.
    pub notes: Vec<String>,
}

impl SimulatedSubject {
    fn read(o: &SweepSimulated) -> Result<Self, Usage> {
        if o.replay.is_empty() {
            if let Some(name) = o.handing.given() {
                return Err(Usage(format!("--{name} belongs to --replay")));
            }
            return Ok(Self::Workloads(SweepSubject::read(&o.run.words()?)?));
        }
        let refused = [
            (o.run.file.is_some() || !o.run.drop_in.is_empty(), "a workload, or --replay, but not both"),
            (
                o.replay.iter().any(|f| f == Path::new("-")),
                "--replay -: each simulation reads the trace again; name a file",
            ),
            (o.run.seed.is_some(), "--seed: a replay has no random choices"),
            (o.rounds > 1, "--rounds: a replay gives the same each time"),
            (o.run.readahead.is_some(), "--readahead: a trace already includes the effect of read-ahead"),
            (o.run.stack != RunSimulated::STACK, "--stack: a replay always submits directly to the queue"),
        ];
        if let Some((_, why)) = refused.into_iter().find(|r| r.0) {
            return Err(Usage(why.into()));
        }
        traced::check_regular(&o.replay)?;
        Ok(Self::Trace)
    }

    /// As typed.
    pub fn words(&self, o: &SweepSimulated) -> String {
        match self {
            Self::Workloads(subject) => subject.words(),
            Self::Trace => o.replay.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(" "),
        }
    }

    fn model(&self) -> &'static [&'static str] {
        match self {
            Self::Workloads(_) => &MODEL,
            Self::Trace => &MODEL[..OF_REPLAY],
        }
    }

    fn varied(&self, o: &SweepSimulated) -> Result<Vec<Varied>, Usage> {
        let subjects = match self {
            Self::Workloads(subject) => std::slice::from_ref(subject),
            Self::Trace => &[],
        };
        let (model, of_trace) = (self.model(), matches!(self, Self::Trace));
        let known = |name: &str| model.contains(&name) || machine::is_value(name);
        // A trace has nothing else to vary, whatever its name.
        let varied = vary::read_with(&|name: &str| of_trace || known(name), &o.vary, subjects)?;
        let other = |v: &&Varied| match self {
            Self::Workloads(_) => !matches!(v.target, Target::Model | Target::Workload | Target::Argument),
            Self::Trace => !known(&v.name),
        };
        match varied.iter().find(other) {
            None => Ok(varied),
            Some(v) => {
                let others = match self {
                    Self::Workloads(_) => {
                        "a profile value (device.KEY or host.KEY), or a setting of the workload"
                    }
                    Self::Trace => "or a profile value (device.KEY or host.KEY)",
                };
                Err(Usage(format!(
                    "--vary {}=...: a simulation does not have it; fathom sweep varies it on a real machine. Vary {}, {others}",
                    v.name,
                    model.join(", ")
                )))
            }
        }
    }
}

impl SimSweepPlan {
    pub fn read(o: &SweepSimulated) -> Result<Self, Usage> {
        let what = SimulatedSubject::read(o)?;
        let varied = what.varied(o)?;
        let counts: Vec<usize> = varied.iter().map(|v| v.values.len()).collect();
        let cells = counts.iter().try_fold(o.rounds as usize, |all, &n| all.checked_mul(n));
        if o.rounds == 0 || cells.is_none_or(|runs| runs > MOST_RUNS) {
            return Err(Usage(format!("--rounds {}: 1 to {MOST_RUNS} runs are expected", o.rounds)));
        }
        let cells = combinations(&counts);
        let order = fathom_compare::design::blocks(cells.len(), o.rounds, SEED);
        let mut plan = Self { what, varied, cells, order, turns: Vec::new(), notes: Vec::new() };
        plan.turns(o)?;
        Ok(plan)
    }

    fn turns(&mut self, o: &SweepSimulated) -> Result<(), Usage> {
        let mut times = vec![0u64; self.cells.len()];
        let mut machines: BTreeMap<Vec<String>, Arc<SimulatedMachine>> = BTreeMap::new();
        let mut planned: BTreeMap<WorkloadInputs, Arc<Vec<Workload>>> = BTreeMap::new();
        for block in 0..self.order.len() {
            for at in 0..self.order[block].len() {
                let cell = self.order[block][at];
                let mut options = o.run.clone();
                let (mut arguments, mut settings) = (Vec::new(), Vec::new());
                for (v, level) in self.varied.iter().zip(&self.cells[cell]) {
                    let value = v.values[*level].clone();
                    match v.target {
                        Target::Argument => arguments.push((v.name.clone(), value)),
                        Target::Workload => settings.push((v.name.clone(), value)),
                        _ => put(&mut options, &v.name, value),
                    }
                }
                let machine = match machines.get(&options.words_of_stand()) {
                    Some(machine) => Arc::clone(machine),
                    None => {
                        let machine = Arc::new(SimulatedMachine::read(&options.wanted())?);
                        machines.insert(options.words_of_stand(), Arc::clone(&machine));
                        machine
                    }
                };
                let options = options.on(&machine);
                // The same operations in all cells of a round, others in the next.
                let round = times[cell];
                times[cell] += 1;
                if round == 0 {
                    check(&options)?;
                    if matches!(self.what, SimulatedSubject::Trace) {
                        machine::check_for_replay(&options.set)?;
                    }
                }
                let seed = options.seed.unwrap_or(SEED).wrapping_add(round);
                let key = (machine.place(), arguments, settings, seed);
                let workloads = match planned.get(&key) {
                    Some(workloads) => Arc::clone(workloads),
                    None => {
                        let workloads = Arc::new(self.workloads(&key, o.run.seed.is_some() || round > 0)?);
                        planned.insert(key, Arc::clone(&workloads));
                        workloads
                    }
                };
                if round == 0 {
                    let mut all = workloads.iter();
                    all.try_for_each(|w| only_read::check(w, &machine, &options.device)).map_err(Usage)?;
                }
                self.turns.push(PlannedSimulation { cell, block, options, machine, workloads });
            }
        }
        Ok(())
    }

    fn workloads(
        &mut self,
        (place, arguments, settings, seed): &WorkloadInputs,
        reseed: bool,
    ) -> Result<Vec<Workload>, Usage> {
        let SimulatedSubject::Workloads(subject) = &self.what else { return Ok(Vec::new()) };
        let planned = subject.plan_on(*place, arguments, settings, *seed)?;
        for note in planned.notes() {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        let mut workloads = planned.workloads()?;
        if reseed {
            workloads.iter_mut().for_each(|w| w.seed = Seed(*seed));
        }
        Ok(workloads)
    }
}

/// The inputs of a workload.
type WorkloadInputs = (JobHost, Vec<(String, String)>, Vec<(String, String)>, u64);

impl RunSimulated {
    /// The inputs of host and device, as a lookup key.
    fn words_of_stand(&self) -> Vec<String> {
        let limits = self.limits.clone().unwrap_or_default();
        let named = [self.host.clone(), self.device.clone(), limits];
        named.into_iter().chain(self.set.iter().cloned()).collect()
    }
}

fn put(options: &mut RunSimulated, name: &str, value: String) {
    match name {
        "host" => options.host = value,
        "device" => options.device = value,
        "scheduler" => options.scheduler = Some(value),
        "readahead" => options.readahead = Some(value),
        "limits" => options.limits = Some(value),
        "stack" => options.stack = value,
        _ => options.set.push(format!("{name}={value}")),
    }
}

/// Checks all names.
fn check(options: &RunSimulated) -> Result<(), Usage> {
    stack_of(options)?;
    let scheduler = options.scheduler();
    elevator::by_name(scheduler).map_err(|e| Usage(format!("scheduler {scheduler}: {e}")))?;
    let policy = options.readahead();
    readahead::by_name(policy).map_err(|e| Usage(format!("readahead {policy}: {e}")))?;
    Ok(())
}

impl SweepSimulated {
    pub fn replay_of(&self, turn: &PlannedSimulation) -> Replay {
        let o = &turn.options;
        Replay {
            files: self.replay.clone(),
            handing: self.handing.clone(),
            host: o.host.clone(),
            device: o.device.clone(),
            scheduler: o.scheduler.clone(),
            limits: o.limits.clone(),
            set: o.set.clone(),
            ..Replay::default()
        }
    }
}
