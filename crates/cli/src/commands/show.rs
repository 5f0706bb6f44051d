//! `fathom show`: one stored run on the terminal.

use crate::exit::Usage;
use crate::line::{Common, Show};
use crate::{console, state};
use std::process::ExitCode;

pub fn run(options: &Show, common: &Common) -> anyhow::Result<ExitCode> {
    let run = state::store(common.store.as_deref())?.load(&options.run)?;
    if options.json {
        console::out(&fathom_record::export::json(&run));
    } else if options.original {
        let text = match run.dialect.as_str() {
            "iozone" => fathom_dialects::iozone::print(&run).map_err(|e| Usage(e.to_string()))?,
            other => {
                return Err(Usage(format!(
                    "run {} was measured by {other}, which has no output of its own",
                    run.id
                ))
                .into());
            }
        };
        console::out_raw(&text);
    } else {
        console::out(&fathom_report::terminal::summary(&run, console::width(), console::colour()));
    }
    Ok(ExitCode::SUCCESS)
}
