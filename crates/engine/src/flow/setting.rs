//! What all flows of a phase share: the file sets, the random variables, the rows, the places where workers wait for each other, the
//! limiter. Made by the parent before the workers; each of them has the same view, and what changes lies in shared memory.

use super::limit::Limiter;
use super::program::{Program, changes, is_called};
use super::say::Messages;
use super::sets::{Names, Set};
use super::wait::WaitPoint;
use crate::EngineError;
use crate::engine::sets_of_flows;
use crate::mapped::{Mapped, Sharable};
use crate::shared::KindStat;
use fathom_workload::ops::Drawing;
use fathom_workload::tree::Layouts;
use fathom_workload::{Act, Exhausted, FileSet, Finished, Flow, Generator, Phase, Program as Does, Workload};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// Figures of one operation of one worker.
#[repr(C, align(128))]
pub(crate) struct RowStat {
    pub times: KindStat,
    /// CPU time of the thread, ns.
    pub cpu_ns: AtomicU64,
}

// SAFETY: atomics all through, and 0 is a value of each.
unsafe impl Sharable for RowStat {}

/// A random variable that flows draw from.
pub(crate) struct Variable {
    pub drawing: Drawing,
    pub source: Generator,
}

/// A worker that executes a flow.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Number of its program.
    pub program: usize,
    /// Its process, counted over the phase, and its number among that process's workers.
    pub process: usize,
    pub number: usize,
    /// Names and numbers for messages.
    pub group: String,
    pub instance: u32,
    pub thread: String,
    pub thread_instance: u32,
    /// Its first row and its first place to wait at.
    pub first_row: usize,
    pub first_wait: usize,
    pub memory: u64,
    pub io_priority: Option<u8>,
}

/// What all flows of a phase share.
pub(crate) struct Setting {
    pub programs: Vec<Program>,
    /// By worker of the phase; `None` for those that execute streams.
    pub places: Vec<Option<Place>>,
    /// Workers of each process.
    pub crews: Vec<Vec<usize>>,
    pub sets: Vec<Set>,
    pub variables: Vec<Variable>,
    pub rows: Mapped<RowStat>,
    pub waits: Mapped<WaitPoint>,
    /// States of the variables' own streams, by variable.
    pub streams: Mapped<AtomicU64>,
    /// States of the processes' streams.
    pub process_streams: Mapped<AtomicU64>,
    pub limiter: Option<Limiter>,
    pub messages: Messages,
    pub exhausted: Exhausted,
    pub finished: Finished,
}

impl Setting {
    /// The file of a set, if the worker executes a flow.
    pub fn path_of(&self, worker: usize, set: usize, file: usize) -> Option<PathBuf> {
        self.places.get(worker)?.as_ref()?;
        self.sets.get(set)?.entries.get(file).map(|entry| PathBuf::from(super::sets::text(&entry.path)))
    }
}

/// The flows of a phase.
pub(crate) fn flows(phase: &Phase) -> impl Iterator<Item = &Flow> {
    phase.groups.iter().flat_map(|g| &g.threads).filter_map(|t| match &t.program {
        Does::Flow(flow) => Some(flow),
        Does::Stream(_) => None,
    })
}

/// Every operation, those inside sequences too.
pub(crate) fn every(ops: &[fathom_workload::FlowOp]) -> Vec<&fathom_workload::FlowOp> {
    ops.iter().flat_map(|op| std::iter::once(op).chain(every(&op.ops))).collect()
}

/// Where the files of a worker's first file set are.
pub(crate) fn directory_of(setting: &Setting, worker: usize) -> PathBuf {
    let Some(place) = setting.places.get(worker).and_then(Option::as_ref) else { return PathBuf::new() };
    let set = setting.programs[place.program].ops.iter().find_map(|op| op.set);
    let directory = set.and_then(|set| setting.sets[set].directories.first());
    directory.map(|d| PathBuf::from(super::sets::text(d))).unwrap_or_default()
}

impl Setting {
    /// What the phase's flows share; `None` if it has none. `names` gives what a file set consists of, `layouts` what was drawn for it.
    pub fn new(
        workload: &Workload,
        phase: &Phase,
        layouts: &Layouts,
        names: impl Fn(&FileSet) -> Result<Names, EngineError>,
    ) -> Result<Option<Self>, EngineError> {
        if flows(phase).next().is_none() {
            return Ok(None);
        }
        let (mut programs, mut places, mut crews) = (Vec::new(), Vec::new(), Vec::<Vec<usize>>::new());
        let (mut rows, mut waits, mut process_base) = (0, 0, 0);
        for group in &phase.groups {
            let of_thread: Vec<Option<usize>> = group
                .threads
                .iter()
                .map(|thread| match &thread.program {
                    Does::Flow(flow) => {
                        programs.push(Program::new(flow, workload));
                        Some(programs.len() - 1)
                    }
                    Does::Stream(_) => None,
                })
                .collect();
            crews.resize(process_base + group.instances as usize, Vec::new());
            for (at, instance, thread_instance) in positions(group) {
                let thread = &group.threads[at];
                let process = process_base + instance as usize;
                let worker = places.len();
                places.push(of_thread[at].map(|program| Place {
                    program,
                    process,
                    number: crews[process].len(),
                    group: group.name.clone(),
                    instance,
                    thread: thread.name.clone(),
                    thread_instance,
                    first_row: rows,
                    first_wait: waits,
                    memory: thread.memory.0,
                    io_priority: thread.io_priority,
                }));
                if let Some(program) = of_thread[at] {
                    crews[process].push(worker);
                    rows += programs[program].ops.len();
                    waits += programs[program].waits;
                }
            }
            process_base += group.instances as usize;
        }
        connect(&mut programs, &places);
        let named = |wanted: fn(Act) -> bool| {
            let sets = sets_of_flows(workload, phase, wanted);
            move |set: &FileSet| sets.iter().any(|s| s.name == set.name)
        };
        let (used, changed) = (named(|_| true), named(changes));
        let sets = workload
            .filesets
            .iter()
            .map(|set| Set::new(set, if used(set) { names(set)? } else { Names::default() }, changed(set)));
        let variables = workload.variables.values().map(|v| {
            let impossible = || crate::check::unsupported("variables", "one has impossible parameters");
            Ok(Variable { drawing: Drawing::new(v).ok_or_else(impossible)?, source: v.generator })
        });
        let this = Self {
            sets: sets.collect::<Result<_, _>>()?,
            variables: variables.collect::<Result<_, EngineError>>()?,
            rows: Mapped::new(rows)?,
            waits: Mapped::new(waits)?,
            streams: Mapped::new(workload.variables.len())?,
            process_streams: Mapped::new(crews.len())?,
            limiter: phase
                .events_per_s
                .filter(|&rate| rate > 0.0)
                .map(|rate| Limiter::new(rate, crews.len()))
                .transpose()?,
            messages: Messages::new()?,
            exhausted: phase.stop.exhausted,
            finished: phase.stop.finished,
            programs,
            places,
            crews,
        };
        // File sets were drawn from the same streams: flows go on where those ended, as in Filebench.
        for (state, name) in this.streams.iter().zip(workload.variables.keys()) {
            state.store(layouts.streams.get(name).map_or(0, |s| s.state), Ordering::Relaxed);
        }
        Ok(Some(this))
    }

    /// The rows of a worker.
    pub fn rows_of(&self, place: &Place) -> &[RowStat] {
        &self.rows[place.first_row..place.first_row + self.programs[place.program].ops.len()]
    }

    /// What a worker's rows hold, for the record.
    pub fn tell_rows(&self, worker: usize) -> Vec<fathom_record::Row> {
        let Some(place) = self.places.get(worker).and_then(Option::as_ref) else { return Vec::new() };
        let row = |(op, stat): (&super::program::Op, &RowStat)| fathom_record::Row {
            name: op.name.clone(),
            class: op.class,
            kind: op.kind,
            ops: stat.times.ops(),
            bytes: stat.times.bytes(),
            latency: stat.times.histogram(),
            cpu_ns: stat.cpu_ns.load(Ordering::Relaxed),
        };
        self.programs[place.program].ops.iter().zip(self.rows_of(place)).map(row).collect()
    }
}

/// Each worker of a group: position of its thread, number of its process, number among the thread's instances.
fn positions(group: &fathom_workload::Group) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
    (0..group.instances).flat_map(move |process| {
        group
            .threads
            .iter()
            .enumerate()
            .flat_map(move |(at, t)| (0..t.instances).map(move |instance| (at, process, instance)))
    })
}

/// Tells who wakes and posts where the ones wait that it names, in all workers.
fn connect(programs: &mut [Program], places: &[Option<Place>]) {
    let points: Vec<(String, Act, usize, super::program::Number)> = places
        .iter()
        .flatten()
        .flat_map(|place| programs[place.program].ops.iter().map(move |op| (place, op)))
        .filter(|(_, op)| matches!(op.act, Act::Block | Act::SemaphoreWait))
        .map(|(place, op)| (op.name.clone(), op.act, place.first_wait + op.wait, op.high_water))
        .collect();
    for op in programs.iter_mut().flat_map(|p| &mut p.ops) {
        let wanted = match op.act {
            Act::Wake => Act::Block,
            Act::SemaphorePost => Act::SemaphoreWait,
            _ => continue,
        };
        let Some(target) = op.target.clone() else { continue };
        let named = points.iter().filter(|p| p.1 == wanted && is_called(&p.0, &target));
        op.target_waits = named.map(|p| (p.2, p.3)).collect();
    }
}
