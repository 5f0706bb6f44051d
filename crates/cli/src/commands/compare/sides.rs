//! Finds the runs of each side: by id, by label, or in a file. `sweep` sorts the runs of a sweep.

use super::line::Compare;
use super::runs::{Chosen, RunSource};
use super::{of, sweep};
use crate::exit::Usage;
use crate::input;
use anyhow::Context as _;
use fathom_dialects::import::import;
use fathom_record::store::{Filter, RunSummary};
use fathom_record::{Run, StoreError, export};
use std::collections::BTreeSet;
use std::path::Path;

fn named(runs: &mut RunSource<'_>, word: &str) -> anyhow::Result<Vec<Run>> {
    if Path::new(word).is_file() {
        return in_file(word, word, None);
    }
    if let Some((file, first, last)) = part_of_file(word) {
        return in_file(word, file, Some((first, last)));
    }
    if word.contains('/') {
        return Err(Usage(format!("{word} is no file; a side is an id, a label, \"last\" or a file")).into());
    }
    let labelled: Vec<RunSummary> =
        runs.store()?.list(&Filter { label: Some(word.to_owned()), ..Filter::default() })?;
    if !labelled.is_empty() {
        return runs.load(labelled.into_iter().map(|r| r.id));
    }
    match runs.store()?.load(word) {
        Ok(run) => Ok(vec![run]),
        Err(StoreError::NoSuchRun { path, .. }) => Err(Usage(format!(
            "{word:?} is neither the id nor the label of a run in {}, nor a file; `fathom list` shows what there is",
            path.display()
        ))
        .into()),
        Err(error) => Err(error.into()),
    }
}

pub fn choose(options: &Compare, runs: &mut RunSource<'_>) -> anyhow::Result<Chosen> {
    if let Some(id) = &options.sweep {
        return sweep::sides(id, options, runs);
    }
    if let Some(id) = &options.of {
        return of::sides(id, runs);
    }
    let groups: Vec<Vec<String>> = if options.a.is_empty() {
        options.sides.iter().map(|s| vec![s.clone()]).collect()
    } else {
        vec![options.a.clone(), options.b.clone()]
    };
    if groups.len() < 2 {
        return Err(Usage(
            "two sides are needed: fathom compare A B, or --a ID,ID --b ID,ID, or --sweep ID, or --of ID; `fathom list` shows the runs, and \
             --run measures two workloads now"
                .into(),
        )
        .into());
    }
    let mut sides = Vec::new();
    for words in groups {
        let mut all: Vec<Run> = Vec::new();
        for word in &words {
            for run in named(runs, word)? {
                // A run that is named twice counts once.
                if run.id.is_empty() || all.iter().all(|r| r.id != run.id) {
                    all.push(run);
                }
            }
        }
        sides.push((name(&words), all));
    }
    apart(&sides)?;
    Ok(Chosen(sides))
}

/// Words that make up a side's name; a longer list shows the first and a count.
const MOST_NAMED: usize = 4;

fn name(words: &[String]) -> String {
    match words {
        many if many.len() > MOST_NAMED => format!("{} and {} more", many[0], many.len() - 1),
        few => few.join(","),
    }
}

/// Rejects a run on both sides: it would be compared with itself.
fn apart(sides: &[(String, Vec<Run>)]) -> Result<(), Usage> {
    let mut seen = BTreeSet::new();
    for run in sides.iter().flat_map(|s| &s.1).filter(|r| !r.id.is_empty()) {
        if !seen.insert(&run.id) {
            return Err(Usage(format!("run {} is on two sides; name it on one", run.id)));
        }
    }
    Ok(())
}

/// "mail.txt:12-80": lines of a file.
fn part_of_file(word: &str) -> Option<(&str, u64, u64)> {
    let (file, lines) = word.rsplit_once(':')?;
    let (first, last) = lines.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    Path::new(file).is_file().then_some((file, first, last))
}

/// The runs in a file or some of its lines: fathom's JSON, or output of other programs.
fn in_file(word: &str, file: &str, lines: Option<(u64, u64)>) -> anyhow::Result<Vec<Run>> {
    let bytes = input::read(file)
        .map_err(|e| Usage(format!("{file} cannot be read: {e}; name a file, or a stored run")))?;
    if lines.is_none()
        && let Ok(text) = std::str::from_utf8(&bytes)
        && text.contains(&format!("\"schema\": \"{}\"", export::JSON_SCHEMA))
    {
        return exported(file, text);
    }
    let within = |run: &Run| {
        let Some((first, last)) = lines else { return true };
        run.source.as_ref().is_some_and(|s| s.first_line >= first && s.last_line <= last)
    };
    let found = import(file, &bytes, None).found;
    let runs: Vec<Run> = found.into_iter().flat_map(|f| f.runs).filter(within).collect();
    if runs.is_empty() {
        return Err(Usage(format!(
            "{word} holds no run: neither JSON of `fathom export` nor an output that `fathom import --dry-run` finds"
        ))
        .into());
    }
    Ok(runs)
}

/// The JSON documents of a file.
fn exported(file: &str, text: &str) -> anyhow::Result<Vec<Run>> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    let (mut runs, mut from) = (Vec::new(), 0);
    while let Some(document) = documents.next() {
        let usage = |e: &dyn std::fmt::Display| Usage(format!("{file}: {e}"));
        document.map_err(|e| usage(&e))?;
        let upto = documents.byte_offset();
        runs.push(export::from_json(&text[from..upto]).map_err(|e| usage(&e)).context("reading runs")?);
        from = upto;
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_side_of_many_words_has_a_short_name() {
        let words = |n: usize| (0..n).map(|i| format!("w{i}")).collect::<Vec<_>>();
        assert_eq!(super::name(&words(3)), "w0,w1,w2");
        assert_eq!(super::name(&words(21)), "w0 and 20 more");
    }
}
