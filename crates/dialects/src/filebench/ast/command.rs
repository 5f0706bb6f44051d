//! The commands of a script, of 1.5 and of the older language.

use super::{Attributes, Local, Script, Text, Value, Variable};
use crate::filebench::span::Spanned;

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `set $name=VALUE`, and the older `set $name.mean=VALUE`, which changes one attribute of a random variable.
    Set {
        /// Name of the variable.
        variable: Spanned<Variable>,
        /// The attribute of a random variable, in the older form.
        field: Option<Spanned<String>>,
        /// Its value.
        value: Spanned<Value>,
    },
    /// `set mode quit ...`
    SetModeQuit(QuitMode),
    /// `set mode nousestats`, and the older `nousestats`.
    SetModeNoUseStats,
    /// `define file`
    DefineFile(Attributes),
    /// `define fileset`
    DefineFileset(Attributes),
    /// `define process`
    DefineProcess(Process),
    /// `define flowop`
    DefineFlowop(Composite),
    /// `define randvar` (older): the same as `set` to a `randvar(...)`; the variable is the value of `name`.
    DefineRandVar(Attributes),
    /// `define posset` (1.4.8 to 1.4.9.1)
    DefinePosset(Attributes),
    /// `create ...`
    Create(Created),
    /// `eventgen rate=n`
    Eventgen(Attributes),
    /// `run [seconds]`
    Run(Option<Spanned<Value>>),
    /// `psrun [period [seconds]]`
    Psrun {
        /// Seconds between prints; negative: counters are zeroed after each.
        period_s: Option<Spanned<i64>>,
        /// Seconds of the run.
        seconds: Option<Spanned<u64>>,
    },
    /// `sleep seconds`
    Sleep(Spanned<Value>),
    /// `warmup seconds` (older)
    Warmup(Spanned<Value>),
    /// `echo "..."`
    Echo(Spanned<Text>),
    /// `log "..."` (older)
    Log(Spanned<Text>),
    /// `system "..."`
    System(Spanned<Text>),
    /// `usage "..."` (older)
    Usage(Spanned<Text>),
    /// `list ...`
    List(Listed),
    /// `debug n`
    Debug(u64),
    /// `version`
    Version,
    /// `quit`, and the older `exit`.
    Quit,
    /// `enable lathist`
    EnableLathist,
    /// `enable multi master=...,client=...`
    EnableMulti(Attributes),
    /// `domultisync value=...`
    Domultisync(Attributes),
    /// `load NAME` (older): runs the commands of another file. The caller opens it.
    Load(Spanned<Value>),
    /// `foreach $x in 1,2,3 { ... }` (older)
    Foreach {
        /// Loop variable.
        variable: Spanned<Variable>,
        /// Values of the loop variable, in order.
        values: Vec<Spanned<Value>>,
        /// Commands of the loop body.
        body: Script,
    },
    /// `shutdown processes` (older)
    ShutdownProcesses,
    /// `stats ...` (older)
    Stats(Stats),
    /// `vars` (older)
    Vars,
    /// `help` (older)
    Help,
    /// `enable_osprof` (older)
    EnableOsprof,
    /// `fsflush ...` (older)
    Fsflush(Attributes),
    /// `fscheck ...` (older)
    Fscheck(Attributes),
}

/// Early end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuitMode {
    /// None; an early end is a failure. The default.
    Timeout,
    /// When all threads are done.
    AllDone,
    /// When the first thread is done.
    FirstDone,
}

/// Objects of `create`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// `create files`: all file sets.
    Files,
    /// `create filesets` (older).
    Filesets,
    /// `create file` (older).
    File,
    /// `create processes` (older).
    Processes,
}

/// Objects of `list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// `list filesets`
    Filesets,
    /// `list flowop`
    Flowops,
}

/// The older language's statistics commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stats {
    /// `stats clear`
    Clear,
    /// `stats snap`
    Snap,
    /// `stats dump FILE`
    Dump(Spanned<Value>),
    /// `stats xmldump FILE`
    XmlDump(Spanned<Value>),
    /// `stats multidump FILE`
    MultiDump(Spanned<Value>),
    /// `stats command COMMAND`
    Command(Spanned<Value>),
    /// `stats directory DIRECTORY`
    Directory(Spanned<Value>),
}

/// `process ATTRIBUTES { THREADS }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// `name`, `instances`, `nice`.
    pub attributes: Attributes,
    /// At least one.
    pub threads: Vec<Spanned<Thread>>,
}

/// `thread ATTRIBUTES { FLOWOPS }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// `name`, `instances`, `memsize`, `useism`, `ioprio`.
    pub attributes: Attributes,
    /// At least one, in the order of execution.
    pub flowops: Vec<Spanned<FlowopUse>>,
}

/// `flowop TYPE ATTRIBUTES` in a thread or in a composite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowopUse {
    /// A built-in type or the name of a composite.
    pub flowop_type: Spanned<String>,
    /// Attributes as written.
    pub attributes: Attributes,
    /// Values for the variables of a composite. Their position among the attributes has no meaning and is not kept.
    pub locals: Vec<Local>,
}

/// `define flowop ATTRIBUTES { FLOWOPS }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composite {
    /// `name`, `iters`.
    pub attributes: Attributes,
    /// Variables with their defaults.
    pub locals: Vec<Local>,
    /// At least one.
    pub flowops: Vec<Spanned<FlowopUse>>,
}
