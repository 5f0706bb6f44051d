//! One phase: the actions before it, its workers, and the result as a repetition of a record.

use super::SimError;
use super::between::{between, sets_of};
use crate::block::Submitter;
use crate::flows::{self, AioSlots, FlowState};
use crate::host::Threads;
use crate::idle_waits::habits;
use crate::machine::{Executor, Machine};
use crate::outcome::{self, Inside};
use crate::threads::{self, PhaseControl, Setting, Slots, WorkerResult};
use fathom_record::Repetition;
use fathom_workload::{Act, Isolation};
use std::cell::RefCell;
use std::rc::Rc;

/// Executes one phase.
pub(super) fn one_phase<'m>(
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
        machine.own_cpu(Submitter::BETWEEN);
        for plan in &prepared {
            threads::prologue(machine, plan).await;
        }
    }));
    executor.run(1)?;
    let state = FlowState::new(machine, setting)?.map(Rc::new);

    let of_phase = sets_of(phase, sets);
    let resident_before = outcome::residency(machine, of_phase.iter().copied());
    let first_ns = machine.now();
    machine.block.restart(first_ns);
    machine.plot.borrow_mut().begin(first_ns, machine.block.device_counters(first_ns), workload.phases.len());
    machine.block.look(machine, false);
    let worked: Rc<RefCell<Vec<WorkerResult>>> = Rc::default();
    let mut helpers: Vec<(Rc<_>, Rc<Slots>)> = Vec::new();
    let actors = state.as_deref().map_or_else(Vec::new, |state| actors(machine, state));
    let count = plans.len() + actors.len();
    let together = PhaseControl::new(phase.interval.0, phase.stop.steady, count)
        .failing(phase.stop.failed)
        .among(&plans);
    let together = Rc::new(together);
    together.alive.set(count);
    for plan in &plans {
        let (plan, together, worked) = (Rc::clone(plan), Rc::clone(&together), Rc::clone(&worked));
        let slots = (plan.depth() > 1).then(|| Rc::new(Slots::default()));
        if let Some(slots) = &slots {
            helpers.push((Rc::clone(&plan), Rc::clone(slots)));
        }
        executor.add(Box::pin(async move {
            let done = threads::live(machine, &plan, &together, slots.as_deref(), first_ns).await;
            together.alive.set(together.alive.get() - 1);
            worked.borrow_mut().push(done);
        }));
    }
    if let Some(state) = &state {
        let given = (&together, &worked);
        perform(machine, executor, state, &actors, given, first_ns);
    }
    for (plan, slots) in helpers {
        for _ in 0..plan.depth() {
            let (plan, slots) = (Rc::clone(&plan), Rc::clone(&slots));
            executor.add(Box::pin(async move { threads::serve(machine, &plan, &slots).await }));
        }
    }
    executor.run(count)?;
    let end_ns = machine.now();

    let mut layer = machine.block.watch().analysis.finish(end_ns);
    layer.source = "sim".into();
    let mut workers = worked.take();
    workers.sort_by_key(|w| w.index);
    // A deliberately delayed start is not late.
    let delayed: Vec<bool> = phase
        .groups
        .iter()
        .flat_map(|g| {
            let workers =
                g.threads.iter().map(|t| t.instances as usize).sum::<usize>() * g.instances as usize;
            std::iter::repeat_n(g.times.delay.0 > 0, workers)
        })
        .collect();
    let on_time = |w: &&threads::WorkerResult| !delayed.get(w.index as usize).copied().unwrap_or(false);
    let releases = workers.iter().filter(on_time).map(|w| w.released_ns);
    let skew = releases.clone().max().unwrap_or(0) - releases.clone().min().unwrap_or(0);
    let last_release = releases.max().unwrap_or(first_ns);
    let clock_end = workers.iter().map(|w| w.start_ns + w.last_ns.saturating_sub(w.start_ns)).max();
    let ramp_ns = phase.longest_ramp_ns(workers.iter().map(|w| w.start_ns.saturating_sub(first_ns)));
    let mut done = Repetition {
        n: setting.repetition,
        started_ns: last_release,
        elapsed_ns: end_ns - last_release,
        start_skew_ns: skew,
        intervals: together.intervals(first_ns, clock_end.unwrap_or(end_ns)),
        ramp_ns,
        steady: together.steadiness(),
        cache: outcome::intent(phase.cache),
        physical: outcome::physical(&layer, together.written_bytes.get(), "simulated"),
        resident_before: Some(resident_before),
        resident_after: Some(outcome::residency(machine, of_phase.iter().copied())),
        workers: workers.into_iter().map(|w| w.into_worker(first_ns)).collect(),
        ..Repetition::default()
    };
    done.block = Some(layer);
    let counters = machine.block.device_counters(end_ns);
    let mut plot = machine.plot.borrow_mut().take(end_ns, setting.number as u32, counters);
    plot.idle_waits.habits = habits(&machine.block.queue(), |task| Submitter(task.0).label());
    inside.phases.retain(|phase| phase.phase != plot.phase);
    inside.phases.push(plot);
    inside.add_readahead(machine);
    executor.add(Box::pin(between(machine, sets, phase, &phase.after, false)));
    executor.run(1)?;
    Ok(done)
}

/// The phase's workers that execute flows, by number. Registers them with the block layer.
fn actors(machine: &Machine, state: &FlowState<'_>) -> Vec<usize> {
    let alone = machine.host.cpu.threads.get() == Threads::Linuxthreads;
    let mut actors = Vec::new();
    for (worker, place) in state.cast.places.iter().enumerate() {
        let Some(place) = place else { continue };
        let group = state.phase.groups.iter().find(|g| g.name == place.group);
        let own = group.is_some_and(|g| g.isolation == Isolation::Process);
        // Process numbers start after the system tasks'.
        let process = if own { place.process + 4 } else { 3 };
        let process = u16::try_from(process).unwrap_or(u16::MAX);
        let who = Submitter::worker(worker);
        machine.block.describe(who, if alone { who.0 } else { process });
        actors.push(worker);
    }
    actors
}

/// Adds the tasks of workers that execute flows, followed by the tasks for their asynchronous writes.
fn perform<'m>(
    machine: &'m Machine,
    executor: &mut Executor<'m>,
    state: &Rc<FlowState<'m>>,
    actors: &[usize],
    (together, worked): (&Rc<PhaseControl>, &Rc<RefCell<Vec<WorkerResult>>>),
    first_ns: u64,
) {
    let mut writers = Vec::new();
    for &worker in actors {
        let flights: Rc<AioSlots> = Rc::default();
        let ops = state.cast.places[worker].as_ref().map(|place| &state.cast.programs[place.program].ops);
        if ops.is_some_and(|ops| ops.iter().any(|op| op.act == Act::AsyncWrite)) {
            writers.push((Submitter::worker(worker), Rc::clone(&flights)));
        }
        let (state, together, worked) = (Rc::clone(state), Rc::clone(together), Rc::clone(worked));
        executor.add(Box::pin(async move {
            let done = flows::live(machine, &state, worker, &together, &flights, first_ns).await;
            together.alive.set(together.alive.get() - 1);
            worked.borrow_mut().push(done);
        }));
    }
    for (who, flights) in writers {
        for _ in 0..flows::MOST {
            let flights = Rc::clone(&flights);
            executor.add(Box::pin(async move { flows::serve(machine, who, &flights).await }));
        }
    }
}
