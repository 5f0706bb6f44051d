//! Plans a script: turns its tree into an ordered list of steps, where each run has a workload of the model. Commands are processed
//! in order with the current values of variables. Nothing is executed; information about the environment (existing files, other
//! scripts, variables) comes from closures.

mod created;
mod fault;
mod filesets;
mod flowop_types;
mod flowops;
mod listing;
mod processes;
mod random;
mod slots;
#[cfg(test)]
mod tests;
mod values;
mod walk;

pub use created::{Create, CreatedSet};
pub use processes::rows;
pub use random::CUSTOM;

use super::diagnostic::{Diagnostic, Severity};
use super::parser::parse;
use fathom_workload::Workload;
use std::path::{Path, PathBuf};

/// The version whose semantics a script has. The syntax of all versions is always accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wml {
    /// 1.5, the last one.
    #[default]
    V1_5,
    /// 1.1 to 1.4.9.1.
    V1_4,
    /// 1.0: `define file` means a plain file.
    V1_0,
}

/// The version whose output format is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// 1.5
    #[default]
    V1_5,
    /// 1.4.9.1
    V1_4,
    /// 1.1.0
    V1_1,
    /// The file that `stats dump` wrote, up to 1.4.9.1.
    Dump,
}

/// Options from the caller.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Semantics of the script.
    pub wml: Wml,
    /// Format of the results.
    pub format: Format,
    /// Variables to set; the script's own `set` commands for them have no effect.
    pub set: Vec<(String, String)>,
    /// Overrides the time of every run, in seconds; a script without a run gets one at its end.
    pub run: Option<u64>,
    /// Trees and files that may be destroyed although fathom did not create them.
    pub replace: Vec<PathBuf>,
}

impl Options {
    /// Whether `replace` lists the path.
    #[must_use]
    pub fn replaces(&self, path: &Path) -> bool {
        self.replace.iter().any(|r| r == path)
    }
}

/// What exists at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Missing,
    /// A regular file.
    File {
        /// Size in bytes.
        bytes: u64,
    },
    /// A directory.
    Directory,
    /// A block device.
    BlockDevice {
        /// Size in bytes.
        bytes: u64,
    },
}

/// Queries that planning makes about its environment.
pub struct World<'a> {
    /// What exists at a path.
    pub look: &'a dyn Fn(&Path) -> Found,
    /// The text of a script named by `load`; `None` if it cannot be read.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
    /// An environment variable, for `$(name)` of the older language.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// `${date}` of the older language.
    pub date: String,
    /// `${hostname}` of the older language.
    pub hostname: String,
}

/// One step of a plan.
#[derive(Clone, Debug)]
pub enum Step {
    /// A log line, printed with a timestamp.
    Log(String),
    /// A line without a timestamp.
    Line(String),
    /// `debug n`: from now on, 0 and 1 suppress normal output, 3 and above print the process ID before each line.
    Debug(u64),
    /// A shell command of the script, for `/bin/sh -c`.
    System(String),
    /// A pause.
    Sleep {
        /// Duration in seconds.
        seconds: u64,
        /// Log line printed before it.
        before: String,
        /// Log line printed after it.
        after: String,
    },
    /// Creates files.
    Create(Box<Create>),
    /// Runs the processes.
    Run(Box<Run>),
    /// Writes the figures of the last run to a file, in [`Format::Dump`].
    Dump(PathBuf),
}

/// A run of processes.
#[derive(Clone, Debug)]
pub struct Run {
    /// Workload with one phase.
    pub workload: Workload,
    /// Log lines before the start.
    pub starting: Vec<String>,
    /// Period of intermediate results, seconds.
    pub period_s: Option<u64>,
    /// Whether counters are zeroed after each of them.
    pub reset: bool,
    /// Whether rows end with a histogram.
    pub histograms: bool,
    /// Whether the figures are printed at the end.
    pub prints: bool,
    /// Whether `Shutting down processes` follows at once.
    pub shuts_down: bool,
}

/// The result of planning a script.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Steps in order of execution.
    pub steps: Vec<Step>,
    /// Notes for the user: silent behaviour of the original, and deviations from it.
    pub notes: Vec<String>,
}

impl Plan {
    /// All runs, in order.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.steps.iter().filter_map(|s| match s {
            Step::Run(run) => Some(&**run),
            _ => None,
        })
    }

    /// All file creations, in order.
    pub fn creations(&self) -> impl Iterator<Item = &Create> {
        self.steps.iter().filter_map(|s| match s {
            Step::Create(create) => Some(&**create),
            _ => None,
        })
    }
}

/// An error or a warning, with its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// File name of the script.
    pub file: String,
    /// The error or warning with its position.
    pub diagnostic: Diagnostic,
    /// The same as text, with the line and carets.
    pub rendered: String,
}

/// Plans a script. `file` is its name in messages; scripts that it loads are searched in its directory.
///
/// # Errors
/// Everything that prevents a run, from syntax errors to files that would be destroyed.
pub fn plan(file: &str, text: &str, options: &Options, world: &World) -> Result<Plan, Vec<Finding>> {
    let parsed = parse(text);
    let finding = |diagnostic: &Diagnostic| Finding {
        file: file.into(),
        diagnostic: diagnostic.clone(),
        rendered: diagnostic.render(file, text),
    };
    if !parsed.errors.is_empty() {
        return Err(parsed.errors.iter().map(finding).collect());
    }
    let mut plan = walk::walk(file, text, &parsed.script, options, world)?;
    let warnings = parsed.warnings.iter().map(|w| finding(w).rendered.trim_end().to_owned());
    plan.notes.splice(0..0, warnings);
    Ok(plan)
}

fn located(file: &str, text: &str, fault: fault::Fault) -> Finding {
    let diagnostic = Diagnostic::new(Severity::Error, text, fault.span, fault.message, fault.hint);
    Finding { file: file.into(), rendered: diagnostic.render(file, text), diagnostic }
}
