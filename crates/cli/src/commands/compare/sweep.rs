//! Sorts the runs of a stored sweep into sides by one of its settings. The other settings become coordinates of the
//! cells.

use super::line::Compare;
use super::runs::{Chosen, RunSource};
use crate::exit::Usage;
use fathom_record::Run;
use fathom_record::store::{Filter, is_run_id};
use std::collections::{BTreeMap, BTreeSet};

/// How runs say what they belong to: a label prefix and an environment key.
pub struct Marked {
    pub begins: &'static str,
    pub key: &'static str,
    pub option: &'static str,
    pub what: &'static str,
}

const SWEEP: Marked = Marked { begins: "sweep ", key: "sweep", option: "--sweep", what: "sweep" };

pub fn sides(id: &str, options: &Compare, runs: &mut RunSource<'_>) -> anyhow::Result<Chosen> {
    let all = runs_of(&SWEEP, id, runs)?;
    let settings = settings(&all);
    let by = by(id, options.by.as_deref(), &settings)?;
    let values = in_order(by, &settings[by], &all);
    let base = base(by, options.base.as_deref(), &values)?;
    let mut sides: Vec<(String, Vec<Run>)> = Vec::new();
    for value in std::iter::once(&base).chain(values.iter().filter(|v| **v != base)) {
        let mine = all.iter().filter(|r| setting(r, by).as_deref() == Some(value));
        sides.push((format!("{by}={value}"), mine.cloned().collect()));
    }
    Ok(Chosen(sides))
}

/// The stored runs of a sweep or a comparison, by a prefix of its id or "last".
pub fn runs_of(marked_by: &Marked, id: &str, runs: &mut RunSource<'_>) -> anyhow::Result<Vec<Run>> {
    let Marked { begins, key, option, what } = marked_by;
    let listed = runs.store()?.list(&Filter::default())?;
    let marked: Vec<(String, String)> = listed
        .into_iter()
        .filter_map(|r| Some((r.label.strip_prefix(begins)?.split([':', ' ']).next()?.to_owned(), r.id)))
        // Users may label any run "sweep of the disk".
        .filter(|(word, _)| is_run_id(word))
        .collect();
    let wanted = match id {
        "last" => marked.last().map(|m| m.0.clone()).unwrap_or_default(),
        id => id.to_owned(),
    };
    let ids: BTreeSet<&str> = marked
        .iter()
        .map(|m| m.0.as_str())
        .filter(|s| !wanted.is_empty() && s.starts_with(&wanted))
        .collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let found = match ids.as_slice() {
        [one] => (*one).to_owned(),
        [] => {
            return Err(Usage(format!(
                "{option} {id}: the store has no run of such a {what}; their labels begin with \"{begins}ID\", `fathom list --json` shows them"
            ))
            .into());
        }
        several => {
            return Err(Usage(format!("{option} {id} may be {}; type more of it", several.join(", "))).into());
        }
    };
    let mut all = runs.load(marked.into_iter().filter(|m| m.0 == found).map(|m| m.1))?;
    all.retain(|r| r.environment.get(key).and_then(|m| m.get("id")).is_some_and(|i| *i == found.as_str()));
    Ok(all)
}

fn setting(run: &Run, name: &str) -> Option<String> {
    let value = run.environment.get("sweep")?.get("settings")?.get(name)?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn settings(runs: &[Run]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in runs {
        let map = run.environment.get("sweep").and_then(|s| s.get("settings")).and_then(|s| s.as_object());
        for name in map.into_iter().flat_map(|m| m.keys()) {
            all.entry(name.clone()).or_default().extend(setting(run, name));
        }
    }
    all
}

fn by<'s>(
    id: &str,
    asked: Option<&str>,
    settings: &'s BTreeMap<String, BTreeSet<String>>,
) -> Result<&'s str, Usage> {
    let varied: Vec<&str> = settings.iter().filter(|(_, v)| v.len() > 1).map(|(k, _)| k.as_str()).collect();
    match (asked, varied.as_slice()) {
        (_, []) => {
            Err(Usage(format!("--sweep {id}: none of its settings has two values that were measured")))
        }
        (Some(name), _) => varied
            .iter()
            .find(|v| **v == name)
            .copied()
            .ok_or_else(|| Usage(format!("--by {name}: the sweep varied {}", varied.join(", ")))),
        (None, [one]) => Ok(one),
        (None, several) => {
            Err(Usage(format!("--sweep {id} varied {}; --by names the one to compare", several.join(", "))))
        }
    }
}

/// The values in the order given to the sweep; older versions did not record that order.
fn in_order(by: &str, values: &BTreeSet<String>, runs: &[Run]) -> Vec<String> {
    let factors = runs.iter().find_map(|r| r.environment.get("sweep")?.get("factors")?.as_array());
    let factor = factors.into_iter().flatten().find(|f| f.get("name").is_some_and(|n| n == by));
    let named = factor.and_then(|f| f.get("values")?.as_array()).into_iter().flatten();
    let mut order: Vec<String> =
        named.filter_map(|v| v.as_str()).filter(|v| values.contains(*v)).map(str::to_owned).collect();
    for value in values {
        if !order.contains(value) {
            order.push(value.clone());
        }
    }
    order
}

fn base(by: &str, asked: Option<&str>, values: &[String]) -> Result<String, Usage> {
    match asked {
        None => Ok(values[0].clone()),
        Some(value) if values.iter().any(|v| v == value) => Ok(value.to_owned()),
        Some(value) => Err(Usage(format!("--base {value}: {by} had {}", values.join(", ")))),
    }
}
