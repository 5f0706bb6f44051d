//! `fathom report`: draws stored runs into the named file; its extension selects the format.

use super::write;
use crate::exit::Usage;
use crate::line::{Common, Report};
use crate::state;
use std::process::ExitCode;

pub fn run(options: &Report, common: &Common) -> anyhow::Result<ExitCode> {
    write::check_ending(&options.output)?;
    write::check_drawing(&options.output, options.force)?;
    if options.full && !write::is_markdown(&options.output) {
        return Err(
            Usage("--full belongs to a file that ends in .md; other forms are always whole".into()).into()
        );
    }
    let store = state::kept(common.store.as_deref())?;
    let runs = options.runs.iter().map(|r| store.load(r)).collect::<Result<Vec<_>, _>>()?;
    let runs: Vec<_> = runs.iter().collect();
    let form = if options.full { write::full_markdown } else { write::runs };
    let files = form(&runs, &options.output, options.force)?;
    write::tell(&files);
    Ok(ExitCode::SUCCESS)
}
