//! Prints a stored run: parses its command line and feeds the printer with the stored phase.

use super::{Context, SysbenchPrinter, plan};
use crate::LivePrinter;
use fathom_record::{OpError, Run, Status};
use std::path::Path;

/// Why a run cannot be printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SysbenchReplayError {
    /// Its command line is not SysBench's.
    #[error("run {id} is not a SysBench run: its command line names no sysbench")]
    NotSysBench {
        /// ID of the run.
        id: String,
    },
    /// Its command line cannot be read.
    #[error("the command line of run {id} is not accepted: {reason}")]
    CommandLine {
        /// ID of the run.
        id: String,
        /// The parser's message.
        reason: String,
    },
}

/// The complete output of a stored run.
///
/// # Errors
/// If the run is not SysBench's, or this version does not accept its command line.
pub fn print(run: &Run) -> Result<String, SysbenchReplayError> {
    let named = |word: &String| Path::new(word).file_name().is_some_and(|n| n == "sysbench");
    let args = run.argv.iter().position(named).and_then(|at| run.argv.get(at + 1..));
    let args = args.ok_or_else(|| SysbenchReplayError::NotSysBench { id: run.id.clone() })?;
    // The stored command line contains the options from any option file.
    let read = |_: &Path| Err("it is not kept with the run".into());
    let parsed = plan(args, &Context { clock_seed: run.seed, read: &read }).map_err(|exit| {
        SysbenchReplayError::CommandLine {
            id: run.id.clone(),
            reason: format!("{}{}", exit.stdout, exit.stderr),
        }
    })?;
    let mut printer = SysbenchPrinter::new(&parsed);
    let mut text = printer.head();
    if let (Some(done), Some(planned)) = (run.phases.first(), parsed.workload.phases.first()) {
        text += &printer.phase_started(planned);
        text += &printer.started();
        text += &printer.phase_done(done);
    }
    let error = run.phases.iter().flat_map(|p| &p.repetitions).find_map(|r| r.error());
    text += &match (run.status, error) {
        (Status::Failed, Some(error)) => printer.failed(error),
        (Status::Failed, None) => printer.failed(&OpError {
            message: run.error.clone().unwrap_or_else(|| "the run failed".into()),
            ..OpError::default()
        }),
        (Status::Interrupted, _) => printer.interrupted(),
        (Status::Completed, _) => printer.end(),
        (Status::Running, _) => String::new(),
    };
    Ok(text)
}
