//! Prints a stored run: parses its command line and feeds the printer with the stored phases. Only the record
//! is needed; telemetry files are reconstructed from the operations in the stored workload.

use super::{Context, IozonePrinter, plan};
use crate::LivePrinter;
use fathom_record::{OpError, Run, Status};
use fathom_workload::{Access, ListedOp, Program, Workload};
use jiff::civil::DateTime;
use std::path::{Path, PathBuf};

/// Why a run cannot be printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IozoneReplayError {
    /// Its command line is not IOzone's.
    #[error("run {id} is not an IOzone run: its command line names no iozone")]
    NotIozone {
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
    /// Its time cannot be read.
    #[error("run {id} began at {time:?}, which is no RFC 3339 time")]
    Time {
        /// ID of the run.
        id: String,
        /// The stored time.
        time: String,
    },
}

/// The complete output of a stored run.
///
/// # Errors
/// If the run is not IOzone's, or this version does not accept its command line.
pub fn print(run: &Run) -> Result<String, IozoneReplayError> {
    let args = arguments(&run.argv).ok_or_else(|| IozoneReplayError::NotIozone { id: run.id.clone() })?;
    let now = began(&run.started_at)
        .ok_or_else(|| IozoneReplayError::Time { id: run.id.clone(), time: run.started_at.clone() })?;
    let read = |path: &Path| telemetry(run, args, path);
    let context = Context { now, uname: uname(&run.environment), page_bytes: page_bytes(run), read: &read };
    let parsed = plan(args, &context).map_err(|exit| IozoneReplayError::CommandLine {
        id: run.id.clone(),
        reason: format!("{}{}", exit.stdout, exit.stderr),
    })?;
    let mut printer = IozonePrinter::new(&parsed);
    let mut text = printer.head();
    for phase in &run.phases {
        text += &printer.phase_done(phase);
    }
    let error = run.phases.iter().flat_map(|p| &p.repetitions).find_map(|r| r.error());
    text += &match (run.status, error) {
        (Status::Completed, _) => printer.end(),
        (Status::Interrupted, _) => printer.interrupted(),
        (Status::Failed, Some(error)) => printer.failed(error),
        (Status::Failed, None) => printer
            .failed(&before_the_first(run.error.as_deref().unwrap_or("the run failed"), &parsed.workload)),
        (Status::Running, _) => String::new(),
    };
    Ok(text)
}

/// A failed step outside the clocks, of which only the message is stored; one that names a test file is about its creation.
fn before_the_first(message: &str, workload: &Workload) -> OpError {
    let path = longest(files(workload), |p| message.contains(&*p.to_string_lossy()));
    OpError {
        compared: None,
        call: path.as_ref().map_or("", |_| "create").into(),
        path: path.unwrap_or_default().display().to_string(),
        offset: None,
        after_ops: 0,
        errno: 0,
        message: message.into(),
    }
}

/// The test files as named on the command line.
pub(super) fn files(workload: &Workload) -> Vec<PathBuf> {
    workload.filesets.iter().flat_map(|s| (0..s.files.count()).filter_map(|i| s.files.path(i))).collect()
}

/// The longest matching path: `x.1` is also in `x.10`.
pub(super) fn longest(paths: Vec<PathBuf>, fits: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    paths.into_iter().filter(|p| fits(p)).max_by_key(|p| p.as_os_str().len())
}

/// The words after the program name: `iozone -a`, `/usr/bin/iozone -a`, `fathom iozone -a`.
fn arguments(argv: &[String]) -> Option<&[String]> {
    let named = |word: &String| Path::new(word).file_name().is_some_and(|n| n == "iozone");
    let at = argv.iter().position(named)?;
    argv.get(at + 1..)
}

/// Local time of an RFC 3339 text, in its own offset.
fn began(text: &str) -> Option<DateTime> {
    text.trim_end_matches('Z').parse().ok()
}

/// `uname -a` output, reconstructed from an environment document. Live runs use it too, so that their output can be reproduced.
#[must_use]
pub fn uname(environment: &serde_json::Value) -> String {
    let word = |key: &str| environment.get(key).and_then(|v| v.as_str());
    let words = [
        Some("Linux"),
        word("hostname"),
        word("kernel"),
        word("kernel_version"),
        word("architecture"),
        Some("GNU/Linux"),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The page size, which environment documents lack: 4096 on x86-64 and most others.
fn page_bytes(run: &Run) -> u64 {
    run.environment.get("page_bytes").and_then(serde_json::Value::as_u64).unwrap_or(4096)
}

/// A telemetry file reconstructed from the stored workload.
fn telemetry(run: &Run, args: &[String], path: &Path) -> Result<String, String> {
    let o = super::parse::parse(args, "").map_err(|exit| exit.stderr)?;
    let name = if o.write_telemetry.as_deref() == Some(path) { "write" } else { "read" };
    let workload = Workload::from_toml(&run.workload).map_err(|e| e.message)?;
    let list = listed(&workload, name).ok_or_else(|| format!("the stored workload has no {name} list"))?;
    let compute = list.iter().any(|op| op.think.0 > 0);
    let line = |op: &ListedOp| {
        let think = if compute { format!(" {}", op.think.0 / 1_000_000) } else { String::new() };
        format!("{} {}{think}\n", op.offset, op.bytes)
    };
    Ok(list.iter().map(line).collect())
}

fn listed(workload: &Workload, phase: &str) -> Option<Vec<ListedOp>> {
    let phase = workload.phases.iter().find(|p| p.name == phase)?;
    phase.groups.iter().flat_map(|g| &g.threads).find_map(|t| match &t.program {
        Program::Stream(s) => match &s.access {
            Access::Listed(list) => Some(list.clone()),
            _ => None,
        },
        Program::Flow(_) => None,
    })
}
