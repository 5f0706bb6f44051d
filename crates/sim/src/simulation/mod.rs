//! A simulation, from a workload and a set-up to the outcome. It uses one thread, no clock and no files: the same inputs give the same
//! outcome. Several simulations may run in parallel.

mod beginning;
mod between;
mod phase;
mod setup;
mod sizes;

pub use setup::{Setup, SimError, never};

use crate::block::Submitter;
use crate::call_log::LoggedCall;
use crate::flows;
use crate::machine::{Executor, Machine};
use crate::outcome::{Inside, Simulated};
use crate::sets::Sets;
use crate::stack::Stack;
use crate::threads::{self, Pools, Setting};
use fathom_iopath::Elevator as _;
use fathom_workload::{Failed, Workload};
use phase::one_phase;
use setup::{check_space, limit, machine, room};

/// Executes a workload in virtual time.
///
/// # Errors
/// If a part of the workload or the set-up cannot be simulated. Failed operations are reported in the outcome.
pub fn simulate(workload: &Workload, setup: Setup) -> Result<Simulated, SimError> {
    simulate_noting(workload, setup, 0).map(|(out, _)| out)
}

/// Like [`simulate`]; also returns the first operations of its flows, up to a limit, in order of completion.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_noting(
    workload: &Workload,
    setup: Setup,
    most: usize,
) -> Result<(Simulated, Vec<LoggedCall>), SimError> {
    let refused = threads::refusals(workload);
    if !refused.is_empty() {
        return Err(SimError::Unsupported(refused.join("\n")));
    }
    if setup.stack == Stack::Replay {
        let why = "the layers \"replay\" are for traces; run a workload with the layers full or nocache";
        return Err(SimError::Unsupported(why.into()));
    }
    let (indirect_in_memory, stop) = (setup.indirect_in_memory, setup.stop);
    let capacity_sectors = setup.device.capacity_sectors();
    sizes::check(workload, &setup.host, capacity_sectors)?;
    let machine = machine(setup)?;
    machine.call_log.borrow_mut().keep_calls(most);
    let sets = Sets::make(&machine, workload, room(&machine, capacity_sectors))?;
    check_space(&machine, capacity_sectors)?;
    machine.files.borrow_mut().limit(limit(&machine, capacity_sectors));
    beginning::others_first(&machine);
    beginning::begin(&machine, workload, &sets);
    if indirect_in_memory {
        beginning::know_all_places(&machine);
    }
    let pools: Vec<Pools> =
        (0..workload.repetitions).flat_map(|_| workload.phases.iter().map(Pools::of)).collect();
    let mut out = Simulated { phases: vec![Vec::new(); workload.phases.len()], inside: Inside::default() };
    let mut executor = Executor::new(&machine, stop);
    executor.serve(Box::pin(async {
        machine.own_cpu(Submitter::JOURNAL);
        machine.commit_transactions().await;
    }));
    executor.serve(Box::pin(async {
        machine.own_cpu(Submitter::FLUSHER);
        machine.flush_old_data().await;
    }));
    executor.serve(Box::pin(async {
        machine.own_cpu(Submitter::FLUSHER);
        machine.write_in_background().await;
    }));
    'all: for repetition in 0..workload.repetitions {
        for number in 0..workload.phases.len() {
            let pools = &pools[repetition as usize * workload.phases.len() + number];
            let setting = Setting { workload, number, repetition, pools, sets: &sets };
            let done = one_phase(&machine, &mut executor, &setting, &mut out.inside)?;
            let failed = done.error().is_some();
            out.phases[number].push(done);
            if failed && workload.phases[number].stop.failed == Failed::Run {
                break 'all;
            }
        }
    }
    drop(executor);
    out.inside.gather(&machine);
    out.inside.notes.extend(flows::notes(workload));
    let call_log = machine.call_log.take();
    out.inside.said = call_log.said;
    Ok((out, call_log.calls))
}

impl Inside {
    /// Adds the read-ahead counters of the files that were open in a phase.
    fn add_readahead(&mut self, machine: &Machine) {
        let mut counts = machine.counts.borrow_mut();
        for open in machine.opens.borrow().iter() {
            counts.add_readahead(open.counters());
        }
    }

    /// Collects the figures of the whole run.
    fn gather(&mut self, machine: &Machine) {
        self.elapsed_ns = machine.now();
        self.events = machine.events();
        self.counts = *machine.counts.borrow();
        self.counts.pages_evicted = machine.cache.borrow().evicted();
        self.merges = machine.block.merges();
        self.device = machine.block.device_counters(machine.now());
        machine.block.queue().elevator().counters(&mut |name, n| self.elevator.push((name, n)));
        let watch = machine.block.watch();
        (self.depth_ns, self.response_ns) = (watch.depth_ns, watch.response_ns);
        self.shapes = watch.shapes.clone();
    }
}

#[cfg(test)]
mod tests;
