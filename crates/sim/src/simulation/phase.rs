//! One phase: what comes before it, its workers, and what came out as a repetition of a record.

use super::SimError;
use super::between::{between, sets_of};
use crate::block::Who;
use crate::machine::{Executor, Machine};
use crate::outcome::{self, Inside};
use crate::threads::{self, Setting, Slots, Together, Worked};
use fathom_record::Repetition;
use std::cell::RefCell;
use std::rc::Rc;

/// Executes it.
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
    machine.drawn.borrow_mut().begin(first_ns, machine.block.device_counters(), workload.phases.len());
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
    let drawn = machine.drawn.borrow_mut().take(setting.number as u32, machine.block.device_counters());
    inside.phases.retain(|phase| phase.phase != drawn.phase);
    inside.phases.push(drawn);
    inside.add_readahead(machine);
    executor.add(Box::pin(between(machine, sets, phase, &phase.after, false)));
    executor.run(1)?;
    Ok(done)
}
