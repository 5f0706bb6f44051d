//! Environment changes from run to run: the lasting facts of a run (kernel, fathom's version, devices and their queues, file
//! system and mount options, processors, limits, settings, label) compared with those of the previous run. What changes by
//! itself (time, free memory, load) is no fact; a fact missing in one of two documents is no change.

use crate::compared::lasting;
use serde_json::Value;
use std::collections::BTreeMap;

/// A fact that changed in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Index of the run.
    pub run: usize,
    /// Such as "kernel", "devices.0.scheduler".
    pub name: String,
    /// The old value.
    pub from: String,
    /// The new value.
    pub to: String,
}

/// Takes the environments of runs one after the other and keeps only the last one.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentTracker {
    seen: usize,
    last: BTreeMap<String, String>,
    environment: Vec<(String, String)>,
    beside: Vec<(String, String)>,
    events: Vec<Event>,
}

impl EnvironmentTracker {
    /// The next run: its environment (`None`: the same document as the previous run's), and further facts.
    pub fn see(&mut self, environment: Option<&Value>, beside: &[(&str, String)]) {
        let environment = environment.map(lasting).filter(|e| *e != self.environment);
        let as_before =
            self.beside.iter().map(|(n, v)| (n.as_str(), v)).eq(beside.iter().map(|(n, v)| (*n, v)));
        if self.seen > 0 && as_before && environment.is_none() {
            // Most runs are like the previous one.
            self.seen += 1;
            return;
        }
        if let Some(environment) = environment {
            self.environment = environment;
        }
        self.beside = beside.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let mut now: BTreeMap<String, String> = self.environment.iter().cloned().collect();
        now.extend(self.beside.iter().cloned());
        if self.seen > 0 {
            for (name, to) in &now {
                match self.last.get(name) {
                    Some(from) if from != to => self.push(name, from.clone(), to),
                    None if is_of_a_part(name) => self.push(name, "none".into(), to),
                    _ => {}
                }
            }
            let gone = self.last.iter().filter(|(name, _)| is_of_a_part(name) && !now.contains_key(*name));
            let gone: Vec<(String, String)> = gone.map(|(n, v)| (n.clone(), v.clone())).collect();
            for (name, from) in gone {
                self.push(&name, from, "none");
            }
        }
        self.last = now;
        self.seen += 1;
    }

    fn push(&mut self, name: &str, from: String, to: &str) {
        self.events.push(Event { run: self.seen, name: name.into(), from, to: to.into() });
    }

    /// The changes in order of runs, the most important of each run first.
    #[must_use]
    pub fn events(mut self) -> Vec<Event> {
        self.events.sort_by_key(|e| (e.run, rank(&e.name)));
        self.events
    }
}

/// For a device, an added or removed name is a change; other missing facts may just be unknown to an older fathom.
fn is_of_a_part(name: &str) -> bool {
    name.starts_with("devices.") && name.ends_with(".name")
}

/// Rank of a fact by how soon a reader suspects it.
fn rank(name: &str) -> usize {
    const FIRST: [&str; 9] = [
        "label",
        "kernel",
        "fathom version",
        "command line",
        "program",
        "filesystem",
        "devices",
        "vm",
        "cpu",
    ];
    let begins = |prefix: &str| name == prefix || name.starts_with(&format!("{prefix}."));
    FIRST.iter().position(|p| begins(p)).unwrap_or(FIRST.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_lasts_and_both_know_is_a_change() {
        let environment = |kernel: &str, free: u64, scheduler: &str| json!({"kernel": kernel, "memory": {"free_bytes": free}, "devices": [{"name": "sda", "scheduler": scheduler}]});
        let mut course = EnvironmentTracker::default();
        let label = |l: &str| [("label", l.to_owned())];
        course.see(Some(&environment("6.1", 5, "none")), &label("a"));
        course.see(Some(&environment("6.1", 6, "bfq")), &label("a"));
        course.see(None, &label("b"));
        course.see(None, &label("b"));
        let mut more = environment("6.2", 6, "bfq");
        more["cpu"] = json!({"governor": "powersave"});
        more["devices"].as_array_mut().expect("devices").push(json!({"name": "sdb", "scheduler": "none"}));
        course.see(Some(&more), &label("b"));
        course.see(Some(&environment("6.2", 6, "bfq")), &label("b"));
        let told: Vec<(usize, String, String, String)> =
            course.events().into_iter().map(|e| (e.run, e.name, e.from, e.to)).collect();
        let of = |run: usize, name: &str, from: &str, to: &str| (run, name.into(), from.into(), to.into());
        assert_eq!(
            told,
            [
                of(1, "devices.0.scheduler", "none", "bfq"),
                of(2, "label", "a", "b"),
                of(4, "kernel", "6.1", "6.2"),
                of(4, "devices.1.name", "none", "sdb"),
                of(5, "devices.1.name", "sdb", "none"),
            ]
        );
    }
}
