//! Differences between the sides apart from the figures: the machine and its settings, and the workload. What changes by itself
//! (time of day, free memory, load) is left out, and equal sets of values on both sides are no difference.

use super::Side;
use super::factors::Factors;
use crate::environment::leaves;
use fathom_record::{Run, Simulation};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of a side's values that are listed.
const MOST_VALUES: usize = 3;

/// Environment leaves that change by themselves, and marks that are reported elsewhere.
const PASSING: [&str; 11] = [
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
    "limits.empty_call_ns",
];
/// Prefixes of such leaves.
const PASSING_BELOW: [&str; 5] =
    ["missing.", "memory.swap_free", "sweep.", "comparison.", "limits.cgroup.path"];
/// Where a sweep or a comparison records the settings of a run.
const SETTINGS: [&str; 2] = ["sweep.settings.", "comparison.settings."];

/// Something that differs between the sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Such as "kernel", "devices.0.scheduler".
    pub name: String,
    /// A's values.
    pub a: String,
    /// B's values.
    pub b: String,
}

/// The entries of an environment that do not change by themselves, by name.
pub(crate) fn lasting(environment: &serde_json::Value) -> Vec<(String, String)> {
    let leaves = leaves(environment).into_iter().filter(|(name, _)| !is_passing(name));
    leaves.map(|(name, value)| (setting(&name).map_or(name.clone(), str::to_owned), value)).collect()
}

pub(super) fn of_environment(a: &Side<'_>, b: &Side<'_>) -> Vec<Difference> {
    let all = between(a, b, |run| {
        let mut all = lasting(&run.environment);
        all.push(("fathom version".into(), run.version.clone()));
        all
    });
    with_whole_devices(all)
}

/// Devices that only one side has, each as one difference.
fn with_whole_devices(all: Vec<Difference>) -> Vec<Difference> {
    let device = |d: &Difference| {
        let (number, _) = d.name.strip_prefix("devices.")?.split_once('.')?;
        Some(format!("devices.{number}"))
    };
    let absent = |of: fn(&Difference) -> &str, name: &str| {
        let mut values = all.iter().filter(|d| device(d).as_deref() == Some(name)).map(of);
        values.all(|value| value == NOT_RECORDED)
    };
    let whole = |d: &Difference| {
        device(d).filter(|name| absent(|d| d.a.as_str(), name) || absent(|d| d.b.as_str(), name))
    };
    let none = |value: &str| if value == NOT_RECORDED { "none".into() } else { value.to_owned() };
    let one = |d: &Difference| match whole(d) {
        // An empty list.
        None if d.name == "devices" => None,
        None => Some(d.clone()),
        Some(name) if d.name == format!("{name}.name") => {
            Some(Difference { name, a: none(&d.a), b: none(&d.b) })
        }
        Some(_) => None,
    };
    all.iter().filter_map(one).collect()
}

const NOT_RECORDED: &str = "not recorded";

fn is_passing(name: &str) -> bool {
    let below = PASSING_BELOW.iter().any(|p| name.starts_with(p));
    PASSING.contains(&name) || (below && setting(name).is_none())
}

/// The name of a setting, if it is one.
fn setting(name: &str) -> Option<&str> {
    SETTINGS.iter().find_map(|prefix| name.strip_prefix(prefix))
}

pub(super) fn of_workload(a: &Side<'_>, b: &Side<'_>, factors: &Factors) -> Vec<Difference> {
    let mut all = factors.differences();
    let of_both = profiles_of_both(a, b);
    all.extend(between(a, b, |run| {
        // The directory of a simulated run is made of its host and device.
        let none = run.source.is_some() || run.simulation.is_some();
        let mut all = vec![
            ("by".to_owned(), program(run)),
            ("directory".to_owned(), if none { String::new() } else { run.directory.clone() }),
            ("status".to_owned(), run.status.word().to_owned()),
        ];
        all.extend(run.simulation.iter().flat_map(|simulation| of_simulation(simulation, &of_both)));
        // A drop-in's workload is derived from its arguments, which say the same more briefly.
        if run.dialect == "native" || run.argv.is_empty() {
            all.extend(lines(&run.workload));
        } else {
            all.push(("command line".to_owned(), run.argv.join(" ")));
        }
        all
    }));
    all
}

/// The settings of a simulation, and the values of its profiles if known for both sides.
fn of_simulation(simulation: &Simulation, of_both: &BTreeSet<&str>) -> Vec<(String, String)> {
    let settings = simulation.settings().into_iter();
    let mut all: Vec<(String, String)> =
        settings.map(|(name, value)| (format!("simulated {name}"), value)).collect();
    for profile in simulation.texts.iter().filter(|t| of_both.contains(t.of.as_str())) {
        let values = keys(&profile.text).into_iter();
        all.extend(values.map(|(key, value)| (format!("profile of the {}: {key}", profile.of), value)));
    }
    all
}

/// The components whose profile texts are available on both sides.
fn profiles_of_both<'r>(a: &Side<'r>, b: &Side<'r>) -> BTreeSet<&'r str> {
    let [a, b] = [a, b].map(|side| {
        let simulations = side.runs.iter().filter_map(|run| run.simulation.as_ref());
        simulations.flat_map(|s| &s.texts).map(|text| text.of.as_str()).collect::<BTreeSet<&str>>()
    });
    a.intersection(&b).copied().collect()
}

fn program(run: &Run) -> String {
    run.source.as_ref().map_or_else(|| run.dialect.clone(), |s| s.program.clone())
}

/// The keys of a workload, except the seed.
fn lines(workload: &str) -> Vec<(String, String)> {
    let keys = keys(workload).into_iter().filter(|(key, _)| key.rsplit('.').next() != Some("seed"));
    keys.map(|(key, value)| (format!("workload: {key}"), value)).collect()
}

/// The keys of a TOML text with their values, prefixed by their tables.
fn keys(text: &str) -> Vec<(String, String)> {
    let mut table = String::new();
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut all = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("[[").and_then(|l| l.strip_suffix("]]")) {
            let n = numbers.entry(name.to_owned()).or_default();
            table = format!("{name}.{n}.");
            *n += 1;
        } else if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            table = format!("{name}.");
        } else if let Some((key, value)) = line.split_once(" = ") {
            all.push((format!("{table}{key}"), value.to_owned()));
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
        return NOT_RECORDED.into();
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
    fn a_device_that_one_side_lacks_is_one_difference() {
        let on = |devices: serde_json::Value| Run {
            environment: json!({"devices": devices, "filesystem": {"type": if devices == json!([]) { "fuse" } else { "ext4" }}}),
            ..run("6.1", 1, "4k")
        };
        let (disk, served) = (on(json!([{"fua": false, "level": 0, "name": "loop0"}])), on(json!([])));
        let [a, b] = [&disk, &served].map(|run| Side { name: "x".into(), runs: vec![run] });
        let names = |all: Vec<Difference>| -> Vec<String> {
            all.into_iter().map(|d| format!("{}: {} | {}", d.name, d.a, d.b)).collect()
        };
        assert_eq!(
            names(of_environment(&a, &b)),
            ["devices.0: loop0 | none", "filesystem.type: ext4 | fuse"]
        );
        let other = on(json!([{"fua": true, "level": 0, "name": "loop0"}]));
        let c = Side { name: "y".into(), runs: vec![&other] };
        assert_eq!(names(of_environment(&a, &c)), ["devices.0.fua: false | true"]);
    }

    #[test]
    fn simulation_settings_are_listed_as_differences() {
        let simulated = |scheduler: &str, set: &str, texts: &[(&str, &str)]| Run {
            directory: format!("(simulated: {scheduler})"),
            simulation: Some(Simulation {
                scheduler: scheduler.into(),
                limits: "loop-6.18".into(),
                set: vec![("device.layout.unit_kib".into(), set.into())],
                texts: texts
                    .iter()
                    .map(|(of, text)| fathom_record::ProfileText {
                        of: (*of).into(),
                        file: "mine.toml".into(),
                        text: (*text).into(),
                    })
                    .collect(),
                ..Simulation::default()
            }),
            ..run("6.1", 1, "4k")
        };
        let host = |cpus: u32| {
            format!("about = \"x\"\n[cpu]\ncpus = {{ value = {cpus} }}\nhz = {{ value = 100 }}\n")
        };
        let (two, four) = (host(2), host(4));
        let one = simulated("none", "64", &[("host", &two)]);
        let other = simulated("kyber", "128", &[("host", &four), ("device", "about = 1")]);
        let a = Side { name: "a".into(), runs: vec![&one] };
        let b = Side { name: "b".into(), runs: vec![&other] };
        let found = of_workload(&a, &b, &Factors::default());
        let told: Vec<String> = found.iter().map(|d| format!("{}: {} | {}", d.name, d.a, d.b)).collect();
        assert_eq!(
            told,
            [
                "simulated scheduler: none | kyber",
                "simulated device.layout.unit_kib: 64 | 128",
                "profile of the host: cpu.cpus: { value = 2 } | { value = 4 }",
            ]
        );
    }

    #[test]
    fn many_values_are_counted() {
        let all: BTreeSet<String> = ["a", "b", "c", "d", "e"].map(String::from).into();
        assert_eq!(listed(&all), "a, b, c and 2 more");
    }
}
