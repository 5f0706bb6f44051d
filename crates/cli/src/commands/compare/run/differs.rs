//! Lists for the plan where two workloads differ, value by value. The descriptions of files and steps mention neither
//! rate nor record size nor queue depth, yet a plan must not call two sides equal if one of those differs. Compares the
//! models as executed.

use fathom_workload::Workload;
use serde_json::Value;
use std::collections::BTreeMap;

/// Differences listed at most.
const MOST: usize = 20;

/// One line per value in which `b` differs from `a`; the runs of a script are compared pairwise.
pub fn lines(a: &[Workload], b: &[Workload]) -> Vec<String> {
    let [a, b] = [a, b].map(leaves);
    let mut all: Vec<String> = Vec::new();
    let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for name in names {
        let [was, is] = [&a, &b].map(|side| side.get(name).map_or("not given", String::as_str));
        if was != is {
            all.push(format!("{name}: {is}, with A {was}"));
        }
    }
    if all.len() > MOST {
        let more = all.len() - MOST;
        all.truncate(MOST);
        all.push(format!("... and {more} more values"));
    }
    all
}

/// Every leaf value by its path.
fn leaves(workloads: &[Workload]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (i, workload) in workloads.iter().enumerate() {
        let mut value = serde_json::to_value(workload).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            // The seed differs in every run.
            object.remove("seed");
        }
        let root = if workloads.len() > 1 { format!("run {}", i + 1) } else { String::new() };
        enter(&mut all, root, &value);
    }
    all
}

fn enter(all: &mut BTreeMap<String, String>, name: String, value: &Value) {
    let below = |part: &str| if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, v)| enter(all, below(key), v)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| enter(all, below(&i.to_string()), v)),
        Value::String(text) => drop(all.insert(name, text.clone())),
        Value::Null => {}
        other => drop(all.insert(name, other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(record: &str, rest: &str) -> Workload {
        let text = format!(
            "name = \"w\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"x\"] }}\nsize = {{ fixed = \"64KiB\" }}\n\
             [[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
             [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\nrecord = {{ fixed = \"{record}\" }}\n{rest}\n"
        );
        Workload::from_toml(&text).expect("a workload")
    }

    #[test]
    fn every_value_that_differs_is_named() {
        let plain = [workload("4KiB", "")];
        assert!(lines(&plain, &plain).is_empty());
        let found = lines(&plain, &[workload("8KiB", "queue_depth = 4\n")]);
        assert!(found.iter().any(|l| l.contains("record.fixed: 8KiB, with A 4KiB")), "{found:?}");
        assert!(found.iter().any(|l| l.contains("queue_depth: 4, with A ")), "{found:?}");
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
