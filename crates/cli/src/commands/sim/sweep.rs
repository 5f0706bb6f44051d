//! `fathom sim sweep`: one workload under every combination of hosts, devices, schedulers and settings, simulated on all cores at once. What
//! comes out is what `fathom sweep` makes of real runs: the same tables, the same marks on the stored runs, so that `fathom compare
//! --sweep` judges them. Cells do not disturb each other here; rounds differ by their seeds only.

use super::line::SweepSimulated;
use super::{RunSimulated, SEED, device_of, host_of, one, place_of, stack_of, values};
use crate::commands::sweep::stage::combinations;
use crate::commands::sweep::subject::Subject;
use crate::commands::sweep::vary::{self, Of, Varied};
use crate::commands::sweep::{check_page, figure};
use crate::exit::{self, Usage};
use crate::line::Common;
use crate::mark::Mark;
use crate::{console, state};
use anyhow::Context as _;
use fathom_engine::interrupted_by;
use fathom_iopath::{elevator, readahead};
use fathom_record::Run;
use fathom_record::store::new_run_id;
use fathom_report::sweep::{self as report, Cell, Factor, PhaseFigures, Ran, SCHEMA, Sweep};
use fathom_workload::{Seed, Workload};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a simulation follows from, beside the workload.
const MODEL: [&str; 6] = ["host", "device", "scheduler", "readahead", "limits", "stack"];
/// More runs than this are a slip of the keyboard.
const MOST_RUNS: usize = 100_000;

/// One simulation of the plan.
struct Turn {
    cell: usize,
    block: usize,
    options: RunSimulated,
    workloads: Vec<Workload>,
}

pub fn run(o: &SweepSimulated, common: &Common) -> anyhow::Result<ExitCode> {
    if let Some(output) = &o.run.output {
        check_page(output)?;
    }
    let subject = Subject::read(&o.run.words()?)?;
    let varied = varied(o, &subject)?;
    let counts: Vec<usize> = varied.iter().map(|v| v.values.len()).collect();
    let cells: Vec<Vec<usize>> = combinations(&counts);
    if o.rounds == 0 || cells.len().saturating_mul(o.rounds as usize) > MOST_RUNS {
        return Err(Usage(format!("--rounds {}: 1 to {MOST_RUNS} runs are expected", o.rounds)).into());
    }
    let order = fathom_compare::design::blocks(cells.len(), o.rounds, SEED);
    let turns = turns(o, &subject, &varied, (&cells, &order))?;
    let started = jiff::Zoned::now();
    fathom_engine::watch_signals();
    let outcomes = simulated(o, &subject, &turns);
    let mut sweep = Sweep {
        schema: SCHEMA,
        id: new_run_id(started.timestamp(), std::process::id()),
        workload: subject.words(),
        directory: fathom_report::sweep::SIMULATED.into(),
        started_at: crate::run_loop::rfc3339(&started),
        seed: SEED,
        rounds: o.rounds,
        factors: varied
            .iter()
            .map(|v| Factor { name: v.name.clone(), values: v.values.clone(), before: None })
            .collect(),
        cells: cells.into_iter().map(|levels| Cell { levels, ..Cell::default() }).collect(),
        order,
        runs: Vec::new(),
        figure: figure(o.figure),
        ended_early: interrupted_by().map(|signal| format!("signal {signal}")),
        notes: notes(&turns)?,
    };
    keep(&mut sweep, common, (&turns, outcomes), &started)?;
    sweep.tell_origins();
    conclude(o, common, &sweep)
}

/// That it is simulated, and what each host with its device rests on.
fn notes(turns: &[Turn]) -> anyhow::Result<Vec<String>> {
    let mut notes = vec![
        "All of this is simulated: nothing was measured. Differences below a model's error cannot be told."
            .to_owned(),
    ];
    for turn in turns {
        let (host, device) = (&turn.options.host, &turn.options.device);
        let sentence = super::rests_on(&host_of(host)?, &device_of(device)?).sentence();
        let note = format!("{host} with {device}: {sentence}");
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(notes)
}

fn varied(o: &SweepSimulated, subject: &Subject) -> Result<Vec<Varied>, Usage> {
    let varied = vary::read_with(&MODEL, &o.vary, std::slice::from_ref(subject))?;
    match varied.iter().find(|v| !matches!(v.of, Of::Model | Of::Workload | Of::Argument)) {
        None => Ok(varied),
        Some(v) => Err(Usage(format!(
            "--vary {}=...: that is turned on a real machine (fathom sweep). A simulation has {}, and the settings of the workload",
            v.name,
            MODEL.join(", ")
        ))),
    }
}

/// Everything that will be simulated, checked as far as that goes without simulating it: a slip in the last cell is told first.
fn turns(
    o: &SweepSimulated,
    subject: &Subject,
    varied: &[Varied],
    (cells, order): (&[Vec<usize>], &[Vec<usize>]),
) -> Result<Vec<Turn>, anyhow::Error> {
    let mut turns = Vec::new();
    let mut times = vec![0u64; cells.len()];
    for (block, members) in order.iter().enumerate() {
        for &cell in members {
            let mut options = o.run.clone();
            let (mut arguments, mut settings) = (Vec::new(), Vec::new());
            for (v, level) in varied.iter().zip(&cells[cell]) {
                let value = v.values[*level].clone();
                match v.of {
                    Of::Argument => arguments.push((v.name.clone(), value)),
                    Of::Workload => settings.push((v.name.clone(), value)),
                    _ => put(&mut options, &v.name, value),
                }
            }
            // The same operations in all cells of a round, others in the next.
            let round = times[cell];
            times[cell] += 1;
            let seed = options.seed.unwrap_or(SEED).wrapping_add(round);
            let place = place_of(&host_of(&options.host)?);
            let mut workloads = subject.plan_on(place, &arguments, &settings, seed)?.workloads()?;
            if o.run.seed.is_some() || round > 0 {
                workloads.iter_mut().for_each(|w| w.seed = Seed(seed));
            }
            if round == 0 {
                check(&options)?;
            }
            turns.push(Turn { cell, block, options, workloads });
        }
    }
    Ok(turns)
}

fn put(options: &mut RunSimulated, name: &str, value: String) {
    match name {
        "host" => options.host = value,
        "device" => options.device = value,
        "scheduler" => options.scheduler = value,
        "readahead" => options.readahead = value,
        "limits" => options.limits = Some(value),
        _ => options.stack = value,
    }
}

/// Whether all names are known.
fn check(options: &RunSimulated) -> anyhow::Result<()> {
    let (host, device) = (host_of(&options.host)?, device_of(&options.device)?);
    super::limits(options.limits.as_deref(), &host, &device)?;
    stack_of(options)?;
    elevator::by_name(&options.scheduler)
        .map_err(|e| Usage(format!("scheduler {}: {e}", options.scheduler)))?;
    readahead::by_name(&options.readahead)
        .map_err(|e| Usage(format!("readahead {}: {e}", options.readahead)))?;
    Ok(())
}

/// What became of each turn: `None` of those that a signal kept from beginning.
type Outcomes = Vec<Option<Result<Vec<Run>, String>>>;

/// Simulates all of them, as many at once as was asked for.
fn simulated(o: &SweepSimulated, subject: &Subject, turns: &[Turn]) -> Outcomes {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = o.jobs.map_or(all, |n| n.get()).min(turns.len()).max(1);
    let bar = console::progress(turns.len() as u64);
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Outcomes> = Mutex::new(turns.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while interrupted_by().is_none() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(turn) = turns.get(number) else { break };
                    let outcome = turn_of(subject, turn).map_err(|e| format!("{e:#}"));
                    // What a signal cut off has not been simulated.
                    if outcome.is_err() && interrupted_by().is_some() {
                        break;
                    }
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(outcome);
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    outcomes.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn turn_of(subject: &Subject, turn: &Turn) -> anyhow::Result<Vec<Run>> {
    let o = &turn.options;
    let (host, device) = (host_of(&o.host)?, device_of(&o.device)?);
    let values = values(&host, &device);
    let place = (&host, &device, stack_of(o)?);
    turn.workloads.iter().map(|workload| one(o, subject, workload, place, values)).collect()
}

/// Numbers the runs, writes on them where they belong, and stores them, in the order of the plan.
fn keep(
    sweep: &mut Sweep,
    common: &Common,
    (turns, outcomes): (&[Turn], Outcomes),
    started: &jiff::Zoned,
) -> anyhow::Result<()> {
    let mut store = if common.no_store { None } else { Some(state::store(common.store.as_deref())?) };
    let mut ids = 0;
    for (number, (turn, outcome)) in turns.iter().zip(outcomes).enumerate() {
        let mut runs = match outcome {
            None => continue,
            Some(Ok(runs)) => runs,
            Some(Err(why)) => {
                sweep.cells[turn.cell].left_out.get_or_insert(why);
                continue;
            }
        };
        for run in &mut runs {
            // A millisecond apart: ids tell the order.
            ids += 1;
            let at = started.timestamp() + jiff::SignedDuration::from_millis(ids);
            run.id = new_run_id(at, std::process::id());
            mark(sweep, turn, number + 1).put_on(run);
            if let Some(store) = &mut store {
                store.save(run)?;
            }
        }
        let kept = if store.is_some() { runs.iter().map(|r| r.id.clone()).collect() } else { Vec::new() };
        let phases = PhaseFigures::of_all(&runs);
        sweep.runs.push(Ran { cell: turn.cell, block: turn.block, runs: kept, phases });
    }
    Ok(())
}

fn mark(sweep: &Sweep, turn: &Turn, number: usize) -> Mark {
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

fn conclude(o: &SweepSimulated, common: &Common, sweep: &Sweep) -> anyhow::Result<ExitCode> {
    if o.run.json {
        console::out(&(serde_json::to_string_pretty(sweep)? + "\n"));
    } else {
        console::out(&report::summary(sweep));
    }
    if let Some(output) = &o.run.output {
        std::fs::write(output, report::page(sweep))
            .with_context(|| format!("cannot write {}", output.display()))?;
        console::note(&format!("wrote {}", output.display()));
    }
    if !common.no_store && !sweep.runs.is_empty() {
        console::note(&format!(
            "every run is stored with the label \"sweep {}\"; `fathom compare --sweep {}` compares them",
            sweep.id, sweep.id
        ));
    }
    if let Some(signal) = interrupted_by() {
        console::warning(&format!("stopped by signal {signal}; what was simulated until then is above"));
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
