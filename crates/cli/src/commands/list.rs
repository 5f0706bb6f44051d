//! `fathom list`: the stored runs, newest last.

use crate::line::{Common, List};
use crate::{console, state};
use fathom_record::store::Filter;
use std::fmt::Write as _;
use std::process::ExitCode;

pub fn run(options: &List, common: &Common) -> anyhow::Result<ExitCode> {
    let store = state::store(common.store.as_deref())?;
    let runs = store.list(&Filter { limit: options.limit, ..Filter::default() })?;
    if options.json {
        console::out(&(serde_json::to_string_pretty(&runs)? + "\n"));
        return Ok(ExitCode::SUCCESS);
    }
    if runs.is_empty() {
        console::note(&format!("no runs in {} yet; `fathom survey` makes the first", store.path().display()));
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{:<22} {:<19} {:<11} {:>6}  {:<10} {}\n",
        "run", "started", "status", "phases", "by", "directory"
    );
    for r in &runs {
        let started = r.started_at.get(..19).unwrap_or(&r.started_at).replace('T', " ");
        let _ = writeln!(
            text,
            "{:<22} {started:<19} {:<11} {:>6}  {:<10} {}",
            r.id,
            r.status_word(),
            r.phases,
            r.dialect,
            r.directory
        );
    }
    console::out(&text);
    Ok(ExitCode::SUCCESS)
}
