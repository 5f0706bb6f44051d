//! What the next run does with what a killed one left: what is proved to be ours goes, everything else stays and is named.

use super::entry::{Entry, parent_is_on};
use super::journal::{PREFIX, read_facts, remove_intended};
use fathom_state::{Directory, Locked, owner};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A file or directory of a killed run, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// The file or directory.
    pub path: PathBuf,
    /// What became of it.
    pub fate: Fate,
}

/// What became of something that a killed run left.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// It is gone.
    Removed,
    /// Something else lies there now; it was left alone.
    Replaced,
    /// The file system keeps nothing that tells it from a later file of the same name and number; it was left alone.
    Unproven,
    /// It is ours and could not be removed; why.
    Stays(String),
    /// It lies where journals are and cannot be believed; why, as a clause that names it.
    NoJournal(String),
}

pub(super) fn sweep(directory: &Path) -> Vec<Swept> {
    let mut swept = Vec::new();
    let Ok(Some(state)) = Directory::open(directory) else { return swept };
    for name in state.names() {
        let Some(process) = name.strip_prefix(PREFIX) else { continue };
        if owner::lives(process) {
            continue;
        }
        let path = || state.path().join(&name);
        match state.try_lock(&name) {
            // Whoever held the lock before may have swept it meanwhile.
            Ok(Some(Locked::Ours(journal))) if state.still_is(&name, &journal) => {
                if settle(&state, &name, &journal, &mut swept) {
                    state.remove(&name);
                }
            }
            Ok(_) => {}
            Err(error) => swept.push(Swept { path: path(), fate: Fate::NoJournal(error.to_string()) }),
        }
    }
    swept
}

/// Whether nothing of the journal is left to do.
fn settle(state: &Directory, name: &str, journal: &File, swept: &mut Vec<Swept>) -> bool {
    let Some(facts) = read_facts(state, name) else {
        // Its process was killed before it said anything.
        let is_empty = journal.metadata().is_ok_and(|about| about.len() == 0);
        if !is_empty {
            let path = state.path().join(name);
            let why = format!("{} was not written by this version of fathom", path.display());
            swept.push(Swept { path, fate: Fate::NoJournal(why) });
        }
        return is_empty;
    };
    let mut settled = true;
    for (path, entry) in facts.made.iter().rev() {
        match fate(path, entry) {
            Some(fate) => {
                settled &= !matches!(fate, Fate::Stays(_));
                swept.push(Swept { path: path.clone(), fate });
            }
            // Gone; or its file system is not mounted now, and a later run will find it.
            None => settled &= parent_is_on(path, entry.identity.device()),
        }
    }
    // Killed between the intention and the note of what was made.
    if let Some(path) = facts.intent
        && let Ok(about) = journal.metadata()
        && let Some(removed) = remove_intended(&path, &about)
    {
        let fate = if removed { Fate::Removed } else { Fate::Replaced };
        swept.push(Swept { fate, path });
    }
    settled
}

/// What becomes of an entry; `None` if nothing lies there.
fn fate(path: &Path, entry: &Entry) -> Option<Fate> {
    path.symlink_metadata().ok()?;
    Some(if entry.identity.is_unproven() {
        Fate::Unproven
    } else if !entry.is_at(path) {
        Fate::Replaced
    } else {
        match entry.remove(path) {
            Ok(()) => Fate::Removed,
            Err(error) => Fate::Stays(error.to_string()),
        }
    })
}
