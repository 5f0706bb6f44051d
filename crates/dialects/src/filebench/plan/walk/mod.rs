//! Processes the commands of a script in order: records definitions, sets variables, and emits steps.

mod define;
mod include;
mod longhand;
mod running;

use super::created;
use super::fault::{Fallible, Fault};
use super::filesets::{CompiledSet, RandomVariables, SetDefinition};
use super::flowop_types::TYPES;
use super::flowops::{CompositeDefinition, Flowops};
use super::listing::{self, FlowopList};
use super::processes::{self, ProcessDefinition};
use super::random::{RandomDefinition, RandomKind};
use super::values::{Known, RandomId, Scope, Variables, written};
use super::{Finding, Found, Options, Plan, Run, Step, Wml, World, located, parse};
use crate::filebench::ast::{
    Attribute, Attributes, Command, Created, Listed, Local, Piece, QuitMode, Script, Stats, Value, Variable,
    VariableForm,
};
use crate::filebench::{Span, Spanned};
use fathom_workload::ops::generators::Rand48;
use fathom_workload::{
    Act, Bytes, Duration, Exhausted, Existing, Files, Finished, Phase, Seed, Share, Stop, Workload,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Default time of `run` in timeout mode, seconds.
const DEFAULT_RUN_S: u64 = 60;
/// Default period of `psrun`, seconds.
const DEFAULT_PERIOD_S: u64 = 10;
/// Maximum nesting of `load`; deeper ones are cyclic.
const DEEPEST_LOAD: usize = 16;
/// Limit on commands executed in all loops.
const MOST_COMMANDS: usize = 1_000_000;
/// Limit on positions of a posset.
const MOST_POSITIONS: u64 = 512;

/// A fault with the number of its text.
type Outcome = Result<(), (usize, Fault)>;

pub(super) fn walk(
    file: &str,
    text: &str,
    script: &Script,
    options: &Options,
    world: &World,
) -> Result<Plan, Vec<Finding>> {
    let mut walker = Walker::new(file, text, options, world);
    if options.wml == Wml::V1_5
        && let Some(older) = script.since_older()
    {
        walker.notes.push(format!(
            "{file} uses the language before 1.5 ({older}); it is read with 1.5's meaning, --wml=1.4 chooses the older one"
        ));
    }
    walker.script(0, script);
    walker.end(script);
    walker.finish()
}

/// Processes started by `create processes` and not yet ended.
struct RunningProcesses {
    source: usize,
    span: Span,
    run: Run,
    /// Seconds before the last `stats clear`.
    before_s: u64,
    /// Seconds since then.
    since_s: u64,
    snapped: bool,
}

struct Walker<'a> {
    options: &'a Options,
    world: &'a World<'a>,
    /// Names and texts of scripts; the first is the main script.
    sources: Vec<(String, String)>,
    /// Indices in `sources` of the scripts being loaded.
    loading: usize,
    variables: Variables,
    no_randoms: HashMap<Variable, RandomId>,
    sets: Vec<SetDefinition>,
    processes: Vec<ProcessDefinition>,
    composites: HashMap<String, CompositeDefinition>,
    possets: HashMap<String, Vec<Bytes>>,
    flowops: FlowopList,
    quit: QuitMode,
    eventgen: Option<(usize, Attributes)>,
    histograms: bool,
    /// The sets as created, last defined first.
    created: Option<Vec<CompiledSet>>,
    drawn: RandomVariables,
    life: Option<RunningProcesses>,
    dump_directory: PathBuf,
    steps: Vec<Step>,
    notes: Vec<String>,
    findings: Vec<Finding>,
    commands: usize,
    ran: bool,
    ended: bool,
    /// The script quit explicitly, so missing commands are not reported.
    quits: bool,
}

impl<'a> Walker<'a> {
    fn new(file: &str, text: &str, options: &'a Options, world: &'a World<'a>) -> Self {
        let mut variables = Variables::default();
        let internal = |name: &str| Variable { form: VariableForm::Braced, name: name.into() };
        let script_name = Path::new(file).file_name().map(|n| n.to_string_lossy().into_owned());
        variables.outside.insert(internal("date"), world.date.clone());
        variables.outside.insert(internal("hostname"), world.hostname.clone());
        variables.outside.insert(internal("scriptname"), script_name.unwrap_or_else(|| file.into()));
        variables.overrule(&options.set);
        Self {
            options,
            world,
            sources: vec![(file.into(), text.into())],
            loading: 0,
            variables,
            no_randoms: HashMap::new(),
            sets: Vec::new(),
            processes: Vec::new(),
            composites: HashMap::new(),
            possets: HashMap::new(),
            flowops: FlowopList::default(),
            quit: QuitMode::Timeout,
            eventgen: None,
            histograms: false,
            created: None,
            drawn: RandomVariables::default(),
            life: None,
            dump_directory: PathBuf::new(),
            steps: Vec::new(),
            notes: Vec::new(),
            findings: Vec::new(),
            commands: 0,
            ran: false,
            ended: false,
            quits: false,
        }
    }

    fn scope(&self) -> Scope<'_> {
        Scope { variables: &self.variables, randoms_then: &self.no_randoms, locals: None }
    }

    fn script(&mut self, source: usize, script: &Script) {
        for command in &script.commands {
            if self.ended {
                if self.ran && source == 0 {
                    let line = self.sources[source].1[..command.span.start].matches('\n').count() + 1;
                    self.notes.push(format!(
                        "line {line} and what follows is not executed: in Filebench 1.5 nothing is after run"
                    ));
                }
                return;
            }
            self.commands += 1;
            if self.commands > MOST_COMMANDS {
                self.report((source, Fault::new(command.span, "the script's loops never seem to end")));
                self.ended = true;
                return;
            }
            self.note_environment(&command.node);
            if let Err(fault) = self.command(source, command) {
                self.report(fault);
            }
        }
    }

    fn report(&mut self, (source, fault): (usize, Fault)) {
        let (file, text) = &self.sources[source];
        let finding = located(file, text, fault);
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    fn log(&mut self, line: impl Into<String>) {
        self.steps.push(Step::Log(line.into()));
    }

    fn command(&mut self, source: usize, command: &Spanned<Command>) -> Outcome {
        let span = command.span;
        let here = |fault: Fault| (source, fault);
        let refused = |what: &str, why: &str| {
            Err((source, Fault::new(span, format!("{what} is not supported: {why}"))))
        };
        match &command.node {
            Command::Set { variable, field, value } => {
                self.set(&variable.node, field.as_ref(), value, span).map_err(here)
            }
            Command::SetModeQuit(mode) => {
                self.quit = *mode;
                Ok(())
            }
            Command::SetModeNoUseStats => {
                self.log("Disabling CPU usage statistics");
                Ok(())
            }
            Command::DefineFile(a) => self.define_set(source, span, a, true),
            Command::DefineFileset(a) => self.define_set(source, span, a, false),
            Command::DefineProcess(process) => self.define_process(source, span, process),
            Command::DefineFlowop(composite) => self.define_flowop(source, span, composite),
            Command::DefineRandVar(a) => self.define_randvar(span, a).map_err(here),
            Command::DefinePosset(a) => self.define_posset(span, a).map_err(here),
            Command::Create(Created::Files | Created::Filesets | Created::File) => {
                if self.created.is_some() {
                    self.log("Attempting to create fileset more than once, ignoring");
                    return Ok(());
                }
                self.create()
            }
            Command::Create(Created::Processes) => self.create_processes(source, span),
            Command::Eventgen(a) => {
                self.eventgen = Some((source, a.clone()));
                Ok(())
            }
            Command::Run(seconds) => {
                let seconds = seconds.as_ref().map(|v| self.seconds(v)).transpose().map_err(here)?;
                self.run(source, span, seconds, None)
            }
            Command::Psrun { period_s, seconds } => {
                let period = period_s.as_ref().map_or(DEFAULT_PERIOD_S as i64, |p| p.node);
                if period == 0 {
                    return Err(here(
                        Fault::new(span, "psrun 0 has no period").hint("psrun 10 prints every ten seconds"),
                    ));
                }
                let seconds = seconds.as_ref().map_or(DEFAULT_RUN_S, |s| s.node);
                self.run(source, span, Some(seconds), Some(period))
            }
            Command::Sleep(value) => self.sleep(source, value),
            Command::Warmup(value) => {
                let seconds = self.seconds(value).map_err(here)?;
                self.pause(seconds, false);
                Ok(())
            }
            Command::Echo(text) | Command::Log(text) => {
                let line = self.scope().expand(&text.node);
                self.log(line);
                Ok(())
            }
            Command::System(text) => {
                if self.life.as_ref().is_some_and(|l| !l.snapped && l.before_s + l.since_s > 0) {
                    return refused(
                        "system while processes run",
                        "the run is one piece, from create processes to stats snap",
                    );
                }
                let line = self.scope().expand(&text.node);
                self.steps.push(Step::System(line));
                Ok(())
            }
            Command::Usage(_) => Ok(()),
            Command::List(listed) => self.list(*listed),
            Command::Debug(level) => {
                if *level < 2 {
                    self.notes.push(format!(
                        "debug {level} hides the normal output, figures included; they are in the record"
                    ));
                }
                self.steps.push(Step::Debug(*level));
                Ok(())
            }
            Command::Version => {
                self.log("Filebench Version: 1.5-alpha3");
                Ok(())
            }
            Command::Quit => {
                self.ended = true;
                self.quits = true;
                Ok(())
            }
            Command::EnableLathist => {
                self.histograms = true;
                self.log("Latency histogram enabled");
                Ok(())
            }
            Command::EnableMulti(_) => refused(
                "enable multi",
                "it lets several hosts start together through a server; start fathom on each host, or use fathom-mpi",
            ),
            Command::Domultisync(_) => refused(
                "domultisync",
                "it lets several hosts start together through a server; start fathom on each host, or use fathom-mpi",
            ),
            Command::Load(name) => self.load(source, name),
            Command::Foreach { variable, values, body } => self.foreach(source, &variable.node, values, body),
            Command::ShutdownProcesses => self.shut_down(),
            Command::Stats(stats) => self.stats(source, span, stats),
            Command::Vars => {
                let mut names: Vec<String> = self.variables.names().map(str::to_owned).collect();
                names.sort();
                for name in names {
                    let variable = Variable::plain(name);
                    let words = self.scope().known(&Spanned::new(Value::Variable(variable.clone()), span));
                    let words = words.ok().and_then(|k| k.words()).unwrap_or_else(|| "random".into());
                    self.log(format!("{}={words}", written(&variable)));
                }
                Ok(())
            }
            Command::Help => {
                refused("help", "it belongs to the interactive program; see fathom filebench -h")
            }
            Command::EnableOsprof => refused("enable_osprof", "it profiles a kernel of Solaris"),
            Command::Fsflush(_) => refused("fsflush", "use system \"sync\", or cached=false on the fileset"),
            Command::Fscheck(_) => refused("fscheck", "a benchmark checks no file system; use fsck"),
        }
    }

    fn seconds(&self, value: &Spanned<Value>) -> Fallible<u64> {
        match self.scope().known(value)? {
            Known::Integer(n) if n <= u64::from(u32::MAX) => Ok(n),
            Known::Integer(n) => Err(Fault::new(value.span, format!("{n} seconds are more than a century"))),
            _ => Err(Fault::new(value.span, "a number of seconds is expected")),
        }
    }

    /// Finishes after the last command.
    fn end(&mut self, script: &Script) {
        if self.life.is_some()
            && let Err(fault) = self.shut_down()
        {
            self.report(fault);
        }
        if self.options.run.is_some() && !self.ran {
            let span = script.commands.last().map_or(Span::default(), |c| c.span);
            self.ended = false;
            if let Err(fault) = self.run(0, span, None, None) {
                self.report(fault);
            }
        }
        if !self.ran {
            if self.findings.is_empty() {
                self.check_unused();
            }
            if !self.quits {
                self.steps.push(Step::Line("Warning: no run command in the WML script!".into()));
            }
        }
        for name in self.variables.untouched() {
            let nearest =
                crate::filebench::suggest::nearest(&name, self.variables.names().filter(|n| *n != name));
            let hint = nearest.map_or_else(String::new, |n| format!("${n} is one of its variables"));
            let message = format!("--set {name}=...: the script has no variable ${name}");
            let finding = unplaced(&self.sources[0].0, message, &hint);
            self.findings.push(finding);
        }
    }

    fn finish(self) -> Result<Plan, Vec<Finding>> {
        if self.findings.is_empty() {
            Ok(Plan { steps: self.steps, notes: self.notes })
        } else {
            Err(self.findings)
        }
    }
}

/// A finding about the command line, without a position in a script.
fn unplaced(file: &str, message: String, hint: &str) -> Finding {
    let hint = (!hint.is_empty()).then(|| hint.to_owned());
    let mut rendered = format!("error: {message}\n");
    if let Some(hint) = &hint {
        rendered += &format!("hint: {hint}\n");
    }
    let diagnostic = crate::filebench::Diagnostic {
        severity: crate::filebench::Severity::Error,
        line: 1,
        column: 1,
        length: 1,
        message,
        hint,
    };
    Finding { file: file.into(), diagnostic, rendered }
}
