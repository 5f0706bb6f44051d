//! Executes the steps of a plan in order.

use super::results::{self, Printer};
use super::session::SessionLog;
use super::{FAILED, directory, world};
use crate::common::Common;
use crate::run_loop::{self, Failure, Finished, Head};
use crate::{console, exit};
use fathom_dialects::filebench::output;
use fathom_dialects::filebench::plan::{Create, Format, Plan, Run, Step};
use fathom_engine::{Engine, EngineError, interrupted_by};
use fathom_workload::Action;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// How the program was invoked.
pub struct Call<'a> {
    pub name: &'a str,
    pub argv: Vec<String>,
    pub common: &'a Common,
    pub format: Format,
}

pub struct Ended {
    pub runs: Vec<Finished>,
    /// Whether all steps were executed.
    pub whole: bool,
    pub code: ExitCode,
}

/// Why the remaining steps are skipped.
enum SkipReason {
    Engine(EngineError),
    Signal(i32),
    /// Already reported.
    Told,
}

pub fn all(plan: &Plan, engine: &mut Engine, log: SessionLog, call: &Call) -> Ended {
    let mut runs = Vec::new();
    if let Some(danger) = world::endangered(plan, engine.ledger()) {
        console::error(&danger);
        return Ended { runs, whole: false, code: ExitCode::from(FAILED) };
    }
    let mut log = log;
    let mut last = None;
    let mut outcome = Ok(());
    for step in &plan.steps {
        outcome = one(step, engine, &mut log, call, &mut runs, &mut last);
        if outcome.is_ok() {
            outcome = interrupted_by().map_or(Ok(()), |signal| Err(SkipReason::Signal(signal)));
        }
        if outcome.is_err() {
            break;
        }
    }
    // Files stay, as in the original; those of an interrupted creation are removed.
    if outcome.is_ok() {
        for create in plan.creations() {
            if let Err(e) = engine.keep(&create.workload) {
                console::warning(&format!("files that were to be kept are removed: {e}"));
            }
        }
    }
    for path in engine.clean_up() {
        console::warning(&format!(
            "{} could not be removed; the next run of fathom will try again",
            path.display()
        ));
    }
    let whole = outcome.is_ok();
    let code = match outcome {
        Ok(()) => exit::DONE,
        Err(SkipReason::Told) => FAILED,
        Err(SkipReason::Engine(error)) => {
            console::error(&results::advised(&error));
            FAILED
        }
        Err(SkipReason::Signal(signal)) => {
            if runs.is_empty() {
                log.line("Aborting...");
            }
            exit::of_signal(signal)
        }
    };
    Ended { runs, whole, code: ExitCode::from(code) }
}

fn one(
    step: &Step,
    engine: &mut Engine,
    log: &mut SessionLog,
    call: &Call,
    runs: &mut Vec<Finished>,
    last: &mut Option<output::Figures>,
) -> Result<(), SkipReason> {
    match step {
        Step::Log(line) => log.line(line),
        Step::Line(line) => log.always(line),
        Step::Debug(level) => log.set_debug(*level),
        Step::System(command) => system(command),
        Step::Sleep { seconds, before, after } => {
            log.line(before);
            sleep(Duration::from_secs(*seconds));
            if interrupted_by().is_none() {
                log.line(after);
            }
        }
        Step::Create(step) => create(step, engine, log).map_err(SkipReason::Engine)?,
        Step::Dump(path) => dump(path, last.as_ref(), engine)?,
        Step::Run(step) => {
            let finished = run(step, engine, log, call, last).map_err(SkipReason::Engine)?;
            let signal = finished.signal;
            let failed = finished.failure.is_some();
            runs.push(finished);
            if let Some(signal) = signal {
                return Err(SkipReason::Signal(signal));
            }
            if failed {
                return Err(SkipReason::Told);
            }
        }
    }
    Ok(())
}

/// Runs a command of the user's script. Its exit code is ignored, as in the original.
fn system(command: &str) {
    if let Err(e) = Command::new("/bin/sh").arg("-c").arg(command).status() {
        console::warning(&format!("system {command:?} could not be started: {e}"));
    }
}

/// Sleeps unless a signal arrives.
fn sleep(time: Duration) {
    let end = Instant::now() + time;
    while interrupted_by().is_none() && Instant::now() < end {
        std::thread::sleep((end - Instant::now()).min(Duration::from_millis(50)));
    }
}

/// Names the directories that are made for the file sets: a mistyped one may be on another disk.
fn tell_new_directories(step: &Create) {
    let mut noted = BTreeSet::new();
    for above in step.sets.iter().filter_map(|set| set.root.parent()) {
        if above.try_exists().is_ok_and(|exists| !exists) && noted.insert(above) {
            let nearest = directory(std::iter::once(above.to_path_buf()));
            console::note(&format!("{} does not exist: making it in {}", above.display(), nearest.display()));
        }
    }
}

fn create(step: &Create, engine: &mut Engine, log: &SessionLog) -> Result<(), EngineError> {
    log.line("Populating and pre-allocating filesets");
    tell_new_directories(step);
    let bar = console::progress(step.sets.len() as u64);
    let progress_bar = bar.clone();
    engine.on_progress(move |p| {
        let mebibytes = p.bytes >> 20;
        console::tell(
            &progress_bar,
            &format!("{}: {} of {}, {mebibytes} MiB written", p.set, p.done, p.total),
        );
        progress_bar.tick();
    });
    for set in &step.sets {
        let exists = set.root.symlink_metadata().is_ok();
        for line in set.lines(exists) {
            bar.suspend(|| log.line(&line));
        }
        if interrupted_by().is_some() {
            break;
        }
        engine.act(&step.workload, &Action::Prepare(set.name.clone()))?;
        if set.evict {
            engine.act(&step.workload, &Action::Evict(set.name.clone()))?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if interrupted_by().is_none() {
        log.line("Waiting for pre-allocation to finish (in case of a parallel pre-allocation)");
        log.line("Population and pre-allocation of filesets completed");
    }
    Ok(())
}

fn run(
    step: &Run,
    engine: &mut Engine,
    log: &SessionLog,
    call: &Call,
    last: &mut Option<output::Figures>,
) -> Result<Finished, EngineError> {
    for line in &step.starting {
        log.line(line);
    }
    let roots = step.workload.filesets.iter().filter_map(|s| match &s.files {
        fathom_workload::Files::Tree(tree) => Some(tree.root.clone()),
        files => files.path(0),
    });
    let label = Path::new(call.name)
        .file_stem()
        .map_or_else(|| "script".into(), |n| n.to_string_lossy().into_owned());
    let head = Head {
        label,
        dialect: "filebench".into(),
        argv: call.argv.clone(),
        directory: directory(roots),
        started: fathom_observe::local_time::now(),
    };
    let mut printer = Printer::new(step, log, call.format);
    let finished = run_loop::execute(engine, &step.workload, head, call.common, &mut printer)?;
    *last = printer.conclude(&finished);
    if let Some(Failure::Engine(e)) = &finished.failure {
        console::error(&results::advised(e));
    }
    Ok(finished)
}

/// Writes the figures, but never over a file that fathom did not make.
fn dump(path: &Path, figures: Option<&output::Figures>, engine: &mut Engine) -> Result<(), SkipReason> {
    let Some(figures) = figures else { return Ok(()) };
    let mut how = File::options();
    how.write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let is_there = path.symlink_metadata().is_ok();
    // Checked after opening: the directory's owner may replace the file at any time.
    let opened = if is_there { how.open(path) } else { how.create_new(true).open(path) };
    if is_there && !opened.as_ref().is_ok_and(|file| engine.ledger().owns_open(path, file.as_fd())) {
        console::error(&format!(
            "stats dump {0}: the file exists and was not made by fathom; it is left as it is. Remove it, or dump into another",
            path.display()
        ));
        return Err(SkipReason::Told);
    }
    let written = opened.and_then(|mut file| {
        file.set_len(0)?;
        file.write_all(output::dump(figures).as_bytes())?;
        Ok(file)
    });
    let written = written
        .map_err(|e| e.to_string())
        .and_then(|file| engine.ledger().keep_open(path, file.as_fd()).map_err(|e| e.to_string()));
    if let Err(e) = written {
        console::error(&format!("stats dump {} was not written: {e}", path.display()));
        return Err(SkipReason::Told);
    }
    Ok(())
}
