//! `fathom sim replay`: sends a trace, or a synthetic one, in virtual time through a scheduler to a device. Streams:
//! memory does not grow with the trace. `source` yields the arrivals, `log` takes the events of the simulated device,
//! `output` prints, `record` makes the stored run.

mod log;
mod output;
mod record;
mod source;

use super::line::{Replay, ReplayMode};
use super::machine::{SimulatedMachine, check_for_replay};
use super::only_read::{Gate, why};
use crate::common::Common;
use crate::console;
use crate::exit::Usage;
use crate::state;
use anyhow::anyhow;
use fathom_engine::interrupted_by;
use fathom_iopath::{Queue, elevator};
use fathom_record::{FeedMode, Run, Simulation};
use fathom_sim::devices::Device as _;
use fathom_sim::replay::{Mode, ReplayError, ReplaySetup, Replayed, Scale, replay};
use source::{Arriving, Origin, SourceError};
use std::cell::RefCell;
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::Instant;

/// Default number of arrivals in flight in a closed replay.
const DEPTH: u32 = 32;

/// What was replayed on what, and the result.
pub struct ReplayOutcome<'o> {
    options: &'o Replay,
    origin: Origin,
    mode: Mode,
    simulation: Simulation,
    out: Replayed,
}

pub fn run(o: &Replay, common: &Common) -> anyhow::Result<ExitCode> {
    check_for_replay(&o.set)?;
    if o.log.is_some() {
        // Half a file must be removed.
        fathom_engine::watch_signals();
    }
    let machine = SimulatedMachine::read(&o.wanted())?;
    let scheduler = o.scheduler.clone().or_else(|| machine.scheduler());
    let o = &Replay { scheduler, ..o.clone() };
    let started = Instant::now();
    let done = simulated(o, &machine)?;
    let took = started.elapsed();
    conclude(&done, common)?;
    let rate = done.out.counts.arrivals as f64 / took.as_secs_f64().max(1e-9);
    console::note(&format!("took {}, {rate:.0} arrivals a second", console::duration(took)));
    Ok(ExitCode::SUCCESS)
}

/// One replay of a sweep.
pub fn one(o: &Replay, machine: &SimulatedMachine) -> anyhow::Result<Run> {
    simulated(o, machine).map(|done| record::of(&done))
}

fn simulated<'o>(o: &'o Replay, machine: &SimulatedMachine) -> anyhow::Result<ReplayOutcome<'o>> {
    let mode = mode(o)?;
    let built = machine.device.build().map_err(|e| Usage(e.to_string()))?;
    let scheduler = elevator::on_device(o.scheduler(), machine.device.rotational())
        .and_then(|name| elevator::by_name(&name))
        .map_err(|e| Usage(e.to_string()))?;
    if o.synthetic.is_some() && machine.device.is_only_read() {
        return Err(
            Usage(why("a quarter of the synthetic arrivals", &o.device, "a trace that only reads")).into()
        );
    }
    let queue = Queue::new(scheduler, machine.host.queue_rules(machine.limits, built.depth()));
    let mut arriving = Arriving::open(o, built.capacity_sectors(), matches!(mode, Mode::Dependent(_)))?;
    let log = RefCell::new(log::ReplayLog::begin(o)?);
    let setup = ReplaySetup { queue, device: built, device_name: o.device.clone(), mode };
    let mut gate = Gate::before(&machine.device);
    let next = || {
        if let Some(error) = log.borrow_mut().failed.take() {
            return Err(SourceError::Log(error));
        }
        if let Some(signal) = interrupted_by() {
            return Err(SourceError::Signal(signal));
        }
        gate.pass(arriving.next()?).map_err(SourceError::Writes)
    };
    let out = replay(setup, next, |event| log.borrow_mut().event(event)).map_err(|e| explained(o, e))?;
    log.into_inner().finish()?;
    let origin = arriving.into_origin();
    if out.counts.arrivals == 0 {
        let file = &origin.file;
        return Err(
            Usage(format!("{file}: it holds no arrival at a device{}", output::left_out(&origin))).into()
        );
    }
    let mut simulation = Simulation {
        scheduler: o.scheduler().into(),
        readahead: "none".into(),
        stack: "replay".into(),
        handed_in: Some(handed_in(mode)),
        ..machine.of_replay()
    };
    machine.judge(&mut simulation, std::iter::once(&out.block));
    Ok(ReplayOutcome { options: o, origin, mode, simulation, out })
}

fn handed_in(mode: Mode) -> FeedMode {
    let (mode, scale, depth) = match mode {
        Mode::Open(scale) => ("open", Some(scale.factor()), None),
        Mode::Closed(depth) => ("closed", None, Some(depth.get())),
        Mode::Dependent(scale) => ("dependent", Some(scale.factor()), None),
    };
    FeedMode { mode: mode.into(), scale: scale.filter(|x| *x != 1.0), depth }
}

/// When arrivals are submitted.
fn mode(o: &Replay) -> Result<Mode, Usage> {
    let made_up = o.synthetic.is_some();
    let wanted = o.handing.mode.unwrap_or(if made_up { ReplayMode::Closed } else { ReplayMode::Open });
    if made_up && wanted != ReplayMode::Closed {
        return Err(Usage("synthetic arrivals have no times; --synthetic needs --mode closed".into()));
    }
    if o.handing.scale.is_some() && wanted == ReplayMode::Closed {
        return Err(Usage(
            "a closed replay makes no use of the trace's times, so there is nothing to --scale".into(),
        ));
    }
    if o.handing.depth.is_some() && wanted != ReplayMode::Closed {
        return Err(Usage("--depth belongs to --mode closed".into()));
    }
    let scale = || match o.handing.scale {
        None => Ok(Scale::ONE),
        Some(factor) => Scale::new(factor)
            .ok_or_else(|| Usage(format!("--scale {factor}: expected a number above 0, at most 1000000"))),
    };
    Ok(match wanted {
        ReplayMode::Open => Mode::Open(scale()?),
        ReplayMode::Dependent => Mode::Dependent(scale()?),
        ReplayMode::Closed => {
            Mode::Closed(o.handing.depth.or(NonZeroU32::new(DEPTH)).unwrap_or(NonZeroU32::MIN))
        }
    })
}

fn explained(o: &Replay, error: ReplayError<SourceError>) -> anyhow::Error {
    match error {
        ReplayError::Trace(SourceError::Trace(wrong)) => super::super::trace::input::wrong(wrong),
        ReplayError::Trace(SourceError::Log(e)) => {
            let path = o.log.as_deref().map(|p| p.display().to_string()).unwrap_or_default();
            anyhow!("cannot write {path}: {e}; what was written before is kept")
        }
        ReplayError::Trace(SourceError::Writes(number)) => {
            let who = format!("arrival {number} of the trace");
            Usage(why(&who, &o.device, "a trace that only reads")).into()
        }
        ReplayError::Trace(SourceError::Signal(signal)) => {
            anyhow!("stopped by signal {signal}; nothing is stored")
        }
        wrong @ (ReplayError::TooLong { .. } | ReplayError::TooLate { .. }) => {
            Usage(wrong.to_string()).into()
        }
        standstill @ ReplayError::Standstill { .. } => anyhow!(standstill.to_string()),
    }
}

fn conclude(done: &ReplayOutcome<'_>, common: &Common) -> anyhow::Result<()> {
    if done.options.json {
        console::out_raw(&(serde_json::to_string_pretty(&output::json(done))? + "\n"));
    } else {
        console::out(&output::page(done));
    }
    for note in &done.origin.notes {
        console::note(note);
    }
    if !common.no_store {
        let run = record::of(done);
        state::store(common.store.as_deref())?.save(&run)?;
        console::note(&format!("kept as simulated run {}", run.id));
    }
    Ok(())
}
