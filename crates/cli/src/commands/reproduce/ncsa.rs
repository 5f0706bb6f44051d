//! The IOzone surfaces of 2005: the published command line goes through IOzone's own reader into the simulation of `fathom-sim`.

use super::{Reproduce, cannot};
use crate::exit::Usage;
use fathom_dialects::iozone::{self, Context};
use fathom_sim::reproduce::ncsa as table;

/// Simulates the surfaces.
pub(super) fn reproduce(options: &Reproduce) -> anyhow::Result<table::Table> {
    if options.seeds.is_some() {
        return Err(Usage("ncsa-2005 draws nothing at random: --seeds would change nothing".into()).into());
    }
    if options.ablation {
        return Err(Usage(
            "ncsa-2005 has no --ablation: its degrees of freedom are said in the table".into(),
        )
        .into());
    }
    let args: Vec<String> = table::COMMAND.split(' ').map(str::to_owned).collect();
    let context = Context {
        now: jiff::civil::date(2005, 3, 10).at(0, 0, 0, 0),
        uname: "Linux heping".into(),
        page_bytes: 4096,
        // The command line names no file.
        read: &|_| Err("no file is read".into()),
    };
    let parsed = iozone::plan(&args, &context)
        .map_err(|e| cannot("iozone", table::COMMAND, &(e.stdout + &e.stderr)))?;
    table::reproduce(&parsed.workload).map_err(|e| cannot("iozone", table::COMMAND, &e))
}
