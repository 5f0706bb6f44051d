//! `fathom why`: answers "why is this not faster?" for a stored run.

use crate::common::Common;
use crate::exit::Usage;
use crate::line::{Command, Line, Why};
use crate::{console, state};
use anyhow::Context as _;
use clap::Parser as _;
use fathom_observe::findings;
use fathom_record::store::{Filter, Store};
use fathom_record::{Phase, Run};
use fathom_report::bottlenecks::Bottlenecks;
use fathom_report::{section, survey, terminal};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn run(options: &Why, common: &Common) -> anyhow::Result<ExitCode> {
    let store = state::kept(common.store.as_deref())?;
    let run = store.load(&wanted(&store, &options.run)?)?;
    if options.phase.is_none() && survey::is_survey(&run) {
        return of_survey(&run, options);
    }
    let phase = phase(&run, options.phase.as_deref())?;
    let found = fathom_report::why::Why::of(&run, phase, findings::is_cause);
    if options.json {
        console::out(&(serde_json::to_string_pretty(&found)? + "\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let trial = found.rule.as_deref().and_then(findings::setting_of).and_then(|s| trial(&run, s));
    let others = run.phases.len() - 1;
    let more = (others > 0 && options.phase.is_none()).then(|| {
        let word = if others == 1 { "phase" } else { "phases" };
        format!("This phase took the longest; {others} more {word}: fathom why {} --phase NAME", options.run)
    });
    let after: Vec<String> = trial.map(|t| format!("Try: {t}")).into_iter().chain(more).collect();
    console::out(&terminal::answer(&found, &after, console::width(), console::colour()));
    Ok(ExitCode::SUCCESS)
}

/// A survey has no single question: each of its main figures has its own answer.
fn of_survey(run: &Run, options: &Why) -> anyhow::Result<ExitCode> {
    let found = Bottlenecks::of(run, findings::is_cause);
    if options.json {
        console::out(&(serde_json::to_string_pretty(&found)? + "\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let after = found
        .figures
        .first()
        .map(|figure| format!("More of one figure: fathom why {} --phase {:?}", options.run, figure.phase));
    let after: Vec<String> = after.into_iter().collect();
    console::out(&terminal::bottlenecks(&found, &after, console::width(), console::colour()));
    Ok(ExitCode::SUCCESS)
}

/// Finds the run: by id, or the newest one measured at or below a path.
fn wanted(store: &Store, named: &str) -> anyhow::Result<String> {
    let path = Path::new(named);
    let is_path = named.contains('/') || named == "." || named == "..";
    if !is_path {
        return Ok(named.to_owned());
    }
    let path = path.canonicalize().with_context(|| named.to_owned())?;
    newest_below(store, &path)?.ok_or_else(|| {
        let place = path.display();
        Usage(format!("nothing was measured in {place} yet; `fathom survey {place}` measures it")).into()
    })
}

fn newest_below(store: &Store, path: &Path) -> anyhow::Result<Option<String>> {
    let mut newest: Option<String> = None;
    store.each_listed(&Filter::default(), |run| {
        if newest.is_none() && PathBuf::from(&run.directory).starts_with(path) {
            newest = Some(run.id);
        }
    })?;
    Ok(newest)
}

/// Finds the phase: by its title or a prefix of it; default: the longest one.
fn phase<'r>(run: &'r Run, named: Option<&str>) -> anyhow::Result<&'r Phase> {
    let Some(named) = named else {
        return fathom_report::why::longest(run)
            .ok_or_else(|| Usage(format!("run {} has no phases: nothing was measured", run.id)).into());
    };
    let titles = || run.phases.iter().map(|p| (section::full_title(p), p));
    let whole = titles().find(|(_, p)| p.name == named || section::title(p) == named);
    whole.or_else(|| titles().find(|(title, _)| title.starts_with(named))).map(|(_, p)| p).ok_or_else(|| {
        let mut names: Vec<String> = run.phases.iter().map(section::title).collect();
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        Usage(format!("run {} has no phase {named:?}; it has: {}", run.id, names.join("; "))).into()
    })
}

/// The command that measures the run's workload under other values of a setting.
fn trial(run: &Run, setting: &str) -> Option<String> {
    let line = Line::try_parse_from(&run.argv).ok()?;
    let words: Vec<String> = match line.command {
        Command::Run(o) => vec![o.file.to_str().filter(|w| *w != "-")?.to_owned()],
        Command::Iozone(_) | Command::Sysbench(_) | Command::Filebench(_) | Command::Fio(_) => {
            run.argv.get(1..)?.to_vec()
        }
        _ => return None,
    };
    let words = shlex::try_join(words.iter().map(String::as_str)).ok()?;
    Some(format!("fathom sweep --vary {setting} -- {words}"))
}
