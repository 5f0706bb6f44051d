//! A sweep in progress: which cell runs when, until the plan or the time is used up, and the results. The stage
//! measures each cell.

use super::stage::{StopReason, SweepStage};
use super::{Factor, Sweep, SweepFigure, SweepRequest};
use crate::common::{ColdReach, Common};
use crate::console;
use crate::exit::Usage;
use crate::mark::Mark;
use crate::run_loop::{Finished, Listener};
use fathom_observe::knobs::Outcome;
use fathom_report::sweep::{KernelValue, PhaseFigures, Ran, SCHEMA, SweepCell};
use indicatif::ProgressBar;
use std::io::IsTerminal as _;
use std::time::Instant;

pub enum SweepEnd {
    Complete,
    /// The budget is too short for another round.
    OutOfTime(String),
    Signal(i32),
    /// With the error in a sentence.
    Failed(String),
}

pub struct SweepSession<'a> {
    pub asked: &'a SweepRequest,
    pub stage: SweepStage<'a>,
    pub blocks: Vec<Vec<usize>>,
    runs: Vec<Ran>,
    ended_early: Option<String>,
    began: Instant,
}

impl<'a> SweepSession<'a> {
    /// Checks all that can be checked without changing anything.
    pub fn begin(asked: &'a SweepRequest, common: &'a Common) -> Result<Self, Usage> {
        let stage = SweepStage::begin(&asked.stage, common)?;
        let blocks = fathom_compare::design::blocks(stage.cells.len(), asked.rounds, asked.stage.seed);
        Ok(Self { asked, stage, blocks, runs: Vec::new(), ended_early: None, began: Instant::now() })
    }

    /// Runs the sweep until it is complete or ends early, and records why it ended early.
    pub fn all(&mut self) -> SweepEnd {
        let ended = match self.stage.take_over().and_then(|()| self.stage.try_all()) {
            Ok(()) => self.run_blocks(),
            Err(stop) => stopped(stop),
        };
        self.ended_early = match &ended {
            SweepEnd::Complete => None,
            SweepEnd::OutOfTime(why) | SweepEnd::Failed(why) => Some(why.clone()),
            SweepEnd::Signal(signal) => Some(format!("signal {signal}")),
        };
        ended
    }

    fn run_blocks(&mut self) -> SweepEnd {
        let runnable = |cells: &[SweepCell], block: &[usize]| -> Vec<usize> {
            block.iter().copied().filter(|c| cells[*c].left_out.is_none()).collect()
        };
        let planned: usize = self.blocks.iter().map(|b| runnable(&self.stage.cells, b).len()).sum();
        let bar = console::progress(planned as u64);
        let mut times_run = vec![0u64; self.stage.cells.len()];
        let measuring = Instant::now();
        for (number, block) in self.blocks.clone().iter().enumerate() {
            let block = runnable(&self.stage.cells, block);
            if let Some(why) = self.does_not_fit(measuring, block.len()) {
                bar.finish_and_clear();
                return SweepEnd::OutOfTime(why);
            }
            for cell in block {
                if self.asked.budget.is_some_and(|b| self.began.elapsed() >= b) {
                    bar.finish_and_clear();
                    return SweepEnd::OutOfTime("the time of --budget is used up".into());
                }
                self.tell(&bar, planned, measuring, cell);
                // If the program draws a seed at every start (SysBench), all cells of a round get the same one, and the
                // next round another.
                let seed = self.asked.stage.seed.wrapping_add(times_run[cell]);
                times_run[cell] += 1;
                let outcome = self.one(cell, number, seed, &bar);
                bar.inc(1);
                if let Err(stop) = outcome {
                    bar.finish_and_clear();
                    return stopped(stop);
                }
            }
        }
        bar.finish_and_clear();
        SweepEnd::Complete
    }

    /// Says why the budget is too short for N more runs at the pace so far, if it is.
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
                console::duration(more)
            )
        })
    }

    fn tell(&self, bar: &ProgressBar, planned: usize, measuring: Instant, cell: usize) {
        let settings = self.stage.settings(cell);
        console::tell(bar, &settings);
        bar.tick();
        if !std::io::stderr().is_terminal() {
            let done = self.runs.len();
            let left = (done > 0).then(|| measuring.elapsed().mul_f64((planned - done) as f64 / done as f64));
            let left = left.map_or(String::new(), |t| format!(", about {} left", console::duration(t)));
            console::note(&format!("run {} of {planned}: {settings}{left}", done + 1));
        }
    }

    fn one(&mut self, cell: usize, block: usize, seed: u64, bar: &ProgressBar) -> Result<(), StopReason> {
        let mut live = LiveCell { bar, settings: self.stage.settings(cell) };
        let (number, cold) = (self.runs.len() + 1, self.asked.stage.cold);
        let finished = self
            .stage
            .one(cell, seed, &mut live, |stage, found| mark(stage, (cell, block, number), found, cold))?;
        self.keep(cell, block, &finished);
        Ok(())
    }

    fn keep(&mut self, cell: usize, block: usize, finished: &[Finished]) {
        let runs = finished.iter().filter(|f| f.stored).map(|f| f.run.id.clone()).collect();
        let phases = PhaseFigures::of_all(finished.iter().map(|f| &f.run));
        self.runs.push(Ran { cell, block, runs, phases });
    }

    /// Restores all settings; returns the outcomes of what was left to restore.
    pub fn put_back(&mut self) -> Vec<Outcome> {
        self.stage.put_back()
    }

    pub fn result(self, figure: SweepFigure) -> Sweep {
        let Self { asked, stage, blocks, runs, ended_early, .. } = self;
        let directory = stage.measured.parent().unwrap_or(&stage.here).display().to_string();
        let factors = stage.varied.into_iter().zip(stage.before);
        let mut sweep = Sweep {
            schema: SCHEMA,
            id: stage.id,
            workload: asked.stage.words(),
            directory,
            started_at: stage.started.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            seed: asked.stage.seed,
            rounds: asked.rounds,
            factors: factors.map(|(v, before)| Factor { name: v.name, values: v.values, before }).collect(),
            cells: stage.cells,
            order: blocks,
            runs,
            figure,
            ended_early,
            notes: stage.notes,
        };
        sweep.tell_origins();
        sweep
    }
}

/// The mark of a stored run: numbers of its cell, block and run.
fn mark(
    stage: &SweepStage<'_>,
    (cell, block, number): (usize, usize, usize),
    found: &[KernelValue],
    cold: Option<ColdReach>,
) -> Mark {
    let settings: serde_json::Map<String, serde_json::Value> =
        stage.settings_of(cell).into_iter().map(|(name, value)| (name, value.into())).collect();
    let value = serde_json::json!({
        "id": stage.id,
        "run": number,
        "block": block + 1,
        "seed": stage.asked.seed,
        "settings": settings,
        "factors": stage.factors(),
        "read_back": found,
        "cold": cold.map(|reach| if reach == ColdReach::Files { "files" } else { "machine" }),
    });
    Mark { label: format!("sweep {}: {}", stage.id, stage.settings(cell)), key: "sweep", value, spoils: None }
}

fn stopped(stop: StopReason) -> SweepEnd {
    match stop {
        StopReason::Signal(signal) => SweepEnd::Signal(signal),
        StopReason::Failed(why) => SweepEnd::Failed(why),
    }
}

/// Shows the current cell.
struct LiveCell<'b> {
    bar: &'b ProgressBar,
    settings: String,
}

impl Listener for LiveCell<'_> {
    fn begins(&mut self, phase: &fathom_workload::Phase, _repetition: u32) {
        console::tell(self.bar, &format!("{} ({})", self.settings, phase.name));
        self.bar.tick();
    }
}
