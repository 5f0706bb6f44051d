//! `fathom sim sweep`: a workload or a trace under every combination of model inputs, on all processors at once. Their
//! number does not change a figure: every combination is simulated separately, and results are stored in plan order
//! (`keeper`). `plan` lists the simulations. Tables, page and marks on stored runs are those of a real sweep.

mod plan;
mod results;

use super::line::SweepSimulated;
use super::{SEED, one, replay, stack_of};
use crate::commands::document;
use crate::commands::sweep::{check_output, figure};
use crate::common::Common;
use crate::exit;
use crate::{console, state};
use fathom_engine::interrupted_by;
use fathom_record::Run;
use fathom_record::store::new_run_id;
use fathom_report::documents;
use fathom_report::sweep::{self as report, Factor, PhaseFigures, SCHEMA, Sweep, SweepCell};
use plan::{PlannedSimulation, SimSweepPlan, SimulatedSubject};
use results::Results;
use std::process::ExitCode;

pub fn run(o: &SweepSimulated, common: &Common) -> anyhow::Result<ExitCode> {
    if let Some(output) = &o.run.output {
        check_output(output)?;
    }
    let plan = SimSweepPlan::read(o)?;
    plan.notes.iter().for_each(|note| console::note(note));
    let started = fathom_observe::local_time::now();
    fathom_engine::watch_signals();
    let sweep = Sweep {
        schema: SCHEMA,
        id: new_run_id(started.timestamp(), std::process::id()),
        workload: plan.what.words(o),
        directory: report::SIMULATED.into(),
        started_at: crate::run_loop::rfc3339(&started),
        seed: SEED,
        rounds: o.rounds,
        factors: plan
            .varied
            .iter()
            .map(|v| Factor { name: v.name.clone(), values: v.values.clone(), before: None })
            .collect(),
        cells: plan
            .cells
            .iter()
            .map(|levels| SweepCell { levels: levels.clone(), ..SweepCell::default() })
            .collect(),
        order: plan.order.clone(),
        runs: Vec::new(),
        figure: figure(o.figure),
        ended_early: None,
        notes: vec![
            "All of this is simulated: nothing was measured. Differences below a model's error mean nothing."
                .into(),
        ],
    };
    let store = if common.no_store { None } else { Some(state::store(common.store.as_deref())?) };
    let results = Results::new(&plan, sweep, store, started);
    simulate_all(o, &plan, &results);
    let mut sweep = results.finish()?;
    sweep.ended_early = interrupted_by().map(|signal| format!("signal {signal}"));
    sweep.tell_origins();
    conclude(o, common, &sweep)
}

/// Simulates all, as many at once as requested.
fn simulate_all(o: &SweepSimulated, plan: &SimSweepPlan, results: &Results<'_>) {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = o.jobs.map_or(all, |n| n.get()).min(plan.turns.len()).max(1);
    let bar = console::progress(plan.turns.len() as u64);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((number, turn)) = results.next() {
                    let outcome = turn_of(o, &plan.what, turn).map_err(|e| format!("{e:#}"));
                    // A simulation cut off by a signal does not count.
                    if outcome.is_err() && interrupted_by().is_some() {
                        break;
                    }
                    results.put(
                        number,
                        outcome.map(|runs| {
                            let figures = PhaseFigures::of_all(&runs);
                            (runs, figures)
                        }),
                    );
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
}

fn turn_of(
    o: &SweepSimulated,
    what: &SimulatedSubject,
    turn: &PlannedSimulation,
) -> anyhow::Result<Vec<Run>> {
    let SimulatedSubject::Workloads(subject) = what else {
        return Ok(vec![replay::one(&o.replay_of(turn), &turn.machine)?]);
    };
    let place = (&*turn.machine, stack_of(&turn.options)?);
    let runs = turn.workloads.iter().map(|workload| one(&turn.options, subject, workload, place));
    runs.map(|done| done.map(|(run, _)| run)).collect()
}

fn conclude(o: &SweepSimulated, common: &Common, sweep: &Sweep) -> anyhow::Result<ExitCode> {
    if o.run.json {
        console::out(&(serde_json::to_string_pretty(sweep)? + "\n"));
    } else {
        console::out(&report::summary(sweep));
    }
    if let Some(output) = &o.run.output {
        document::write(&documents::sweep(sweep), output, false)?;
    }
    if !common.no_store && !sweep.runs.is_empty() {
        console::note(&format!(
            "every run is stored with the label \"sweep {}\"; `fathom compare --sweep {}` compares them",
            sweep.id, sweep.id
        ));
    }
    if let Some(signal) = interrupted_by() {
        console::warning(&format!("stopped by signal {signal}; the results until then are above"));
        return Ok(ExitCode::from(exit::of_signal(signal)));
    }
    let refused = sweep.cells.iter().find_map(|c| c.left_out.as_ref());
    Ok(ExitCode::from(match refused {
        Some(why) if sweep.runs.is_empty() => {
            console::error(why);
            exit::USAGE
        }
        Some(_) => exit::FAILED,
        None => exit::DONE,
    }))
}
