//! `fathom rm`: removes stored runs. All names are resolved first: a wrong one removes nothing.

use crate::common::Common;
use crate::line::Rm;
use crate::{console, state};
use std::process::ExitCode;

pub fn run(options: &Rm, common: &Common) -> anyhow::Result<ExitCode> {
    let mut store = state::kept(common.store.as_deref())?;
    // Every name must resolve before anything is removed; "last" means the last run now, however often it is given.
    let mut ids = options.runs.iter().map(|r| store.resolve(r)).collect::<Result<Vec<_>, _>>()?;
    ids.sort();
    ids.dedup();
    store.remove_all(ids.iter().map(String::as_str))?;
    store.close()?;
    if options.json {
        console::out(&(serde_json::to_string_pretty(&serde_json::json!({ "removed": ids }))? + "\n"));
    } else {
        console::out(&ids.iter().map(|id| format!("removed {id}\n")).collect::<String>());
    }
    Ok(ExitCode::SUCCESS)
}
