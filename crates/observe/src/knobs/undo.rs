//! Restores what a journal lists: run by the sweep itself, by its guardian, or by the next start of the program. A knob is restored only
//! if it still has the value we set; a value set by others since is kept and reported.

use super::catalogue::{rank_of, value_in};
use super::disk;
use super::files::KnobFiles;
use super::journal::{At, Boot, JournalContents, Saved, orphans};
use super::own_directory::OwnDirectory;
use super::target::is_place_of;
use crate::responsive::is_responsive;
use fathom_state::Identity;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Result of restoring one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The knob has its old value again.
    PutBack {
        /// Name of the knob.
        knob: String,
        /// The device that has it.
        device: String,
        /// The restored value.
        value: String,
    },
    /// Another process has set it since; it was left alone.
    Foreign {
        /// Name of the knob.
        knob: String,
        /// The device that has it.
        device: String,
        /// Its current value.
        found: String,
        /// Its value before the sweep.
        old: String,
    },
    /// A file, or a file system with its loop device and image, was removed.
    Removed(PathBuf),
    /// It may belong to another user, so it was left alone.
    Unproven(PathBuf),
    /// The directory of an image was moved, and no loop device leads to it.
    Lost(PathBuf),
    /// An invalid or untrusted journal, which was ignored; the clause names it and the reason.
    NoJournal(String),
    /// The item is still to be restored.
    Failed {
        /// The item, as a clause.
        what: String,
        /// The reason.
        error: String,
    },
}

impl Outcome {
    /// The result as a sentence. `whose` says who left the item: "left behind by a measurement that was killed", or nothing.
    #[must_use]
    pub fn words(&self, whose: &str) -> String {
        let whose = if whose.is_empty() { String::new() } else { format!(", {whose}") };
        match self {
            Self::PutBack { knob, device, value } => {
                format!("restored {} to {value}{whose}", of(knob, device))
            }
            Self::Foreign { knob, device, found, old } => format!(
                "{} is now {found}, which no sweep set: it is left alone, because another program changed it (it was {old} before the sweep)",
                of(knob, device)
            ),
            Self::Removed(path) => format!("removed {}{whose}", path.display()),
            Self::Unproven(path) => format!(
                "{} is kept{whose}: on its file system fathom cannot prove that it created the file; remove it if you do not need it",
                path.display()
            ),
            Self::Lost(path) => format!(
                "{} is gone{whose}: nothing of it is mounted; if it was moved, remove it yourself",
                path.display()
            ),
            Self::NoJournal(why) => no_journal(why),
            Self::Failed { what, error } => format!(
                "{what} could not be restored{whose} ({error}); it stays in the journal, and a later fathom command tries again"
            ),
        }
    }

    /// Whether the old state is restored.
    #[must_use]
    pub fn is_good(&self) -> bool {
        matches!(self, Self::PutBack { .. } | Self::Removed(_))
    }

    /// Whether a change may still be in effect.
    #[must_use]
    pub fn is_owed(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Lost(_))
    }
}

/// The sentence for an untrusted journal. `why` names it.
#[must_use]
pub fn no_journal(why: &str) -> String {
    format!("{why}, so it is not used as a journal of fathom: nothing in it is restored; remove it yourself")
}

/// "scheduler of loop0", "vm.dirty_ratio".
pub(crate) fn of(knob: &str, device: &str) -> String {
    if knob.starts_with("vm.") { knob.to_string() } else { format!("{knob} of {device}") }
}

/// Restores everything. `held` are directories of disks that are still open.
fn undo(files: &dyn KnobFiles, facts: &JournalContents, held: &[Arc<OwnDirectory>]) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    // A reboot has reset the knobs; their current values were set by others.
    if facts.boot == Boot::now(files) {
        outcomes.extend(knobs(files, &facts.saved));
    }
    for (directory, identity) in facts.disks.iter().rev() {
        outcomes.extend(taken_down(directory, identity, held));
    }
    for (path, identity) in facts.files.iter().rev() {
        outcomes.extend(removed(path, identity));
    }
    outcomes
}

/// Removes a disk. One that is still held is found even if it was renamed.
fn taken_down(path: &Path, identity: &Identity, held: &[Arc<OwnDirectory>]) -> Option<Outcome> {
    let failed = |what: &Path, error: String| Outcome::Failed { what: what.display().to_string(), error };
    let take_down = |directory: &OwnDirectory| {
        let name = directory.name().unwrap_or_else(|_| path.into());
        match disk::take_down(directory) {
            Ok(()) => Outcome::Removed(name),
            Err(e) => failed(&directory.name().unwrap_or(name), e.to_string()),
        }
    };
    if let Some(directory) = held.iter().find(|directory| directory.is(identity)) {
        return Some(take_down(directory));
    }
    if let Some(untouched) = untouched(path, identity) {
        return untouched;
    }
    Some(match OwnDirectory::find(path, identity, disk::IMAGE) {
        Ok(Some(directory)) => take_down(&directory),
        Ok(None) => Outcome::Lost(path.into()),
        Err(e) => failed(path, e.to_string()),
    })
}

/// Removes a file if it is provably still the same.
fn removed(path: &Path, identity: &Identity) -> Option<Outcome> {
    if let Some(untouched) = untouched(path, identity) {
        return untouched;
    }
    identity.is_at(path).then(|| match identity.remove_file(path) {
        Ok(_) => Outcome::Removed(path.into()),
        Err(error) => Outcome::Failed { what: path.display().to_string(), error: error.to_string() },
    })
}

/// The result for an item that is not touched, whatever is there now.
fn untouched(path: &Path, identity: &Identity) -> Option<Option<Outcome>> {
    if !is_responsive(path) {
        let error = "its file system does not answer".to_string();
        return Some(Some(Outcome::Failed { what: path.display().to_string(), error }));
    }
    identity.is_unproven().then(|| path.symlink_metadata().ok().map(|_| Outcome::Unproven(path.into())))
}

/// The current value; `None` if the file does not exist (a tunable of another scheduler, a device that is gone).
fn now(files: &dyn KnobFiles, path: &Path) -> Option<String> {
    files.read(path).ok().map(|text| value_in(&text))
}

fn knobs(files: &dyn KnobFiles, saved: &[Saved]) -> Vec<Outcome> {
    // Whatever the journal contains, only known knobs at their proper place are ever written.
    let is_known = |s: &&Saved| is_place_of(files, &s.knob, &s.device, &s.path);
    let (mut saved, other): (Vec<&Saved>, Vec<&Saved>) = saved.iter().partition(is_known);
    saved.sort_by_key(|s| rank_of(&s.knob));
    // Read all before writing any: restoring a scheduler changes others.
    let found: Vec<(&Saved, Option<String>)> = saved.into_iter().map(|s| (s, now(files, &s.path))).collect();
    let foreign: Vec<&Saved> =
        found.iter().filter(|(s, value)| is_foreign(s, value.as_deref())).map(|f| f.0).collect();
    let follows_a_foreign_scheduler = |s: &Saved| {
        let comes_with_it =
            s.knob == "nr_requests" || s.knob == "wbt_lat_usec" || s.knob.starts_with("iosched/");
        comes_with_it && foreign.iter().any(|f| f.knob == "scheduler" && f.device == s.device)
    };
    // Tunables of a scheduler that others chose belong to them, too.
    let theirs = |s: &Saved| foreign.contains(&s) || follows_a_foreign_scheduler(s);
    let errors: Vec<Option<std::io::Error>> =
        found.iter().map(|(s, _)| if theirs(s) { None } else { put_back(files, s) }).collect();
    let mut outcomes: Vec<Outcome> = other.into_iter().filter_map(|s| unknown(files, s)).collect();
    for ((s, before), error) in found.iter().zip(errors) {
        let Some(old) = &s.old else { continue };
        let (knob, device) = (s.knob.clone(), s.device.clone());
        if theirs(s) {
            if !follows_a_foreign_scheduler(s) {
                let found = before.clone().unwrap_or_default();
                outcomes.push(Outcome::Foreign { knob, device, found, old: old.clone() });
            }
            continue;
        }
        let changed = before.as_ref().is_some_and(|b| b != old);
        match now(files, &s.path) {
            Some(value) if value == *old && changed => {
                outcomes.push(Outcome::PutBack { knob, device, value })
            }
            Some(value) if value != *old => {
                let error =
                    error.map_or_else(|| format!("it is {value} and should be {old}"), |e| e.to_string());
                outcomes.push(Outcome::Failed { what: of(&knob, &device), error });
            }
            // Unchanged, or gone with its device.
            _ => {}
        }
    }
    outcomes
}

/// The result for a knob that is not at its device's proper place. A removed device took its knobs with it.
fn unknown(files: &dyn KnobFiles, s: &Saved) -> Option<Outcome> {
    let error = "it is not a knob of a present device".to_string();
    now(files, &s.path).map(|_| Outcome::Failed { what: s.path.display().to_string(), error })
}

fn is_foreign(s: &Saved, found: Option<&str>) -> bool {
    let known = [s.old.as_deref(), s.ours.as_deref()];
    !s.in_the_middle && s.old.is_some() && found.is_some() && !known.contains(&found)
}

/// Writes the old value if the current one differs; returns the error, if any.
fn put_back(files: &dyn KnobFiles, s: &Saved) -> Option<std::io::Error> {
    let (old, found) = (s.old.as_deref()?, now(files, &s.path)?);
    // One of vm.dirty_bytes and vm.dirty_ratio is 0 because the other is set; it becomes 0 by writing the other.
    let counterpart = old == "0" && s.knob.starts_with("vm.dirty_") && !s.knob.ends_with("centisecs");
    if found == old || counterpart {
        return None;
    }
    files.write(&s.path, old).err()
}

/// Restores what dead sweeps left in a state directory. If there is anything, `first` is called once beforehand: it removes dead
/// processes' files on file systems that are about to go. Costs one directory listing if there is nothing.
#[must_use]
pub fn put_back_left_behind(
    files: &dyn KnobFiles,
    directory: &Path,
    mut first: impl FnMut(),
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (nth, (journal, lock)) in orphans(directory).into_iter().enumerate() {
        if nth == 0 {
            first();
        }
        let facts = match &lock {
            Ok(_) => journal.facts(),
            Err(error) => Err(error.to_string()),
        };
        match facts {
            Ok(facts) if facts.boot.host != Boot::now(files).host => {}
            Ok(facts) => outcomes.extend(settle(files, &journal, &facts, &[])),
            Err(why) => outcomes.push(Outcome::NoJournal(why)),
        }
    }
    outcomes
}

/// Restores a journal's changes and removes it if nothing is left.
pub(crate) fn settle(
    files: &dyn KnobFiles,
    journal: &At,
    facts: &JournalContents,
    held: &[Arc<OwnDirectory>],
) -> Vec<Outcome> {
    let outcomes = undo(files, facts, held);
    if !outcomes.iter().any(|o| matches!(o, Outcome::Failed { .. })) {
        journal.remove();
    }
    outcomes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_disk_is_named_and_the_journal_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("own");
        std::fs::create_dir(&path).expect("a directory");
        let identity = Identity::of_ours(&path).expect("an identity");
        std::fs::remove_dir(&path).expect("removed");
        std::os::unix::fs::symlink("/", &path).expect("something else");
        let outcome = taken_down(&path, &identity, &[]).expect("an outcome");
        assert_eq!(outcome, Outcome::Lost(path.clone()));
        assert!(outcome.is_owed() && !outcome.is_good(), "{}", outcome.words(""));
        assert!(path.is_symlink());
    }
}
