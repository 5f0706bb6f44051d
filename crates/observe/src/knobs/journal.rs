//! The journal of changes to the machine: a text file `knobs-PID-START-TIME` in the state directory ([`fathom_state`]). It holds the old
//! values before anything is changed, and stays locked as long as its process or the guardian lives. Its facts:
//!
//! `boot ID HOST`, `save PATH DEVICE KNOB VALUE`, `turn PATH VALUE` (before the write), `now PATH VALUE` (as read back), `disk DIRECTORY
//! DEV INODE PROOF`, `file PATH DEV INODE PROOF`.

use super::error::KnobError;
use super::files::KnobFiles;
use fathom_state::lines::{self, coded, coded_path, decoded_path, decoded_text};
use fathom_state::{Directory, Identity, Locked, Untrusted, owner};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// First line of every journal.
const FIRST: &str = "fathom-knobs 2";
/// Prefix of journal names.
pub(crate) const PREFIX: &str = "knobs-";
/// Prefix of journals still being created.
const NEW: &str = "new-knobs-";

/// The journal of this process.
#[derive(Debug)]
pub struct Journal {
    at: At,
    file: File,
}

/// Location of a journal.
#[derive(Debug)]
pub(crate) struct At {
    directory: Directory,
    name: String,
}

impl At {
    /// From the path of a journal.
    pub(crate) fn of(journal: &Path) -> Option<Self> {
        let directory = Directory::open(journal.parent()?).ok()??;
        Some(Self { directory, name: journal.file_name()?.to_str()?.into() })
    }

    /// Its path.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join(&self.name)
    }

    /// Its facts.
    ///
    /// # Errors
    /// Why it cannot be trusted.
    pub(crate) fn facts(&self) -> Result<JournalContents, String> {
        let text = self.directory.text(&self.name).map_err(|e| e.to_string())?.unwrap_or_default();
        let other = || format!("{} was not written by this version of fathom", self.path().display());
        JournalContents::parse(&text).ok_or_else(other)
    }

    /// Removes it, because nothing is left to restore.
    pub(crate) fn remove(&self) {
        self.directory.remove(&self.name);
    }
}

impl Journal {
    /// Creates an empty journal: written under another name, synced, renamed, and the directory synced, so that it exists completely or
    /// not at all.
    ///
    /// # Errors
    /// If the directory cannot be written to.
    pub fn create(directory: &Path, boot: &Boot) -> Result<Self, KnobError> {
        let failed =
            |error: Untrusted| KnobError::Journal { directory: directory.into(), error: error.into() };
        let state = Directory::make(directory).map_err(failed)?;
        let owner = owner::own_name();
        let (new, name) = (format!("{NEW}{owner}"), format!("{PREFIX}{owner}"));
        let mut file = state.create(&new).map_err(failed)?;
        // Where locks are unavailable, the PID in the name must suffice.
        let _ = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
        let text = format!("{FIRST}\n{}", lines::sealed(&boot.fact()));
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        let written = written.map_err(|error| KnobError::Journal { directory: directory.into(), error });
        let placed =
            written.and_then(|()| state.rename(&new, &name).and_then(|()| state.sync()).map_err(failed));
        if let Err(error) = placed {
            state.remove(&new);
            return Err(error);
        }
        Ok(Self { at: At { directory: state, name }, file })
    }

    /// Its path; for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.at.path()
    }

    pub(crate) fn at(&self) -> &At {
        &self.at
    }

    /// The open file, whose lock the guardian shares.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Appends facts; they are on disk when this returns.
    ///
    /// # Errors
    /// If they could not be written.
    pub fn note(&mut self, facts: &[Fact]) -> Result<(), KnobError> {
        if facts.is_empty() {
            return Ok(());
        }
        // A single write: a killed process leaves whole lines, and a line truncated by a power failure is invalid and skipped.
        let text: String = facts.iter().map(|fact| lines::sealed(&fact.text())).collect();
        self.file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|error| KnobError::Journal { directory: self.at.directory.path().into(), error })
    }

    /// The facts so far.
    #[must_use]
    pub fn facts(&self) -> JournalContents {
        self.at.facts().unwrap_or_default()
    }
}

/// Identifies a boot of a machine: a reboot resets all knobs, and other machines' journals (in a shared home directory) do not concern
/// this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// The kernel's boot id.
    pub id: String,
    /// Name of the machine.
    pub host: String,
}

impl Boot {
    /// The current boot.
    #[must_use]
    pub fn now(files: &dyn KnobFiles) -> Self {
        let read = |name: &str| files.trimmed(&Path::new("/proc/sys/kernel").join(name)).unwrap_or_default();
        Self { id: read("random/boot_id"), host: read("hostname") }
    }

    fn fact(&self) -> String {
        format!("boot {} {}", coded(self.id.as_bytes()), coded(self.host.as_bytes()))
    }
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The old value; `None` if the file did not exist (a tunable of another scheduler).
    Save {
        /// The kernel's file.
        path: PathBuf,
        /// The device that has it.
        device: String,
        /// Name of the knob.
        knob: String,
        /// The value before the change.
        value: Option<String>,
    },
    /// The value is about to be written.
    Turn(PathBuf, String),
    /// The value as read back.
    Now(PathBuf, String),
    /// A directory for an image and a mount point, about to be filled.
    Disk(PathBuf, Identity),
    /// A file to remove at the end.
    File(PathBuf, Identity),
}

impl Fact {
    fn text(&self) -> String {
        let text = |t: &str| coded(t.as_bytes());
        match self {
            Self::Save { path, device, knob, value } => {
                let value = value.as_deref().map_or_else(|| "-".into(), |v| format!("={}", text(v)));
                format!("save {} {} {} {value}", coded_path(path), text(device), text(knob))
            }
            Self::Turn(path, value) => format!("turn {} {}", coded_path(path), text(value)),
            Self::Now(path, value) => format!("now {} {}", coded_path(path), text(value)),
            Self::Disk(path, identity) => format!("disk {} {}", coded_path(path), identity.words()),
            Self::File(path, identity) => format!("file {} {}", coded_path(path), identity.words()),
        }
    }
}

/// A knob with its old value and ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The kernel's file.
    pub path: PathBuf,
    /// The device that has it.
    pub device: String,
    /// Name of the knob.
    pub knob: String,
    /// The value before the change; `None` if the file did not exist.
    pub old: Option<String>,
    /// The value last read back after our change.
    pub ours: Option<String>,
    /// A write was announced, but its result was not recorded.
    pub in_the_middle: bool,
}

/// Everything that a journal lists for restoring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalContents {
    /// The boot it belongs to.
    pub boot: Boot,
    /// Changed knobs, each once.
    pub saved: Vec<Saved>,
    /// Directories of loop devices.
    pub disks: Vec<(PathBuf, Identity)>,
    /// Files to remove.
    pub files: Vec<(PathBuf, Identity)>,
}

impl JournalContents {
    fn parse(text: &str) -> Option<Self> {
        let mut facts = Self::default();
        let mut at: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for fact in lines::facts(text, FIRST)? {
            match fact.split(' ').collect::<Vec<_>>()[..] {
                ["boot", id, host] => facts.boot = Boot { id: decoded_text(id), host: decoded_text(host) },
                ["save", path, device, knob, value] => {
                    let path = decoded_path(path);
                    if at.contains_key(&path) {
                        continue;
                    }
                    at.insert(path.clone(), facts.saved.len());
                    let old = value.strip_prefix('=').map(decoded_text);
                    let (device, knob) = (decoded_text(device), decoded_text(knob));
                    let ours = old.clone();
                    facts.saved.push(Saved { path, device, knob, old, ours, in_the_middle: false });
                }
                [kind @ ("turn" | "now"), path, value] => {
                    if let Some(&i) = at.get(&decoded_path(path)) {
                        facts.saved[i].in_the_middle = kind == "turn";
                        if kind == "now" {
                            facts.saved[i].ours = Some(decoded_text(value));
                        }
                    }
                }
                [kind @ ("disk" | "file"), path, device, inode, proof] => {
                    if let Some(identity) = Identity::parse(device, inode, proof) {
                        let entry = (decoded_path(path), identity);
                        if kind == "disk" { facts.disks.push(entry) } else { facts.files.push(entry) }
                    }
                }
                // From a later version.
                _ => {}
            }
        }
        Some(facts)
    }
}

/// Journals in a state directory whose processes and guardians are dead, with their locks taken; or why an entry is not a valid journal.
pub(crate) fn orphans(directory: &Path) -> Vec<(At, Result<File, Untrusted>)> {
    let mut found = Vec::new();
    let Ok(Some(state)) = Directory::open(directory) else { return found };
    for name in state.names() {
        let unfinished = name.starts_with(NEW);
        let Some(owner) = name.strip_prefix(PREFIX).or(name.strip_prefix(NEW)) else { continue };
        if owner::lives(owner) {
            continue;
        }
        let locked = match state.try_lock(&name) {
            // The previous lock holder may have restored it in the meantime.
            Ok(Some(Locked::Ours(journal))) if state.still_is(&name, &journal) => Ok(journal),
            Ok(_) => continue,
            Err(error) => Err(error),
        };
        if unfinished && locked.is_ok() {
            // It never became a journal, so nothing was changed.
            state.remove(&name);
        } else if let Ok(directory) = state.again() {
            found.push((At { directory, name }, locked));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn text(facts: &[Fact]) -> String {
        let facts = facts.iter().map(|fact| lines::sealed(&fact.text()));
        std::iter::once(format!("{FIRST}\n")).chain(facts).collect()
    }

    fn save(path: &str, value: Option<&str>) -> Fact {
        let value = value.map(String::from);
        Fact::Save { path: path.into(), device: "loop 0".into(), knob: "k".into(), value }
    }

    #[test]
    fn the_last_reading_is_ours_and_the_first_saving_is_old() {
        let facts = JournalContents::parse(&text(&[
            save("/a b", Some("one")),
            Fact::Turn("/a b".into(), "two".into()),
            Fact::Now("/a b".into(), "2".into()),
            save("/a b", Some("2")),
        ]))
        .expect("a journal");
        assert_eq!(facts.saved.len(), 1);
        let saved = &facts.saved[0];
        assert_eq!((saved.old.as_deref(), saved.ours.as_deref()), (Some("one"), Some("2")));
        assert_eq!((saved.device.as_str(), saved.in_the_middle), ("loop 0", false));
    }

    #[test]
    fn a_kill_in_the_middle_shows() {
        let facts =
            JournalContents::parse(&text(&[save("/a", None), Fact::Turn("/a".into(), String::new())]));
        let saved = &facts.expect("a journal").saved[0];
        assert!(saved.in_the_middle && saved.old.is_none());
    }

    #[test]
    fn other_files_are_no_journals() {
        assert_eq!(JournalContents::parse(""), None);
        assert_eq!(JournalContents::parse("fathom-knobs 1\n"), None);
    }

    #[test]
    fn living_owners_are_left_alone_and_dead_ones_found_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let mine = Journal::create(dir.path(), &Boot::default()).expect("a journal");
        assert!(orphans(dir.path()).is_empty(), "its process lives");
        let dead = dir.path().join("knobs-1-1-7");
        fs::copy(mine.path(), &dead).expect("a copy");
        fs::write(dir.path().join("new-knobs-1-1-8"), "fath").expect("half a journal");
        let found = orphans(dir.path());
        assert_eq!(found.iter().map(|f| f.0.path()).collect::<Vec<_>>(), [dead]);
        assert!(found[0].1.is_ok());
        assert!(orphans(dir.path()).is_empty(), "somebody is at it");
        assert!(!dir.path().join("new-knobs-1-1-8").exists());
    }

    proptest! {
        #[test]
        fn any_words_survive(path in "[^\0\n]{1,20}", value in "[^\n]{0,20}", device in ".{0,8}") {
            let fact = Fact::Save { path: PathBuf::from(&path), device: device.clone(), knob: "k".into(), value: Some(value.clone()) };
            let facts = JournalContents::parse(&text(&[fact])).expect("a journal");
            prop_assert_eq!(&facts.saved[0].path, &PathBuf::from(&path));
            prop_assert_eq!((&facts.saved[0].old, &facts.saved[0].device), (&Some(value), &device));
        }

        #[test]
        fn any_text_is_no_panic(said in proptest::collection::vec(".{0,40}", 0..8)) {
            let lines: String = said.iter().map(|line| lines::sealed(line)).collect();
            let _ = JournalContents::parse(&format!("{FIRST}\n{lines}"));
        }
    }
}
