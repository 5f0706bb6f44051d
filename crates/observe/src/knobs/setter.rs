//! Sets knobs and restores them. The order of steps makes it safe: journal, locks, guardian, old values on disk, and only then the first
//! write. Every write is read back, because the kernel clamps numbers silently.

use super::catalogue::{Knob, value_in};
use super::disk::{Disk, DiskPlan};
use super::error::KnobError;
use super::files::KnobFiles;
use super::guardian::Guardian;
use super::journal::{Boot, Fact, Journal, Saved};
use super::own_directory::OwnDirectory;
use super::target::Place;
use super::undo::{Outcome, settle};
use fathom_state::Identity;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A knob after it was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Name of the knob.
    pub knob: String,
    /// The device that has it.
    pub device: String,
    /// The value written.
    pub asked: String,
    /// The value read back.
    pub found: String,
}

impl Reading {}

/// The readings that another process has changed since.
#[must_use]
pub fn disturbed(files: &dyn KnobFiles, places: &[Place], readings: &[Reading]) -> Vec<Reading> {
    let mut found = Vec::new();
    for reading in readings {
        let place = places.iter().find(|p| p.knob.name == reading.knob && p.device == reading.device);
        let now = place.and_then(|p| files.read(&p.path).ok()).map(|text| value_in(&text));
        if let Some(now) = now.filter(|now| *now != reading.found) {
            found.push(Reading { asked: reading.found.clone(), found: now, ..reading.clone() });
        }
    }
    found
}

/// Holds the changes until they are restored, at the latest on drop.
pub struct Setter<'f> {
    files: &'f dyn KnobFiles,
    journal: Option<Journal>,
    locks: Vec<(PathBuf, File)>,
    guardian: Option<Guardian>,
    disks: Vec<Arc<OwnDirectory>>,
}

impl<'f> Setter<'f> {
    /// Creates the journal and nothing else.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(files: &'f dyn KnobFiles, state_directory: &Path) -> Result<Self, KnobError> {
        let journal = Journal::create(state_directory, &Boot::now(files))?;
        Ok(Self { files, journal: Some(journal), locks: Vec::new(), guardian: None, disks: Vec::new() })
    }

    /// Locks the directories of these places against other sweeps.
    ///
    /// # Errors
    /// If another process holds one.
    pub fn lock(&mut self, places: &[Place]) -> Result<(), KnobError> {
        for place in places {
            let home = place.home();
            if self.locks.iter().any(|l| l.0 == home) {
                continue;
            }
            match self.files.lock(&home) {
                Ok(Some(lock)) => self.locks.push((home, lock)),
                Ok(None) => return Err(KnobError::Busy { device: place.device.clone() }),
                Err(error) => return Err(unreadable(place, error)),
            }
        }
        Ok(())
    }

    /// Starts the guardian, which shares the locks held now.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn guard(&mut self, program: &Path) -> Result<(), KnobError> {
        let journal = self.journal()?;
        let mut shared: Vec<&File> = self.locks.iter().map(|l| &l.1).collect();
        shared.push(journal.file());
        let guardian = Guardian::start(program, &journal.path(), &shared)?;
        self.guardian = Some(guardian);
        Ok(())
    }

    /// Records the current values in the journal, including those of knobs that the kernel changes along with them.
    ///
    /// # Errors
    /// If one cannot be read or may not be written, or the journal cannot be written.
    pub fn save(&mut self, places: &[Place]) -> Result<(), KnobError> {
        let known: Vec<PathBuf> = self.journal()?.facts().saved.into_iter().map(|s| s.path).collect();
        let mut facts: Vec<Fact> = Vec::new();
        for place in places {
            may_set(self.files, place)?;
            for place in std::iter::once(place.clone()).chain(companions(self.files, place)) {
                let value = match self.files.read(&place.path) {
                    Ok(text) => Some(value_in(&text)),
                    Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
                    Err(error) => return Err(unreadable(&place, error)),
                };
                let (path, device, knob) = (place.path, place.device, place.knob.name);
                let fact = Fact::Save { path: path.clone(), device, knob, value };
                let said = |f: &Fact| matches!(f, Fact::Save { path: p, .. } if *p == path);
                if !known.contains(&path) && !facts.iter().any(said) {
                    facts.push(fact);
                }
            }
        }
        self.journal_mut()?.note(&facts)
    }

    /// The value of a knob before the change.
    #[must_use]
    pub fn old(&self, place: &Place) -> Option<String> {
        self.saved().into_iter().find(|s| s.path == place.path)?.old
    }

    /// Sets knobs, in the table's order whatever order is given, and reads them back.
    ///
    /// # Errors
    /// If the kernel refuses a value; those set before it stay set until they are restored.
    pub fn apply(&mut self, wanted: &[(Place, String)]) -> Result<Vec<Reading>, KnobError> {
        let mut wanted: Vec<&(Place, String)> = wanted.iter().collect();
        wanted.sort_by_key(|w| w.0.knob.rank());
        for (place, value) in &wanted {
            debug_assert!(
                self.saved().iter().any(|saved| saved.path == place.path),
                "{} is set before its old value is in the journal",
                place.path.display()
            );
            self.journal_mut()?.note(&[Fact::Turn(place.path.clone(), value.clone())])?;
            let written = self.files.write(&place.path, value);
            // Even after a refusal the current values are ours: a write may have changed other knobs.
            self.note_all()?;
            if let Err(error) = written {
                return Err(self.refused(place, value, error));
            }
        }
        let mut readings = Vec::new();
        for (place, asked) in wanted {
            let text = self.files.read(&place.path).map_err(|e| unreadable(place, e))?;
            let (knob, device) = (place.knob.name.clone(), place.device.clone());
            readings.push(Reading { knob, device, asked: asked.clone(), found: value_in(&text) });
        }
        Ok(readings)
    }

    /// Creates a loop device over an image in a new directory below the plan's.
    ///
    /// # Errors
    /// If it cannot be created; its parts are removed with everything else.
    pub fn disk(&mut self, plan: &DiskPlan) -> Result<Disk, KnobError> {
        Disk::attach(plan, self.journal.as_mut().ok_or_else(closed)?, &mut self.disks)
    }

    /// Records files to be removed when everything is restored.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn owes_files<'p>(&mut self, paths: impl IntoIterator<Item = &'p Path>) -> Result<(), KnobError> {
        let absolute = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_path_buf());
        let fact = |p: &Path| Identity::of_ours(p).map(|identity| Fact::File(absolute(p), identity));
        let facts: Vec<Fact> = paths.into_iter().filter_map(fact).collect();
        self.journal_mut()?.note(&facts)
    }

    /// Restores everything and dismisses the guardian. Failures stay in the journal.
    #[must_use]
    pub fn put_back(mut self) -> Vec<Outcome> {
        self.finish()
    }

    fn finish(&mut self) -> Vec<Outcome> {
        let Some(journal) = self.journal.take() else { return Vec::new() };
        let outcomes = match journal.at().facts() {
            Ok(facts) => settle(self.files, journal.at(), &facts, &self.disks),
            // The journal stays, and the next command reads it.
            Err(error) => vec![Outcome::Failed { what: "what was changed".into(), error }],
        };
        if let Some(guardian) = self.guardian.take() {
            guardian.dismiss();
        }
        // A child that another thread has just forked holds copies of the descriptors until it calls exec.
        for (_, lock) in self.locks.drain(..) {
            let _ = rustix::fs::flock(&lock, rustix::fs::FlockOperation::Unlock);
        }
        outcomes
    }

    fn saved(&self) -> Vec<Saved> {
        self.journal.as_ref().map(|j| j.facts().saved).unwrap_or_default()
    }

    /// Records the current values of all saved knobs.
    fn note_all(&mut self) -> Result<(), KnobError> {
        let mut facts = Vec::new();
        for s in self.saved() {
            let now = self.files.read(&s.path).ok().map(|text| value_in(&text));
            if let Some(now) = now.filter(|now| s.in_the_middle || s.ours.as_ref() != Some(now)) {
                facts.push(Fact::Now(s.path, now));
            }
        }
        self.journal_mut()?.note(&facts)
    }

    fn refused(&self, place: &Place, value: &str, error: std::io::Error) -> KnobError {
        let allowed = place.knob.allowed(self.files, &place.path);
        let (knob, device) = (place.knob.name.clone(), place.device.clone());
        KnobError::Refused { knob, device, value: value.into(), allowed, error }
    }

    fn journal(&self) -> Result<&Journal, KnobError> {
        self.journal.as_ref().ok_or_else(closed)
    }

    fn journal_mut(&mut self) -> Result<&mut Journal, KnobError> {
        self.journal.as_mut().ok_or_else(closed)
    }
}

impl Drop for Setter<'_> {
    fn drop(&mut self) {
        // Reached after an error or a panic: failures stay in the journal and are reported at the next start.
        let _ = self.finish();
    }
}

fn closed() -> KnobError {
    KnobError::Journal {
        directory: PathBuf::new(),
        error: std::io::Error::other("everything has been put back already"),
    }
}

fn unreadable(place: &Place, error: std::io::Error) -> KnobError {
    let (knob, device) = (place.knob.name.clone(), place.device.clone());
    KnobError::Unreadable { knob, device, path: place.path.clone(), error }
}

/// Whether this user may set it, checked without setting.
///
/// # Errors
/// If not, with the kernel's reason.
pub fn may_set(files: &dyn KnobFiles, place: &Place) -> Result<(), KnobError> {
    match files.may_write(&place.path) {
        // A tunable of a scheduler that is not active yet.
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let (knob, device) = (place.knob.name.clone(), place.device.clone());
            Err(KnobError::NoPermission { knob, device, path: place.path.clone(), error })
        }
        _ => Ok(()),
    }
}

/// The knobs that the kernel changes along with this one.
fn companions(files: &dyn KnobFiles, place: &Place) -> Vec<Place> {
    let beside = |name: &str, file: &Path| {
        Knob::find(name).map(|knob| Place { knob, device: place.device.clone(), path: file.to_path_buf() })
    };
    let name = place.knob.name.as_str();
    if name == "scheduler" {
        // Changing the scheduler sets nr_requests, bfq disables write-back throttling, and the old scheduler's tunables are lost.
        let tunables = files.list(&place.path.with_file_name("iosched")).unwrap_or_default();
        let tunables = tunables.into_iter().map(|t| format!("iosched/{t}"));
        let names = ["nr_requests".to_string(), "wbt_lat_usec".to_string()].into_iter().chain(tunables);
        return names
            .filter_map(|n| beside(&n, &place.path.with_file_name(&n)))
            .filter(|p| files.read(&p.path).is_ok())
            .collect();
    }
    // Setting one of a pair sets the other to 0.
    let other = match name {
        "vm.dirty_bytes" => "vm.dirty_ratio",
        "vm.dirty_ratio" => "vm.dirty_bytes",
        "vm.dirty_background_bytes" => "vm.dirty_background_ratio",
        "vm.dirty_background_ratio" => "vm.dirty_background_bytes",
        _ => return Vec::new(),
    };
    let file = place.path.with_file_name(other.trim_start_matches("vm."));
    beside(other, &file).into_iter().collect()
}
