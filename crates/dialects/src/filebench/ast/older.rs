//! Identifies words that only exist in the language before 1.5. The parser always accepts both languages; with this a caller can report
//! once per run that the file is an older one.

use super::{
    Attributes, Command, Composite, Created, FlowopUse, Local, Number, Piece, Process, Script, Text, Value,
    Variable, VariableForm,
};

/// Attributes that 1.5 does not have.
const OLDER_ATTRIBUTES: [&str; 5] = ["cached", "filesizegamma", "possetname", "procname", "namelength"];

/// Internal variables of the older language; any other `${name}` is a plain variable in 1.5.
const INTERNAL: [&str; 3] = ["date", "hostname", "scriptname"];

const JOINED: &str = "a word joined with a variable";
const STRING: &str = "a variable inside the string of an attribute";
const ASSIGNMENT: &str = "set from another variable";
const ARITHMETIC: &str = "arithmetic in set";
const INTERNAL_VALUE: &str = "${...} for an internal value";

impl Script {
    /// The first word of the script that exists only in the older language.
    #[must_use]
    pub fn since_older(&self) -> Option<&'static str> {
        self.commands.iter().find_map(|command| command.node.since_older())
    }
}

impl Command {
    /// The word (or a description of the construct) that exists only before 1.5; `None` if 1.5 has the command.
    #[must_use]
    pub fn since_older(&self) -> Option<&'static str> {
        match self {
            Self::Set { field: Some(_), .. } => Some("set $x.attribute"),
            Self::Set { field: None, value, .. } => match &value.node {
                Value::Variable(_) => Some(ASSIGNMENT),
                value => older_value(value),
            },
            Self::DefineFile(attributes) | Self::DefineFileset(attributes) => older_attributes(attributes),
            Self::Eventgen(attributes) | Self::EnableMulti(attributes) | Self::Domultisync(attributes) => {
                older_attributes(attributes)
            }
            Self::DefineProcess(process) => older_process(process),
            Self::DefineFlowop(composite) => older_composite(composite),
            Self::DefineRandVar(_) => Some("define randvar"),
            Self::DefinePosset(_) => Some("define posset"),
            Self::Create(Created::Files) => None,
            Self::Create(Created::Filesets) => Some("create filesets"),
            Self::Create(Created::File) => Some("create file"),
            Self::Create(Created::Processes) => Some("create processes"),
            Self::Echo(text) | Self::System(text) => older_text(&text.node),
            Self::Log(_) => Some("log"),
            Self::Usage(_) => Some("usage"),
            Self::Warmup(_) => Some("warmup"),
            Self::Load(_) => Some("load"),
            Self::Foreach { .. } => Some("foreach"),
            Self::ShutdownProcesses => Some("shutdown"),
            Self::Stats(_) => Some("stats"),
            Self::Vars => Some("vars"),
            Self::Help => Some("help"),
            Self::EnableOsprof => Some("enable_osprof"),
            Self::Fsflush(_) => Some("fsflush"),
            Self::Fscheck(_) => Some("fscheck"),
            Self::SetModeQuit(_)
            | Self::SetModeNoUseStats
            | Self::Run(_)
            | Self::Psrun { .. }
            | Self::Sleep(_)
            | Self::List(_)
            | Self::Debug(_)
            | Self::Version
            | Self::Quit
            | Self::EnableLathist => None,
        }
    }
}

fn older_process(process: &Process) -> Option<&'static str> {
    older_attributes(&process.attributes).or_else(|| {
        process.threads.iter().find_map(|thread| {
            older_attributes(&thread.node.attributes)
                .or_else(|| thread.node.flowops.iter().find_map(|flowop| older_flowop(&flowop.node)))
        })
    })
}

fn older_composite(composite: &Composite) -> Option<&'static str> {
    older_attributes(&composite.attributes)
        .or_else(|| older_locals(&composite.locals))
        .or_else(|| composite.flowops.iter().find_map(|flowop| older_flowop(&flowop.node)))
}

fn older_flowop(flowop: &FlowopUse) -> Option<&'static str> {
    older_attributes(&flowop.attributes).or_else(|| older_locals(&flowop.locals))
}

fn older_locals(locals: &[Local]) -> Option<&'static str> {
    locals.iter().find_map(|local| local.value.as_ref().and_then(|value| older_value(&value.node)))
}

fn older_attributes(attributes: &Attributes) -> Option<&'static str> {
    attributes.iter().find_map(|attribute| {
        OLDER_ATTRIBUTES
            .into_iter()
            .find(|older| *older == attribute.name)
            .or_else(|| attribute.value.as_ref().and_then(|value| older_value(&value.node)))
    })
}

/// Checks a value in any position; the bare variables of `set`, which 1.5 lacks, are checked there.
fn older_value(value: &Value) -> Option<&'static str> {
    match value {
        Value::Joined(_) => Some(JOINED),
        Value::Arithmetic { .. } => Some(ARITHMETIC),
        Value::Quoted(text) if text.literal().is_none() => Some(STRING),
        Value::Variable(variable) => older_variable(variable),
        Value::RandVar(attributes) | Value::CVar(attributes) => older_attributes(attributes),
        Value::Table(rows) => rows.iter().find_map(|row| {
            [&row.node.percent, &row.node.low, &row.node.high].into_iter().find_map(|number| {
                match &number.node {
                    Number::Variable(variable) => older_variable(variable),
                    Number::Integer(_) => None,
                }
            })
        }),
        Value::Integer(_) | Value::Boolean(_) | Value::Word(_) | Value::Quoted(_) => None,
    }
}

fn older_text(text: &Text) -> Option<&'static str> {
    text.pieces.iter().find_map(|piece| match piece {
        Piece::Variable(variable) => older_variable(variable),
        Piece::Literal(_) => None,
    })
}

fn older_variable(variable: &Variable) -> Option<&'static str> {
    let internal = INTERNAL.contains(&variable.name.as_str()) || variable.name.contains('.');
    (variable.form == VariableForm::Braced && internal).then_some(INTERNAL_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filebench::ast::Attribute;

    #[test]
    fn an_attribute_of_the_older_language_is_found_by_its_name() {
        let attributes = Attributes(vec![
            Attribute::new("name", Some(Value::Word("x".into()))),
            Attribute::new("cached", Some(Value::Boolean(true))),
        ]);
        assert_eq!(Command::DefineFile(attributes).since_older(), Some("cached"));
        assert_eq!(Command::DefineFile(Attributes::default()).since_older(), None);
    }

    #[test]
    fn an_internal_value_is_older_and_a_variable_in_braces_is_not() {
        let echo = |name: &str| {
            let variable = Variable { form: VariableForm::Braced, name: name.into() };
            Command::Echo(Text { pieces: vec![Piece::Variable(variable)] }.into())
        };
        assert_eq!(echo("stats.iorate").since_older(), Some(INTERNAL_VALUE));
        assert_eq!(echo("mine").since_older(), None);
    }
}
