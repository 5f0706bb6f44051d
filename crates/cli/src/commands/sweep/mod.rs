//! `fathom sweep`: measures one workload under every combination of settings, in random, interleaved order, and
//! restores every setting.
//!
//! `vary` parses what is varied, `subject` what is measured, `native` sets values in a native workload; `kernel` turns
//! knobs and makes file systems, `settle` waits until the machine is idle, `stage` measures one cell and restores
//! everything, `session` runs the plan, `image` locates the loop device's file, `guard` restores what a killed sweep left
//! changed. This file checks everything before anything is changed, and reports the result however the sweep ended.

pub mod guard;
pub mod image;
pub mod kernel;
mod native;
pub mod plan;
mod session;
mod settle;
pub mod stage;
pub mod subject;
pub mod vary;

use super::document;
use crate::common::Common;
use crate::console;
use crate::exit::{self, Usage};
use crate::line;
use fathom_report::documents;
use fathom_report::sweep::{self as report, Factor, Sweep, SweepFigure};
use fathom_workload::Duration;
use session::{SweepEnd, SweepSession};
use std::path::Path;
use std::process::ExitCode;
use subject::SweepSubject;
use vary::Varied;

/// More runs are a typing error.
const MOST_RUNS: usize = 100_000;

/// The request, parsed and checked as far as possible without looking at the machine.
pub struct SweepRequest {
    stage: stage::StageRequest,
    rounds: u32,
    budget: Option<std::time::Duration>,
}

pub fn run(options: &line::Sweep, common: &Common) -> anyhow::Result<ExitCode> {
    let asked = SweepRequest::read(options)?;
    if let Some(output) = &options.output {
        check_output(output)?;
    }
    let common = &common.under(&options.conditions);
    let mut session = SweepSession::begin(&asked, common)?;
    if options.plan {
        console::out(&plan::words(&session));
        return Ok(ExitCode::SUCCESS);
    }
    fathom_engine::watch_signals();
    let ended = session.all();
    let outcomes = session.put_back();
    guard::tell(&outcomes, "");
    let sweep = session.result(figure(options.figure));
    if options.json {
        console::out(&(serde_json::to_string_pretty(&sweep)? + "\n"));
    } else {
        console::out(&report::summary(&sweep));
    }
    if let Some(output) = &options.output {
        document::write(&documents::sweep(&sweep), output, false)?;
    }
    if !common.no_store && !sweep.runs.is_empty() {
        console::note(&format!("every run is stored with the label \"sweep {}\"", sweep.id));
    }
    Ok(guard::code(conclude(ended), &outcomes))
}

fn conclude(ended: SweepEnd) -> ExitCode {
    match ended {
        SweepEnd::Complete => ExitCode::SUCCESS,
        SweepEnd::OutOfTime(why) => {
            console::note(&why);
            ExitCode::SUCCESS
        }
        SweepEnd::Signal(signal) => {
            console::warning(&format!("stopped by signal {signal}; the results until then are above"));
            ExitCode::from(exit::of_signal(signal))
        }
        SweepEnd::Failed(why) => {
            console::error(&why);
            ExitCode::from(exit::FAILED)
        }
    }
}

impl SweepRequest {
    fn read(options: &line::Sweep) -> Result<Self, Usage> {
        let subjects = vec![SweepSubject::read(&options.workload)?];
        let varied = vary::read(&options.vary, &subjects)?;
        let cells = varied.iter().map(|v| v.values.len()).try_fold(1usize, usize::checked_mul);
        let runs = cells.and_then(|c| c.checked_mul(options.rounds as usize)).filter(|r| *r <= MOST_RUNS);
        if options.rounds == 0 || runs.is_none() {
            return Err(Usage(format!(
                "--rounds {} over these settings: 1 to {MOST_RUNS} runs are expected",
                options.rounds
            )));
        }
        let has_disk = varied.iter().any(Varied::is_of_disk);
        if has_disk && options.on.is_some() {
            return Err(Usage(
                "--on names a device, and fs=... makes a new one; leave one of them out".into(),
            ));
        }
        let (image_in, image_bytes) =
            image::read(&varied, options.image_in.as_deref(), options.image_size.as_deref())?;
        let stage = stage::StageRequest {
            subjects,
            varied,
            seed: options.seed,
            settle: time("--settle", &options.settle)?,
            cold: options.conditions.cold,
            image_in,
            image_bytes,
            on: options.on.clone(),
        };
        let budget = options.budget.as_deref().map(|t| time("--budget", t)).transpose()?;
        Ok(Self { stage, rounds: options.rounds, budget })
    }
}

pub fn parsed<T: std::str::FromStr<Err = String>>(option: &str, text: &str) -> Result<T, Usage> {
    text.parse().map_err(|e| Usage(format!("{option} {text}: {e}")))
}

pub fn time(option: &str, text: &str) -> Result<std::time::Duration, Usage> {
    Ok(std::time::Duration::from_nanos(parsed::<Duration>(option, text)?.0))
}

/// Checks the file of a report before anything is measured.
pub fn check_output(output: &Path) -> Result<(), Usage> {
    document::check_ending(output, "a sweep", "fathom report writes its runs in other formats")?;
    super::write::check_new(output)
}

pub fn figure(figure: line::SweepFigure) -> SweepFigure {
    use line::SweepFigure as F;
    match figure {
        F::Rate => SweepFigure::Rate,
        F::Ops => SweepFigure::Ops,
        F::Time => SweepFigure::Time,
        F::P50 => SweepFigure::P50,
        F::P99 => SweepFigure::P99,
        F::P999 => SweepFigure::P999,
        F::Max => SweepFigure::Max,
    }
}
