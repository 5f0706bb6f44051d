//! `fathom iso compare`: measures the policies in turns on an image as a block device, together with its block events.
//! This file runs the rounds and collects the results; [`load`] reads, [`stand`] sets up the device, [`print`] prints.

mod blocks;
mod load;
pub mod options;
mod print;
mod setup;

use super::reading::Bundle;
use crate::console;
use crate::exit::{self, Usage};
use anyhow::Context as _;
use blocks::Blocks;
use fathom_isofs::reader::{Counters, Reader};
use load::{LoadResult, ReadPlan};
use options::{IsoCompare, ReadLoad};
use rustix::time::{ClockId, clock_gettime};
use setup::Setup;
use std::process::ExitCode;
use std::sync::Arc;

/// Longest read call of a load.
const MOST_RECORD: u64 = 64 << 20;

pub struct Run {
    pub round: u32,
    pub done: LoadResult,
    pub counters: Counters,
    /// The back-end and its counters.
    pub backend: serde_json::Value,
    pub blocks: Option<Blocks>,
    /// CPU time of this process without the observer.
    pub cpu_ns: u64,
}

/// All runs of a load under a policy.
pub struct LoadRuns {
    pub load: ReadLoad,
    pub policy: Bundle,
    pub runs: Vec<Run>,
}

pub struct Compared<'o> {
    pub options: &'o IsoCompare,
    pub setup: &'o Setup,
    pub plan: &'o ReadPlan,
    pub rows: Vec<LoadRuns>,
}

pub fn run(options: &IsoCompare) -> anyhow::Result<ExitCode> {
    check(options)?;
    fathom_engine::watch_signals();
    let mut setup = Setup::made(options)?;
    let image = setup.cold()?;
    let plan = ReadPlan::of(&image, options.record.0, options.amount.0).ok_or_else(|| {
        Usage(format!("{}: no file with content is in it that could be read", options.source.image.display()))
    })?;
    drop(image);
    let mut rows = rows(options);
    let runs = u64::from(options.rounds) * rows.len() as u64;
    let bar = console::progress(runs);
    for round in 0..options.rounds {
        for row in &mut rows {
            bar.set_message(format!("{} {}", row.load.name(), row.policy.name()));
            let one = one(&mut setup, &plan, row, round);
            if let Some(signal) = fathom_engine::interrupted_by() {
                bar.finish_and_clear();
                return Ok(ExitCode::from(exit::of_signal(signal)));
            }
            row.runs.push(one.with_context(|| format!("{} under {}", row.load.name(), row.policy.name()))?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let compared = Compared { options, setup: &setup, plan: &plan, rows };
    if options.json {
        console::out_raw(&(serde_json::to_string_pretty(&print::json(&compared))? + "\n"));
    } else {
        console::out(&print::text(&compared));
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the options before anything is set up.
fn check(options: &IsoCompare) -> Result<(), Usage> {
    if options.source.direct {
        return Err(Usage(
            "compare always bypasses the page cache where possible; leave --direct out".into(),
        ));
    }
    if !(512..=MOST_RECORD).contains(&options.record.0) {
        return Err(Usage(format!("--record {}: from 512B to 64MiB are possible", options.record)));
    }
    if options.amount.0 < options.record.0 {
        return Err(Usage(format!(
            "--amount {}: less than one --record of {}",
            options.amount, options.record
        )));
    }
    Ok(())
}

/// Every load with every policy.
fn rows(options: &IsoCompare) -> Vec<LoadRuns> {
    let mut rows: Vec<LoadRuns> = Vec::new();
    for &load in &options.loads {
        for &policy in &options.policies {
            if !rows.iter().any(|row| row.load == load && row.policy == policy) {
                rows.push(LoadRuns { load, policy, runs: Vec::new() });
            }
        }
    }
    rows
}

/// A run with a new reader, so no cache holds data of the previous run.
fn one(setup: &mut Setup, plan: &ReadPlan, row: &LoadRuns, round: u32) -> anyhow::Result<Run> {
    let image = setup.cold()?;
    let policy = setup.policy(row.policy);
    let reader = Reader::new(Arc::new(image), &policy)?;
    let before = cpu_ns();
    let (done, blocks) = blocks::during(setup.watch.as_ref(), || load::run(row.load, plan, &reader))?;
    let observer = blocks.as_ref().map_or(0, |blocks| blocks.observer_cpu_ns);
    let cpu_ns = cpu_ns().saturating_sub(before).saturating_sub(observer);
    let backend = reader.image().source().report();
    Ok(Run { round, done: done?, counters: reader.counters(), backend, blocks, cpu_ns })
}

fn cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
