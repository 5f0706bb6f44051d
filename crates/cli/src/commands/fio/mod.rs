//! `fathom fio`, or fathom invoked as fio: fio's job files, command lines, output and exit codes. All of it is read and
//! planned before any file is touched. What fathom knows beyond that goes to stderr, into the store, and into the JSON
//! under one key.

mod cgroup;
mod dump;
mod log_paths;
mod logged;
mod measured;
mod scheduler;
mod sink;
mod states;
mod world;

pub use measured::{JobHost, MeasuredFio};
pub use world::clock_seed;

use super::run::directory_of;
use crate::common::Common;
use crate::run_loop::{self, Failure, Finished, Head};
use crate::{consent, console, epilogue, state};
use fathom_dialects::fio::output::{self, Moment};
use fathom_dialects::fio::{self, Format, Invocation, Plan, explain, help};
use fathom_engine::{Engine, EngineError};
use logged::Logged;
use sink::{LiveJobs, Sink};
use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The link name under which fathom acts as fio.
const FIO: &str = "fio";
/// Exit code of every error.
const ERROR: u8 = 1;
/// Base of the exit code after a signal.
const SIGNALLED: u8 = 128;
/// How to keep memory out of the figures.
const REMEDY: &str = "direct=1, invalidate=1, or larger files";

/// Doubts that change the meaning of the figures are printed; the JSON and the store hold all.
const SAID: [&str; 3] = ["holes", "not-cold", "overloaded"];
/// How to have files written, in this dialect.
const LAID_OUT: &str =
    " Here a job lays out a file with data if it is not there: remove it, or write it by a job with rw=write";

/// `program`: the name it was invoked by.
pub fn run(program: &str, args: &[OsString], common: &Common) -> ExitCode {
    let args: Vec<String> = match args.iter().map(|a| a.to_str().map(str::to_owned).ok_or(a)).collect() {
        Ok(args) => args,
        Err(word) => {
            console::error(&format!("{}: names and values on the command line are UTF-8", word.display()));
            return ExitCode::from(ERROR);
        }
    };
    // Scripts and pipelines may treat any stderr output that fio would not write as a failure.
    if program == FIO || !std::io::stdout().is_terminal() {
        console::hush();
    }
    let version = match fio::Version::asked(&world::world()) {
        Ok(version) => version,
        Err(why) => {
            console::error(&why);
            return ExitCode::from(ERROR);
        }
    };
    if args.is_empty() {
        console::out_raw(&help::usage(program, version));
        return ExitCode::from(ERROR);
    }
    let mut plan = match fio::plan(&args, &world::world()) {
        Ok(Invocation::Jobs(plan)) => plan,
        Ok(Invocation::Help(asked)) => return tell(program, version, &asked),
        Ok(Invocation::Inflate(log)) => return logged::inflate(&log),
        // As in fio, options without a job are parsed, and nothing more happens.
        Ok(Invocation::Nothing(general)) => {
            debug(&general);
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            console::error_raw(&wrong.to_string());
            return ExitCode::from(ERROR);
        }
    };
    debug(&plan.general);
    let only_read = plan.general.is_only_read();
    let missing = if only_read { None } else { plan.jobs.iter().find_map(no_directory) };
    if let Some(wrong) = missing {
        console::error_raw(&wrong.to_string());
        return ExitCode::from(ERROR);
    }
    if !plan.general.explain {
        plan.notes.iter().for_each(|note| console::note(note));
    }
    if only_read || plan.general.check || plan.general.explain {
        return show(&plan);
    }
    if let Some(warning) = plan.warning().filter(|_| plan.general.warnings_fatal) {
        console::error_raw(&format!("fio: {warning}\n"));
        return ExitCode::from(ERROR);
    }
    let noted = plan.note_operations();
    measure(program, &plan, noted, common)
}

/// Prints the `--debug=parse` output where fio does.
fn debug(general: &fio::General) {
    for line in &general.debug_lines {
        console::out_raw(&format!("parse    {} {line}\n", std::process::id()));
    }
}

/// Missing subdirectories are created, but not the given directory itself.
fn no_directory(job: &fio::Job) -> Option<fio::UsageError> {
    let looked = |path: PathBuf| match path.metadata() {
        Ok(about) if about.is_dir() => None,
        Err(e) if !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Some((path, Some(e)))
        }
        _ => Some((path, None)),
    };
    let (path, error) = job.directories().into_iter().find_map(looked)?;
    let name = path.display();
    let wrong = match &error {
        Some(e) => format!("cannot stat {name}: {e}"),
        None => format!("{name} is not a directory"),
    };
    let fio = format!("fio: {wrong}\nfio: failed parsing directory={name}\n");
    let wrong = job.settings.wrong("directory", wrong).fio(fio);
    Some(if error.is_none() { wrong.hint("make it before") } else { wrong })
}

fn tell(program: &str, version: fio::Version, asked: &fio::Help) -> ExitCode {
    match help::text(program, version, asked) {
        Ok(text) => {
            console::out_raw(&text);
            ExitCode::SUCCESS
        }
        Err(why) => {
            console::error(&why);
            ExitCode::from(ERROR)
        }
    }
}

/// `--check`, `--explain`, `--showcmd`, `--parse-only`: runs nothing. Rejects what the engine would reject, unless jobs
/// are only parsed.
fn show(plan: &Plan) -> ExitCode {
    // Without the leftover sweep: this changes nothing.
    let engine = Engine::new(state::quiet_ledger());
    if !plan.general.is_only_read() {
        if let Err(error) = engine.check(&plan.workload) {
            console::error(&error.to_string());
            return ExitCode::from(ERROR);
        }
        if let Err(wrong) = log_paths::check(plan) {
            console::error_raw(&wrong.to_string());
            return ExitCode::from(ERROR);
        }
    }
    if plan.general.explain {
        console::out_raw(&explain::explain(plan));
    }
    if plan.general.check {
        console::out_raw(&explain::check(plan));
    }
    if plan.general.show_command {
        console::out_raw(&explain::command(plan));
    }
    ExitCode::SUCCESS
}

/// `noted`: log single operations.
fn measure(program: &str, plan: &Plan, noted: bool, common: &Common) -> ExitCode {
    let mut argv: Vec<String> = program.split(' ').map(str::to_owned).collect();
    argv.extend(plan.arguments.iter().cloned());
    let head = head(plan, argv);
    fathom_engine::watch_signals();
    fathom_engine::watch_state_signal();
    let mut engine = Engine::new(state::ledger());
    if noted {
        engine.spool_operations(logged::directory(plan));
    }
    plan.general.allow_write.iter().for_each(|path| engine.ledger().allow_device(path));
    let writing = plan.jobs.iter().filter(|job| job.rw.writes() && !plan.general.read_only);
    let files = writing.flat_map(|job| job.files.iter().flatten());
    for path in files.filter(|path| may_be_written(path)) {
        engine.ledger().allow_device(path);
    }
    for path in written_while_in_use(plan) {
        engine.ledger().allow_device_in_use(path);
    }
    // Impossible jobs are rejected before an older result is overwritten.
    let checked = engine.check(&plan.workload).and_then(|()| engine.check_files(&plan.workload));
    if let Err(error) = checked {
        console::error(&words(&error));
        return ExitCode::from(ERROR);
    }
    if let Err(wrong) = log_paths::check(plan) {
        console::error_raw(&wrong.to_string());
        return ExitCode::from(ERROR);
    }
    if let Err(error) = log_paths::write_merged(plan) {
        console::error(&error);
        return ExitCode::from(ERROR);
    }
    let turned = match scheduler::turn(plan) {
        Ok(turned) => turned,
        Err(wrong) => {
            console::error_raw(&wrong.to_string());
            return ExitCode::from(ERROR);
        }
    };
    // The process that restores the scheduler stays outside the group.
    let inside = match cgroup::enter(plan) {
        Ok(inside) => inside,
        Err(wrong) => {
            console::error_raw(&wrong.to_string());
            return ExitCode::from(ERROR);
        }
    };
    let mut sink = match Sink::open(plan.general.output.as_deref()) {
        Ok(sink) => sink,
        Err(error) => {
            console::error(&error);
            return ExitCode::from(ERROR);
        }
    };
    if plan.general.debug_random {
        sink.write(&output::seeds(plan, std::process::id()));
    }
    if output::formats(plan).contains(&Format::Normal) {
        sink.write(&output::normal::head(plan));
    }
    let mut live = LiveJobs::new(plan, &mut sink);
    let finished = run_loop::execute(&mut engine, &plan.workload, head, common, &mut live);
    live.leave();
    drop(inside);
    turned.put_back();
    let began_ms = live.began_ms();
    let logged = Logged { operations: engine.take_operations(), began_ms };
    match finished {
        Ok(finished) => conclude(plan, &finished, &logged, &mut sink),
        Err(error) => {
            console::error(&words(&error));
            ExitCode::from(ERROR)
        }
    }
}

/// Block devices that may be written without being named by an option.
fn may_be_written(path: &Path) -> bool {
    let is_device = path.symlink_metadata().is_ok_and(|about| about.file_type().is_block_device());
    is_device && (consent::is_in_the_environment(path) || consent::is_blank_device(path))
}

/// Files that may be written by name, if all jobs that write them say `allow_mounted_write=1`.
fn written_while_in_use(plan: &Plan) -> Vec<&Path> {
    let writing = || plan.jobs.iter().filter(|job| job.rw.writes() && !plan.general.read_only);
    let allows = |job: &fio::Job| job.settings.on("allow_mounted_write", false);
    let is_of = |job: &fio::Job, path: &Path| {
        let whole = fathom_state::absolute(path);
        job.files.iter().flatten().any(|file| fathom_state::absolute(file) == whole)
    };
    let files = writing().flat_map(|job| job.files.iter().flatten()).map(PathBuf::as_path);
    files
        .filter(|path| log_paths::is_named(plan, path))
        .filter(|path| writing().filter(|job| is_of(job, path)).all(allows))
        .collect()
}

fn head(plan: &Plan, argv: Vec<String>) -> Head {
    let names: Vec<&str> = plan.jobs.iter().map(|j| j.name.as_str()).collect();
    Head {
        label: format!("fio {}", names.join(" ")),
        dialect: "fio".into(),
        argv,
        directory: directory_of(&plan.workload),
        started: fathom_observe::local_time::now(),
    }
}

fn conclude(plan: &Plan, finished: &Finished, logged: &Logged, sink: &mut Sink) -> ExitCode {
    if let Some(signal) = finished.signal {
        console::error_raw(&format!("\nfio: terminating on signal {signal}\n"));
    }
    match &finished.failure {
        Some(Failure::Engine(error)) => console::error(&words(error)),
        Some(Failure::Operation(wrong)) => {
            let lines = output::verify::lines(plan, &finished.run, wrong)
                .or_else(|| output::limits::lines(plan, &finished.run, wrong));
            if let Some(lines) = lines {
                console::error_raw(&lines);
            }
            console::error(&format!("{} (after {} operations)", wrong.message, wrong.after_ops));
            if let Some(dump) = output::verify::dump(plan, &finished.run, wrong) {
                dump::write(&dump);
            }
        }
        Some(failure) => console::error(&failure.to_string()),
        None => {}
    }
    // A run that measured nothing has no results; the error is printed.
    if !(finished.run.phases.is_empty() && finished.failure.is_some()) {
        sink.write(&output::results(plan, &finished.run, &moment()));
    }
    let mut unwritten = logged.write(plan, &finished.run);
    unwritten.extend(logged.write_iologs(plan));
    unwritten.extend(states::write(plan, &finished.run));
    unwritten.iter().for_each(|sentence| console::error(sentence));
    for doubt in finished.run.doubts.iter().filter(|doubt| SAID.contains(&doubt.code.as_str())) {
        let remedy = if doubt.code == "holes" { LAID_OUT } else { "" };
        console::note(&format!("{}{remedy}", doubt.sentence));
    }
    epilogue::say(finished, REMEDY);
    if let Err(error) = sink.finish() {
        console::error(&error);
        return ExitCode::from(ERROR);
    }
    match (finished.signal, &finished.failure) {
        (Some(_), _) => ExitCode::from(SIGNALLED),
        (None, Some(_)) => ExitCode::from(ERROR),
        (None, None) if !unwritten.is_empty() => ExitCode::from(ERROR),
        (None, None) => ExitCode::SUCCESS,
    }
}

/// The current time, as printed.
fn moment() -> Moment {
    let now = fathom_observe::local_time::now();
    Moment {
        unix_ms: now.timestamp().as_millisecond(),
        text: now.strftime("%a %b %e %H:%M:%S %Y").to_string(),
        pid: std::process::id(),
    }
}

/// An engine error with a remedy that applies here.
fn words(error: &EngineError) -> String {
    match error {
        EngineError::NotOurs(path) | EngineError::WouldChange { path, .. } => format!(
            "{} is not changed: it was not made by fathom. --allow-write={0} allows it to be written, or FATHOM_ALLOW_WRITE={0} in the environment",
            path.display()
        ),
        other => other.to_string(),
    }
}
