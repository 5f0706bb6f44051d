//! `fathom power-cut`: whether storage keeps what it has acknowledged when the power fails. `write` overwrites, appends or replaces
//! files, and prints a journal of the syncs that have returned, which is kept on another machine. `check` compares the files with the
//! journal after the cut.
//!
//! Invariant: a sync is in the journal only after it has returned. So whatever of the journal is lost, `check` never reports a write
//! as lost that was not acknowledged.

mod check;
mod journal;
mod judge;
pub mod options;
mod plan;
mod sector;
mod write;

use options::{Action, PowerCut};
use std::process::ExitCode;

pub fn run(options: &PowerCut) -> anyhow::Result<ExitCode> {
    match &options.action {
        Action::Write(o) => write::run(o),
        Action::Check(o) => check::run(o),
    }
}

/// Name of the directory with the files.
const DIRECTORY: &str = "fathom-power-cut";
