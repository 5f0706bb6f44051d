//! Cleanup of what killed runs left: files proved to be ours are removed, everything else stays and is reported.

use super::entry::{Entry, is_gone_from};
use super::journal::{ASIDE, Facts, KEPT, PREFIX, read_facts, remove_intended};
use crate::EngineError;
use fathom_state::{Directory, Locked, Untrusted, here, owner};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A killed run holds its journals briefly, until its last process is gone. A run in another container that shares the directory
/// looks dead from here, and holds its journal while it lives.
const HELD: Duration = Duration::from_millis(250);

/// A step of a sweep, reported before it is done, because a file system with a dead server may not respond.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sweeping {
    /// Inspects the file at a path.
    Looks(PathBuf),
    /// Removes it, which may take a while.
    Removes(PathBuf),
    /// Finished with it.
    Did(Swept),
}

/// A file or directory of a killed run, and its fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// Path of the file or directory.
    pub path: PathBuf,
    /// Result of the sweep for it.
    pub fate: Fate,
}

/// What happened to a file left by a killed run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// It was removed, or no longer exists.
    Removed,
    /// Something else is there now; it was left alone.
    Replaced,
    /// The file system has no proof to distinguish it from a later file with the same name and inode number; it was left alone.
    Unproven,
    /// It is ours but could not be removed; the reason.
    Stays(String),
    /// A file among the journals is not trusted; the reason, as a clause that names it.
    NoJournal(String),
}

/// Names of the journals of dead processes; the directory is only listed.
fn of_the_dead(state: &Directory) -> impl Iterator<Item = String> {
    let dead = |name: &String| name.strip_prefix(PREFIX).is_some_and(|process| !owner::lives(process));
    state.names().into_iter().filter(dead)
}

/// Whether there is anything to sweep. Accesses only the file system of the state directory.
pub(super) fn is_needed(directory: &Path) -> bool {
    let Ok(Some(state)) = Directory::open(directory) else { return false };
    of_the_dead(&state).next().is_some() || strange_kept(&state).is_some()
}

/// Why the list of kept files is not trusted.
fn strange_kept(state: &Directory) -> Option<String> {
    match state.text(KEPT) {
        Ok(text) => {
            let other = Facts::parse(&text?).is_none();
            let path = state.path().join(KEPT);
            other.then(|| {
                format!(
                    "{} was not written by this version of fathom and is renamed to {ASIDE}",
                    path.display()
                )
            })
        }
        Err(error) => Some(error.to_string()),
    }
}

pub(super) fn sweep(directory: &Path, tell: &mut dyn FnMut(Sweeping)) {
    let Ok(Some(state)) = Directory::open(directory) else { return };
    if let Some(why) = strange_kept(&state) {
        tell(Sweeping::Did(Swept { path: state.path().join(KEPT), fate: Fate::NoJournal(why) }));
        if state.text(KEPT).is_ok() {
            // Report it only once.
            let _ = state.rename(KEPT, ASIDE);
        }
    }
    let deadline = Instant::now() + HELD;
    for name in of_the_dead(&state) {
        match unheld(&state, &name, deadline) {
            // The previous holder of the lock may have swept it.
            Ok(Some(journal)) if state.still_is(&name, &journal) => {
                if settle(&state, &name, &journal, tell) {
                    state.remove(&name);
                }
            }
            Ok(_) => {}
            Err(error) => {
                let (path, fate) = (state.path().join(&name), Fate::NoJournal(error.to_string()));
                tell(Sweeping::Did(Swept { path, fate }));
            }
        }
    }
}

/// Locks a journal; `None` if it is gone, or still locked by another process at the deadline.
fn unheld(state: &Directory, name: &str, deadline: Instant) -> Result<Option<File>, Untrusted> {
    loop {
        match state.try_lock(name)? {
            Some(Locked::Ours(journal)) => return Ok(Some(journal)),
            Some(Locked::ByAnother) if Instant::now() < deadline => std::thread::sleep(HELD / 25),
            _ => return Ok(None),
        }
    }
}

/// Settles the entries of a journal. Returns whether nothing is left to do.
fn settle(state: &Directory, name: &str, journal: &File, tell: &mut dyn FnMut(Sweeping)) -> bool {
    let Some(facts) = read_facts(state, name) else {
        // Its process was killed before it wrote anything.
        let is_empty = journal.metadata().is_ok_and(|about| about.len() == 0);
        if !is_empty {
            let path = state.path().join(name);
            let why = format!("{} was not written by this version of fathom", path.display());
            tell(Sweeping::Did(Swept { path, fate: Fate::NoJournal(why) }));
        }
        return is_empty;
    };
    let mut settled = true;
    for (path, entry) in facts.made.iter().rev() {
        tell(Sweeping::Looks(path.clone()));
        match fate(path, entry, tell) {
            Some(fate) => {
                settled &= !matches!(fate, Fate::Stays(_));
                tell(Sweeping::Did(Swept { path: path.clone(), fate }));
            }
            // Gone, or its file system is not mounted now, and a later run will find it.
            None => settled &= is_gone_from(path, entry.identity.device()),
        }
    }
    // Killed between the intent and the note of the created file.
    if let Some(path) = facts.intent
        && let Ok(about) = journal.metadata()
    {
        tell(Sweeping::Looks(path.clone()));
        let fate = match remove_intended(&path, &about) {
            Ok(removed) => removed.then_some(Fate::Removed),
            Err(error) => Some(Fate::Stays(EngineError::file("remove", &path, error).to_string())),
        };
        if let Some(fate) = fate {
            settled &= fate == Fate::Removed;
            tell(Sweeping::Did(Swept { path, fate }));
        }
    }
    settled
}

/// Settles one entry; `None` if nothing is at its path.
fn fate(path: &Path, entry: &Entry, tell: &mut dyn FnMut(Sweeping)) -> Option<Fate> {
    match here(path).symlink_metadata() {
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return None,
        Err(e) => return Some(Fate::Stays(EngineError::file("look at", path, e).to_string())),
        Ok(_) => {}
    }
    if entry.identity.is_unproven() {
        return Some(Fate::Unproven);
    }
    Some(match entry.lies_at(path) {
        Err(error) => Fate::Stays(EngineError::file("look at", path, error).to_string()),
        Ok(false) => Fate::Replaced,
        Ok(true) => {
            tell(Sweeping::Removes(path.into()));
            match entry.remove(path) {
                Ok(()) => Fate::Removed,
                Err(error) => Fate::Stays(error.to_string()),
            }
        }
    })
}
