//! `fathom sysbench`, or fathom invoked as sysbench: SysBench's command line, output and exit codes for its fileio
//! test. What fathom knows beyond that goes to stderr after the last line, and into the store.
//!
//! This file has the command line, and run; `files` has prepare and cleanup, `shutdown` the forced end.

mod files;
mod shutdown;

use crate::common::Common;
use crate::run_loop::{self, Failure, Finished, Head, Listener};
use crate::{console, epilogue, exit, input, state};
use fathom_dialects::LivePrinter as _;
use fathom_dialects::sysbench::options::Mode;
use fathom_dialects::sysbench::{
    self, Context, FileioCommand, Parsed, SysbenchExit, SysbenchOptions, SysbenchPrinter, failure,
};
use fathom_engine::{Engine, EngineError};
use fathom_record::{Interval, OpError, Phase};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// SysBench's only exit code for errors.
const ERROR: u8 = 1;

/// `program`: the name it was invoked by.
pub fn run(program: &str, args: &[OsString], common: &Common) -> ExitCode {
    let args: Vec<String> = args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let context = Context { clock_seed: clock_seed(), read: &read };
    let parsed = match sysbench::plan(&args, &context) {
        Ok(parsed) => parsed,
        Err(end) => return leave(&end),
    };
    console::error_raw(&parsed.warnings);
    for note in &parsed.notes {
        console::note(note);
    }
    fathom_engine::watch_signals();
    let mut engine = Engine::new(state::ledger());
    match parsed.options.command {
        FileioCommand::Prepare => {
            console::out_raw(&parsed.opening);
            files::prepare(&parsed.options, parsed.workload.seed.0, &mut engine)
        }
        FileioCommand::Cleanup => {
            console::out_raw(&parsed.opening);
            files::cleanup(&parsed.options, &mut engine)
        }
        FileioCommand::Run => measure(program, &parsed, common, &mut engine),
    }
}

/// A drop-in command line to be measured repeatedly without SysBench's output.
pub struct MeasuredSysbench {
    parsed: Parsed,
    argv: Vec<String>,
}

impl MeasuredSysbench {
    /// Parses the command line. `seed` applies if it names none.
    pub fn read(args: &[String], seed: u64, argv: Vec<String>) -> Result<Self, String> {
        let context = Context { clock_seed: seed, read: &read };
        let parsed = sysbench::plan(args, &context).map_err(|end| {
            // Only the error, not SysBench's list of options, which belongs to its help.
            let said = format!("{}{}", end.stderr, end.stdout);
            let fatal: Vec<&str> = said.lines().filter_map(|l| l.trim().strip_prefix("FATAL: ")).collect();
            let words = if fatal.is_empty() { said.trim().to_string() } else { fatal.join("; ") };
            format!("sysbench: {words}")
        })?;
        if parsed.options.command != FileioCommand::Run {
            return Err(
                "sysbench: only run is measured; the test files are prepared and removed by themselves"
                    .into(),
            );
        }
        Ok(Self { parsed, argv })
    }

    pub fn workload(&self) -> &fathom_workload::Workload {
        &self.parsed.workload
    }

    /// Makes missing test files and passes each new one to `made`.
    pub fn prepare(
        &self,
        engine: &mut Engine,
        made: &mut dyn FnMut(&Path) -> Result<(), String>,
    ) -> Result<(), String> {
        if self.parsed.options.mode == Mode::SeqWrite {
            return Ok(());
        }
        files::prepare_quietly(&self.parsed.options, self.parsed.workload.seed.0, engine, made)
    }

    /// Name and place of a run, once its files exist.
    pub fn head(&self) -> Result<Head, String> {
        look(&self.parsed.options).map_err(|text| text.trim().to_string())?;
        Ok(head(&self.parsed.options, self.argv.clone(), fathom_observe::local_time::now()))
    }
}

fn head(options: &SysbenchOptions, argv: Vec<String>, started: jiff::Zoned) -> Head {
    let here = fathom_state::absolute(Path::new("."));
    let directory = here.join(&options.path);
    Head { label: "sysbench".into(), dialect: "sysbench".into(), argv, directory, started }
}

fn read(path: &Path) -> Result<String, String> {
    input::read_to_string(path).map_err(|e| words(&e))
}

/// The C library's text of an error.
fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// A different seed every time.
fn clock_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(1, |d| d.as_nanos() as u64)
}

fn measure(program: &str, parsed: &Parsed, common: &Common, engine: &mut Engine) -> ExitCode {
    let now = fathom_observe::local_time::now();
    let mut live =
        LiveLines { printer: SysbenchPrinter::new(parsed), shutdown: parsed.options.forced_shutdown_s };
    console::out_raw(&live.printer.head());
    if let Err(text) = look(&parsed.options) {
        console::out_raw(&text);
        return ExitCode::from(ERROR);
    }
    let mut argv: Vec<String> = program.split(' ').map(str::to_owned).collect();
    argv.extend(parsed.arguments.iter().cloned());
    let head = head(&parsed.options, argv, now);
    match run_loop::execute(engine, &parsed.workload, head, common, &mut live) {
        Ok(finished) => conclude(&mut live, parsed, &finished),
        Err(error) => {
            tell(&mut live, &parsed.options, &error);
            ExitCode::from(ERROR)
        }
    }
}

/// Checks that all files exist and are long enough; the error is SysBench's text.
fn look(o: &SysbenchOptions) -> Result<(), String> {
    if o.mode == Mode::SeqWrite {
        return Ok(());
    }
    for number in 0..u64::from(o.files) {
        let found = input::look(&o.file(number), o.mode.writes())
            .map_err(|e| failure::cannot_open(number, e.raw_os_error().unwrap_or(0)))?;
        if found.is_dir() {
            return Err(failure::cannot_open(number, libc::EISDIR));
        }
        if found.len() < o.file_bytes() {
            return Err(failure::too_small(o, number, found.len()));
        }
    }
    Ok(())
}

/// Prints each line as soon as it is known.
struct LiveLines {
    printer: SysbenchPrinter,
    /// Seconds until the forced end.
    shutdown: Option<u64>,
}

impl Listener for LiveLines {
    fn begins(&mut self, phase: &fathom_workload::Phase, _repetition: u32) {
        console::out_raw(&self.printer.phase_started(phase));
    }

    fn starts(&mut self) {
        console::out_raw(&self.printer.started());
        if let Some(seconds) = self.shutdown.take() {
            shutdown::after(seconds);
        }
    }

    fn interval(&mut self, interval: &Interval) {
        console::out_raw(&self.printer.interval(interval));
    }

    fn ends(&mut self, phase: &Phase) {
        shutdown::call_off();
        console::out_raw(&self.printer.phase_done(phase));
    }
}

fn conclude(live: &mut LiveLines, parsed: &Parsed, finished: &Finished) -> ExitCode {
    let result = match (finished.signal, &finished.failure) {
        (Some(signal), _) => {
            console::out_raw(&live.printer.interrupted());
            let code = if shutdown::happened() { shutdown::CODE } else { exit::of_signal(signal) };
            ExitCode::from(code)
        }
        (None, Some(failure)) => {
            match failure {
                Failure::Operation(e) => {
                    console::error(&failure.to_string());
                    console::out_raw(&live.printer.failed(e));
                }
                Failure::Engine(e) => tell(live, &parsed.options, e),
                Failure::Gone(_) => {
                    console::error(&failure.to_string());
                    console::out_raw(&live.printer.failed(&error_of(libc::ENODEV, "read", "", failure)));
                }
            }
            ExitCode::from(ERROR)
        }
        (None, None) => {
            console::out_raw(&live.printer.end());
            ExitCode::SUCCESS
        }
    };
    epilogue::latencies(&finished.run);
    let remedy = if parsed.options.cold {
        "--file-cold=on is for the first time that a file is read; --file-extra-flags=direct, or larger files"
    } else {
        "--file-extra-flags=direct, --file-cold=on, or larger files"
    };
    epilogue::say(finished, remedy);
    result
}

/// An engine error: SysBench's text to stdout, a sentence to stderr.
fn tell(live: &mut LiveLines, o: &SysbenchOptions, error: &EngineError) {
    let failed = match error {
        EngineError::NotOurs(path) => {
            console::error(&files::not_ours(path));
            error_of(libc::EEXIST, "create", &path.display().to_string(), error)
        }
        EngineError::File { what, path, error: cause } => {
            console::error(&error.to_string());
            let call = if o.mode == Mode::SeqWrite { "create" } else { what };
            error_of(cause.raw_os_error().unwrap_or(0), call, &path.display().to_string(), error)
        }
        EngineError::Journal { directory, error: cause } => {
            console::error(&error.to_string());
            let errno = cause.raw_os_error().unwrap_or(0);
            error_of(errno, "create", &directory.display().to_string(), error)
        }
        _ => {
            console::error(&error.to_string());
            error_of(0, "", "", error)
        }
    };
    console::out_raw(&live.printer.failed(&failed));
}

fn error_of(errno: i32, call: &str, path: &str, sentence: &dyn std::fmt::Display) -> OpError {
    OpError {
        call: call.into(),
        path: path.into(),
        errno,
        message: sentence.to_string(),
        ..OpError::default()
    }
}

fn leave(end: &SysbenchExit) -> ExitCode {
    console::out_raw(&end.stdout);
    console::error_raw(&end.stderr);
    ExitCode::from(u8::try_from(end.code).unwrap_or(ERROR))
}
