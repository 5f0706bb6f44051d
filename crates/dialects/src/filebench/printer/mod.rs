//! Prints a tree as a script, which parses to the same tree. Comments, blanks, number notation and the position of composite
//! variables among attributes are not in the tree and are lost.

mod text;
mod value;

use super::ast::{
    Attributes, Command, Composite, Created, FlowopUse, Listed, Local, Process, QuitMode, Script, Stats,
    Thread, Value, Variable,
};
use super::span::Spanned;
use text::text;
use value::{value, variable};

/// Prints `script` with one command per line and indented bodies.
#[must_use]
pub fn print(script: &Script) -> String {
    let mut printer = FilebenchPrinter { out: String::new(), indent: 0 };
    printer.script(script);
    printer.out
}

struct FilebenchPrinter {
    out: String,
    indent: usize,
}

impl FilebenchPrinter {
    fn line(&mut self, line: &str) {
        self.out += &"  ".repeat(self.indent);
        self.out += line;
        self.out.push('\n');
    }

    fn with_value(&mut self, command: &str, right: &Spanned<Value>) {
        self.line(&format!("{command} {}", value(&right.node)));
    }

    fn with_attributes(&mut self, command: &str, list: &Attributes) {
        let list = attributes(list, &[]);
        self.line(format!("{command} {list}").trim_end());
    }

    fn psrun(&mut self, period_s: Option<&Spanned<i64>>, seconds: Option<&Spanned<u64>>) {
        let line = match (period_s, seconds) {
            (Some(period), Some(seconds)) => format!("psrun {} {}", period.node, seconds.node),
            (Some(period), None) => format!("psrun {}", period.node),
            // The grammar allows no duration without a period.
            (None, _) => "psrun".into(),
        };
        self.line(&line);
    }

    fn script(&mut self, script: &Script) {
        for command in &script.commands {
            self.command(&command.node);
        }
    }

    fn block(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        body(self);
        self.indent -= 1;
        self.line("}");
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::DefineProcess(process) => self.process(process),
            Command::DefineFlowop(composite) => self.composite(composite),
            Command::Foreach { variable, values, body } => self.foreach(variable, values, body),
            Command::Set { variable: name, field, value: right } => {
                let field = field.as_ref().map_or(String::new(), |field| format!(".{}", field.node));
                self.line(&format!("set {}{field}={}", variable(&name.node), value(&right.node)));
            }
            Command::SetModeQuit(QuitMode::Timeout) => self.line("set mode quit timeout"),
            Command::SetModeQuit(QuitMode::AllDone) => self.line("set mode quit alldone"),
            Command::SetModeQuit(QuitMode::FirstDone) => self.line("set mode quit firstdone"),
            Command::SetModeNoUseStats => self.line("set mode nousestats"),
            Command::DefineFile(list) => self.with_attributes("define file", list),
            Command::DefineFileset(list) => self.with_attributes("define fileset", list),
            Command::DefineRandVar(list) => self.with_attributes("define randvar", list),
            Command::DefinePosset(list) => self.with_attributes("define posset", list),
            Command::Create(Created::Files) => self.line("create files"),
            Command::Create(Created::Filesets) => self.line("create filesets"),
            Command::Create(Created::File) => self.line("create file"),
            Command::Create(Created::Processes) => self.line("create processes"),
            Command::Eventgen(list) => self.with_attributes("eventgen", list),
            Command::Run(None) => self.line("run"),
            Command::Run(Some(seconds)) => self.with_value("run", seconds),
            Command::Psrun { period_s, seconds } => self.psrun(period_s.as_ref(), seconds.as_ref()),
            Command::Sleep(seconds) => self.with_value("sleep", seconds),
            Command::Warmup(seconds) => self.with_value("warmup", seconds),
            Command::Echo(what) => self.line(&format!("echo {}", text(&what.node))),
            Command::Log(what) => self.line(&format!("log {}", text(&what.node))),
            Command::System(what) => self.line(&format!("system {}", text(&what.node))),
            Command::Usage(what) => self.line(&format!("usage {}", text(&what.node))),
            Command::List(Listed::Filesets) => self.line("list filesets"),
            Command::List(Listed::Flowops) => self.line("list flowop"),
            Command::Debug(level) => self.line(&format!("debug {level}")),
            Command::Version => self.line("version"),
            Command::Quit => self.line("quit"),
            Command::EnableLathist => self.line("enable lathist"),
            Command::EnableMulti(list) => self.with_attributes("enable multi", list),
            Command::Domultisync(list) => self.with_attributes("domultisync", list),
            Command::Load(name) => self.with_value("load", name),
            Command::ShutdownProcesses => self.line("shutdown processes"),
            Command::Stats(Stats::Clear) => self.line("stats clear"),
            Command::Stats(Stats::Snap) => self.line("stats snap"),
            Command::Stats(Stats::Dump(file)) => self.with_value("stats dump", file),
            Command::Stats(Stats::XmlDump(file)) => self.with_value("stats xmldump", file),
            Command::Stats(Stats::MultiDump(file)) => self.with_value("stats multidump", file),
            Command::Stats(Stats::Command(command)) => self.with_value("stats command", command),
            Command::Stats(Stats::Directory(directory)) => self.with_value("stats directory", directory),
            Command::Vars => self.line("vars"),
            Command::Help => self.line("help"),
            Command::EnableOsprof => self.line("enable_osprof"),
            Command::Fsflush(list) => self.with_attributes("fsflush", list),
            Command::Fscheck(list) => self.with_attributes("fscheck", list),
        }
    }

    fn foreach(&mut self, name: &Spanned<Variable>, values: &[Spanned<Value>], body: &Script) {
        let values: Vec<String> = values.iter().map(|v| value(&v.node)).collect();
        let head = format!("foreach {} in {}", variable(&name.node), values.join(","));
        self.block(&head, |printer| printer.script(body));
    }

    fn process(&mut self, process: &Process) {
        let head = format!("define process {}", attributes(&process.attributes, &[]));
        self.block(&head, |printer| {
            for thread in &process.threads {
                printer.thread(&thread.node);
            }
        });
    }

    fn thread(&mut self, thread: &Thread) {
        let head = format!("thread {}", attributes(&thread.attributes, &[]));
        self.block(&head, |printer| printer.flowops(&thread.flowops));
    }

    fn composite(&mut self, composite: &Composite) {
        let head = format!("define flowop {}", attributes(&composite.attributes, &composite.locals));
        self.block(&head, |printer| printer.flowops(&composite.flowops));
    }

    fn flowops(&mut self, flowops: &[Spanned<FlowopUse>]) {
        for flowop in flowops {
            let FlowopUse { flowop_type, attributes: list, locals } = &flowop.node;
            self.line(&format!("flowop {} {}", flowop_type.node, attributes(list, locals)));
        }
    }
}

/// `name=value,name,$local=value`.
fn attributes(list: &Attributes, locals: &[Local]) -> String {
    let assigned = |left: String, right: Option<&Spanned<Value>>| match right {
        Some(right) => format!("{left}={}", value(&right.node)),
        None => left,
    };
    let attributes = list.iter().map(|attribute| assigned(attribute.name.clone(), attribute.value.as_ref()));
    let locals = locals.iter().map(|local| assigned(variable(&local.variable.node), local.value.as_ref()));
    attributes.chain(locals).collect::<Vec<_>>().join(",")
}
