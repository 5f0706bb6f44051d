//! From the tree of a script to what the program does: an ordered list of steps, each run with its workload of the model. The
//! commands are gone through in order with the values that variables have at that moment; nothing is executed, and what must be
//! known of the world (files in place, other scripts, the environment) is asked of closures.

mod acts;
mod created;
mod fault;
mod filesets;
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

/// Which version's meaning a script has. The words of all versions are understood always.
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

/// Which version's output is printed.
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

/// What the caller asks for beside the script.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Meaning of words.
    pub wml: Wml,
    /// Form of the results.
    pub format: Format,
    /// Values of variables; the script's own `set` lines for them do nothing.
    pub set: Vec<(String, String)>,
    /// Every run takes so many seconds, whatever the script says; one that has none gets a run after its last command.
    pub run: Option<u64>,
    /// Trees and files that may be destroyed although we did not make them.
    pub replace: Vec<PathBuf>,
}

impl Options {
    /// Whether the path was named as one that may be replaced.
    #[must_use]
    pub fn replaces(&self, path: &Path) -> bool {
        self.replace.iter().any(|r| r == path)
    }
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Missing,
    /// A plain file.
    File {
        /// Its size.
        bytes: u64,
    },
    /// A directory.
    Directory,
    /// A block device.
    BlockDevice {
        /// Its size.
        bytes: u64,
    },
}

/// What planning may ask of the world.
pub struct World<'a> {
    /// What is at a path.
    pub look: &'a dyn Fn(&Path) -> Found,
    /// The text of a script that `load` names.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
    /// A variable of the environment, for `$(name)` of the older language.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// `${date}` of the older language.
    pub date: String,
    /// `${hostname}` of the older language.
    pub hostname: String,
}

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Step {
    /// A line of the log: printed with the time before it.
    Log(String),
    /// A line without the time.
    Line(String),
    /// `debug n`: from here on 0 and 1 print no normal output, 3 and more print the process's number before each line.
    Debug(u64),
    /// A command of the user's script, for `/bin/sh -c`.
    System(String),
    /// Waiting, with a line before and one after.
    Sleep {
        /// How long.
        seconds: u64,
        /// Line of the log before.
        before: String,
        /// Line of the log after.
        after: String,
    },
    /// Making the files.
    Create(Box<Create>),
    /// A run.
    Run(Box<Run>),
    /// Writing the figures of the last run into a file, in the form of [`Format::Dump`].
    Dump(PathBuf),
}

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    /// One phase.
    pub workload: Workload,
    /// Lines before it starts.
    pub starting: Vec<String>,
    /// Figures are printed so often while it runs.
    pub period_s: Option<u64>,
    /// After each of these prints the counters are zeroed.
    pub reset: bool,
    /// Rows end with a histogram.
    pub histograms: bool,
    /// The figures are printed when it ends.
    pub prints: bool,
    /// `Shutting down processes` follows at once.
    pub shuts_down: bool,
}

/// What a script comes to.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// In order.
    pub steps: Vec<Step>,
    /// What the user should know: what the original does silently, what is read in another way.
    pub notes: Vec<String>,
}

impl Plan {
    /// Its runs.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.steps.iter().filter_map(|s| match s {
            Step::Run(run) => Some(&**run),
            _ => None,
        })
    }

    /// Its file creations.
    pub fn creations(&self) -> impl Iterator<Item = &Create> {
        self.steps.iter().filter_map(|s| match s {
            Step::Create(create) => Some(&**create),
            _ => None,
        })
    }
}

/// An error or a warning, and the file it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the script.
    pub file: String,
    /// What is wrong, and where.
    pub diagnostic: Diagnostic,
    /// The same with the line and carets, for people.
    pub rendered: String,
}

/// Plans a script. `file` is its name in messages; its directory is searched for scripts it loads.
///
/// # Errors
/// Everything that keeps it from being run, from the first error of language to a file that would be destroyed.
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

/// A diagnostic made of a fault.
fn located(file: &str, text: &str, fault: fault::Fault) -> Finding {
    let diagnostic = Diagnostic::new(Severity::Error, text, fault.span, fault.message, fault.hint);
    Finding { file: file.into(), rendered: diagnostic.render(file, text), diagnostic }
}
