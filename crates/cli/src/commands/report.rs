//! `fathom report`: draws stored runs into the named file; its extension selects the format.

use super::write;
use crate::common::Common;
use crate::exit::Usage;
use crate::line::Report;
use crate::state;
use std::process::ExitCode;

pub fn run(options: &Report, common: &Common) -> anyhow::Result<ExitCode> {
    if let Some(output) = &options.output {
        write::check_ending(output)?;
        write::check_drawing(output, options.force)?;
    }
    if options.full && !options.output.as_deref().is_some_and(write::is_markdown) {
        return Err(
            Usage("--full belongs to a file that ends in .md; other forms are always whole".into()).into()
        );
    }
    let store = state::kept(common.store.as_deref())?;
    let runs = options.runs.iter().map(|r| store.load(r)).collect::<Result<Vec<_>, _>>()?;
    let runs: Vec<_> = runs.iter().collect();
    let output = match &options.output {
        Some(output) => output.clone(),
        None => {
            let page = write::default_page(&runs[0].id);
            write::check(&page, options.force)?;
            page
        }
    };
    let form = if options.full { write::full_markdown } else { write::runs };
    let files = form(&runs, &output, options.force)?;
    write::tell(&files);
    Ok(ExitCode::SUCCESS)
}
