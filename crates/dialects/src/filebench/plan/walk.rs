//! The commands of a script in order: definitions are remembered, variables set, and everything that is to be done becomes a step.

use super::created;
use super::fault::{Fallible, Fault};
use super::filesets::{CompiledSet, Drawn, SetDefinition};
use super::flowops::{CompositeDefinition, Flowops, TYPES};
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

/// `run` without a time, in the mode that ends by time.
const DEFAULT_RUN_S: u64 = 60;
/// `psrun` without a period.
const DEFAULT_PERIOD_S: u64 = 10;
/// Scripts that load one another deeper than this do so in a circle.
const DEEPEST_LOAD: usize = 16;
/// Rounds of all loops together.
const MOST_COMMANDS: usize = 1_000_000;
/// Positions of a posset.
const MOST_POSITIONS: u64 = 512;

/// A fault and the text it is in.
type Outcome = Result<(), (usize, Fault)>;

/// Goes through a script.
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

/// Processes that `create processes` started and nothing has ended yet.
struct Life {
    source: usize,
    span: Span,
    run: Run,
    /// Seconds before the last `stats clear`.
    before_s: u64,
    /// Seconds since.
    since_s: u64,
    snapped: bool,
}

struct Walker<'a> {
    options: &'a Options,
    world: &'a World<'a>,
    /// Names and texts; the first is the script itself.
    sources: Vec<(String, String)>,
    /// Position in `sources` of the scripts that are being loaded.
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
    /// The sets as they were created, last defined first.
    created: Option<Vec<CompiledSet>>,
    drawn: Drawn,
    life: Option<Life>,
    dump_directory: PathBuf,
    steps: Vec<Step>,
    notes: Vec<String>,
    findings: Vec<Finding>,
    commands: usize,
    ran: bool,
    ended: bool,
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
            drawn: Drawn::default(),
            life: None,
            dump_directory: PathBuf::new(),
            steps: Vec::new(),
            notes: Vec::new(),
            findings: Vec::new(),
            commands: 0,
            ran: false,
            ended: false,
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

    /// Values of the environment that a command asks for are looked up before it is carried out.
    fn note_environment(&mut self, command: &Command) {
        let mut wanted: Vec<Variable> = Vec::new();
        match command {
            Command::Echo(t) | Command::Log(t) | Command::System(t) => collect(&t.node.pieces, &mut wanted),
            Command::Set { value, .. } => asked_for(&value.node, &mut wanted),
            Command::DefineFile(a) | Command::DefineFileset(a) => {
                a.iter().filter_map(|a| a.value.as_ref()).for_each(|v| asked_for(&v.node, &mut wanted));
            }
            _ => {}
        }
        for variable in wanted.into_iter().filter(|v| v.form == VariableForm::Parenthesised) {
            if let Some(text) = (self.world.environment)(&variable.name) {
                self.variables.outside.insert(variable, text);
            }
        }
    }

    fn set(
        &mut self,
        variable: &Variable,
        field: Option<&Spanned<String>>,
        value: &Spanned<Value>,
        span: Span,
    ) -> Fallible<()> {
        if let Some(field) = field {
            let id = self.variables.random(variable).ok_or_else(|| {
                Fault::new(
                    span,
                    format!("{} is no random variable, so it has no {}", written(variable), field.node),
                )
            })?;
            let attribute =
                Attribute { name: field.node.clone(), name_span: field.span, value: Some(value.clone()) };
            self.variables.randoms[id.0].attributes.0.push(attribute);
            return Ok(());
        }
        let (attributes, kind) = match &value.node {
            Value::RandVar(a) => (a, RandomKind::Random),
            Value::CVar(a) => (a, RandomKind::Custom),
            plain => {
                self.variables.set(variable, plain);
                return Ok(());
            }
        };
        self.set_random(variable, attributes.clone(), kind, span)
    }

    fn set_random(
        &mut self,
        variable: &Variable,
        attributes: Attributes,
        kind: RandomKind,
        span: Span,
    ) -> Fallible<()> {
        let taken = self
            .variables
            .randoms
            .iter()
            .filter(|r| r.name.split('#').next() == Some(&variable.name))
            .count();
        let name = match taken {
            0 => variable.name.clone(),
            n => format!("{}#{}", variable.name, n + 1),
        };
        let definition = RandomDefinition { name, span, attributes, kind };
        // Everything but numbers that are set later is checked at once.
        if kind == RandomKind::Custom {
            definition.compile(&self.scope())?;
        }
        self.variables.set_random(variable, definition);
        Ok(())
    }

    fn define_randvar(&mut self, span: Span, attributes: &Attributes) -> Fallible<()> {
        match attributes.value("name").map(|v| &v.node) {
            Some(Value::Variable(variable)) => {
                let rest = attributes.iter().filter(|a| a.name != "name").cloned().collect();
                self.set_random(&variable.clone(), Attributes(rest), RandomKind::Random, span)
            }
            _ => Err(Fault::new(span, "define randvar needs name=$variable")),
        }
    }

    fn define_posset(&mut self, span: Span, a: &Attributes) -> Fallible<()> {
        let scope = self.scope();
        let name = scope.text(a, "name")?.ok_or_else(|| Fault::new(span, "posset specifies no name"))?;
        if let Some(kind) = scope.text(a, "type")?
            && kind != "rnd"
        {
            return Err(Fault::new(span, format!("posset type {kind} is not supported: only rnd is")));
        }
        let entries = scope.integer(a, "entries")?.unwrap_or(MOST_POSITIONS);
        if !(1..=MOST_POSITIONS).contains(&entries) {
            return Err(Fault::new(
                span,
                format!("a posset has 1 to {MOST_POSITIONS} entries, not {entries}"),
            ));
        }
        let max = scope.integer(a, "max")?.unwrap_or(0);
        let mut stream = Rand48::new(scope.integer(a, "seed")?.unwrap_or(0) & 0xffff_ffff_ffff);
        let positions =
            (0..entries).map(|_| Bytes((stream.unit() * max as f64) as u64 / 512 * 512)).collect();
        self.possets.insert(name, positions);
        Ok(())
    }

    fn define_set(&mut self, source: usize, span: Span, a: &Attributes, single: bool) -> Outcome {
        let here = |fault: Fault| (source, fault);
        let what = if single { "file" } else { "fileset" };
        let attributes = self.bound_early(a, &[]).map_err(here)?;
        if let Some(attribute) = attributes.last("namelength") {
            return Err(here(
                Fault::new(
                    attribute.span(),
                    "namelength is not supported: names have eight digits, as in 1.5",
                )
                .hint("leave it out"),
            ));
        }
        let name = self.scope().text(&attributes, "name").map_err(here)?;
        let name = name.filter(|n| !n.is_empty()).ok_or_else(|| {
            here(Fault::new(span, format!("{what} specifies no name")).hint("add name=..."))
        })?;
        if self.sets.iter().any(|s| s.name == name) {
            let fault = Fault::new(span, format!("{what} {name} is defined already"));
            return Err(here(fault.hint("give one of them another name: they would share a directory")));
        }
        if self.created.is_some() {
            let fault = Fault::new(
                span,
                format!("{what} {name} is defined after the files were created, and will not exist"),
            );
            return Err(here(fault.hint("move the definition before create files")));
        }
        let randoms = self.variables.randoms_now();
        self.sets.push(SetDefinition { source, span, attributes, single, name, randoms });
        Ok(())
    }

    /// The attributes that are bound when they are read, with their values in place of variables.
    fn bound_early(&self, attributes: &Attributes, locals: &[Local]) -> Fallible<Attributes> {
        let local = |v: &Variable| locals.iter().any(|l| l.variable.node == *v);
        let mut bound = attributes.clone();
        for attribute in &mut bound.0 {
            if !matches!(attribute.canonical_name(), "name" | "fd" | "srcfd" | "target") {
                continue;
            }
            let Some(value) = &mut attribute.value else { continue };
            let waits = match &value.node {
                Value::Variable(v) => local(v),
                Value::Joined(pieces) => pieces.iter().any(|p| matches!(p, Piece::Variable(v) if local(v))),
                Value::Quoted(text) => {
                    text.pieces.iter().any(|p| matches!(p, Piece::Variable(v) if local(v)))
                }
                _ => continue,
            };
            if !waits {
                value.node = match self.scope().known(value)? {
                    Known::Integer(n) => Value::Integer(n),
                    Known::Boolean(b) => Value::Boolean(b),
                    Known::Text(text) => Value::Word(text),
                    Known::Random(_) => {
                        return Err(Fault::new(value.span, format!("{} cannot be random", attribute.name)));
                    }
                };
            }
        }
        Ok(bound)
    }

    fn define_process(
        &mut self,
        source: usize,
        span: Span,
        process: &crate::filebench::ast::Process,
    ) -> Outcome {
        let here = |fault: Fault| (source, fault);
        let mut process = process.clone();
        process.attributes = self.bound_early(&process.attributes, &[]).map_err(here)?;
        for thread in &mut process.threads {
            thread.node.attributes = self.bound_early(&thread.node.attributes, &[]).map_err(here)?;
            for flowop in &mut thread.node.flowops {
                flowop.node.attributes = self.bound_early(&flowop.node.attributes, &[]).map_err(here)?;
            }
        }
        let composites = self.composites.iter().map(|(name, d)| (name.clone(), &d.composite)).collect();
        self.flowops.process(&process, &composites);
        let randoms = self.variables.randoms_now();
        self.processes.push(ProcessDefinition { source, span, process, randoms });
        Ok(())
    }

    fn define_flowop(
        &mut self,
        source: usize,
        span: Span,
        composite: &crate::filebench::ast::Composite,
    ) -> Outcome {
        let here = |fault: Fault| (source, fault);
        let mut composite = composite.clone();
        composite.attributes = self.bound_early(&composite.attributes, &[]).map_err(here)?;
        let name = self.scope().text(&composite.attributes, "name").map_err(here)?;
        let name =
            name.ok_or_else(|| here(Fault::new(span, "flowop specifies no name").hint("add name=...")))?;
        if self.composites.contains_key(&name) || TYPES.iter().any(|t| t.0 == name) {
            let fault = Fault::new(span, format!("there is a flowop {name} already"));
            return Err(here(fault.hint("give the composite another name")));
        }
        if let Some(iters) = composite.attributes.last("iters") {
            let line = self.sources[source].1[..iters.name_span.start].matches('\n').count() + 1;
            self.notes.push(format!(
                "line {line}: iters in the definition of flowop {name} has no effect, as in Filebench; write it where the flowop is used"
            ));
        }
        for flowop in &mut composite.flowops {
            let kind = &flowop.node.flowop_type;
            if kind.node == name {
                return Err(here(Fault::new(kind.span, format!("flowop {name} would contain itself"))));
            }
            flowop.node.attributes =
                self.bound_early(&flowop.node.attributes, &composite.locals).map_err(here)?;
        }
        self.flowops.composite(&name, &composite);
        let randoms = self.variables.randoms_now();
        self.composites.insert(name, CompositeDefinition { source, composite, randoms });
        Ok(())
    }

    fn seconds(&self, value: &Spanned<Value>) -> Fallible<u64> {
        match self.scope().known(value)? {
            Known::Integer(n) if n <= u64::from(u32::MAX) => Ok(n),
            Known::Integer(n) => Err(Fault::new(value.span, format!("{n} seconds are more than a century"))),
            _ => Err(Fault::new(value.span, "a number of seconds is expected")),
        }
    }

    fn create(&mut self) -> Outcome {
        let mut compiled = Vec::new();
        for definition in self.sets.iter().rev() {
            let set = definition
                .compile(&self.variables, self.options, self.world.look, &mut self.drawn)
                .map_err(|f| (definition.source, f))?;
            self.notes.extend(set.notes.iter().cloned());
            compiled.push(set);
        }
        let create = created::create(&compiled, &self.drawn.0).map_err(|(i, message)| {
            let definition = &self.sets[self.sets.len() - 1 - i];
            (definition.source, Fault::new(definition.span, message))
        })?;
        self.steps.push(Step::Create(Box::new(create)));
        self.created = Some(compiled);
        Ok(())
    }

    fn list(&mut self, listed: Listed) -> Outcome {
        let lines = match listed {
            Listed::Flowops => self.flowops.lines(),
            Listed::Filesets => match &self.created {
                Some(sets) => listing::filesets(sets, true),
                None => {
                    let mut drawn = Drawn::default();
                    let mut sets = Vec::new();
                    for d in self.sets.iter().rev() {
                        let set = d.compile(&self.variables, self.options, self.world.look, &mut drawn);
                        sets.push(set.map_err(|f| (d.source, f))?);
                    }
                    listing::filesets(&sets, false)
                }
            },
        };
        for line in lines {
            self.log(line);
        }
        Ok(())
    }

    /// The run of the processes as they are defined now; files are created before, if they were not.
    fn prepare(&mut self, source: usize, span: Span) -> Result<Run, (usize, Fault)> {
        if self.created.is_some() {
            self.log("Attempting to create fileset more than once, ignoring");
        } else {
            self.create()?;
        }
        let sets = self.created.take().unwrap_or_default();
        let mut flowops = Flowops {
            variables: &self.variables,
            options: self.options,
            composites: &self.composites,
            possets: &self.possets,
            sets: &sets,
            drawn: &mut self.drawn,
            made: 0,
        };
        let compiled = processes::compile(&self.processes, &mut flowops);
        self.created = Some(sets);
        let mut faults = compiled.faults.into_iter();
        if let Some(first) = faults.next() {
            faults.for_each(|f| self.report(f));
            return Err(first);
        }
        if compiled.groups.is_empty() {
            let fault = Fault::new(span, "there is no process to run").hint("define process name=... before");
            return Err((source, fault));
        }
        for note in compiled.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.settle_sets(&compiled.groups)?;
        let events = match &self.eventgen {
            None => None,
            Some((source, attributes)) => {
                let scope =
                    Scope { variables: &self.variables, randoms_then: &self.no_randoms, locals: None };
                scope.integer(attributes, "rate").map_err(|f| (*source, f))?
            }
        };
        let file = Path::new(&self.sources[0].0);
        let name = file.file_stem().map_or_else(|| "script".into(), |n| n.to_string_lossy().into_owned());
        let phase = Phase {
            name: name.clone(),
            stop: Stop {
                exhausted: match self.quit {
                    QuitMode::Timeout => Exhausted::Early,
                    QuitMode::FirstDone => Exhausted::Phase,
                    QuitMode::AllDone => Exhausted::Worker,
                },
                finished: match self.quit {
                    QuitMode::Timeout | QuitMode::FirstDone => Finished::Phase,
                    QuitMode::AllDone if self.options.wml == Wml::V1_5 => Finished::Worker,
                    QuitMode::AllDone => Finished::Phase,
                },
                ..Stop::default()
            },
            events_per_s: events.filter(|&rate| rate > 0).map(|rate| rate as f64),
            groups: compiled.groups,
            ..Phase::default()
        };
        let workload = Workload {
            name,
            seed: Seed(1),
            repetitions: 1,
            variables: self.drawn.0.clone(),
            filesets: self.created.iter().flatten().map(|s| s.set.clone()).collect(),
            phases: vec![phase],
            ..Workload::default()
        };
        if let Err(errors) = workload.check() {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            return Err((source, Fault::new(span, format!("this cannot be run: {}", lines.join("; ")))));
        }
        Ok(Run {
            workload,
            starting: compiled.lines,
            period_s: None,
            reset: false,
            histograms: self.histograms,
            prints: true,
            shuts_down: true,
        })
    }

    /// Sets found in place are opened for reading only if nothing writes them, and are neither removed nor, if they are devices,
    /// written without leave.
    fn settle_sets(&mut self, groups: &[fathom_workload::Group]) -> Outcome {
        let changed = processes::changed_sets(groups);
        let rows = processes::rows(groups);
        let removed = |name: &str| {
            rows.iter().any(|(_, op)| {
                matches!(op.act, Act::Delete | Act::RemoveDirectory) && op.fileset.as_deref() == Some(name)
            })
        };
        for set in self.created.iter_mut().flatten() {
            let definition = self.sets.iter().find(|d| d.name == set.set.name);
            let fault = |message: String, hint: String| {
                let (source, span) = definition.map_or((0, Span::default()), |d| (d.source, d.span));
                Err((source, Fault::new(span, message).hint(hint)))
            };
            let name = set.set.name.clone();
            let allowed = self.options.replaces(&set.root);
            let as_found = matches!(set.set.files, Files::List(_)) && set.set.existing == Existing::Reuse;
            if as_found && removed(&name) && !allowed {
                return fault(
                    format!("a flowop deletes {}, which fathom did not make", set.root.display()),
                    format!("--replace {} allows it", set.root.display()),
                );
            }
            let device = matches!((self.world.look)(&set.root), Found::BlockDevice { .. });
            if device && changed.contains(&name) && !allowed {
                return fault(
                    format!("{} is a block device, and a flowop writes to it", set.root.display()),
                    format!("if its contents may be lost: --replace {}", set.root.display()),
                );
            }
            if set.set.existing == Existing::Reuse
                && set.set.share == Share::ReadWrite
                && !changed.contains(&name)
            {
                set.set.share = Share::ReadOnly;
            }
        }
        let sets: Vec<_> = self.created.iter().flatten().map(|s| s.set.clone()).collect();
        let variables = self.drawn.0.clone();
        for step in &mut self.steps {
            if let Step::Create(create) = step {
                create.workload.filesets.clone_from(&sets);
                create.workload.variables.clone_from(&variables);
            }
        }
        Ok(())
    }

    fn run(&mut self, source: usize, span: Span, seconds: Option<u64>, period: Option<i64>) -> Outcome {
        self.ran = true;
        let mut run = self.prepare(source, span)?;
        let time = match (seconds.filter(|&s| s > 0), self.quit) {
            (Some(seconds), _) => Some(seconds),
            (None, QuitMode::Timeout) => Some(DEFAULT_RUN_S),
            (None, QuitMode::AllDone | QuitMode::FirstDone) => None,
        };
        run.period_s = period.map(i64::unsigned_abs);
        run.reset = period.is_some_and(|p| p < 0);
        self.timed(&mut run, 0, time);
        self.steps.push(Step::Run(Box::new(run)));
        self.ended = self.options.wml == Wml::V1_5;
        Ok(())
    }

    fn timed(&self, run: &mut Run, before_s: u64, time_s: Option<u64>) {
        let nanoseconds = |s: u64| Duration(s.saturating_mul(1_000_000_000));
        for phase in &mut run.workload.phases {
            phase.ramp = nanoseconds(before_s);
            phase.stop.time = time_s.map(nanoseconds);
            phase.interval = nanoseconds(1);
        }
    }

    fn sleep(&mut self, source: usize, value: &Spanned<Value>) -> Outcome {
        let seconds = self.seconds(value).map_err(|f| (source, f))?;
        self.pause(seconds, matches!(value.node, Value::Variable(_)));
        Ok(())
    }

    /// Time passes: for processes that run it is theirs.
    fn pause(&mut self, seconds: u64, variable: bool) {
        if let Some(life) = self.life.as_mut().filter(|l| !l.snapped) {
            life.since_s += seconds;
            return;
        }
        // 1.5 prints this with a variable; nothing runs.
        let (before, after) = if variable && self.options.wml == Wml::V1_5 {
            ("Running...".to_owned(), format!("Run took {seconds} seconds..."))
        } else {
            ("Sleeping...".to_owned(), format!("Slept for {seconds} seconds..."))
        };
        self.steps.push(Step::Sleep { seconds, before, after });
    }

    fn load(&mut self, source: usize, name: &Spanned<Value>) -> Outcome {
        let here = |fault: Fault| (source, fault);
        if self.loading >= DEEPEST_LOAD {
            return Err(here(Fault::new(name.span, "scripts load one another in a circle")));
        }
        let Known::Text(text) = self.scope().known(name).map_err(here)? else {
            return Err(here(Fault::new(name.span, "load needs the name of a script")));
        };
        let file = if text.ends_with(".f") { text.clone() } else { format!("{text}.f") };
        let beside = Path::new(&self.sources[0].0).with_file_name(&file);
        let found = [PathBuf::from(&file), beside]
            .into_iter()
            .find_map(|path| Some(((self.world.read)(&path)?, path)));
        let Some((text, path)) = found else {
            let fault = Fault::new(name.span, format!("there is no script {file} here or beside the script"));
            return Err(here(fault.hint("write its path without the .f")));
        };
        let path = path.display().to_string();
        let parsed = parse(&text);
        self.sources.push((path.clone(), text.clone()));
        let number = self.sources.len() - 1;
        for error in &parsed.errors {
            let rendered = error.render(&path, &text);
            self.findings.push(Finding { file: path.clone(), diagnostic: error.clone(), rendered });
        }
        self.notes.extend(parsed.warnings.iter().map(|w| w.render(&path, &text).trim_end().to_owned()));
        if parsed.errors.is_empty() {
            self.loading += 1;
            self.script(number, &parsed.script);
            self.loading -= 1;
        }
        Ok(())
    }

    fn foreach(
        &mut self,
        source: usize,
        variable: &Variable,
        values: &[Spanned<Value>],
        body: &Script,
    ) -> Outcome {
        for value in values {
            let known = self.scope().known(value).map_err(|f| (source, f))?;
            self.variables.set_known(variable, known);
            self.script(source, body);
        }
        Ok(())
    }

    fn create_processes(&mut self, source: usize, span: Span) -> Outcome {
        if self.life.is_some() {
            let fault = Fault::new(span, "processes run already").hint("shutdown processes ends them");
            return Err((source, fault));
        }
        let mut run = self.prepare(source, span)?;
        run.shuts_down = false;
        self.life = Some(Life { source, span, run, before_s: 0, since_s: 0, snapped: false });
        Ok(())
    }

    fn stats(&mut self, source: usize, span: Span, stats: &Stats) -> Outcome {
        let here = |fault: Fault| (source, fault);
        match stats {
            Stats::Clear => {
                if let Some(life) = self.life.as_mut().filter(|l| !l.snapped) {
                    life.before_s += std::mem::take(&mut life.since_s);
                }
                Ok(())
            }
            Stats::Snap => match &self.life {
                Some(life) if life.snapped => Err(here(
                    Fault::new(span, "a second stats snap of one run is not supported: a run is measured once")
                        .hint("psrun prints figures in the middle; or shutdown processes and create processes again"),
                )),
                Some(_) => self.measure(true),
                None if self.steps.iter().any(|s| matches!(s, Step::Run(_))) => Ok(()),
                None => Err(here(Fault::new(span, "stats snap without processes").hint("create processes before"))),
            },
            Stats::Dump(value) => {
                let file = self.scope().known(value).map_err(here)?.words().unwrap_or_default();
                if file.is_empty() {
                    return Err(here(Fault::new(value.span, "stats dump needs the name of a file")));
                }
                if !self.steps.iter().any(|s| matches!(s, Step::Run(_))) {
                    return Err(here(Fault::new(span, "stats dump has nothing to write yet").hint("stats snap before")));
                }
                self.steps.push(Step::Dump(self.dump_directory.join(file)));
                Ok(())
            }
            Stats::Directory(value) => {
                self.dump_directory = self.scope().known(value).map_err(here)?.words().unwrap_or_default().into();
                Ok(())
            }
            Stats::XmlDump(_) => Err(here(
                Fault::new(span, "stats xmldump is not supported: its form is not documented")
                    .hint("fathom export writes JSON and CSV"),
            )),
            Stats::MultiDump(_) => Err(here(
                Fault::new(span, "stats multidump is not supported: its form is not documented")
                    .hint("stats dump writes a file for each run; fathom export writes JSON and CSV"),
            )),
            Stats::Command(_) => Err(here(
                Fault::new(span, "stats command is not supported: what runs beside disturbs what is measured")
                    .hint("start the command with system \"COMMAND &\" before the run"),
            )),
        }
    }

    /// The run of `create processes`, ended.
    fn measure(&mut self, prints: bool) -> Outcome {
        let Some(mut life) = self.life.take() else { return Ok(()) };
        if life.since_s == 0 {
            let fault =
                Fault::new(life.span, "these processes are given no time").hint("sleep 60 before stats snap");
            return Err((life.source, fault));
        }
        let mut run = life.run.clone();
        run.prints = prints;
        self.timed(&mut run, life.before_s, Some(life.since_s));
        self.steps.push(Step::Run(Box::new(run)));
        self.ran = true;
        life.snapped = true;
        self.life = Some(life);
        Ok(())
    }

    fn shut_down(&mut self) -> Outcome {
        match &self.life {
            None => Ok(()),
            Some(life) => {
                if !life.snapped {
                    self.measure(false)?;
                }
                self.life = None;
                self.log("Shutting down processes");
                Ok(())
            }
        }
    }

    /// What is left when the last command is done.
    fn end(&mut self, script: &Script) {
        if let Some(seconds) = self.options.run {
            if self.ran {
                self.findings.push(unplaced(
                    &self.sources[0].0,
                    format!("--run {seconds} has no effect: the script has a run of its own"),
                    "--set changes the variable it takes its time from, if it takes it from one",
                ));
            } else {
                let span = script.commands.last().map_or(Span::default(), |c| c.span);
                self.ended = false;
                if let Err(fault) = self.run(0, span, Some(seconds), None) {
                    self.report(fault);
                }
            }
        }
        if self.life.is_some()
            && let Err(fault) = self.shut_down()
        {
            self.report(fault);
        }
        if !self.ran {
            if self.findings.is_empty() {
                self.check_unused();
            }
            self.steps.push(Step::Line("Warning: no run command in the WML script!".into()));
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

    /// A script without a run is checked as if it had one: what is wrong in it is found all the same, but as a note.
    fn check_unused(&mut self) {
        let steps = self.steps.len();
        let notes = self.notes.len();
        let created = self.created.is_some();
        if let Err((source, fault)) = self.prepare(0, Span::default())
            && !self.processes.is_empty()
        {
            let (file, text) = &self.sources[source];
            let finding = located(file, text, fault);
            self.notes.truncate(notes);
            self.notes.push(format!("if it were run: {}", finding.rendered.trim_end()));
        }
        self.findings.clear();
        self.steps.truncate(steps);
        if !created {
            self.created = None;
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

/// The variables a value asks for.
fn asked_for(value: &Value, wanted: &mut Vec<Variable>) {
    match value {
        Value::Quoted(text) => collect(&text.pieces, wanted),
        Value::Joined(pieces) => collect(pieces, wanted),
        Value::Variable(variable) => wanted.push(variable.clone()),
        _ => {}
    }
}

fn collect(pieces: &[Piece], wanted: &mut Vec<Variable>) {
    wanted.extend(pieces.iter().filter_map(|p| match p {
        Piece::Variable(v) => Some(v.clone()),
        Piece::Literal(_) => None,
    }));
}

/// A finding that is about the command line, not about a place in a script.
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
