//! `fathom report`: loads stored runs and has them drawn into the file that was named; the ending says in which form.

use super::write;
use crate::line::{Common, Report};
use crate::state;
use std::process::ExitCode;

pub fn run(options: &Report, common: &Common) -> anyhow::Result<ExitCode> {
    write::check_ending(&options.output)?;
    let store = state::store(common.store.as_deref())?;
    let runs = options.runs.iter().map(|r| store.load(r)).collect::<Result<Vec<_>, _>>()?;
    let files = write::runs(&runs.iter().collect::<Vec<_>>(), &options.output, options.force)?;
    write::tell(&files);
    Ok(ExitCode::SUCCESS)
}
