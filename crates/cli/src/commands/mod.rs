//! The commands, one file each, from options to exit code. This file only dispatches.

mod backends;
pub mod compare;
pub mod completions;
mod doctor;
mod document;
mod export;
pub mod filebench;
pub mod fio;
pub mod history;
mod import;
pub mod iozone;
pub mod iso;
mod list;
pub mod mount;
pub mod power_cut;
mod report;
pub mod reproduce;
mod rm;
pub mod run;
mod show;
pub mod sim;
mod survey;
pub mod sweep;
pub mod sysbench;
pub mod trace;
mod watch;
mod why;
pub mod write;

use crate::exit::Usage;
use crate::line::{Command, Line};
use crate::state;
use std::process::ExitCode;

pub fn dispatch(line: Line) -> anyhow::Result<ExitCode> {
    let common = line.common;
    let measures = matches!(
        line.command,
        Command::Survey(_)
            | Command::Run(_)
            | Command::Iozone(_)
            | Command::Sysbench(_)
            | Command::Filebench(_)
            | Command::Fio(_)
            | Command::Sweep(_)
    ) || matches!(&line.command, Command::Compare(o) if o.measure.run);
    let keeps = measures || matches!(&line.command, Command::Sim(o) if o.keeps());
    if common.no_store && !keeps {
        return Err(Usage(
            "--no-store belongs to the commands that keep runs: survey, run, sweep, compare --run, iozone, sysbench, filebench, fio, sim run, sim sweep, sim replay"
                .into(),
        )
        .into());
    }
    if common.observe.is_some() && !measures {
        return Err(Usage(
            "--observe belongs to the commands that measure: survey, run, sweep, compare --run, iozone, sysbench, filebench, fio"
                .into(),
        )
        .into());
    }
    // Before a minute of measuring. Without the option, a store that fails does not end a measurement.
    if let Some(store) = common.store.as_ref().filter(|_| keeps && !common.no_store) {
        state::check_store(store)?;
    }
    match line.command {
        Command::Survey(o) => survey::run(&o, &common),
        Command::Run(o) => run::run(&o, &common),
        Command::Iozone(o) => Ok(iozone::run("fathom iozone", &o.args, &common)),
        Command::Sysbench(o) => Ok(sysbench::run("fathom sysbench", &o.args, &common)),
        Command::Filebench(o) => Ok(filebench::run("fathom filebench", &o.args, &common)),
        Command::Fio(o) => Ok(fio::run("fathom fio", &o.args, &common)),
        Command::Sweep(o) => sweep::run(&o, &common),
        Command::Watch(o) => watch::run(&o),
        Command::Compare(o) => compare::run(&o, &common),
        Command::History(o) => history::run(&o, &common),
        Command::Import(o) => import::run(&o, &common),
        Command::Report(o) => report::run(&o, &common),
        Command::List(o) => list::run(&o, &common),
        Command::Show(o) => show::run(&o, &common),
        Command::Why(o) => why::run(&o, &common),
        Command::Export(o) => export::run(&o, &common),
        Command::Rm(o) => rm::run(&o, &common),
        Command::Doctor(o) => doctor::run(&o),
        Command::Backends(o) => backends::run(&o),
        Command::PowerCut(o) => power_cut::run(&o),
        Command::Trace(o) => trace::run(&o),
        Command::Iso(o) => iso::run(&o),
        Command::Mount(o) => mount::run(&o),
        Command::Sim(o) => sim::run(&o, &common),
        Command::Reproduce(o) => reproduce::run(&o, &common),
        Command::Completions(o) => Ok(completions::run(&o)),
        Command::ManPages(o) => completions::man_pages(&o),
    }
}

/// Wraps at `width` characters; a longer word gets its own line.
fn wrapped(sentence: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in sentence.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}
