//! `fathom show`: prints stored runs one by one; for several runs, first a table of their parallel streams.

use crate::common::Common;
use crate::exit::Usage;
use crate::line::Show;
use crate::{console, state};
use fathom_record::Run;
use std::process::ExitCode;

pub fn run(options: &Show, common: &Common) -> anyhow::Result<ExitCode> {
    let store = state::kept(common.store.as_deref())?;
    let runs = options.runs.iter().map(|r| store.load(r)).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<&Run> = runs.iter().collect();
    if !options.json
        && !options.original
        && !options.block
        && !options.stacks
        && all.len() > 1
        && let Some(parallel) = fathom_report::Parallel::of(&all)
    {
        console::out(&parallel.text());
        return Ok(ExitCode::SUCCESS);
    }
    for run in &runs {
        one(options, run)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn one(options: &Show, run: &Run) -> anyhow::Result<()> {
    if options.json {
        console::out(&fathom_record::export::json(run));
    } else if let Some(source) = run.source.as_ref().filter(|_| options.original) {
        return Err(Usage(format!(
            "run {} was imported: its original is {}, lines {} to {}",
            run.id, source.file, source.first_line, source.last_line
        ))
        .into());
    } else if options.original {
        let text = match run.dialect.as_str() {
            "iozone" => fathom_dialects::iozone::print(run).map_err(|e| Usage(e.to_string()))?,
            "sysbench" => fathom_dialects::sysbench::print(run).map_err(|e| Usage(e.to_string()))?,
            "filebench" => {
                fathom_dialects::filebench::output::print(run).map_err(|e| Usage(e.to_string()))?
            }
            other => {
                return Err(Usage(format!(
                    "--original prints runs of iozone, sysbench and filebench, but run {} has the dialect {other}",
                    run.id
                ))
                .into());
            }
        };
        console::out_raw(&text);
    } else if options.block {
        console::out(&fathom_report::text::run::long(run, console::columns()));
    } else if options.stacks {
        console::out(&fathom_report::text::stacks::long(run));
    } else if let Some(text) = fathom_report::text::imported::long(run) {
        console::out(&text);
    } else {
        console::out(&fathom_report::terminal::summary(run, console::width(), console::colour()));
    }
    Ok(())
}
