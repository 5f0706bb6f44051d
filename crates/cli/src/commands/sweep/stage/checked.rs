//! What a stage finds out before anything is measured: whether every workload can be executed and every setting be
//! changed, and what the kernel makes of each value.

use super::{DROP_CACHES, StopReason, SweepStage, Tried, found};
use crate::commands::sweep::kernel::{self, LIVE};
use crate::commands::sweep::vary::Target;
use crate::common::ColdReach;
use crate::exit::Usage;
use crate::{console, state};
use fathom_engine::{Engine, interrupted_by};
use fathom_observe::knobs::{KnobError, KnobFiles as _, Place, target};
use fathom_report::sweep::KernelValue;
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// Whether a relative path leads out of its directory.
fn leaves(path: &Path) -> bool {
    path.components().any(|c| !matches!(c, Component::Normal(_) | Component::CurDir))
}

impl SweepStage<'_> {
    /// Plans every workload once now: an error in the last cell must not show up after hours.
    pub(super) fn check_workloads(&mut self) -> Result<(), Usage> {
        // Without the leftover sweep: a plan changes nothing.
        let engine = Engine::new(state::quiet_ledger());
        let mut seen = BTreeSet::new();
        for cell in 0..self.cells.len() {
            let (arguments, settings) =
                (self.values(cell, &Target::Argument), self.values(cell, &Target::Workload));
            let chosen = (self.subject_of(cell).0, self.directory_of(cell).map(Path::to_path_buf));
            if !seen.insert((chosen, arguments.clone(), settings.clone())) {
                continue;
            }
            self.enter_directory(cell)?;
            let planned = self.subject_of(cell).1.plan(&arguments, &settings, self.asked.seed)?;
            for note in
                planned.notes().iter().filter(|note| !self.notes.contains(note)).cloned().collect::<Vec<_>>()
            {
                console::note(&note);
                self.notes.push(note);
            }
            let paths = planned.check(&engine)?;
            if let Some(why) = self.must_be_relative()
                && let Some(path) = paths.iter().find(|p| leaves(p))
            {
                return Err(Usage(format!(
                    "{} would not be {why}; the workload must use relative paths, without \"..\"",
                    path.display()
                )));
            }
            if cell == 0
                && let Some(first) = paths.first()
            {
                self.measured =
                    self.directory_of(cell).map_or(self.here.clone(), |d| self.here.join(d)).join(first);
            }
        }
        Ok(())
    }

    /// Where files are that must be named by relative paths.
    fn must_be_relative(&self) -> Option<&'static str> {
        if self.asked.has_disk() {
            return Some("on the file system that fs=... makes");
        }
        self.varied
            .iter()
            .any(|v| v.target == Target::Directory)
            .then_some("in the directory that --in names")
    }

    pub(super) fn look_at_kernel(&mut self) -> Result<(), Usage> {
        if self.asked.cold == Some(ColdReach::Machine) {
            LIVE.may_write(Path::new(DROP_CACHES)).map_err(|e| {
                Usage(format!(
                    "--cold=machine drops the page cache, which needs root ({DROP_CACHES}: {e}). Nothing was run"
                ))
            })?;
        }
        if self.asked.has_disk() {
            kernel::look_at_disk(self.asked)?;
        } else {
            let on = self.asked.on.clone().unwrap_or_else(|| self.measured.clone());
            if self.asked.on.is_some() && on.symlink_metadata().is_err() {
                return Err(Usage(format!("--on {}: there is no such path", on.display())));
            }
            self.stack = kernel::stack_of(nearest(&on));
        }
        for i in 0..self.varied.len() {
            let Some(knob) = self.varied[i].knob().cloned() else { continue };
            if self.asked.has_disk() && kernel::is_of_device(&knob) {
                continue;
            }
            let places = target::places(&LIVE, &knob, &self.stack).map_err(|e| Usage(e.to_string()))?;
            self.before[i] = kernel::look(&mut self.varied[i], &places)?;
            self.places[i] = places;
        }
        Ok(())
    }

    /// The part of `look_at_kernel` that needs the loop device.
    pub(super) fn look_at_loop_device(&mut self) -> Result<(), StopReason> {
        for i in 0..self.varied.len() {
            let Some(knob) = self.varied[i].knob().filter(|k| kernel::is_of_device(k)).cloned() else {
                continue;
            };
            let places = target::places(&LIVE, &knob, &self.stack)?;
            self.before[i] =
                kernel::look(&mut self.varied[i], &places).map_err(|e| StopReason::Failed(e.0))?;
            self.places[i] = places;
        }
        Ok(())
    }

    /// Sets every combination of knobs once before anything is measured: values that the kernel rejects or clamps must
    /// not show up after hours.
    pub fn try_all(&mut self) -> Result<(), StopReason> {
        let mut seen: Vec<(Vec<(Place, String)>, Tried)> = Vec::new();
        for cell in 0..self.cells.len() {
            if let Some(signal) = interrupted_by() {
                return Err(StopReason::Signal(signal));
            }
            let wanted = self.wanted(cell);
            if wanted.is_empty() {
                return Ok(());
            }
            let tried = match seen.iter().find(|s| s.0 == wanted) {
                Some(before) => before.1.clone(),
                None => {
                    let tried = self.try_one(&wanted)?;
                    seen.push((wanted, tried.clone()));
                    tried
                }
            };
            match tried {
                Ok(found) => self.cells[cell].found = found,
                Err(why) => self.cells[cell].left_out = Some(why),
            }
        }
        self.note_clamped();
        if let Some(why) =
            self.cells.iter().all(|c| c.left_out.is_some()).then(|| self.cells[0].left_out.clone())
        {
            return Err(StopReason::Failed(format!("no cell can be measured: {}", why.unwrap_or_default())));
        }
        Ok(())
    }

    fn try_one(
        &mut self,
        wanted: &[(Place, String)],
    ) -> Result<Result<Vec<KernelValue>, String>, StopReason> {
        let Some(setter) = &mut self.setter else { return Ok(Ok(Vec::new())) };
        match setter.apply(wanted) {
            Ok(readings) => Ok(Ok(readings.into_iter().map(found).collect())),
            // This cell's scheduler has no such tunable.
            Err(KnobError::Refused { knob, device, error, .. })
                if knob.starts_with("iosched/") && error.kind() == std::io::ErrorKind::NotFound =>
            {
                let scheduler = wanted.iter().find(|w| w.0.knob.name == "scheduler" && w.0.device == device);
                let with = scheduler.map_or_else(String::new, |s| format!(" with the scheduler {}", s.1));
                Ok(Err(format!("{knob} does not exist at {device}{with}")))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn note_clamped(&mut self) {
        let mut warnings = BTreeSet::new();
        for found in self.cells.iter().flat_map(|c| &c.found).filter(|f| f.asked != f.found) {
            warnings.insert(format!(
                "The kernel made {} of {}={} at {}.",
                found.found, found.knob, found.asked, found.device
            ));
        }
        for found in self.cells.iter().flat_map(|c| &c.found) {
            let same = |f: &&KernelValue| {
                f.knob == found.knob
                    && f.device == found.device
                    && f.found == found.found
                    && f.asked < found.asked
            };
            for other in self.cells.iter().flat_map(|c| &c.found).filter(same) {
                warnings.insert(format!(
                    "{0}={1} and {0}={2} are the same setting at {3}.",
                    found.knob, other.asked, found.asked, found.device
                ));
            }
        }
        for note in warnings {
            console::warning(&note);
            self.notes.push(note);
        }
    }
}

/// The path, or its nearest existing ancestor.
fn nearest(path: &Path) -> &Path {
    path.ancestors().find(|p| p.exists()).unwrap_or(Path::new("/"))
}
