//! `fathom reproduce`: a published table beside what we get. The exit code is 0 only if every tolerance that was stated holds.

use crate::exit::{self, Usage};
use crate::{console, line};
use clap::{Args, ValueEnum};
use fathom_dialects::sysbench::{self, Context};
use fathom_sim::reproduce::sysbench as table;
use std::process::ExitCode;

/// The options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom reproduce sysbench-2004              the table, its errors, the tolerances: about half a second
  fathom reproduce sysbench-2004 --ablation   what each mechanism contributes

Exit code: 0 every stated tolerance holds, 1 one does not. docs/simulator.md says what was fitted.")]
pub struct Reproduce {
    /// Which table
    #[arg(value_enum)]
    pub table: Published,
    /// Means over so many seeds
    #[arg(long, value_name = "N", default_value_t = table::SEEDS, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
    /// Also leave mechanisms out, one at a time
    #[arg(long)]
    pub ablation: bool,
    /// Print JSON instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Tables that are reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Published {
    /// SysBench file I/O under five schedulers of linux 2.4 and 2.6
    #[value(name = "sysbench-2004")]
    Sysbench2004,
}

/// Runs the command.
pub fn run(options: &Reproduce, _common: &line::Common) -> anyhow::Result<ExitCode> {
    let Published::Sysbench2004 = options.table;
    let args: Vec<String> = table::COMMAND.split(' ').map(str::to_owned).collect();
    // The command line names no file of options.
    let context = Context { clock_seed: 1, read: &|_| Err("no file is read".into()) };
    let parsed = sysbench::plan(&args, &context).map_err(|e| Usage(format!("{}{}", e.stdout, e.stderr)))?;
    let found = table::reproduce(&parsed.workload, options.seeds, options.ablation)
        .map_err(|e| Usage(format!("sysbench {}: {e}", table::COMMAND)))?;
    if options.json {
        console::out(&(serde_json::to_string_pretty(&found)? + "\n"));
    } else {
        console::out(&found.to_string());
    }
    Ok(ExitCode::from(if found.holds() { exit::DONE } else { exit::CHECK }))
}
