//! Takes the results of simulations: they finish in any order and are stored in plan order as soon as all before them
//! are, so that an interrupted sweep keeps what was done. Target a stored run only the table figures stay in memory; few
//! wait for an earlier one.

use super::plan::{PlannedSimulation, SimSweepPlan};
use crate::mark::Mark;
use fathom_engine::interrupted_by;
use fathom_record::Run;
use fathom_record::store::{Store, new_run_id};
use fathom_report::sweep::{PhaseFigures, Ran, Sweep};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Result of a turn, or its error.
pub type SimulationResult = Result<(Vec<Run>, Vec<PhaseFigures>), String>;

/// Turns that may start beyond the first unfinished one.
const AHEAD: usize = 64;

pub struct Results<'a> {
    plan: &'a SimSweepPlan,
    state: Mutex<SweepState>,
    moved: Condvar,
}

struct SweepState {
    store: Option<Store>,
    sweep: Sweep,
    started: jiff::Zoned,
    /// The next turn to start, and the next to store.
    begun: usize,
    kept: usize,
    waiting: BTreeMap<usize, SimulationResult>,
    ids: i64,
    failed: Option<anyhow::Error>,
}

impl<'a> Results<'a> {
    pub fn new(plan: &'a SimSweepPlan, sweep: Sweep, store: Option<Store>, started: jiff::Zoned) -> Self {
        let state = SweepState {
            store,
            sweep,
            started,
            begun: 0,
            kept: 0,
            waiting: BTreeMap::new(),
            ids: 0,
            failed: None,
        };
        Self { plan, state: Mutex::new(state), moved: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, SweepState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next turn with its number; `None` if there is none, or the sweep is to stop.
    pub fn next(&self) -> Option<(usize, &'a PlannedSimulation)> {
        let mut state = self.lock();
        loop {
            if interrupted_by().is_some() || state.failed.is_some() {
                return None;
            }
            let number = state.begun;
            let turn = self.plan.turns.get(number)?;
            if number < state.kept + AHEAD {
                state.begun += 1;
                return Some((number, turn));
            }
            // With a timeout: a signal does not wake the thread.
            let waited = self.moved.wait_timeout(state, Duration::from_millis(50));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn put(&self, number: usize, outcome: SimulationResult) {
        let mut state = self.lock();
        state.waiting.insert(number, outcome);
        loop {
            let next = state.kept;
            let Some(outcome) = state.waiting.remove(&next) else { break };
            state.keep(self.plan, next, outcome);
            state.kept += 1;
        }
        drop(state);
        self.moved.notify_all();
    }

    /// The sweep with all results; after a signal, also those stuck behind unfinished ones.
    pub fn finish(self) -> anyhow::Result<Sweep> {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (number, outcome) in std::mem::take(&mut state.waiting) {
            state.keep(self.plan, number, outcome);
        }
        match state.failed {
            Some(error) => Err(error),
            None => Ok(state.sweep),
        }
    }
}

impl SweepState {
    /// Notes once what a host and a device are based on.
    fn note(&mut self, turn: &PlannedSimulation, run: &Run) {
        let Some(simulation) = &run.simulation else { return };
        let (host, device) = (&turn.options.host, &turn.options.device);
        let mut rests_on = simulation.rests_on.clone();
        // Figures of single runs would give a note each.
        rests_on
            .instead
            .iter_mut()
            .for_each(|words| words.truncate(words.find(" (here").unwrap_or(words.len())));
        let note = format!("{host} with {device}: {}", rests_on.sentence());
        if !self.sweep.notes.contains(&note) {
            self.sweep.notes.push(note);
        }
    }

    /// Numbers, marks and stores the runs.
    fn keep(&mut self, plan: &SimSweepPlan, number: usize, outcome: SimulationResult) {
        let turn = &plan.turns[number];
        let (mut runs, phases) = match outcome {
            Ok(done) => done,
            Err(why) => {
                self.sweep.cells[turn.cell].left_out.get_or_insert(why);
                return;
            }
        };
        for run in &mut runs {
            self.note(turn, run);
            // Ids begin with the time. A millisecond between runs keeps the ids in the order of the runs.
            self.ids += 1;
            let at = self.started.timestamp() + jiff::SignedDuration::from_millis(self.ids);
            run.id = new_run_id(at, std::process::id());
            mark(&self.sweep, turn, number + 1).apply(run);
            if let Some(store) = self.store.as_mut().filter(|_| self.failed.is_none())
                && let Err(error) = store.save(run)
            {
                self.failed = Some(error.into());
            }
        }
        let kept =
            if self.store.is_some() { runs.iter().map(|r| r.id.clone()).collect() } else { Vec::new() };
        self.sweep.runs.push(Ran { cell: turn.cell, block: turn.block, runs: kept, phases });
    }
}

fn mark(sweep: &Sweep, turn: &PlannedSimulation, number: usize) -> Mark {
    let levels = sweep.factors.iter().zip(&sweep.cells[turn.cell].levels);
    let settings: serde_json::Map<String, serde_json::Value> =
        levels.map(|(f, level)| (f.name.clone(), f.values[*level].clone().into())).collect();
    let factors: Vec<serde_json::Value> =
        sweep.factors.iter().map(|f| serde_json::json!({"name": f.name, "values": f.values})).collect();
    let value = serde_json::json!({
        "id": sweep.id, "run": number, "block": turn.block + 1, "seed": sweep.seed, "settings": settings, "factors": factors,
    });
    let label = format!("sweep {}: {}", sweep.id, sweep.settings(turn.cell, true));
    Mark { label, key: "sweep", value, spoils: None }
}
