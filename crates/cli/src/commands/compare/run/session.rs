//! A comparison in progress: warm-up, optionally the noise of A against itself, then quads with a look after each,
//! until the result is clear, the quads or the time run out, or a signal arrives. The stage makes the runs;
//! `fathom_report::compared` judges the figures; `look` decides when to stop, `noise` measures the noise of the
//! machine.

mod noise;
mod stopping;

use super::progress::CompareProgress;
use super::request::Request;
use crate::commands::sweep::stage::{StopReason, SweepStage};
use crate::common::Common;
use crate::console;
use crate::exit::Usage;
use crate::mark::Mark;
use fathom_compare::design;
use fathom_observe::knobs::Outcome;
use fathom_record::{Doubt, Run};
use fathom_report::compared::{
    CompareOptions, Compared, ComparedRow, ENDED_EARLY, KEY, Metric, Plan, SessionMark, SessionPart, Side,
};
use std::time::{Duration, Instant};

pub const NOISE_QUADS: usize = 5;
/// Names of the sides in orders and marks.
const LETTERS: [&str; 2] = ["A", "B"];

pub enum CompareEnd {
    /// As planned, or early because the result was clear; the reason in words.
    Complete(String),
    /// This machine is too noisy to detect the requested change; nothing was compared.
    TooNoisy(String),
    Signal(i32),
    Failed(String),
}

impl CompareEnd {
    pub fn words(&self) -> String {
        match self {
            Self::Complete(why) | Self::TooNoisy(why) | Self::Failed(why) => why.clone(),
            Self::Signal(signal) => format!("stopped by signal {signal}"),
        }
    }
}

impl From<StopReason> for CompareEnd {
    fn from(stop: StopReason) -> Self {
        match stop {
            StopReason::Signal(signal) => Self::Signal(signal),
            StopReason::Failed(why) => Self::Failed(why),
        }
    }
}

/// A run's position in the design.
#[derive(Clone, Copy)]
struct QuadRun<'o> {
    part: SessionPart,
    /// The stage's cell: 0 is A, 1 is B.
    cell: usize,
    /// The side the run counts for; both are cell 0 when A is measured against itself.
    side: usize,
    quad: usize,
    place: usize,
    order: &'o str,
}

pub struct CompareSession<'a> {
    pub request: &'a Request,
    common: &'a Common,
    pub stage: SweepStage<'a>,
    asked: CompareOptions,
    /// Order of the sides within each quad of A against itself.
    pub noise_orders: Vec<Vec<usize>>,
    /// The same for the comparison, up to its maximum.
    pub orders: Vec<Vec<usize>>,
    /// Includes the noise once known.
    plan: Plan,
    warm: [Vec<Run>; 2],
    noise: [Vec<Run>; 2],
    quads: [Vec<Run>; 2],
    whole_quads: usize,
    runs_made: u64,
    /// Number of runs stored.
    stored: u64,
    times_run: [u64; 2],
    began: Instant,
    /// Duration of each run, including everything around it.
    took: Vec<Duration>,
}

impl<'a> CompareSession<'a> {
    /// Checks all that can be checked without changing anything.
    pub fn begin(request: &'a Request, asked: CompareOptions, common: &'a Common) -> Result<Self, Usage> {
        let stage = SweepStage::begin(&request.stage, common)?;
        let most = request.plan.stopping.most_quads() as usize;
        let rounds = u32::try_from(2 * (NOISE_QUADS + most)).unwrap_or(u32::MAX);
        // One sequence for both, so that requesting the noise does not change the order of the comparison.
        let mut orders = design::blocks(2, rounds, request.stage.seed);
        let noise_orders = orders.split_off(most);
        let wanted = request.calibrate;
        Ok(Self {
            stage,
            asked,
            common,
            noise_orders: if wanted { noise_orders } else { Vec::new() },
            orders: if request.alone { Vec::new() } else { orders },
            plan: request.plan.clone(),
            request,
            warm: Default::default(),
            noise: Default::default(),
            quads: Default::default(),
            whole_quads: 0,
            runs_made: 0,
            stored: 0,
            times_run: [0; 2],
            began: Instant::now(),
            took: Vec::new(),
        })
    }

    /// Number of cells: 2, or 1 if there is no B.
    pub fn cells(&self) -> usize {
        if self.request.alone { 1 } else { 2 }
    }

    /// Runs everything until the end, whatever ends it.
    pub fn all(&mut self) -> CompareEnd {
        let mut progress = CompareProgress::new(self.most_runs());
        let ended = self.parts(&mut progress);
        progress.finish();
        ended.unwrap_or_else(CompareEnd::from)
    }

    fn parts(&mut self, progress: &mut CompareProgress) -> Result<CompareEnd, StopReason> {
        self.stage.take_over()?;
        self.stage.try_all()?;
        for (cell, letter) in LETTERS.iter().enumerate().take(self.cells()) {
            if let Some(why) = &self.stage.cells[cell].left_out {
                return Err(StopReason::Failed(format!("{letter} cannot be measured: {why}")));
            }
        }
        self.warm_up(progress)?;
        if self.request.calibrate
            && let Some(ended) = self.calibrate(progress)?
        {
            return Ok(ended);
        }
        self.run_quads(progress)
    }

    /// Upper bound of the number of runs.
    pub fn most_runs(&self) -> u64 {
        (self.cells() * self.request.warm_up as usize + 4 * (self.noise_orders.len() + self.orders.len()))
            as u64
    }

    fn warm_up(&mut self, progress: &mut CompareProgress) -> Result<(), StopReason> {
        if self.request.warm_up > 0 {
            progress.part(&format!(
                "warm-up: {} of each side, not counted",
                console::counted(self.request.warm_up.into(), "run")
            ));
        }
        for _ in 0..self.request.warm_up {
            for cell in 0..self.cells() {
                if !self.budget_holds(1) {
                    self.times_run = [0; 2];
                    return Ok(());
                }
                let turn =
                    QuadRun { part: SessionPart::WarmUp, cell, side: cell, quad: 0, place: 0, order: "" };
                let runs = self.turn(turn, progress)?;
                self.warm[cell].extend(runs);
            }
        }
        // Runs that count draw their seeds from the start of the sequence.
        self.times_run = [0; 2];
        self.has_the_figure()
    }

    /// A figure that is missing or rests on too few operations must be reported now, not after hours.
    fn has_the_figure(&self) -> Result<(), StopReason> {
        if self.warm[0].is_empty() || (self.plan.figure.is_none() && self.asked.metrics.is_empty()) {
            return Ok(());
        }
        let all = CompareOptions { metrics: vec![Metric::All], ..self.asked.clone() };
        // Without B, A alone has everything to be compared.
        let other = if self.request.alone { &self.warm[0] } else { &self.warm[1] };
        let found = compared(&self.plan, &[self.warm[0].clone(), other.clone()], &all);
        let has = || {
            let mut names: Vec<&str> = found.rows.iter().map(|r| r.metric.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            names.join(", ")
        };
        let nowhere = |m: &&Metric| !found.rows.iter().any(|r| m.takes(&r.metric));
        if let Some(metric) = self.asked.metrics.iter().find(nowhere) {
            return Err(StopReason::Failed(format!("--metric {}: both sides have {}", metric.word(), has())));
        }
        let Some(word) = &self.plan.figure else { return Ok(()) };
        let watched: Vec<&ComparedRow> = found.rows.iter().filter(|r| self.plan.watches(r)).collect();
        if let Some(row) = watched.iter().find(|r| r.has_too_few()) {
            return Err(StopReason::Failed(format!(
                "--figure {word}: {}: {} Longer runs have more, and a lower percentile needs fewer",
                row.cell, row.sentence
            )));
        }
        if watched.is_empty() {
            return Err(StopReason::Failed(format!("--figure {word}: both sides have {}", has())));
        }
        Ok(())
    }

    /// Quads that fit the plan and the remaining budget.
    fn quads_that_fit(&self) -> u32 {
        let most = u32::try_from(self.plan.stopping.most_quads()).unwrap_or(u32::MAX);
        match (self.request.budget, self.pace()) {
            (Some(budget), Some(pace)) => {
                let left = budget.saturating_sub(self.began.elapsed()).as_secs_f64();
                most.min((left / (4.0 * pace.as_secs_f64()).max(1e-9)) as u32)
            }
            _ if !self.budget_holds(1) => 0,
            _ => most,
        }
    }

    /// Whether the remaining budget is too short for another quad of either kind.
    fn budget_holds_no_quad(&self) -> bool {
        self.request.budget.is_some() && self.quads_that_fit() == 0
    }

    /// Whether N more runs fit the budget. While the duration of a run is unknown, any remaining time is enough.
    fn budget_holds(&self, runs: usize) -> bool {
        self.request.budget.is_none_or(|budget| {
            let left = budget.saturating_sub(self.began.elapsed());
            !left.is_zero() && self.left(runs).is_none_or(|takes| takes <= left)
        })
    }

    fn run_quads(&mut self, progress: &mut CompareProgress) -> Result<CompareEnd, StopReason> {
        let most = self.orders.len();
        for (number, order) in self.orders.clone().iter().enumerate() {
            if self.budget_holds_no_quad() {
                return Ok(CompareEnd::Complete(format!(
                    "--budget has no time left for another quad; {} of at most {most} are done",
                    number
                )));
            }
            let words = letters(order);
            progress.quad(
                "quad",
                number + 1,
                &format!("at most {most}"),
                &words,
                self.left(4 * (most - number)),
            );
            for (place, side) in order.iter().enumerate() {
                // Without a warm-up, the first quad's runs show how long a quad takes.
                if self.request.warm_up == 0 && number == 0 && !self.budget_holds(4 - place) {
                    return Ok(CompareEnd::Complete(
                        "--budget is too short for the first quad: nothing is compared".into(),
                    ));
                }
                let turn = QuadRun {
                    part: SessionPart::Quads,
                    cell: *side,
                    side: *side,
                    quad: number + 1,
                    place: place + 1,
                    order: &words,
                };
                let runs = self.turn(turn, progress)?;
                self.quads[*side].extend(runs);
            }
            self.whole_quads += 1;
            if let Some(why) = self.look(number + 1, progress)? {
                return Ok(CompareEnd::Complete(why));
            }
        }
        Ok(CompareEnd::Complete(format!("all {most} quads are done")))
    }

    fn turn(&mut self, turn: QuadRun<'_>, progress: &mut CompareProgress) -> Result<Vec<Run>, StopReason> {
        let began = Instant::now();
        // If the program draws a seed at every start (SysBench), both sides get the same one, and a different one in
        // the next round.
        let seed = self.request.stage.seed.wrapping_add(self.times_run[turn.side]);
        self.times_run[turn.side] += 1;
        self.runs_made += 1;
        let (number, plan, seed_of_orders) = (self.runs_made, self.plan.clone(), self.request.stage.seed);
        progress.run(LETTERS[turn.side], &self.plan.sides[turn.cell]);
        let finished = self.stage.one(turn.cell, seed, progress, |stage, found| {
            let mark = SessionMark {
                id: stage.id.clone(),
                part: turn.part,
                side: LETTERS[turn.side].into(),
                run: number,
                quad: turn.quad as u64,
                place: turn.place as u64,
                order: turn.order.into(),
                seed: seed_of_orders,
                settings: stage.settings_of(turn.cell).into_iter().collect(),
                read_back: serde_json::to_value(found).unwrap_or_default(),
                plan,
            };
            labelled(&mark)
        })?;
        progress.done();
        self.took.push(began.elapsed());
        self.stored += u64::from(finished.iter().all(|f| f.stored));
        Ok(finished.into_iter().map(|f| f.run).collect())
    }

    /// Duration of a run, from the counted runs once there are any.
    fn pace(&self) -> Option<Duration> {
        let warm = (self.cells() * self.request.warm_up as usize).min(self.took.len());
        let counted = if self.took.len() > warm { &self.took[warm..] } else { &self.took[..] };
        let runs = u32::try_from(counted.len()).ok().filter(|n| *n > 0)?;
        Some(counted.iter().sum::<Duration>() / runs)
    }

    /// Duration of N runs.
    fn left(&self, runs: usize) -> Option<Duration> {
        Some(self.pace()?.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX)))
    }

    /// Marks the last run, here and in the store, to say that the comparison ended before its plan did. A figure that
    /// is not worse so far could still be in the missing quads, now and in any later verdict.
    pub fn note_early_end(&mut self, why: &str) {
        let sides = [&mut self.quads, &mut self.noise].into_iter().flatten().flatten();
        let Some(last) = sides.max_by(|x, y| x.id.cmp(&y.id)) else { return };
        let sentence = format!("The comparison ended before its plan did: {}.", why.trim_end_matches('.'));
        let doubt = Doubt { code: ENDED_EARLY.into(), phases: Vec::new(), sentence };
        if !self.common.no_store && self.stored > 0 {
            let stored = crate::state::store(self.common.store.as_deref())
                .and_then(|mut store| Ok(store.append_doubt(&last.id, &doubt)?));
            if let Err(error) = stored {
                console::warning(&format!(
                    "the early end could not be stored with run {}: {error:#}",
                    last.id
                ));
            }
        }
        last.doubts.push(doubt);
    }

    /// Restores all settings; returns the outcomes of what was left to restore.
    pub fn put_back(&mut self) -> Vec<Outcome> {
        self.stage.put_back()
    }

    /// Both sides as measured so far.
    pub fn compared(&self) -> Compared {
        compared(&self.plan, &self.quads, &self.asked)
    }

    pub fn noise_compared(&self) -> Option<Compared> {
        let whole = !self.noise[0].is_empty() && !self.noise[1].is_empty();
        let itself = format!("{}, again", self.plan.sides[0]);
        let plan = Plan { sides: [self.plan.sides[0].clone(), itself], ..self.plan.clone() };
        whole.then(|| compared(&plan, &self.noise, &self.asked))
    }

    /// Whether a quad is complete; there is nothing to compare before.
    pub fn has_a_quad(&self) -> bool {
        self.whole_quads > 0
    }

    /// Number of runs measured, and of those stored.
    pub fn kept(&self) -> (u64, u64) {
        (self.took.len() as u64, self.stored)
    }
}

fn compared(plan: &Plan, runs: &[Vec<Run>; 2], asked: &CompareOptions) -> Compared {
    let side = |at: usize| Side { name: plan.sides[at].clone(), runs: runs[at].iter().collect() };
    Compared::of(&side(0), &side(1), asked)
}

/// The label, and the entry in the environment.
fn labelled(mark: &SessionMark) -> Mark {
    let label = match mark.part {
        SessionPart::WarmUp => format!("compare {} warm-up {}", mark.id, mark.side),
        SessionPart::Noise => format!("compare {} noise {}", mark.id, mark.side),
        SessionPart::Quads => {
            let at = usize::from(mark.side != LETTERS[0]);
            format!("compare {} {}: {}", mark.id, mark.side, mark.plan.sides[at])
        }
    };
    Mark { label, key: KEY, value: serde_json::to_value(mark).unwrap_or_default(), spoils: None }
}

/// "ABBA".
pub fn letters(order: &[usize]) -> String {
    order.iter().map(|side| LETTERS[*side]).collect()
}

#[cfg(test)]
mod tests;
