//! fio: its job files and command lines in, a workload out.
//!
//! `table` lists the options, what they take and what becomes of them; `line` reads a command line (with `general`), `text` a job file (with
//! `keywords` and `number`); `jobs` gives every job the settings that hold for it; `plan` makes the workload; `explain` says what every
//! job will do, and where each value comes from; `output` prints what fio prints. Nothing here does I/O: files, environment and machine come in with [`World`].

mod engines;
pub mod explain;
mod general;
pub mod help;
pub mod iolog;
mod jobs;
mod keywords;
mod lenient;
pub mod line;
mod number;
pub mod output;
pub mod plan;
pub mod settings;
mod split;
pub mod table;
mod text;
mod three;
mod version;
mod wrong;

pub use general::{Format, General, Help};
pub use plan::{Job, Plan};
pub use version::Version;
pub use wrong::{Spot, Wrong};

use std::path::{Path, PathBuf};

/// What is found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its size.
    pub bytes: u64,
    /// It is a block device.
    pub device: bool,
    /// It is a device that holds nothing, and is as large as is asked for: `/dev/null` and the like.
    pub bottomless: bool,
}

/// What the dialect must know of the world.
pub struct World<'a> {
    /// A variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// What a file (`-`: stdin) holds, or why it cannot be had.
    pub read: &'a dyn Fn(&Path) -> Result<Vec<u8>, String>,
    /// What a trace (`-`: stdin) holds, or why it cannot be had.
    pub trace: &'a dyn Fn(&Path) -> Result<Vec<u8>, String>,
    /// What is at a path, if anything is.
    pub find: &'a dyn Fn(&Path) -> Option<Found>,
    /// Whether a path may be written although no option allows it: the environment names it.
    pub allowed: &'a dyn Fn(&Path) -> bool,
    /// Whether a block device holds nothing that would be lost.
    pub blank: &'a dyn Fn(&Path) -> bool,
    /// The path of the block device of a number (major, minor), if there is one.
    pub device: &'a dyn Fn(u32, u32) -> Option<PathBuf>,
    /// The regular files below a directory, in the order of their names, or why they cannot be had.
    pub list: &'a dyn Fn(&Path) -> Result<Vec<PathBuf>, String>,
    /// Bytes of a page of memory.
    pub page_bytes: u64,
    /// Memory of the machine in MiB.
    pub memory_mib: u64,
    /// CPUs of the machine.
    pub cpus: u64,
    /// Seed where every run is to be another.
    pub clock_seed: u64,
}

/// What a command line comes to.
#[derive(Debug)]
pub enum Asked {
    /// Print this and be done.
    Help(Help),
    /// Print the lines of this compressed log.
    Inflate(PathBuf),
    /// Nothing: options were read, and no job is named.
    Nothing(Box<General>),
    /// Jobs.
    Jobs(Box<Plan>),
}

/// Reads a command line (without the program's name) and what it names.
///
/// # Errors
/// The first thing that is wrong; nothing is to be done then.
pub fn plan(args: &[String], world: &World<'_>) -> Result<Asked, Wrong> {
    let mut line = line::read(args, world)?;
    line.general.version = Version::asked(world).map_err(Wrong::nowhere)?;
    if line.general.debug_parse {
        let own = line.jobs.iter().flat_map(|job| &job.2);
        line.general.debug_lines =
            line.globals.iter().chain(own).filter_map(plan::steady::sentence).collect();
    }
    if let Some(help) = line.general.help.clone() {
        return Ok(Asked::Help(help));
    }
    if let Some(log) = line.general.inflate_log.take() {
        return Ok(Asked::Inflate(log));
    }
    if line.general.parse_only && line.jobs.is_empty() && line.files.is_empty() {
        return Ok(Asked::Nothing(Box::new(line.general)));
    }
    let (jobs, notes) = jobs::collect(&line, world)?;
    let mut plan = plan::make(line.general, jobs, args, world)?;
    plan.notes.splice(0..0, notes);
    Ok(Asked::Jobs(Box::new(plan)))
}

#[cfg(test)]
mod tests;
