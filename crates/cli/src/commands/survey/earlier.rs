//! The survey before: of the same place, with the same flags, so that it had the same time.

use crate::line::Common;
use crate::state;
use fathom_record::store::{Filter, RunSummary};
use fathom_record::{Run, Status};

/// Flags that make a survey longer or shorter.
const LENGTHS: [&str; 3] = ["--quick", "--thorough", "--dense"];
/// Surveys of the place that are looked through.
const MOST: usize = 8;

/// The newest survey of the place before `run`, if there is one. A store that cannot be read has none.
pub fn of(run: &Run, common: &Common) -> Option<Run> {
    let store = state::store(common.store.as_deref()).ok()?;
    let mut ids = Vec::new();
    let filter = Filter { dialect: Some("survey".into()), ..Filter::default() };
    let see = |other: RunSummary| {
        let same_place = other.directory == run.directory && other.id < run.id;
        if same_place && other.status == Status::Completed && !other.killed {
            ids.push(other.id);
        }
    };
    store.each_listed(&filter, see).ok()?;
    ids.iter().rev().take(MOST).filter_map(|id| store.load(id).ok()).find(|other| same_length(run, other))
}

fn same_length(run: &Run, other: &Run) -> bool {
    let has = |run: &Run, flag: &str| run.argv.iter().any(|word| word == flag);
    LENGTHS.iter().all(|flag| has(run, flag) == has(other, flag))
}
