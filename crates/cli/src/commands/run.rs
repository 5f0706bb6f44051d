//! `fathom run`: a workload in the native format, or in another one by the file's extension.

mod plan;

use super::{filebench, fio, write};
use crate::common::Common;
use crate::exit::{self, Usage};
use crate::input;
use crate::line::RunFile;
use crate::run_loop::{self, Finished, Head, Listener};
use crate::{consent, console, epilogue, native, state};
use anyhow::Context as _;
use fathom_engine::Engine;
use fathom_workload::{Files, Workload};
use indicatif::ProgressBar;
use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn run(options: &RunFile, common: &Common) -> anyhow::Result<ExitCode> {
    let common = &common.under(&options.conditions);
    if let Some(output) = &options.output {
        write::check_before(output)?;
    }
    match options.file.extension().and_then(|e| e.to_str()) {
        Some("f") => return script(options, common),
        Some("fio") => return jobs(options, common),
        _ => {}
    }
    let (name, text) = read(&options.file)?;
    let workload = native::read(&name, &text)?;
    if let Err(errors) = workload.check_to_run() {
        let lines: Vec<String> = errors.iter().map(|e| format!("{name}: {e}")).collect();
        return Err(Usage(lines.join("\n")).into());
    }
    let head = Head {
        label: workload.name.clone(),
        dialect: "native".into(),
        argv: console::argv(),
        directory: directory_of(&workload),
        started: fathom_observe::local_time::now(),
    };
    execute(options, common, &name, &workload, head)
}

/// Runs a fio job file with our summary instead of fio's output.
fn jobs(options: &RunFile, common: &Common) -> anyhow::Result<ExitCode> {
    let args = [options.file.to_string_lossy().into_owned()];
    let jobs =
        fio::MeasuredFio::read(&args, console::argv(), Path::new(""), fio::JobHost::Here, fio::clock_seed())
            .map_err(Usage)?;
    jobs.notes().iter().for_each(|note| console::note(note));
    execute(options, common, &args[0], jobs.workload(), jobs.head())
}

/// Executes one workload, or prints its plan.
fn execute(
    options: &RunFile,
    common: &Common,
    name: &str,
    workload: &Workload,
    head: Head,
) -> anyhow::Result<ExitCode> {
    if options.plan {
        // Without the leftover sweep: a plan changes nothing.
        let mut engine = Engine::new(state::quiet_ledger());
        allow_devices(&mut engine, workload, &options.allow_write)?;
        check(&engine, workload, name)?;
        console::out(&plan::of(workload));
        return Ok(ExitCode::SUCCESS);
    }
    let mut engine = Engine::new(state::ledger());
    allow_devices(&mut engine, workload, &options.allow_write)?;
    check(&engine, workload, name)?;
    fathom_engine::watch_signals();
    let phases = workload.phases.len() as u64 * u64::from(workload.repetitions);
    let mut listener = PhaseProgress(console::progress(phases));
    let finished = run_loop::execute(&mut engine, workload, head, common, &mut listener)?;
    listener.0.finish_and_clear();
    conclude(&finished, options.json);
    let mut drawn = false;
    if let Some(output) = &options.output {
        match write::runs(&[&finished.run], output, false) {
            Ok(files) => {
                drawn = output.extension().is_some_and(|end| end == "html");
                write::tell(&files);
            }
            // The file did not exist when the run began.
            Err(error) => console::incomplete(&format!(
                "{error:#}; what was measured is kept, and `fathom report -o FILE` draws it"
            )),
        }
    }
    epilogue::tell_kept(&finished, drawn);
    Ok(code(&finished))
}

/// Runs a Filebench script with our summary instead of Filebench's output.
fn script(options: &RunFile, common: &Common) -> anyhow::Result<ExitCode> {
    if options.plan {
        return Ok(match filebench::explain(&options.file) {
            Ok(text) => {
                console::out(&text);
                ExitCode::SUCCESS
            }
            Err(code) => code,
        });
    }
    let ended = match filebench::execute(&options.file, common, console::argv()) {
        Ok(ended) => ended,
        Err(code) => return Ok(code),
    };
    for finished in &ended.runs {
        conclude(finished, options.json);
        epilogue::tell_kept(finished, false);
    }
    if let Some(output) = options.output.as_ref().filter(|_| !ended.runs.is_empty()) {
        let all: Vec<_> = ended.runs.iter().map(|f| &f.run).collect();
        write::tell(&write::runs(&all, output, false)?);
    }
    // A failed run has its own exit code; a failed step between runs has that of the script.
    let of_runs = ended.runs.iter().find(|f| f.failure.is_some() || f.signal.is_some()).map(code);
    Ok(of_runs.unwrap_or(ended.code))
}

/// A workload in words.
pub fn plan_of(workload: &Workload) -> String {
    plan::of(workload)
}

/// Allows the block devices that the command line or the environment names to be written.
fn allow_devices(engine: &mut Engine, workload: &Workload, named: &[PathBuf]) -> Result<(), Usage> {
    if let Some(path) = named.iter().find(|path| !is_block_device(path)) {
        return Err(Usage(format!(
            "--allow-write {}: this is not a block device; what may happen to files is said by `existing` in the workload",
            path.display()
        )));
    }
    let listed = workload.filesets.iter().flat_map(|set| match &set.files {
        Files::List(paths) => paths.as_slice(),
        Files::Numbered { .. } | Files::Tree(_) => &[],
    });
    let consented = listed.filter(|path| is_block_device(path) && consent::is_in_the_environment(path));
    named.iter().chain(consented).for_each(|path| engine.ledger().allow_device(path));
    Ok(())
}

fn is_block_device(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.file_type().is_block_device())
}

/// Checks that the engine can execute it, and that existing files support O_DIRECT if requested.
pub fn check(engine: &Engine, workload: &Workload, name: &str) -> Result<(), Usage> {
    engine
        .check(workload)
        .and_then(|()| workload.phases.iter().try_for_each(|p| engine.check_direct(workload, p)))
        .map_err(|e| Usage(format!("{name}: {e}")))
}

/// Shows the current phase.
pub struct PhaseProgress(pub ProgressBar);

impl Listener for PhaseProgress {
    fn begins(&mut self, phase: &fathom_workload::Phase, _repetition: u32) {
        let size = |b: Option<fathom_workload::Bytes>| b.map_or(String::new(), |b| format!(" {b}"));
        console::tell(
            &self.0,
            &format!("{}{}{}", phase.name, size(phase.axes.file), size(phase.axes.record)),
        );
        self.0.tick();
    }

    fn ends(&mut self, _phase: &fathom_record::Phase) {
        self.0.inc(1);
    }
}

/// Prints the result and what ended the run early.
fn conclude(finished: &Finished, json: bool) {
    if json {
        console::out(&fathom_record::export::json(&finished.run));
    } else {
        console::out(&fathom_report::terminal::summary(&finished.run, console::width(), console::colour()));
    }
    tell_early_end(finished);
}

/// Reports what ended a run early.
pub fn tell_early_end(finished: &Finished) {
    if let Some(signal) = finished.signal {
        console::warning(&format!("stopped by signal {signal}; the results until then are above"));
    } else if let Some(failure) = &finished.failure {
        console::error(&failure.to_string());
    }
}

pub fn code(finished: &Finished) -> ExitCode {
    ExitCode::from(match (finished.signal, &finished.failure) {
        (Some(signal), _) => exit::of_signal(signal),
        (None, Some(_)) => exit::FAILED,
        (None, None) => exit::DONE,
    })
}

pub fn read(file: &Path) -> anyhow::Result<(String, String)> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|e| Usage(format!("cannot read the workload from stdin: {e}")))?;
        return Ok(("stdin".into(), text));
    }
    let text = input::read_to_string(file).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => Usage(format!(
            "{} is not text; a workload in TOML, a script of Filebench or a job file of fio is expected",
            file.display()
        )),
        _ => Usage(format!("cannot read {}: {e}", file.display())),
    });
    Ok((file.display().to_string(), text.context("the workload")?))
}

/// The directory of the first file, or the working directory; absolute, because a record outlives both. A block device
/// is returned as it is.
pub fn directory_of(workload: &Workload) -> PathBuf {
    let first = workload.filesets.first().and_then(|s| s.files.path(0));
    let parent = first.as_deref().and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
    let is_device = |path: &&Path| path.metadata().is_ok_and(|about| about.file_type().is_block_device());
    let parent = first.as_deref().filter(is_device).or(parent).unwrap_or(Path::new("."));
    fathom_state::absolute(parent)
}
