//! fio: reads its job files and command lines into a workload.
//!
//! `table` lists the options, their values and how each is handled; `line` reads a command line (with `general`), `text` a job file
//! (with `keywords` and `number`); `jobs` collects the settings of each job; `plan` makes the workload; `explain` describes every job
//! and the origin of each value; `output` prints fio's reports. No I/O here: files, environment and machine come from [`World`].

mod engines;
mod error;
pub mod explain;
mod general;
pub mod help;
pub mod iolog;
mod jobs;
mod keywords;
mod lenient_number;
pub mod line;
mod number;
pub mod output;
pub mod plan;
pub mod settings;
mod split;
pub mod table;
mod text;
mod triples;
mod version;

pub use error::{Spot, UsageError};
pub use general::{Format, General, Help};
pub use plan::{Job, Plan};
pub use version::Version;

use std::path::{Path, PathBuf};

/// What exists at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundPath {
    /// Size in bytes.
    pub bytes: u64,
    /// Whether it is a block device.
    pub device: bool,
    /// Whether it is a device such as `/dev/null`, which stores nothing and accepts any size.
    pub bottomless: bool,
}

/// What the dialect needs to know about its environment.
pub struct World<'a> {
    /// Value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Contents of a file (`-`: stdin), or why it cannot be read.
    pub read: &'a dyn Fn(&Path) -> Result<Vec<u8>, String>,
    /// Contents of a trace (`-`: stdin), or why it cannot be read.
    pub trace: &'a dyn Fn(&Path) -> Result<Vec<u8>, String>,
    /// What is at a path; `None` if it does not exist.
    pub find: &'a dyn Fn(&Path) -> Option<FoundPath>,
    /// Whether the environment allows writing to a path that no option allows.
    pub allowed: &'a dyn Fn(&Path) -> bool,
    /// Whether a block device holds no data that would be lost.
    pub blank: &'a dyn Fn(&Path) -> bool,
    /// Path of the block device with this number (major, minor), if it exists.
    pub device: &'a dyn Fn(u32, u32) -> Option<PathBuf>,
    /// Regular files below a directory, sorted by name, or why they cannot be listed.
    pub list: &'a dyn Fn(&Path) -> Result<Vec<PathBuf>, String>,
    /// Page size in bytes.
    pub page_bytes: u64,
    /// Memory of the machine in MiB.
    pub memory_mib: u64,
    /// CPUs of the machine.
    pub cpus: u64,
    /// Seed for runs that must differ from each other.
    pub clock_seed: u64,
}

/// The result of reading a command line.
#[derive(Debug)]
pub enum Invocation {
    /// Print this text and exit.
    Help(Help),
    /// Print the lines of this compressed log.
    Inflate(PathBuf),
    /// No job was named.
    Nothing(Box<General>),
    /// Run these jobs.
    Jobs(Box<Plan>),
}

/// Reads a command line (without the program's name) and the files it names.
///
/// # Errors
/// The first error found; nothing may be run then.
pub fn plan(args: &[String], world: &World<'_>) -> Result<Invocation, UsageError> {
    let mut line = line::read(args, world)?;
    line.general.version = Version::asked(world).map_err(UsageError::nowhere)?;
    if line.general.debug_parse {
        let own = line.jobs.iter().flat_map(|job| &job.2);
        line.general.debug_lines =
            line.globals.iter().chain(own).filter_map(plan::steady::sentence).collect();
    }
    if let Some(help) = line.general.help.clone() {
        return Ok(Invocation::Help(help));
    }
    if let Some(log) = line.general.inflate_log.take() {
        return Ok(Invocation::Inflate(log));
    }
    if line.general.parse_only && line.jobs.is_empty() && line.files.is_empty() {
        return Ok(Invocation::Nothing(Box::new(line.general)));
    }
    let (jobs, notes) = jobs::collect(&line, world)?;
    let mut plan = plan::make(line.general, jobs, args, world)?;
    plan.notes.splice(0..0, notes);
    Ok(Invocation::Jobs(Box::new(plan)))
}

#[cfg(test)]
mod tests;
