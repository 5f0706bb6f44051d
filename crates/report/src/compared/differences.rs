//! What differs between the sides besides the figures: the machine and its settings, and what was asked for. What changes by itself
//! (time of day, free memory, load) is left out, and what is the same set of values on both sides is no difference.

use super::Side;
use super::factors::Factors;
use crate::html::environment_leaves;
use fathom_record::Run;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Values of a side that are listed.
const MOST_VALUES: usize = 3;

/// Leaves of the environment that change by themselves, and marks that are told elsewhere.
const PASSING: [&str; 10] = [
    "captured_at",
    "uptime_s",
    "load_average",
    "memory.available_bytes",
    "memory.free_bytes",
    "memory.cached_bytes",
    "memory.dirty_bytes",
    "memory.writeback_bytes",
    "filesystem.free_bytes",
    "filesystem.files_free",
];
/// Beginnings of such.
const PASSING_BELOW: [&str; 5] =
    ["missing.", "memory.swap_free", "sweep.", "comparison.", "limits.cgroup.path"];
/// Where a sweep or a comparison says under which settings a run was made.
const SETTINGS: [&str; 2] = ["sweep.settings.", "comparison.settings."];

/// Something that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its name: "kernel", "devices.0.scheduler".
    pub name: String,
    /// A's values.
    pub a: String,
    /// B's.
    pub b: String,
}

/// What an environment tells that does not change by itself, by name.
pub(crate) fn lasting(environment: &serde_json::Value) -> Vec<(String, String)> {
    let leaves = environment_leaves(environment).into_iter().filter(|(name, _)| !is_passing(name));
    leaves.map(|(name, value)| (setting(&name).map_or(name.clone(), str::to_owned), value)).collect()
}

/// Differences of the environments.
pub(super) fn of_environment(a: &Side<'_>, b: &Side<'_>) -> Vec<Difference> {
    between(a, b, |run| {
        let mut all = lasting(&run.environment);
        all.push(("fathom version".into(), run.version.clone()));
        all
    })
}

fn is_passing(name: &str) -> bool {
    let below = PASSING_BELOW.iter().any(|p| name.starts_with(p));
    PASSING.contains(&name) || (below && setting(name).is_none())
}

/// The name of a setting, if it is one.
fn setting(name: &str) -> Option<&str> {
    SETTINGS.iter().find_map(|prefix| name.strip_prefix(prefix))
}

/// Differences of what was asked for.
pub(super) fn of_workload(a: &Side<'_>, b: &Side<'_>, factors: &Factors) -> Vec<Difference> {
    let mut all = factors.told();
    all.extend(between(a, b, |run| {
        let mut all = vec![
            ("by".to_owned(), program(run)),
            (
                "directory".to_owned(),
                if run.source.is_some() { String::new() } else { run.directory.clone() },
            ),
            ("status".to_owned(), run.status.word().to_owned()),
        ];
        // The workload of a drop-in is made from its arguments: these say the same in fewer words.
        if run.dialect == "native" || run.argv.is_empty() {
            all.extend(lines(&run.workload));
        } else {
            all.push(("command line".to_owned(), run.argv.join(" ")));
        }
        all
    }));
    all
}

fn program(run: &Run) -> String {
    run.source.as_ref().map_or_else(|| run.dialect.clone(), |s| s.program.clone())
}

/// The keys of a workload in TOML with their values, named by their tables; the seed is no difference.
fn lines(workload: &str) -> Vec<(String, String)> {
    let mut table = String::new();
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut all = Vec::new();
    for line in workload.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("[[").and_then(|l| l.strip_suffix("]]")) {
            let n = numbers.entry(name.to_owned()).or_default();
            table = format!("{name}.{n}.");
            *n += 1;
        } else if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            table = format!("{name}.");
        } else if let Some((key, value)) = line.split_once(" = ").filter(|(key, _)| *key != "seed") {
            all.push((format!("workload: {table}{key}"), value.to_owned()));
        }
    }
    all
}

fn between(a: &Side<'_>, b: &Side<'_>, of: impl Fn(&Run) -> Vec<(String, String)>) -> Vec<Difference> {
    let mut order: Vec<String> = Vec::new();
    let mut values: [BTreeMap<String, BTreeSet<String>>; 2] = [BTreeMap::new(), BTreeMap::new()];
    for (side, found) in [a, b].into_iter().zip(&mut values) {
        for run in &side.runs {
            for (name, value) in of(run) {
                if !order.contains(&name) {
                    order.push(name.clone());
                }
                found.entry(name).or_default().insert(value);
            }
        }
    }
    let [in_a, in_b] = values;
    let nothing = BTreeSet::new();
    let difference = |name: String| {
        let (a, b) = (in_a.get(&name).unwrap_or(&nothing), in_b.get(&name).unwrap_or(&nothing));
        (a != b).then(|| Difference { a: listed(a), b: listed(b), name })
    };
    order.into_iter().filter_map(difference).collect()
}

fn listed(values: &BTreeSet<String>) -> String {
    if values.is_empty() {
        return "not told".into();
    }
    let first: Vec<&str> = values.iter().take(MOST_VALUES).map(String::as_str).collect();
    let more = values.len().saturating_sub(MOST_VALUES);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(kernel: &str, free: u64, record: &str) -> Run {
        Run {
            dialect: "native".into(),
            version: "0.1.0".into(),
            workload: format!(
                "seed = {free}\n[[phase]]\nname = \"x\"\n[phase.group]\nrecord = \"{record}\"\n"
            ),
            environment: json!({"kernel": kernel, "memory": {"free_bytes": free, "total_bytes": 8},
                "sweep": {"id": "s", "run": free, "settings": {"scheduler": kernel}}}),
            ..Run::default()
        }
    }

    #[test]
    fn what_differs_is_listed_and_what_passes_is_not() {
        let (one, two, three) = (run("6.1", 1, "4k"), run("6.2", 2, "4k"), run("6.2", 3, "8k"));
        let a = Side { name: "a".into(), runs: vec![&one] };
        let b = Side { name: "b".into(), runs: vec![&two, &three] };
        let told = |d: Difference| (d.name, d.a, d.b);
        let environment: Vec<_> = of_environment(&a, &b).into_iter().map(told).collect();
        let of = |name: &str, a: &str, b: &str| (name.to_owned(), a.to_owned(), b.to_owned());
        assert_eq!(environment, [of("kernel", "6.1", "6.2"), of("scheduler", "6.1", "6.2")]);
        let workload: Vec<_> = of_workload(&a, &b, &Factors::default()).into_iter().map(told).collect();
        assert_eq!(workload, [of("workload: phase.group.record", "\"4k\"", "\"4k\", \"8k\"")]);
        assert_eq!(of_environment(&b, &b), []);
    }

    #[test]
    fn many_values_are_counted() {
        let all: BTreeSet<String> = ["a", "b", "c", "d", "e"].map(String::from).into();
        assert_eq!(listed(&all), "a, b, c and 2 more");
    }
}
