//! The cciss table of 2008: the command lines of its logs go through IOzone's own reader into the simulation of `fathom-sim`.

use super::{Reproduce, cannot};
use crate::exit::Usage;
use fathom_dialects::iozone::{self, Context};
use fathom_sim::reproduce::cciss as table;
use fathom_workload::Workload;
use jiff::civil::DateTime;

/// When the first of the logs was begun.
const BEGUN: DateTime = DateTime::constant(2008, 1, 23, 14, 12, 42, 0);

/// Simulates the table.
pub(super) fn reproduce(options: &Reproduce) -> anyhow::Result<table::Table> {
    if options.seeds.is_some() {
        let why = "--seeds does not go with cciss-2008: nothing of that table is drawn at random";
        return Err(Usage(why.into()).into());
    }
    let workloads: Vec<Workload> =
        table::published::TESTS.iter().map(|test| workload(test.command)).collect::<Result<_, _>>()?;
    table::reproduce(&workloads, options.ablation).map_err(Into::into)
}

fn workload(command: &str) -> anyhow::Result<Workload> {
    let args: Vec<String> = command.split(' ').map(str::to_owned).collect();
    // None of the command lines names a file to be read.
    let context = Context {
        now: BEGUN,
        uname: String::new(),
        page_bytes: 4096,
        read: &|_| Err("no file is read".into()),
    };
    let parsed = iozone::plan(&args, &context);
    Ok(parsed.map_err(|e| cannot("iozone", command, &(e.stdout + &e.stderr)))?.workload)
}
