//! The words a script uses: commands, flowop types, attributes by what they belong to, and kinds of variables. Read off its tree.

use fathom_dialects::filebench::ast::{
    Attributes, Command, Created, FlowopUse, Listed, QuitMode, Script, Stats, Value,
};
use std::collections::BTreeSet;

/// The words of a script, as `kind word`.
pub type Words = BTreeSet<String>;

/// Adds what a script uses.
pub fn collect(script: &Script, words: &mut Words) {
    for command in &script.commands {
        one(&command.node, words);
    }
}

fn one(command: &Command, words: &mut Words) {
    words.insert(format!("command {}", name_of(command)));
    match command {
        Command::Set { value, .. } => set(&value.node, words),
        Command::DefineFile(a) => attributes("file", a, words),
        Command::DefineFileset(a) => attributes("fileset", a, words),
        Command::DefineProcess(process) => {
            attributes("process", &process.attributes, words);
            for thread in &process.threads {
                attributes("thread", &thread.node.attributes, words);
                thread.node.flowops.iter().for_each(|f| flowop(&f.node, words));
            }
        }
        Command::DefineFlowop(composite) => {
            attributes("composite", &composite.attributes, words);
            composite.flowops.iter().for_each(|f| flowop(&f.node, words));
            for local in &composite.locals {
                words.insert(format!(
                    "composite variable{}",
                    if local.value.is_some() { " default" } else { "" }
                ));
            }
        }
        Command::DefineRandVar(a) => attributes("randvar", a, words),
        Command::DefinePosset(a) => attributes("posset", a, words),
        Command::Eventgen(a) => attributes("eventgen", a, words),
        Command::EnableMulti(a) => attributes("multi", a, words),
        Command::Domultisync(a) => attributes("domultisync", a, words),
        Command::Foreach { body, .. } => collect(body, words),
        Command::Psrun { period_s, .. } => {
            let sign = if period_s.as_ref().is_some_and(|p| p.node < 0) { "negative" } else { "positive" };
            words.insert(format!("psrun {sign}"));
        }
        _ => {}
    }
}

fn set(value: &Value, words: &mut Words) {
    match value {
        Value::RandVar(a) => attributes("randvar", a, words),
        Value::CVar(a) => attributes("cvar", a, words),
        Value::Arithmetic { operator, .. } => {
            words.insert(format!("arithmetic {}", operator.sign()));
        }
        _ => {}
    }
}

fn flowop(used: &FlowopUse, words: &mut Words) {
    words.insert(format!("type {}", used.flowop_type.node));
    attributes("flowop", &used.attributes, words);
    if !used.locals.is_empty() {
        words.insert("flowop variable".into());
    }
}

fn attributes(of: &str, list: &Attributes, words: &mut Words) {
    for attribute in list {
        words.insert(format!("{of} {}", attribute.name));
        let choice = matches!((of, attribute.name.as_str()), ("randvar" | "cvar", "type" | "randsrc"));
        if let (true, Some(value)) = (choice, attribute.value.as_ref().and_then(|v| v.node.text())) {
            words.insert(format!("{of} {}={value}", attribute.name));
        }
    }
}

/// A command as it is called; a new one does not compile until it has a name here.
fn name_of(command: &Command) -> &'static str {
    match command {
        Command::Set { field: None, .. } => "set",
        Command::Set { field: Some(_), .. } => "set field",
        Command::SetModeQuit(QuitMode::Timeout) => "set mode quit timeout",
        Command::SetModeQuit(QuitMode::AllDone) => "set mode quit alldone",
        Command::SetModeQuit(QuitMode::FirstDone) => "set mode quit firstdone",
        Command::SetModeNoUseStats => "set mode nousestats",
        Command::DefineFile(_) => "define file",
        Command::DefineFileset(_) => "define fileset",
        Command::DefineProcess(_) => "define process",
        Command::DefineFlowop(_) => "define flowop",
        Command::DefineRandVar(_) => "define randvar",
        Command::DefinePosset(_) => "define posset",
        Command::Create(Created::Files) => "create files",
        Command::Create(Created::Filesets) => "create filesets",
        Command::Create(Created::File) => "create file",
        Command::Create(Created::Processes) => "create processes",
        Command::Eventgen(_) => "eventgen",
        Command::Run(_) => "run",
        Command::Psrun { .. } => "psrun",
        Command::Sleep(_) => "sleep",
        Command::Warmup(_) => "warmup",
        Command::Echo(_) => "echo",
        Command::Log(_) => "log",
        Command::System(_) => "system",
        Command::Usage(_) => "usage",
        Command::List(Listed::Filesets) => "list filesets",
        Command::List(Listed::Flowops) => "list flowop",
        Command::Debug(_) => "debug",
        Command::Version => "version",
        Command::Quit => "quit",
        Command::EnableLathist => "enable lathist",
        Command::EnableMulti(_) => "enable multi",
        Command::Domultisync(_) => "domultisync",
        Command::Load(_) => "load",
        Command::Foreach { .. } => "foreach",
        Command::ShutdownProcesses => "shutdown processes",
        Command::Stats(Stats::Clear) => "stats clear",
        Command::Stats(Stats::Snap) => "stats snap",
        Command::Stats(Stats::Dump(_)) => "stats dump",
        Command::Stats(Stats::XmlDump(_)) => "stats xmldump",
        Command::Stats(Stats::MultiDump(_)) => "stats multidump",
        Command::Stats(Stats::Command(_)) => "stats command",
        Command::Stats(Stats::Directory(_)) => "stats directory",
        Command::Vars => "vars",
        Command::Help => "help",
        Command::EnableOsprof => "enable_osprof",
        Command::Fsflush(_) => "fsflush",
        Command::Fscheck(_) => "fscheck",
    }
}

/// Every command, as [`name_of`] calls them.
pub const COMMANDS: [&str; 48] = [
    "set",
    "set field",
    "set mode quit timeout",
    "set mode quit alldone",
    "set mode quit firstdone",
    "set mode nousestats",
    "define file",
    "define fileset",
    "define process",
    "define flowop",
    "define randvar",
    "define posset",
    "create files",
    "create filesets",
    "create file",
    "create processes",
    "eventgen",
    "run",
    "psrun",
    "sleep",
    "warmup",
    "echo",
    "log",
    "system",
    "usage",
    "list filesets",
    "list flowop",
    "debug",
    "version",
    "quit",
    "enable lathist",
    "enable multi",
    "domultisync",
    "load",
    "foreach",
    "shutdown processes",
    "stats clear",
    "stats snap",
    "stats dump",
    "stats xmldump",
    "stats multidump",
    "stats command",
    "stats directory",
    "vars",
    "help",
    "enable_osprof",
    "fsflush",
    "fscheck",
];
