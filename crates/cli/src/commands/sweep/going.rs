//! A sweep on its way: checked first, then run cell by cell, and put back whatever happens.

use super::kernel::{self, LIVE};
use super::settle::settle;
use super::subject::Planned;
use super::vary::{Of, Varied};
use super::{Asked, Factor, Figure, Sweep};
use crate::exit::Usage;
use crate::line::{ColdReach, Common};
use crate::mark::Mark;
use crate::run_loop::{Finished, Listener};
use crate::{console, state};
use fathom_engine::{Engine, Ledger, interrupted_by};
use fathom_observe::device::DeviceStack;
use fathom_observe::knobs::disk::DiskPlan;
use fathom_observe::knobs::{Disk, KnobError, KnobFiles as _, Outcome, Place, Reading, Turner, target};
use fathom_report::sweep::{Cell, Found, PhaseFigures, Ran, SCHEMA};
use indicatif::ProgressBar;
use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the page cache is dropped.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// How it ended.
pub enum Ended {
    /// As planned.
    Complete,
    /// The budget does not hold another round.
    OutOfTime(String),
    /// A signal.
    Signal(i32),
    /// An error, in a sentence.
    Failed(String),
}

/// A sweep.
pub struct Going<'a> {
    pub asked: &'a Asked,
    common: &'a Common,
    id: String,
    started: jiff::Zoned,
    /// With the present values in the place of the word.
    pub varied: Vec<Varied>,
    /// For each of them its places, if it is a knob whose device is there.
    pub places: Vec<Vec<Place>>,
    /// For each of them what it was.
    pub before: Vec<Option<String>>,
    pub cells: Vec<Cell>,
    pub blocks: Vec<Vec<usize>>,
    runs: Vec<Ran>,
    notes: Vec<String>,
    ended_early: Option<String>,
    turner: Option<Turner<'static>>,
    disk: Option<Disk>,
    /// The directory the program was started in.
    here: PathBuf,
    /// The first file of the workload.
    measured: PathBuf,
    stack: DeviceStack,
    began: Instant,
}

/// Why no further run is made.
enum Stop {
    Signal(i32),
    Failed(String),
}

/// What turning a combination of knobs gave: what was found afterwards, or why it was refused.
type Tried = Result<Vec<Found>, String>;

impl From<KnobError> for Stop {
    fn from(error: KnobError) -> Self {
        // What a signal of the terminal kills (a mkfs) is no failure of its own.
        interrupted_by().map_or_else(|| Self::Failed(error.to_string()), Self::Signal)
    }
}

impl<'a> Going<'a> {
    /// Checks everything that can be checked without changing anything.
    pub fn begin(asked: &'a Asked, common: &'a Common) -> Result<Self, Usage> {
        let here = std::env::current_dir().map_err(|e| Usage(format!("the working directory: {e}")))?;
        let started = jiff::Zoned::now();
        let counts: Vec<usize> = asked.varied.iter().map(|v| v.values.len()).collect();
        let cells: Vec<Cell> =
            combinations(&counts).into_iter().map(|levels| Cell { levels, ..Cell::default() }).collect();
        let blocks = fathom_compare::design::blocks(cells.len(), asked.rounds, asked.seed);
        let mut going = Self {
            asked,
            common,
            id: fathom_record::store::new_run_id(started.timestamp(), std::process::id()),
            started,
            varied: asked.varied.clone(),
            places: vec![Vec::new(); asked.varied.len()],
            before: vec![None; asked.varied.len()],
            cells,
            blocks,
            runs: Vec::new(),
            notes: Vec::new(),
            ended_early: None,
            turner: None,
            disk: None,
            measured: here.clone(),
            here,
            stack: DeviceStack::default(),
            began: Instant::now(),
        };
        going.check_workloads()?;
        going.look_at_kernel()?;
        Ok(going)
    }

    /// Every workload that will be run is planned once now: an error in the last cell must not show after hours.
    fn check_workloads(&mut self) -> Result<(), Usage> {
        // Without the sweep for leftovers: a plan changes nothing.
        let engine = Engine::new(Ledger::new(&state::directory()));
        let mut seen = BTreeSet::new();
        for cell in 0..self.cells.len() {
            let (arguments, settings) = (self.values(cell, Of::Argument), self.values(cell, Of::Workload));
            if !seen.insert((arguments.clone(), settings.clone())) {
                continue;
            }
            let planned = self.asked.subject.plan(&arguments, &settings, self.asked.seed)?;
            let paths = planned.check(&engine)?;
            if self.asked.has_disk()
                && let Some(path) = paths.iter().find(|p| p.is_absolute())
            {
                return Err(Usage(format!(
                    "{} would not be on the file system that fs=... makes; the workload has to name its files relatively",
                    path.display()
                )));
            }
            if cell == 0
                && let Some(first) = paths.first()
            {
                self.measured = self.here.join(first);
            }
        }
        Ok(())
    }

    fn look_at_kernel(&mut self) -> Result<(), Usage> {
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

    /// Values of a cell that belong to the workload, by name.
    fn values(&self, cell: usize, of: Of) -> Vec<(String, String)> {
        let levels = &self.cells[cell].levels;
        self.varied
            .iter()
            .zip(levels)
            .filter(|(v, _)| v.of == of)
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

    /// Runs everything, or as much as there comes to be.
    pub fn all(&mut self) -> Ended {
        let ended = match self.take_over().and_then(|()| self.try_all()) {
            Ok(()) => self.run_blocks(),
            Err(stop) => stopped(stop),
        };
        self.ended_early = match &ended {
            Ended::Complete => None,
            Ended::OutOfTime(why) | Ended::Failed(why) => Some(why.clone()),
            Ended::Signal(signal) => Some(format!("signal {signal}")),
        };
        ended
    }

    /// Journal, locks, guardian, loop device, old values: in this order.
    fn take_over(&mut self) -> Result<(), Stop> {
        let turner = self.turner.insert(Turner::begin(&LIVE, &state::directory())?);
        for places in &self.places {
            turner.lock(places)?;
        }
        turner.guard(Path::new("/proc/self/exe"))?;
        if self.asked.has_disk() {
            let plan = DiskPlan { directory: self.asked.image_in.clone(), bytes: self.asked.image_bytes };
            let disk = self.disk.insert(turner.disk(&plan)?);
            if !disk.goes_past_the_cache() {
                self.notes.push(
                    "The loop device works through the page cache of the file system its image lies on: much of what is measured is memory's speed."
                        .into(),
                );
            }
            self.stack = kernel::stack_of(disk.device());
            self.look_at_loop_device()?;
        }
        let turner = self.turner.as_mut().ok_or_else(|| Stop::Failed("the journal is gone".into()))?;
        for places in &self.places {
            turner.lock(places)?;
            turner.save(places)?;
        }
        Ok(())
    }

    /// What `look_at_kernel` could not do while there was no device.
    fn look_at_loop_device(&mut self) -> Result<(), Stop> {
        for i in 0..self.varied.len() {
            let Some(knob) = self.varied[i].knob().filter(|k| kernel::is_of_device(k)).cloned() else {
                continue;
            };
            let places = target::places(&LIVE, &knob, &self.stack)?;
            self.before[i] = kernel::look(&mut self.varied[i], &places).map_err(|e| Stop::Failed(e.0))?;
            self.places[i] = places;
        }
        Ok(())
    }

    /// Every combination of knobs is turned once before anything is measured: what the kernel refuses or clamps must not show after
    /// hours.
    fn try_all(&mut self) -> Result<(), Stop> {
        let mut seen: Vec<(Vec<(Place, String)>, Tried)> = Vec::new();
        for cell in 0..self.cells.len() {
            if let Some(signal) = interrupted_by() {
                return Err(Stop::Signal(signal));
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
            return Err(Stop::Failed(format!("no cell can be measured: {}", why.unwrap_or_default())));
        }
        Ok(())
    }

    fn try_one(&mut self, wanted: &[(Place, String)]) -> Result<Result<Vec<Found>, String>, Stop> {
        let Some(turner) = &mut self.turner else { return Ok(Ok(Vec::new())) };
        match turner.turn(wanted) {
            Ok(readings) => Ok(Ok(readings.into_iter().map(found).collect())),
            // The scheduler of this cell has no such tunable.
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
        let mut told = BTreeSet::new();
        for found in self.cells.iter().flat_map(|c| &c.found).filter(|f| f.asked != f.found) {
            told.insert(format!(
                "The kernel made {} of {}={} at {}.",
                found.found, found.knob, found.asked, found.device
            ));
        }
        for found in self.cells.iter().flat_map(|c| &c.found) {
            let same = |f: &&Found| {
                f.knob == found.knob
                    && f.device == found.device
                    && f.found == found.found
                    && f.asked < found.asked
            };
            for other in self.cells.iter().flat_map(|c| &c.found).filter(same) {
                told.insert(format!(
                    "{0}={1} and {0}={2} are the same setting at {3}.",
                    found.knob, other.asked, found.asked, found.device
                ));
            }
        }
        for note in told {
            console::warning(&note);
            self.notes.push(note);
        }
    }

    /// What is turned for a cell, and where.
    fn wanted(&self, cell: usize) -> Vec<(Place, String)> {
        let levels = &self.cells[cell].levels;
        let mut wanted = Vec::new();
        for ((varied, places), level) in self.varied.iter().zip(&self.places).zip(levels) {
            wanted.extend(places.iter().map(|p| (p.clone(), varied.values[*level].clone())));
        }
        wanted
    }

    fn run_blocks(&mut self) -> Ended {
        let runnable = |cells: &[Cell], block: &[usize]| -> Vec<usize> {
            block.iter().copied().filter(|c| cells[*c].left_out.is_none()).collect()
        };
        let planned: usize = self.blocks.iter().map(|b| runnable(&self.cells, b).len()).sum();
        let bar = console::progress(planned as u64);
        let mut times_run = vec![0u64; self.cells.len()];
        let measuring = Instant::now();
        for (number, block) in self.blocks.clone().iter().enumerate() {
            let block = runnable(&self.cells, block);
            if let Some(why) = self.does_not_fit(measuring, block.len()) {
                bar.finish_and_clear();
                return Ended::OutOfTime(why);
            }
            for cell in block {
                if self.asked.budget.is_some_and(|b| self.began.elapsed() >= b) {
                    bar.finish_and_clear();
                    return Ended::OutOfTime("the time of --budget is over".into());
                }
                self.tell(&bar, planned, measuring, cell);
                // The same operations in all cells of a round, others in the next.
                let seed = self.asked.seed.wrapping_add(times_run[cell]);
                times_run[cell] += 1;
                let outcome = self.one(cell, number, seed, &bar);
                // A file system that was made for it is left before it is unmounted.
                let _ = std::env::set_current_dir(&self.here);
                bar.inc(1);
                let stop = match (outcome, interrupted_by()) {
                    (_, Some(signal)) => Some(Stop::Signal(signal)),
                    (Err(stop), None) => Some(stop),
                    (Ok(()), None) => None,
                };
                if let Some(stop) = stop {
                    bar.finish_and_clear();
                    return stopped(stop);
                }
            }
        }
        bar.finish_and_clear();
        Ended::Complete
    }

    /// Whether the budget holds so many more runs at the pace so far.
    fn does_not_fit(&self, measuring: Instant, runs: usize) -> Option<String> {
        let (budget, done) = (self.asked.budget?, self.runs.len());
        if done == 0 {
            return None;
        }
        let pace = measuring.elapsed() / u32::try_from(done).unwrap_or(u32::MAX);
        let more = pace.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX));
        (self.began.elapsed() + more > budget).then(|| {
            format!(
                "the next block of {runs} runs would take about {}, more than --budget leaves",
                words(more)
            )
        })
    }

    fn tell(&self, bar: &ProgressBar, planned: usize, measuring: Instant, cell: usize) {
        let settings = self.settings(cell);
        bar.set_message(settings.clone());
        bar.tick();
        if !std::io::stderr().is_terminal() {
            let done = self.runs.len();
            let left = (done > 0).then(|| measuring.elapsed().mul_f64((planned - done) as f64 / done as f64));
            let left = left.map_or(String::new(), |t| format!(", about {} left", words(t)));
            console::note(&format!("run {} of {planned}: {settings}{left}", done + 1));
        }
    }

    /// One run of a cell, with everything before and after it.
    fn one(&mut self, cell: usize, block: usize, seed: u64, bar: &ProgressBar) -> Result<(), Stop> {
        if let (Some(disk), Some(wanted)) =
            (&self.disk, kernel::file_system(&self.varied, &self.cells[cell].levels))
        {
            disk.make(&wanted)?;
            let point = disk.mount_point();
            std::env::set_current_dir(&point)
                .map_err(|e| Stop::Failed(format!("{}: {e}", point.display())))?;
            self.stack = kernel::stack_of(&point);
            self.follow_file_system()?;
        }
        let (arguments, settings) = (self.values(cell, Of::Argument), self.values(cell, Of::Workload));
        let planned = self.asked.subject.plan(&arguments, &settings, seed).map_err(|e| Stop::Failed(e.0))?;
        self.prepare(&planned)?;
        let wanted = self.wanted(cell);
        let turner = self.turner.as_mut().ok_or_else(|| Stop::Failed("the journal is gone".into()))?;
        let readings = turner.turn(&wanted)?;
        if let Some(busy) = settle(&self.stack, self.asked.settle) {
            console::warning(&busy);
            self.notes.push(format!("Run {}: {busy}.", self.runs.len() + 1));
        }
        if let Some(signal) = interrupted_by() {
            return Err(Stop::Signal(signal));
        }
        self.cells[cell].found = readings.iter().cloned().map(found).collect();
        let common = Common { mark: Some(self.mark(cell, block, &readings)), ..self.common.clone() };
        let mut live = Live { bar, settings: self.settings(cell) };
        let finished = planned.measure(&common, &mut live).map_err(Stop::Failed)?;
        self.still_ours(&wanted, &readings)?;
        self.keep(cell, block, &finished)
    }

    /// A new file system may have a read-ahead of its own.
    fn follow_file_system(&mut self) -> Result<(), Stop> {
        for i in 0..self.varied.len() {
            let Some(knob) = self.varied[i].knob().filter(|k| kernel::is_of_device(k)).cloned() else {
                continue;
            };
            self.places[i] = target::places(&LIVE, &knob, &self.stack)?;
            if let Some(turner) = &mut self.turner {
                turner.save(&self.places[i])?;
            }
        }
        Ok(())
    }

    fn prepare(&mut self, planned: &Planned) -> Result<(), Stop> {
        let on_disk = self.disk.is_some();
        let turner = &mut self.turner;
        let mut made = |path: &Path| match turner {
            // What is on the loop device goes with it.
            Some(turner) if !on_disk => turner.owes_files([path]).map_err(|e| e.to_string()),
            _ => Ok(()),
        };
        planned.prepare(&mut made).map_err(Stop::Failed)
    }

    /// What the stored run says of the cell it belongs to.
    fn mark(&self, cell: usize, block: usize, readings: &[Reading]) -> Mark {
        let levels = &self.cells[cell].levels;
        let settings: serde_json::Map<String, serde_json::Value> = self
            .varied
            .iter()
            .zip(levels)
            .map(|(v, level)| (v.name.clone(), v.values[*level].clone().into()))
            .collect();
        let read_back: Vec<Found> = readings.iter().cloned().map(found).collect();
        let sweep = serde_json::json!({
            "id": self.id,
            "run": self.runs.len() + 1,
            "block": block + 1,
            "seed": self.asked.seed,
            "settings": settings,
            "read_back": read_back,
            "cold": self.asked.cold.map(|reach| if reach == ColdReach::Files { "files" } else { "machine" }),
        });
        Mark { label: format!("sweep {}: {}", self.id, self.settings(cell)), sweep }
    }

    /// A setting that somebody else changed while it was measured makes the run worthless, and everything after it.
    fn still_ours(&self, wanted: &[(Place, String)], readings: &[Reading]) -> Result<(), Stop> {
        let Some(turner) = &self.turner else { return Ok(()) };
        let places: Vec<Place> = wanted.iter().map(|w| w.0.clone()).collect();
        match turner.disturbed(&places, readings).first() {
            None => Ok(()),
            Some(r) => Err(Stop::Failed(format!(
                "somebody else changed {} of {} from {} to {} during a run; that run is not in the table, and the sweep ends so as not to fight over it",
                r.knob, r.device, r.asked, r.found
            ))),
        }
    }

    fn keep(&mut self, cell: usize, block: usize, finished: &[Finished]) -> Result<(), Stop> {
        for one in finished {
            if let Some(signal) = one.signal {
                return Err(Stop::Signal(signal));
            }
            if let Some(failure) = &one.failure {
                return Err(Stop::Failed(format!("with {}: {failure}", self.settings(cell))));
            }
        }
        let runs = finished.iter().filter(|f| f.stored).map(|f| f.run.id.clone()).collect();
        let mut phases: Vec<PhaseFigures> = finished.iter().flat_map(|f| PhaseFigures::of(&f.run)).collect();
        number_twins(&mut phases);
        self.runs.push(Ran { cell, block, runs, phases });
        Ok(())
    }

    /// Puts everything back; what was owed comes back as outcomes.
    pub fn put_back(&mut self) -> Vec<Outcome> {
        // Open directories of ours on the loop device would keep it busy.
        let _ = std::env::set_current_dir(&self.here);
        self.disk = None;
        self.turner.take().map(Turner::put_back).unwrap_or_default()
    }

    /// What came of it.
    pub fn result(self, figure: Figure) -> Sweep {
        let factor = |(varied, before): (Varied, Option<String>)| Factor {
            name: varied.name,
            values: varied.values,
            before,
        };
        let directory = self.measured.parent().unwrap_or(&self.here).display().to_string();
        let mut sweep = Sweep {
            schema: SCHEMA,
            id: self.id,
            workload: self.asked.subject.words(),
            directory,
            started_at: self.started.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            seed: self.asked.seed,
            rounds: self.asked.rounds,
            factors: self.varied.into_iter().zip(self.before).map(factor).collect(),
            cells: self.cells,
            order: self.blocks,
            runs: self.runs,
            figure,
            ended_early: self.ended_early,
            notes: self.notes,
        };
        sweep.tell_origins();
        sweep
    }
}

fn stopped(stop: Stop) -> Ended {
    match stop {
        Stop::Signal(signal) => Ended::Signal(signal),
        Stop::Failed(why) => Ended::Failed(why),
    }
}

fn found(reading: Reading) -> Found {
    Found { knob: reading.knob, device: reading.device, asked: reading.asked, found: reading.found }
}

/// Phases of one name in one run are different ones: "read", "read (2)".
fn number_twins(phases: &mut [PhaseFigures]) {
    for i in (0..phases.len()).rev() {
        let before = phases[..i].iter().filter(|p| p.phase == phases[i].phase).count();
        if before > 0 {
            phases[i].phase = format!("{} ({})", phases[i].phase, before + 1);
        }
    }
}

/// The path, or what there is of it.
fn nearest(path: &Path) -> &Path {
    path.ancestors().find(|p| p.exists()).unwrap_or(Path::new("/"))
}

/// "45 s", "12 min", "3.5 h".
fn words(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// All combinations of levels, the last counting fastest.
fn combinations(counts: &[usize]) -> Vec<Vec<usize>> {
    counts.iter().fold(vec![Vec::new()], |all, &count| {
        all.iter()
            .flat_map(|some| (0..count).map(move |level| [some.as_slice(), &[level]].concat()))
            .collect()
    })
}

/// Shows which cell is running.
struct Live<'b> {
    bar: &'b ProgressBar,
    settings: String,
}

impl Listener for Live<'_> {
    fn begins(&mut self, phase: &fathom_workload::Phase, _repetition: u32) {
        self.bar.set_message(format!("{} ({})", self.settings, phase.name));
        self.bar.tick();
    }
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

    #[test]
    fn phases_of_one_name_are_told_apart() {
        let phase = |name: &str| PhaseFigures { phase: name.into(), ..PhaseFigures::default() };
        let mut phases = vec![phase("read"), phase("write"), phase("read"), phase("read")];
        number_twins(&mut phases);
        let names: Vec<&str> = phases.iter().map(|p| p.phase.as_str()).collect();
        assert_eq!(names, ["read", "write", "read (2)", "read (3)"]);
    }

    #[test]
    fn times_are_short() {
        assert_eq!(words(Duration::from_secs(45)), "45 s");
        assert_eq!(words(Duration::from_secs(720)), "12 min");
        assert_eq!(words(Duration::from_secs(12600)), "3.5 h");
    }
}
