//! Measures cells: checks everything first, then changes settings, makes file systems, enters directories, prepares
//! files, makes a run of one cell between two idle periods, and restores everything in any case. The callers decide the
//! order of cells and what happens to the runs: `session` for a sweep, `compare::run` for two sides in quads. `checked`
//! finds out all that can be known before the first run.

mod checked;
mod directories;

use super::kernel::{self, LIVE};
use super::settle::settle;
use super::subject::{CellPlan, SweepSubject};
use super::vary::{Target, Varied};
use crate::common::{ColdReach, Common};
use crate::exit::Usage;
use crate::mark::Mark;
use crate::run_loop::{Finished, Listener};
use crate::{console, state};
use fathom_engine::interrupted_by;
use fathom_observe::device::DeviceStack;
use fathom_observe::knobs::disk::DiskPlan;
use fathom_observe::knobs::{Disk, KnobError, Outcome, Place, Reading, Setter, target};
use fathom_report::sweep::{KernelValue, SweepCell};
use fathom_workload::Workload;
use rustix::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a new loop device may still be locked by the previous user of its number.
const OWN_DEVICE: Duration = Duration::from_secs(5);
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// What is measured under which settings, parsed and checked as far as possible without looking at the machine.
pub struct StageRequest {
    /// One per value of the factor that chooses among them, in its order; a single one without that factor.
    pub subjects: Vec<SweepSubject>,
    pub varied: Vec<Varied>,
    pub seed: u64,
    pub settle: Duration,
    pub cold: Option<ColdReach>,
    pub image_in: PathBuf,
    pub image_bytes: u64,
    pub on: Option<PathBuf>,
}

impl StageRequest {
    pub fn has_disk(&self) -> bool {
        self.varied.iter().any(Varied::is_of_disk)
    }

    /// As typed.
    pub fn words(&self) -> String {
        self.subjects.iter().map(SweepSubject::words).collect::<Vec<_>>().join(", ")
    }
}

pub struct SweepStage<'a> {
    pub asked: &'a StageRequest,
    common: &'a Common,
    /// Id of the sweep or comparison.
    pub id: String,
    pub started: jiff::Zoned,
    /// With "present" replaced by the current values.
    pub varied: Vec<Varied>,
    /// For each, its places, if it is a knob whose device exists.
    pub places: Vec<Vec<Place>>,
    /// For each, its previous value.
    pub before: Vec<Option<String>>,
    pub cells: Vec<SweepCell>,
    pub notes: Vec<String>,
    setter: Option<Setter<'static>>,
    disk: Option<Disk>,
    /// The directory the program was started in.
    pub here: PathBuf,
    /// That directory and the named ones, in the order of the values; open, so that renaming one does not redirect
    /// runs.
    home: OwnedFd,
    directories: Vec<OwnedFd>,
    /// The first file of the workload.
    pub measured: PathBuf,
    stack: DeviceStack,
}

/// Why no more runs are made.
pub enum StopReason {
    Signal(i32),
    Failed(String),
}

/// Result of setting a combination of knobs: the values read back, or the refusal.
type Tried = Result<Vec<KernelValue>, String>;

impl From<KnobError> for StopReason {
    fn from(error: KnobError) -> Self {
        // A child killed by a terminal signal (mkfs) is not a failure itself.
        interrupted_by().map_or_else(|| Self::Failed(error.to_string()), Self::Signal)
    }
}

impl<'a> SweepStage<'a> {
    /// Checks all that can be checked without changing anything.
    pub fn begin(asked: &'a StageRequest, common: &'a Common) -> Result<Self, Usage> {
        let unusable = |e: std::io::Error| Usage(format!("the working directory: {e}"));
        let here = std::env::current_dir().map_err(unusable)?;
        let home = directories::open(Path::new(".")).map_err(unusable)?;
        let directories = directories::all(&asked.varied, &here)?;
        let started = fathom_observe::local_time::now();
        let counts: Vec<usize> = asked.varied.iter().map(|v| v.values.len()).collect();
        let cells: Vec<SweepCell> = combinations(&counts)
            .into_iter()
            .map(|levels| SweepCell { levels, ..SweepCell::default() })
            .collect();
        let mut stage = Self {
            asked,
            common,
            id: fathom_record::store::new_run_id(started.timestamp(), std::process::id()),
            started,
            varied: asked.varied.clone(),
            places: vec![Vec::new(); asked.varied.len()],
            before: vec![None; asked.varied.len()],
            cells,
            notes: Vec::new(),
            setter: None,
            disk: None,
            measured: here.clone(),
            here,
            home,
            directories,
            stack: DeviceStack::default(),
        };
        let checked = stage.check_workloads();
        stage.come_back();
        checked?;
        stage.look_at_kernel()?;
        Ok(stage)
    }

    /// A cell's subject and its index.
    pub fn subject_of(&self, cell: usize) -> (usize, &'a SweepSubject) {
        let at = self.varied.iter().position(|v| v.target == Target::Subject);
        let level = at.map_or(0, |at| self.cells[cell].levels[at]);
        (level, &self.asked.subjects[level])
    }

    /// A cell's workloads, as far as known before it runs.
    pub fn workloads_of(&self, cell: usize) -> Result<Vec<Workload>, Usage> {
        let (arguments, settings) =
            (self.values(cell, &Target::Argument), self.values(cell, &Target::Workload));
        self.enter_directory(cell)?;
        let planned = self.subject_of(cell).1.plan(&arguments, &settings, self.asked.seed);
        let workloads = planned.and_then(|p| p.workloads());
        self.come_back();
        workloads
    }

    /// A cell's directory, if one was named.
    pub fn directory_of(&self, cell: usize) -> Option<&Path> {
        let (at, level) = self.directory_level(cell)?;
        Some(Path::new(&self.varied[at].values[level]))
    }

    /// Index of the directory factor, and the cell's level of it.
    fn directory_level(&self, cell: usize) -> Option<(usize, usize)> {
        let at = self.varied.iter().position(|v| v.target == Target::Directory)?;
        Some((at, self.cells[cell].levels[at]))
    }

    fn enter_directory(&self, cell: usize) -> Result<(), Usage> {
        let Some((at, level)) = self.directory_level(cell) else { return Ok(()) };
        fathom_state::enter(self.directories[level].as_fd())
            .map_err(|e| directories::unusable(&self.here, &self.varied[at].values[level], &e))
    }

    /// Returns to the directory the program was started in.
    pub fn come_back(&self) {
        let _ = fathom_state::enter(self.home.as_fd());
    }

    /// The factors with their values in the order given; the first is the baseline.
    pub fn factors(&self) -> Vec<serde_json::Value> {
        let one = |v: &Varied| serde_json::json!({"name": v.name, "values": v.values});
        self.varied.iter().map(one).collect()
    }

    /// A cell's values of this kind of factor, by name.
    fn values(&self, cell: usize, target: &Target) -> Vec<(String, String)> {
        let levels = &self.cells[cell].levels;
        self.varied
            .iter()
            .zip(levels)
            .filter(|(v, _)| v.target == *target)
            .map(|(v, level)| (v.name.clone(), v.values[*level].clone()))
            .collect()
    }

    /// A cell in words.
    pub fn settings(&self, cell: usize) -> String {
        let words: Vec<String> = self
            .varied
            .iter()
            .zip(&self.cells[cell].levels)
            .map(|(v, level)| format!("{}={}", v.name, v.values[*level]))
            .collect();
        words.join(", ")
    }

    /// Journal, locks, guardian, loop device, old values, in this order.
    pub fn take_over(&mut self) -> Result<(), StopReason> {
        let directory = state::needed_directory().map_err(|e| StopReason::Failed(format!("{e:#}")))?;
        let setter = self.setter.insert(Setter::begin(&LIVE, &directory)?);
        for places in &self.places {
            setter.lock(places)?;
        }
        setter.guard(Path::new("/proc/self/exe"))?;
        if self.asked.has_disk() {
            let plan = DiskPlan { directory: self.asked.image_in.clone(), bytes: self.asked.image_bytes };
            let disk = self.disk.insert(setter.disk(&plan)?);
            if !disk.goes_past_the_cache() {
                let warning = "The loop device uses the page cache of the file system that holds its image: the figures are partly memory's speed.";
                console::warning(warning);
                self.notes.push(warning.into());
            }
            self.stack = kernel::stack_of(disk.device());
            self.look_at_loop_device()?;
        }
        let setter = self.setter.as_mut().ok_or_else(|| StopReason::Failed("the journal is gone".into()))?;
        for places in &self.places {
            // The previous user of this device number may have detached it and still hold its lock.
            let patience = if self.asked.has_disk() { OWN_DEVICE } else { Duration::ZERO };
            lock_within(setter, places, patience)?;
            setter.save(places)?;
        }
        Ok(())
    }

    /// The settings of a cell, and where they apply.
    fn wanted(&self, cell: usize) -> Vec<(Place, String)> {
        let levels = &self.cells[cell].levels;
        let mut wanted = Vec::new();
        for ((varied, places), level) in self.varied.iter().zip(&self.places).zip(levels) {
            wanted.extend(places.iter().map(|p| (p.clone(), varied.values[*level].clone())));
        }
        wanted
    }

    /// One run of a cell, with everything before and after it. `mark` makes the marks of the stored runs from the
    /// settings as read back. A run that failed or ended early is no result.
    pub fn one(
        &mut self,
        cell: usize,
        seed: u64,
        listener: &mut dyn Listener,
        mark: impl FnOnce(&Self, &[KernelValue]) -> Mark,
    ) -> Result<Vec<Finished>, StopReason> {
        let outcome = self.one_there(cell, seed, listener, mark);
        // The directory on a file system made for the cell is left before unmounting.
        self.come_back();
        if let Some(signal) = interrupted_by() {
            return Err(StopReason::Signal(signal));
        }
        let finished = outcome?;
        for one in &finished {
            if let Some(signal) = one.signal {
                return Err(StopReason::Signal(signal));
            }
            if let Some(failure) = &one.failure {
                return Err(StopReason::Failed(format!("with {}: {failure}", self.settings(cell))));
            }
        }
        Ok(finished)
    }

    fn one_there(
        &mut self,
        cell: usize,
        seed: u64,
        listener: &mut dyn Listener,
        mark: impl FnOnce(&Self, &[KernelValue]) -> Mark,
    ) -> Result<Vec<Finished>, StopReason> {
        if let (Some(disk), Some(wanted)) =
            (&self.disk, kernel::file_system(&self.varied, &self.cells[cell].levels))
        {
            disk.make(&wanted)?;
            let entered = fathom_state::go(&disk.mount_point());
            entered.map_err(|e| {
                StopReason::Failed(format!("the file system on {}: {e}", disk.device().display()))
            })?;
            // By descriptor: the name may lead elsewhere by now.
            self.stack = kernel::stack_of(Path::new("."));
            self.follow_file_system()?;
        }
        if self.directory_of(cell).is_some() {
            self.enter_directory(cell).map_err(|e| StopReason::Failed(e.0))?;
            self.stack = kernel::stack_of(Path::new("."));
        }
        let (arguments, settings) =
            (self.values(cell, &Target::Argument), self.values(cell, &Target::Workload));
        let planned =
            self.subject_of(cell).1.plan(&arguments, &settings, seed).map_err(|e| StopReason::Failed(e.0))?;
        self.prepare(&planned)?;
        let wanted = self.wanted(cell);
        let setter = self.setter.as_mut().ok_or_else(|| StopReason::Failed("the journal is gone".into()))?;
        let readings = setter.apply(&wanted)?;
        if let Some(busy) = settle(&self.stack, self.asked.settle) {
            console::warning(&busy);
            self.notes.push(format!("{}: {busy}.", self.settings(cell)));
        }
        if let Some(signal) = interrupted_by() {
            return Err(StopReason::Signal(signal));
        }
        let read_back: Vec<KernelValue> = readings.iter().cloned().map(found).collect();
        self.cells[cell].found.clone_from(&read_back);
        let mut mark = mark(self, &read_back);
        let places: Vec<Place> = wanted.into_iter().map(|w| w.0).collect();
        mark.spoils = Some(Arc::new(move || disturbed(&places, &readings)));
        let common = Common { mark: Some(mark), ..self.common.clone() };
        let finished = planned.measure(&common, listener).map_err(StopReason::Failed)?;
        match finished.iter().find_map(|f| Mark::spoiled(&f.run)) {
            Some(why) => Err(StopReason::Failed(why.into())),
            None => Ok(finished),
        }
    }

    /// The requested settings of a cell by name.
    pub fn settings_of(&self, cell: usize) -> Vec<(String, String)> {
        let levels = &self.cells[cell].levels;
        self.varied.iter().zip(levels).map(|(v, level)| (v.name.clone(), v.values[*level].clone())).collect()
    }

    /// A new file system may have its own read-ahead setting.
    fn follow_file_system(&mut self) -> Result<(), StopReason> {
        for i in 0..self.varied.len() {
            let Some(knob) = self.varied[i].knob().filter(|k| kernel::is_of_device(k)).cloned() else {
                continue;
            };
            self.places[i] = target::places(&LIVE, &knob, &self.stack)?;
            if let Some(setter) = &mut self.setter {
                setter.save(&self.places[i])?;
            }
        }
        Ok(())
    }

    fn prepare(&mut self, planned: &CellPlan) -> Result<(), StopReason> {
        let on_disk = self.disk.is_some();
        let setter = &mut self.setter;
        let mut made = |path: &Path| match setter {
            // Knobs of the loop device disappear with it.
            Some(setter) if !on_disk => setter
                .owes_files([std::path::absolute(path).map_err(|e| e.to_string())?.as_path()])
                .map_err(|e| e.to_string()),
            _ => Ok(()),
        };
        planned.prepare(&mut made).map_err(StopReason::Failed)
    }

    /// Restores everything; returns the outcomes of what was left to restore.
    pub fn put_back(&mut self) -> Vec<Outcome> {
        // Our open directories would keep the loop device busy.
        self.come_back();
        self.disk = None;
        self.setter.take().map(Setter::put_back).unwrap_or_default()
    }
}

/// Locks places, waiting up to `patience` for other holders.
fn lock_within(setter: &mut Setter<'_>, places: &[Place], patience: Duration) -> Result<(), KnobError> {
    let began = Instant::now();
    loop {
        match setter.lock(places) {
            Err(KnobError::Busy { .. }) if began.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// A setting changed by another process during a run invalidates that run and all later ones.
fn disturbed(places: &[Place], readings: &[Reading]) -> Option<String> {
    let all = fathom_observe::knobs::disturbed(&LIVE, places, readings);
    all.first().map(|r| {
        format!(
            "another process changed {} of {} from {} to {} during a run; that run does not count, and the measurement ends here",
            r.knob, r.device, r.asked, r.found
        )
    })
}

fn found(reading: Reading) -> KernelValue {
    KernelValue { knob: reading.knob, device: reading.device, asked: reading.asked, found: reading.found }
}

/// All combinations of levels; the last factor varies fastest.
pub fn combinations(counts: &[usize]) -> Vec<Vec<usize>> {
    counts.iter().fold(vec![Vec::new()], |all, &count| {
        all.iter()
            .flat_map(|some| (0..count).map(move |level| [some.as_slice(), &[level]].concat()))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_comes_once_the_last_counting_fastest() {
        assert_eq!(combinations(&[2, 3]).len(), 6);
        assert_eq!(combinations(&[2, 2]), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(combinations(&[]), [Vec::<usize>::new()]);
    }
}
