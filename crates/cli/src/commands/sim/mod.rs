//! `fathom sim run`: a workload in virtual time, stored as a run marked as simulated. `line` has the options, `stand`
//! reads profiles, `record` converts the result to a run, `sweep` varies the inputs. `replay` sends a trace through a
//! scheduler and a device, `agree` compares schedulers with the kernel of a trace, `calibrate` fits a device profile to
//! one, `traced` is shared by these three.

mod agree;
mod calibrate;
pub mod line;
mod machine;
mod only_read;
mod progress;
mod record;
mod replay;
mod segments;
mod sweep;
mod traced;

use super::sweep::subject::SweepSubject;
use super::write;
use crate::common::Common;
use crate::exit::{self, Usage};
use crate::{console, state};
use fathom_iopath::{elevator, readahead};
use fathom_record::{Doubt, Phase, Run, Simulation};
use fathom_sim::shapes::Shapes;
use fathom_sim::{Setup, SimError, Stack, devices, host, simulate};
use fathom_workload::{Seed, Workload};
use line::{RunSimulated, Sim, SimCommand};
use machine::SimulatedMachine;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Seed of drop-ins that draw a new one every time: a simulation is repeatable.
const SEED: u64 = 1;

pub fn run(options: &Sim, common: &Common) -> anyhow::Result<ExitCode> {
    match &options.command {
        SimCommand::Run(o) => workload(o, common),
        SimCommand::Sweep(o) => sweep::run(o, common),
        SimCommand::Replay(o) => replay::run(o, common),
        SimCommand::Agree(o) => agree::run(o),
        SimCommand::Calibrate(o) => calibrate::run(o),
        SimCommand::Profiles => {
            console::out(&profiles());
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn workload(o: &RunSimulated, common: &Common) -> anyhow::Result<ExitCode> {
    if let Some(output) = &o.output {
        write::check_before(output)?;
    }
    let words = o.words()?;
    let stack = stack_of(o)?;
    let subject = SweepSubject::read(&words)?;
    let machine = SimulatedMachine::read(&o.wanted())?;
    let o = &o.clone().on(&machine);
    let planned = subject.plan_on(machine.place(), &[], &[], o.seed.unwrap_or(SEED))?;
    planned.notes().iter().for_each(|note| console::note(note));
    let mut runs = Vec::new();
    let mut each = |mut workload: Workload| -> anyhow::Result<()> {
        if let Some(seed) = o.seed {
            workload.seed = Seed(seed);
        }
        let (mut run, shapes) = one(o, &subject, &workload, (&machine, stack))?;
        if common.no_store {
            forget_when(&mut run);
        }
        conclude(o, common, &run, &shapes)?;
        runs.push(run);
        Ok(())
    };
    let ended = planned.workloads()?.into_iter().try_for_each(&mut each);
    // A script may have several runs; they share one page, even if a later one failed.
    if let Some(output) = o.output.as_ref().filter(|_| !runs.is_empty()) {
        write::tell(&write::runs(&runs.iter().collect::<Vec<_>>(), output, false)?);
    }
    ended?;
    let failed = runs.iter().any(|run| run.error.is_some());
    Ok(ExitCode::from(if failed { exit::FAILED } else { exit::DONE }))
}

/// Clears date and id of a run that is not stored, so that the same simulation gives the same bytes.
fn forget_when(run: &mut Run) {
    const NEVER: &str = "1970-01-01T00:00:00Z";
    run.id = "simulated".into();
    (run.started_at, run.ended_at) = (NEVER.into(), NEVER.into());
}

fn stack_of(o: &RunSimulated) -> Result<Stack, Usage> {
    let known = Stack::by_word(&o.stack).filter(|s| *s != Stack::Replay);
    let stack = known.ok_or_else(|| Usage(format!("--stack {:?}: there are full and nocache", o.stack)))?;
    match &o.readahead {
        Some(policy) if stack == Stack::NoCache => Err(Usage(format!(
            "--readahead {policy} with --stack nocache: without a cache nothing is read ahead; leave one of them out"
        ))),
        _ => Ok(stack),
    }
}

fn one(
    o: &RunSimulated,
    subject: &SweepSubject,
    workload: &Workload,
    (machine, stack): (&SimulatedMachine, Stack),
) -> anyhow::Result<(Run, Shapes)> {
    let refused = |why: String| Usage(format!("{}: {why}", subject.words()));
    only_read::check(workload, machine, &o.device).map_err(refused)?;
    let scheduler = elevator::on_device(o.scheduler(), machine.device.rotational())
        .map_err(|e| explained(&e.into(), &subject.words()))?;
    let setup = Setup {
        host: machine.host.clone(),
        device: Box::new(machine.device.build().map_err(|e| Usage(e.to_string()))?),
        device_name: o.device.clone(),
        limits: machine.limits,
        scheduler,
        readahead: o.readahead().into(),
        stack,
        indirect_in_memory: false,
        stop: progress::tell,
    };
    let started = fathom_observe::local_time::now();
    let simulated = simulate(workload, setup);
    progress::clear();
    let mut out = simulated.map_err(|e| explained(&e, &subject.words()))?;
    only_read::check_after(&out, machine, &o.device).map_err(refused)?;
    out.inside.notes.iter().chain(&out.inside.said).for_each(|text| console::note(text));
    let shapes = std::mem::take(&mut out.inside.shapes);
    let mut simulation = machine.simulation();
    machine.judge(&mut simulation, out.phases.iter().flatten().filter_map(|r| r.block.as_ref()));
    Ok((record::of(o, subject, workload, &started, simulation, out), shapes))
}

/// An error in the user's input is a usage error; one inside the model is not.
fn explained(error: &SimError, words: &str) -> anyhow::Error {
    let error_lines = error.to_string();
    let message = error_lines.lines().map(|line| format!("{words}: {line}")).collect::<Vec<_>>().join("\n");
    match error {
        SimError::Standstill(_) | SimError::Stopped { .. } => anyhow::anyhow!(message),
        _ => Usage(message).into(),
    }
}

fn conclude(o: &RunSimulated, common: &Common, run: &Run, shapes: &Shapes) -> anyhow::Result<()> {
    if !common.no_store {
        state::store(common.store.as_deref())?.save(run)?;
    }
    if o.json {
        console::out(&fathom_record::export::json(run));
    } else {
        let mut text = String::new();
        if let Some(simulation) = &run.simulation {
            let _ = writeln!(text, "{}\n", simulation.sentence());
        }
        text += &fathom_report::terminal::summary(run, console::width(), console::colour());
        text += &inside(run);
        text += &segments::line(shapes);
        console::out(&text);
    }
    if let Some(error) = &run.error {
        console::error(error);
    }
    if !common.no_store {
        console::note(&format!("kept as simulated run {}", run.id));
    }
    Ok(())
}

/// Internal events of the simulation.
fn inside(run: &Run) -> String {
    let Some(simulation) = &run.simulation else { return String::new() };
    let mut text = String::from("\nInside the simulation\n");
    for (name, count) in simulation.counts.iter().filter(|c| c.1 > 0) {
        let _ = writeln!(text, "  {name:<28} {count:>16}");
    }
    text + &idle_waits(simulation, &run.phases)
}

/// Idling by the scheduler, phase by phase.
fn idle_waits(simulation: &Simulation, phases: &[Phase]) -> String {
    let mut text = String::new();
    for inside in &simulation.phases {
        let Some(words) = fathom_report::svg::idle_words(&inside.idle_waits) else { continue };
        let title = phases.iter().find(|p| p.seq == inside.phase).map_or("", |p| &p.name);
        let _ = writeln!(text, "\n{title}: {words}");
    }
    text
}

/// The doubts that every simulated run carries.
fn doubts(simulation: &Simulation) -> Vec<Doubt> {
    let doubt = |code: &str, sentence| Doubt { code: code.into(), phases: Vec::new(), sentence };
    vec![doubt("simulated", simulation.sentence()), doubt("model", simulation.rests_on.sentence())]
}

/// Lists all names.
fn profiles() -> String {
    let mut text = String::from("hosts (--host)\n");
    for name in host::NAMES {
        let about =
            host::shipped(name).map_or_else(|e| e.to_string(), |h| format!("{} [{}]", h.about, h.tally));
        let _ = writeln!(text, "  {name:<24} {about}");
    }
    text += "devices (--device)\n";
    for name in devices::NAMES {
        let about =
            devices::by_name(name).map_or_else(|e| e.to_string(), |d| format!("{} [{}]", d.about, d.tally));
        let _ = writeln!(text, "  {name:<24} {about}");
    }
    let schedulers: Vec<&str> = elevator::known().collect();
    let _ = writeln!(text, "schedulers (--scheduler)\n  {}", schedulers.join(" "));
    let policies: Vec<&str> = readahead::NAMES.iter().map(|(name, _)| *name).collect();
    let _ = writeln!(text, "read-ahead (--readahead)\n  {}", policies.join(" "));
    text
}
