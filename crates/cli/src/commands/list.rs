//! `fathom list`: the stored runs, newest first.

use crate::common::Common;
use crate::line::List;
use crate::{console, state};
use fathom_record::store::{Filter, RunSummary};
use std::process::ExitCode;

/// Bytes written at once: a list may be larger than memory.
const AT_ONCE: usize = 64 << 10;

pub fn run(options: &List, common: &Common) -> anyhow::Result<ExitCode> {
    let store = state::kept(common.store.as_deref())?;
    let filter = Filter { limit: options.limit, ..Filter::default() };
    let mut text = String::new();
    let mut any = false;
    store.each_listed(&filter, |run| {
        if options.json {
            text += if any { ",\n" } else { "[\n" };
            text += &indented(&run);
        } else {
            if !any {
                text += &line("run", "started", "by", "status", "storage", "directory, label");
            }
            let started = run.started_at.get(..16).unwrap_or(&run.started_at).replace('T', " ");
            let has_label = !run.label.is_empty() && run.label != run.dialect;
            let label = if has_label { format!("  {}", run.label) } else { String::new() };
            let place = format!("{}{label}", run.directory);
            text += &line(&run.id, &started, &run.dialect, run.status_word(), &run.storage(), &place);
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

fn line(id: &str, started: &str, by: &str, status: &str, storage: &str, place: &str) -> String {
    format!("{id:<22} {started:<16} {by:<9} {status:<11} {storage:<14} {place}\n")
}

fn indented(run: &RunSummary) -> String {
    let text = serde_json::to_string_pretty(run).unwrap_or_default();
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
