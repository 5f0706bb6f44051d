//! The SysBench table of 2004: the published command line goes through SysBench's own reader into the simulation of `fathom-sim`.

use super::{Reproduce, cannot};
use fathom_dialects::sysbench::{self, Context};
use fathom_sim::reproduce::sysbench as table;

/// Simulates the table.
pub(super) fn reproduce(options: &Reproduce) -> anyhow::Result<table::Table> {
    let args: Vec<String> = table::COMMAND.split(' ').map(str::to_owned).collect();
    // The command line names no file of options.
    let context = Context { clock_seed: 1, read: &|_| Err("no file is read".into()) };
    let parsed = sysbench::plan(&args, &context)
        .map_err(|e| cannot("sysbench", table::COMMAND, &(e.stdout + &e.stderr)))?;
    let seeds = options.seeds.unwrap_or(table::SEEDS);
    table::reproduce(&parsed.workload, seeds, options.ablation)
        .map_err(|e| cannot("sysbench", table::COMMAND, &e))
}
