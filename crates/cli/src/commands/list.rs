//! `fathom list`: the stored runs, newest last.

use crate::line::{Common, List};
use crate::{console, state};
use fathom_record::store::{Filter, RunSummary};
use std::process::ExitCode;

/// Bytes that are written at once: a store may hold more runs than memory has room for.
const AT_ONCE: usize = 64 << 10;

pub fn run(options: &List, common: &Common) -> anyhow::Result<ExitCode> {
    let store = state::store(common.store.as_deref())?;
    let filter = Filter { limit: options.limit, ..Filter::default() };
    let mut text = String::new();
    let mut any = false;
    store.each_listed(&filter, |run| {
        if options.json {
            text += if any { ",\n" } else { "[\n" };
            text += &indented(&run);
        } else {
            if !any {
                text += &line("run", "started", "status", "phases", "by", "directory");
            }
            let started = run.started_at.get(..19).unwrap_or(&run.started_at).replace('T', " ");
            let phases = run.phases.to_string();
            text += &line(&run.id, &started, run.status_word(), &phases, &run.dialect, &run.directory);
        }
        any = true;
        if text.len() > AT_ONCE {
            console::out(&text);
            text.clear();
        }
    })?;
    match (any, options.json) {
        (true, true) => text += "\n]\n",
        (false, true) => text += "[]\n",
        (true, false) => {}
        (false, false) => {
            console::note(&format!(
                "no runs in {} yet; `fathom survey` makes the first",
                store.path().display()
            ));
        }
    }
    console::out(&text);
    Ok(ExitCode::SUCCESS)
}

fn line(id: &str, started: &str, status: &str, phases: &str, by: &str, directory: &str) -> String {
    format!("{id:<22} {started:<19} {status:<11} {phases:>6}  {by:<10} {directory}\n")
}

/// A run as an element of a list.
fn indented(run: &RunSummary) -> String {
    let text = serde_json::to_string_pretty(run).unwrap_or_default();
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
