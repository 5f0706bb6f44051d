//! `fathom iozone`, or fathom invoked as iozone: IOzone's command line, output and exit codes. What fathom knows beyond
//! that goes to stderr after the last line, and into the store.

use super::write;
use crate::appended_file::AppendedFile;
use crate::common::Common;
use crate::run_loop::{self, Failure, Finished, Head, Listener};
use crate::{console, epilogue, exit, input, state};
use fathom_dialects::LivePrinter as _;
use fathom_dialects::iozone::{self, Context, IozoneExit, IozonePrinter, Parsed, sidefiles, worksheet};
use fathom_engine::{Engine, EngineError, Ledger};
use fathom_record::{OpError, Phase};
use rustix::fd::AsFd as _;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// IOzone's exit status when it cannot write its worksheet.
const UNWRITTEN: i32 = 255;

/// `program`: the name it was invoked by.
pub fn run(program: &str, args: &[OsString], common: &Common) -> ExitCode {
    let args: Vec<String> = args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let now = fathom_observe::local_time::now();
    let here = here();
    let parsed = match iozone::plan(&args, &context(&here, &now)) {
        Ok(parsed) => parsed,
        Err(end) => return leave(&end),
    };
    for note in &parsed.notes {
        console::note(note);
    }
    if let Some(sheet) = &parsed.outputs.worksheet
        && let Err(why) = write::check(sheet, true)
    {
        console::error(&format!("-b: {why}"));
        return code(UNWRITTEN);
    }
    let mut engine = Engine::new(state::ledger());
    fathom_engine::watch_signals();
    let mut argv: Vec<String> = program.split(' ').map(str::to_owned).collect();
    argv.extend(args);
    let head = head(&parsed, argv, &here, now);
    let beside = ImplicitFiles { ledger: state::quiet_ledger(), begun: BTreeMap::new(), is_whole: true };
    let mut live = LiveColumns { printer: IozonePrinter::new(&parsed), parsed: &parsed, beside };
    console::out_raw(&live.printer.head());
    if parsed.workload.phases.is_empty() {
        console::out_raw(&live.printer.end());
        console::note("no test was run: none that was asked for goes with these sizes and options");
        return code(live.printer.exit_code());
    }
    match run_loop::execute(&mut engine, &parsed.workload, head, common, &mut live) {
        Ok(finished) => conclude(&mut live, &finished, &mut engine),
        Err(error) => {
            console::error(&error.to_string());
            console::out_raw(&live.printer.failed(&as_operation(&error)));
            code(live.printer.exit_code())
        }
    }
}

fn here() -> PathBuf {
    fathom_state::absolute(Path::new("."))
}

fn context(here: &Path, now: &jiff::Zoned) -> Context<'static> {
    Context {
        now: now.datetime(),
        uname: iozone::uname(&fathom_observe::environment::capture(here)),
        page_bytes: 4096,
        read: &|path: &Path| input::read_to_string(path).map_err(|e| e.to_string()),
    }
}

fn head(parsed: &Parsed, argv: Vec<String>, here: &Path, started: jiff::Zoned) -> Head {
    let directory = directory(parsed, here);
    Head { label: "iozone".into(), dialect: "iozone".into(), argv, directory, started }
}

/// A drop-in command line to be measured repeatedly without IOzone's output.
pub struct MeasuredIozone {
    parsed: Parsed,
    argv: Vec<String>,
}

impl MeasuredIozone {
    pub fn read(args: &[String], argv: Vec<String>) -> Result<Self, String> {
        let context = context(&here(), &fathom_observe::local_time::now());
        let parsed = iozone::plan(args, &context).map_err(|end| {
            let said = format!("{}{}", end.stderr, end.stdout);
            let lines: Vec<&str> = said.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
            format!("iozone: {}", lines.join("; "))
        })?;
        if parsed.outputs.worksheet.is_some() || parsed.outputs.side_files {
            return Err(
                "iozone: -b and the files of latencies (-Q) belong to one run; leave them out of a sweep"
                    .into(),
            );
        }
        if parsed.workload.phases.is_empty() {
            return Err("iozone: no test goes with these sizes and options".into());
        }
        Ok(Self { parsed, argv })
    }

    pub fn workload(&self) -> &fathom_workload::Workload {
        &self.parsed.workload
    }

    pub fn head(&self) -> Head {
        head(&self.parsed, self.argv.clone(), &here(), fathom_observe::local_time::now())
    }
}

/// Prints each column as soon as it is known, as IOzone does.
struct LiveColumns<'a> {
    printer: IozonePrinter,
    parsed: &'a Parsed,
    beside: ImplicitFiles,
}

/// IOzone's implicit files (`wol.dat`): later runs append to them, but only to files that fathom made.
struct ImplicitFiles {
    ledger: Ledger,
    /// Files this run began or continued.
    begun: BTreeMap<PathBuf, AppendedFile>,
    /// Nothing failed to be written.
    is_whole: bool,
}

impl ImplicitFiles {
    fn append(&mut self, path: &Path, text: &str) -> Result<(), String> {
        let file = match self.begun.get(path) {
            Some(begun) => begun.append(path, text.as_bytes()).map_err(|e| e.to_string())?,
            None => self.first(path, text)?,
        };
        // By descriptor, not by name: another file may have taken the name by now.
        self.ledger.keep_open(path, file.as_fd()).map_err(|e| e.to_string())
    }

    /// A file is useful only under its name.
    fn check(&mut self) {
        for (path, begun) in &self.begun {
            if let Err(e) = begun.check(path) {
                console::error(&format!("{} was not written: {e}", path.display()));
                self.is_whole = false;
            }
        }
    }

    fn first(&mut self, path: &Path, text: &str) -> Result<File, String> {
        let is_there = path.symlink_metadata().is_ok();
        let mut how = OpenOptions::new();
        how.append(true).create_new(!is_there).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let is_ours = |file: &File| !is_there || self.ledger.owns_open(path, file.as_fd());
        let mut file = match how.open(path) {
            Ok(file) if is_ours(&file) => file,
            Err(e) if !is_there => return Err(e.to_string()),
            _ => return Err("it exists and was not made by fathom, so it is left as it is".into()),
        };
        let begun = AppendedFile::of(&file).and_then(|begun| file.write_all(text.as_bytes()).map(|()| begun));
        self.begun.insert(path.to_path_buf(), begun.map_err(|e| e.to_string())?);
        Ok(file)
    }
}

impl Listener for LiveColumns<'_> {
    fn begins(&mut self, phase: &fathom_workload::Phase, _repetition: u32) {
        console::out_raw(&self.printer.phase_started(phase));
    }

    fn ends(&mut self, phase: &Phase) {
        // A failed or interrupted phase has no figure for a table.
        let whole = |w: &fathom_record::Worker| {
            matches!(w.ending, fathom_record::Ending::Completed | fathom_record::Ending::Stopped)
        };
        if !phase.repetitions.iter().flat_map(|r| &r.workers).all(whole) {
            return;
        }
        console::out_raw(&self.printer.phase_done(phase));
        if self.parsed.outputs.side_files {
            for file in sidefiles::after_phase(self.parsed, phase) {
                if let Err(e) = self.beside.append(&file.path, &file.text) {
                    console::error(&format!("{} was not written: {e}", file.path.display()));
                    self.beside.is_whole = false;
                }
            }
        }
    }
}

fn conclude(live: &mut LiveColumns, finished: &Finished, engine: &mut Engine) -> ExitCode {
    let result = match (finished.signal, &finished.failure) {
        (Some(signal), _) => {
            console::out_raw(&live.printer.interrupted());
            ExitCode::from(exit::of_signal(signal))
        }
        (None, Some(failure)) => {
            console::error(&failure.to_string());
            let operation = match failure {
                Failure::Operation(e) => (**e).clone(),
                Failure::Engine(e) => as_operation(e),
                Failure::Gone(path) => OpError {
                    compared: None,
                    call: "open".into(),
                    path: path.display().to_string(),
                    offset: None,
                    after_ops: 0,
                    errno: libc::ENODEV,
                    message: failure.to_string(),
                },
            };
            console::out_raw(&live.printer.failed(&operation));
            code(live.printer.exit_code())
        }
        (None, None) => {
            console::out_raw(&live.printer.end());
            code(live.printer.exit_code())
        }
    };
    live.beside.check();
    let mut all_written = live.beside.is_whole;
    if let Some(path) = &live.parsed.outputs.worksheet {
        all_written &= sheets(live, finished, path, engine);
    }
    epilogue::say(finished, "-I, -e, or larger files");
    // An earlier error is more informative.
    let complete = finished.signal.is_none() && finished.failure.is_none();
    if complete && !all_written { code(UNWRITTEN) } else { result }
}

/// Writes the worksheet of -b, and an xlsx beside it unless a foreign file has that name. Returns whether the worksheet
/// exists.
fn sheets(live: &LiveColumns, finished: &Finished, path: &Path, engine: &mut Engine) -> bool {
    let written = worksheet::write(&live.printer.sheet())
        .map_err(|e| e.to_string())
        .and_then(|bytes| crate::output::put(path, bytes, true).map_err(|e| e.root_cause().to_string()));
    if let Err(e) = written {
        console::error(&format!("the worksheet {} was not written: {e}", path.display()));
        return false;
    }
    let beside = path.with_extension("xlsx");
    if beside == path {
        return true;
    }
    let ours = engine.ledger().owns(&beside);
    if beside.symlink_metadata().is_ok() && !ours {
        console::note(&format!(
            "{} exists and was not made by fathom; it is left as it is",
            beside.display()
        ));
        return true;
    }
    // Recorded as our file that stays, so that later runs may replace it.
    let written = write::runs(&[&finished.run], &beside, true)
        .and_then(|_| engine.ledger().keep(&beside).map_err(anyhow::Error::from));
    if let Err(e) = written {
        console::warning(&format!("{} was not written: {e:#}", beside.display()));
    }
    true
}

fn leave(end: &IozoneExit) -> ExitCode {
    console::out_raw(&end.stdout);
    console::error_raw(&end.stderr);
    code(end.code)
}

fn code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(exit::FAILED))
}

/// The directory of the first test file.
fn directory(parsed: &Parsed, here: &Path) -> PathBuf {
    let first = parsed.workload.filesets.first().and_then(|s| s.files.path(0));
    let parent = first.as_deref().and_then(Path::parent).map(|p| here.join(p));
    parent.filter(|p| p.is_dir()).unwrap_or_else(|| here.into())
}

/// An engine error as a failed operation, for IOzone's messages and codes.
fn as_operation(error: &EngineError) -> OpError {
    let (call, path, errno) = match error {
        EngineError::File { what, path, error } => {
            ((*what).to_owned(), path.display().to_string(), error.raw_os_error().unwrap_or(0))
        }
        EngineError::Journal { directory, error } => {
            ("create".into(), directory.display().to_string(), error.raw_os_error().unwrap_or(0))
        }
        EngineError::NotOurs(path) | EngineError::NotAFile(path, _) | EngineError::Device(path) => {
            ("create".into(), path.display().to_string(), libc::EEXIST)
        }
        _ => (String::new(), String::new(), 0),
    };
    OpError { call, path, errno, message: error.to_string(), ..OpError::default() }
}
