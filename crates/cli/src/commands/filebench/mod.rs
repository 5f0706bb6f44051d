//! `fathom filebench`, or fathom invoked as filebench: Filebench's scripts and output. The whole script is read and
//! planned before anything runs. What fathom knows beyond that goes to stderr after the last line, and into the store.

mod options;
mod results;
mod session;
mod steps;
mod world;

use crate::common::Common;
use crate::run_loop::Finished;
use crate::{console, epilogue, exit, input, state};
use fathom_dialects::filebench::output;
use fathom_dialects::filebench::plan::{self, Format, Options, Plan};
use fathom_engine::Engine;
use fathom_workload::Action;
use options::{FilebenchLine, FilebenchRequest, Misuse};
use session::SessionLog;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit code of a failed run and of a wrong command line, as in the original.
const FAILED: u8 = 1;
/// How to keep memory out of the figures, in Filebench's terms.
const REMEDY: &str = "directio, cached=false, or larger filesets";

/// `program`: the name it was invoked by.
pub fn run(program: &str, args: &[OsString], common: &Common) -> ExitCode {
    let args: Vec<String> = args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let line = match options::parse(&args) {
        Ok(FilebenchRequest::Script(line)) => line,
        Ok(FilebenchRequest::Help) => {
            console::out_raw(&format!("{}\n", output::usage(program)));
            return ExitCode::SUCCESS;
        }
        Ok(FilebenchRequest::CustomTypes(None)) => {
            console::out_raw(&output::custom_types());
            return ExitCode::SUCCESS;
        }
        Ok(FilebenchRequest::CustomTypes(Some(name))) => {
            console::out_raw(&output::custom_type(&name));
            return ExitCode::SUCCESS;
        }
        Err(misuse) => {
            let what = match misuse {
                Misuse::Nothing => "No runtime options specified".into(),
                Misuse::Wrong(what) => what,
            };
            console::error_raw(&format!("Usage error: {what}\n\n{}\n", output::usage(program)));
            return ExitCode::from(FAILED);
        }
    };
    let mut argv: Vec<String> = program.split(' ').map(str::to_owned).collect();
    argv.extend(args);
    let common = Common {
        store: line.store.clone().or_else(|| common.store.clone()),
        no_store: common.no_store || line.no_store,
        ..common.clone()
    };
    if let Some(store) = line.store.as_ref().filter(|_| !common.no_store && !line.check)
        && let Err(wrong) = state::check_store(store)
    {
        console::error(&wrong.to_string());
        return ExitCode::from(FAILED);
    }
    script(&line, argv, &common)
}

fn script(line: &FilebenchLine, argv: Vec<String>, common: &Common) -> ExitCode {
    let log = SessionLog::new(line.options.format, false);
    if !line.check {
        log.plain(&format!("Filebench Version {}\n", version(line.options.format)));
    }
    let (name, text) = match read(line.file.as_deref()) {
        Ok(script) => script,
        Err(why) => {
            console::error_raw(&format!("{why}\n"));
            return ExitCode::from(FAILED);
        }
    };
    let Some(plan) = planned(&name, &text, &line.options) else { return ExitCode::from(exit::USAGE) };
    for note in &plan.notes {
        console::note(note);
    }
    if line.check {
        console::out_raw(&check(&plan));
        return ExitCode::SUCCESS;
    }
    log.line(&format!("Allocated {}MB of shared memory", world::shared_megabytes(&plan)));
    let mut engine = Engine::new(state::ledger());
    fathom_engine::watch_signals();
    let call = steps::Call { name: &name, argv, common, format: line.options.format };
    let ended = steps::all(&plan, &mut engine, log, &call);
    for finished in &ended.runs {
        epilogue::latencies(&finished.run);
        epilogue::say(finished, REMEDY);
    }
    ended.code
}

/// Plans and executes a script for `fathom run`, without Filebench's output.
pub fn execute(file: &Path, common: &Common, argv: Vec<String>) -> Result<steps::Ended, ExitCode> {
    let (name, text) = read(Some(file)).map_err(|why| {
        console::error(&why);
        ExitCode::from(exit::USAGE)
    })?;
    let plan = planned(&name, &text, &Options::default()).ok_or(ExitCode::from(exit::USAGE))?;
    for note in &plan.notes {
        console::note(note);
    }
    if plan.runs().next().is_none() {
        console::error(&format!(
            "{name} has no run command; `fathom filebench -f {name} --run 60` appends one"
        ));
        return Err(ExitCode::from(exit::USAGE));
    }
    let mut engine = Engine::new(state::ledger());
    fathom_engine::watch_signals();
    let call = steps::Call { name: &name, argv, common, format: Format::V1_5 };
    Ok(steps::all(&plan, &mut engine, SessionLog::new(Format::V1_5, true), &call))
}

/// A drop-in command line to be measured repeatedly without Filebench's output.
pub struct MeasuredFilebench {
    line: FilebenchLine,
    argv: Vec<String>,
}

impl MeasuredFilebench {
    /// Parses the command line. The script's path is relative to `here`, since each run may use another directory.
    pub fn read(args: &[String], argv: Vec<String>, here: &Path) -> Result<Self, String> {
        let asked = options::parse(args).map_err(|misuse| match misuse {
            Misuse::Nothing => "filebench: no script is named; -f FILE is expected".to_string(),
            Misuse::Wrong(what) => format!("filebench: {what}"),
        })?;
        let FilebenchRequest::Script(mut line) = asked else {
            return Err("filebench: -h and -c measure nothing; -f FILE is expected".into());
        };
        if line.check || line.store.is_some() || line.no_store {
            return Err("filebench: --check, --store and --no-store belong before the --".into());
        }
        let Some(file) = &line.file else {
            return Err("filebench: a script on stdin can be read only once; -f FILE is expected".into());
        };
        line.file = Some(here.join(file));
        Ok(Self { line: *line, argv })
    }

    /// Plans the script for the current machine and directory.
    pub fn plan(&self) -> Result<Plan, ExitCode> {
        let (name, text) = read(self.line.file.as_deref()).map_err(|why| {
            console::error(&why);
            ExitCode::from(exit::USAGE)
        })?;
        let plan = planned(&name, &text, &self.line.options).ok_or(ExitCode::from(exit::USAGE))?;
        if plan.runs().next().is_none() {
            console::error(&format!("{name} has no run command; --run 60 appends one"));
            return Err(ExitCode::from(exit::USAGE));
        }
        Ok(plan)
    }

    /// Executes the script. A script that did not finish is an error even if some of its runs are stored: the rest
    /// would be missing on its side.
    pub fn measure(&self, engine: &mut Engine, common: &Common) -> Result<Vec<Finished>, ExitCode> {
        let plan = self.plan()?;
        let name = self.line.file.as_ref().map_or_else(String::new, |f| f.display().to_string());
        let call = steps::Call { name: &name, argv: self.argv.clone(), common, format: Format::V1_5 };
        let ended = steps::all(&plan, engine, SessionLog::new(Format::V1_5, true), &call);
        if ended.whole || ended.runs.iter().any(|r| r.failure.is_some() || r.signal.is_some()) {
            return Ok(ended.runs);
        }
        Err(ended.code)
    }
}

/// The output of `fathom run --plan` for a script.
pub fn explain(file: &Path) -> Result<String, ExitCode> {
    let (name, text) = read(Some(file)).map_err(|why| {
        console::error(&why);
        ExitCode::from(exit::USAGE)
    })?;
    let plan = planned(&name, &text, &Options::default()).ok_or(ExitCode::from(exit::USAGE))?;
    plan.notes.iter().for_each(|n| console::note(n));
    Ok(check(&plan))
}

fn planned(name: &str, text: &str, options: &Options) -> Option<Plan> {
    let environment = fathom_observe::environment::capture(Path::new("."));
    let hostname = environment["host"]["name"].as_str().unwrap_or("localhost").to_owned();
    let date = fathom_observe::local_time::now().strftime("%a %b %e %H:%M:%S %Z %Y").to_string();
    match plan::plan(name, text, options, &world::world(hostname, date)) {
        Ok(plan) => Some(plan),
        Err(findings) => {
            for finding in findings {
                console::error_raw(&finding.rendered);
            }
            console::error_raw("Nothing was executed.\n");
            None
        }
    }
}

fn read(file: Option<&Path>) -> Result<(String, String), String> {
    match file {
        Some(file) => match input::read(file) {
            // A NUL byte means a binary; a parse error for each of its lines would not help.
            Ok(bytes) if bytes.contains(&0) => {
                Err(format!("{} is not text; a script of Filebench is expected", file.display()))
            }
            Ok(bytes) => Ok((file.display().to_string(), String::from_utf8_lossy(&bytes).into_owned())),
            Err(_) => Err(format!("Cannot open file {}!", file.display())),
        },
        None => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|e| format!("cannot read the script from stdin: {e}"))?;
            Ok(("stdin".into(), text))
        }
    }
}

fn version(format: Format) -> &'static str {
    match format {
        Format::V1_5 => "1.5-alpha3",
        Format::V1_4 | Format::Dump => "1.4.9.1",
        Format::V1_1 => "1.1.0",
    }
}

/// The planned workloads in the native format, each of which can be run.
fn check(plan: &Plan) -> String {
    let mut text = String::new();
    let mut before: Vec<Action> = Vec::new();
    let mut creations = 0;
    for step in &plan.steps {
        match step {
            plan::Step::Create(create) => {
                creations += 1;
                for set in create.sets.iter().filter(|s| !s.as_found) {
                    before.push(Action::Prepare(set.name.clone()));
                }
                before.extend(create.sets.iter().filter(|s| s.evict).map(|s| Action::Evict(s.name.clone())));
            }
            plan::Step::Run(run) => {
                let mut workload = run.workload.clone();
                if let Some(phase) = workload.phases.first_mut() {
                    phase.before = std::mem::take(&mut before);
                }
                text += &workload.to_toml().unwrap_or_else(|e| format!("# {e}\n"));
                text.push('\n');
            }
            plan::Step::Log(line) => text += &format!("# log: {line}\n"),
            plan::Step::Line(line) => text += &format!("# {line}\n"),
            plan::Step::System(command) => {
                text += &format!("# system: {}\n", command.replace('\n', "\n#   "))
            }
            plan::Step::Sleep { seconds, .. } => text += &format!("# sleep: {seconds} s\n"),
            plan::Step::Dump(path) => text += &format!("# figures into {}\n", path.display()),
            plan::Step::Debug(level) => text += &format!("# debug: {level}\n"),
        }
    }
    if creations > 0 && plan.runs().next().is_none() {
        for create in plan.creations() {
            text += &create.workload.to_toml().unwrap_or_else(|e| format!("# {e}\n"));
        }
    }
    text
}

/// The directory of the first file set, or its nearest existing ancestor.
fn directory(roots: impl Iterator<Item = PathBuf>) -> PathBuf {
    let first = roots.into_iter().next().unwrap_or_else(|| PathBuf::from("."));
    let absolute = fathom_state::absolute(&first);
    let found = absolute.ancestors().skip(1).find(|a| a.is_dir()).map(Path::to_path_buf);
    found.unwrap_or_else(|| PathBuf::from("/"))
}
