//! `fathom history`: a workload's figures over its runs, and what changed where they changed. `line` holds the options,
//! `identity` groups runs by workload, `choose` selects, `gather` loads figures and environments from the store, and
//! `fathom_report::history` judges and draws. This file connects them and sets the exit code.

mod choose;
mod gather;
mod identity;
pub mod line;

use super::compare::share;
use super::{document, write};
use crate::common::Common;
use crate::exit::{self, Usage};
use crate::output::WholeFile;
use crate::{console, state};
use anyhow::Context as _;
use fathom_compare::history::e_divisive::Search;
use fathom_report::compared::Outcome;
use fathom_report::documents;
use fathom_report::history::{self, HistoryGate, HistoryOptions};
use identity::Identities;
use line::History;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

pub fn run(options: &History, common: &Common) -> anyhow::Result<ExitCode> {
    let asked = asked(options)?;
    if let Some(path) = &options.output {
        check_output(path, options.force)?;
    }
    let store = state::kept(common.store.as_deref())?;
    let past = store.past()?;
    let known = Identities::of(&past, |see| store.each_workload(see))?;
    let groups = known.groups(&past);
    let Some(word) = &options.workload else {
        if groups.is_empty() && !options.json {
            let place = store.path().display();
            console::note(&format!("no runs in {place} yet; `fathom survey` makes the first"));
        } else {
            list(options, gather::listed(&store, &groups))?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let group = choose::group(word, &groups, &known, &past)?;
    if word == "last"
        && let Some(simulated) = choose::newest_if_simulated(&groups, &past)
    {
        console::note(&format!(
            "the newest run, {simulated}, is simulated; this is the history of the newest measured one"
        ));
    }
    let input = gather::past_of(&store, group, options)?;
    let found = history::History::of(&input, &asked);
    let gate = options.gate.then(|| HistoryGate::of(&found));
    if options.json {
        let listed = gather::listed(&store, std::slice::from_ref(group)).collect::<Result<Vec<_>, _>>()?;
        let mut out = console::Lines::default();
        history::json(&mut out, listed, Some(&found), gate.as_ref())?;
        out.flush()?;
    } else {
        console::out(&history::text(&found, console::width()));
        if let Some(gate) = &gate {
            console::out(&format!("\n{}\n", gate.sentence));
        }
    }
    if let Some(path) = &options.output {
        keep(path, &found, gate.as_ref(), options.force)?;
    }
    Ok(ExitCode::from(match gate.map(|g| g.outcome) {
        Some(Outcome::Regression) => exit::CHECK,
        Some(Outcome::NotEnoughData) => exit::UNDECIDED,
        Some(Outcome::Passed) | None => exit::DONE,
    }))
}

/// Prints the list. JSON is streamed; text waits for the end because column widths depend on all lines.
fn list(options: &History, all: impl Iterator<Item = anyhow::Result<history::Listed>>) -> anyhow::Result<()> {
    let mut out = console::Lines::default();
    if options.json {
        let mut failed = Ok(());
        let read = all.map_while(|one| one.map_err(|error| failed = Err(error)).ok());
        history::json(&mut out, read, None, None)?;
        failed?;
    } else {
        let mut rows = history::ListLines::default();
        for one in all {
            rows.push(&one?);
        }
        for line in rows.lines() {
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(out.flush()?)
}

fn asked(options: &History) -> Result<HistoryOptions, Usage> {
    let mut search = Search::seeded(options.seed);
    if options.min_segment < 2 {
        return Err(Usage(format!(
            "--min-segment {}: a level of a single run is indistinguishable from an outlier; at least 2 are needed",
            options.min_segment
        )));
    }
    search.min_segment = options.min_segment;
    if let Some(permutations) = options.permutations {
        search.permutations = permutations;
        // An explicit number is honoured, whatever it costs.
        search.most_permuted = usize::MAX;
        if search.fewest_points().is_none() {
            return Err(Usage(format!(
                "--permutations {permutations}: with fewer than 99 no change can reach the level of 1 %"
            )));
        }
    }
    if options.last == Some(0) {
        return Err(Usage("--last 0: at least one run is needed".into()));
    }
    Ok(HistoryOptions {
        search,
        threshold: share("--threshold", &options.threshold)?,
        overview: options.pelt,
    })
}

/// Checks the file of a report before the runs are read.
fn check_output(path: &Path, replace: bool) -> Result<(), Usage> {
    if !is_csv(path) {
        document::check_ending(path, "a history", "a file .csv has one row a run, and --json prints JSON")?;
    }
    write::check_drawing(path, replace)
}

fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"))
}

fn keep(
    path: &Path,
    found: &history::History,
    gate: Option<&HistoryGate>,
    replace: bool,
) -> anyhow::Result<()> {
    if !is_csv(path) {
        return document::write(&documents::history(found, gate), path, replace);
    }
    let mut whole = WholeFile::begin(path, replace)?;
    let mut file = BufWriter::new(whole.file());
    let written = history::csv(&mut file, found).and_then(|()| file.flush());
    drop(file);
    written.with_context(|| format!("cannot write {}", path.display()))?;
    whole.finish()?;
    write::tell(&[path.to_owned()]);
    Ok(())
}
