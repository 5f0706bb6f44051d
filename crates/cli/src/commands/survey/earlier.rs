//! Finds the previous survey: of the same directory on the same storage with the same options, hence of the same
//! length.

use crate::common::Common;
use crate::state;
use fathom_record::store::{Filter, RunSummary};
use fathom_record::{Run, Status};
use serde_json::Value;

/// Prefixes of flags that change what a survey measures, or how.
const ASKED: [&str; 5] = ["--quick", "--thorough", "--dense", "--cold", "--observe"];
/// Surveys of the place examined at most.
const MOST: usize = 8;

/// The newest survey of the place before `run`. An unreadable store counts as empty.
pub fn of(run: &Run, common: &Common) -> Option<Run> {
    let store = state::kept(common.store.as_deref()).ok()?;
    let mut ids = Vec::new();
    let filter = Filter { dialect: Some("survey".into()), ..Filter::default() };
    let see = |other: RunSummary| {
        let same_place = other.directory == run.directory && other.id < run.id;
        if same_place && other.status == Status::Completed && !other.killed {
            ids.push(other.id);
        }
    };
    store.each_listed(&filter, see).ok()?;
    ids.iter().take(MOST).filter_map(|id| store.load(id).ok()).find(|other| same(run, other))
}

fn same(run: &Run, other: &Run) -> bool {
    asked(run).eq(asked(other)) && storage(run) == storage(other)
}

fn asked(run: &Run) -> impl Iterator<Item = &String> {
    run.argv.iter().filter(|word| ASKED.iter().any(|flag| word.starts_with(flag)))
}

/// Tells the storage below a directory from one that is mounted there later.
fn storage(run: &Run) -> Vec<Value> {
    let filesystem = ["type", "source", "uuid", "total_bytes"].map(|key| &run.environment["filesystem"][key]);
    let of_device = |device: &'_ Value| {
        ["name", "size_bytes", "serial_sha256", "backing_file"].map(|key| device[key].clone())
    };
    let devices = run.environment["devices"].as_array().into_iter().flatten();
    filesystem.into_iter().cloned().chain(devices.flat_map(of_device)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn another_disk_or_another_question_is_no_survey_before() {
        let of = |words: &[&str], source: &str, bytes: u64| Run {
            argv: words.iter().map(|word| (*word).to_owned()).collect(),
            environment: json!({
                "filesystem": { "type": "ext4", "source": source },
                "devices": [{ "name": "sda", "size_bytes": bytes }],
            }),
            ..Run::default()
        };
        let run = of(&["fathom", "survey", "--quick", "/data"], "/dev/sda", 1000);
        assert!(same(&run, &of(&["/usr/bin/fathom", "survey", "--quick", "-o", "x.html"], "/dev/sda", 1000)));
        for other in [
            of(&["fathom", "survey", "/data"], "/dev/sda", 1000),
            of(&["fathom", "survey", "--quick", "--cold=machine"], "/dev/sda", 1000),
            of(&["fathom", "survey", "--quick", "/data"], "tmpfs", 1000),
            of(&["fathom", "survey", "--quick", "/data"], "/dev/sda", 2000),
        ] {
            assert!(!same(&run, &other), "{other:?}");
        }
    }
}
