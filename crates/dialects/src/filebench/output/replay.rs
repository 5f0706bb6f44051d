//! Prints the figures of a stored run in Filebench's format, without the log lines.

use super::{CpuTimes, Figures, rows, summary};
use crate::filebench::plan::Format;
use fathom_record::{Repetition, Row, Run};
use fathom_workload::{Group, Workload};

/// Why a stored run cannot be printed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilebenchReplayError {
    /// The workload in the record cannot be read.
    #[error(
        "the workload in the record of run {0} cannot be read, so the order of its rows is not known; `fathom show` prints its figures"
    )]
    Workload(String),
    /// The record has no measurements.
    #[error("run {0} has no figures: it ended before anything was measured")]
    Empty(String),
}

/// The figures of one repetition of these groups.
#[must_use]
pub fn figures(groups: &[Group], repetition: &Repetition, format: Format) -> Figures {
    let workers = &repetition.workers;
    let rows: Vec<Row> = workers.iter().flat_map(|w| w.rows.iter().cloned()).collect();
    let longest = workers.iter().map(|w| w.elapsed_ns).max().filter(|&ns| ns > 0);
    let seconds = longest.unwrap_or(repetition.elapsed_ns) as f64 / 1e9;
    let cpu = CpuTimes {
        machine_ns: repetition.physical.machine_cpu_ns.filter(|_| format != Format::V1_5),
        own_ns: workers
            .iter()
            .map(|w| w.cpu_user_ns.saturating_add(w.cpu_system_ns))
            .fold(0, u64::saturating_add),
    };
    Figures::new(groups, &rows, seconds, cpu, format)
}

/// The breakdown of every phase of a stored run, as 1.5 prints it.
///
/// # Errors
/// If the record's workload cannot be read, or there are no measurements.
pub fn print(run: &Run) -> Result<String, FilebenchReplayError> {
    let workload =
        Workload::from_toml(&run.workload).map_err(|_| FilebenchReplayError::Workload(run.id.clone()))?;
    let mut text = String::new();
    for (phase, asked) in run.phases.iter().filter_map(|p| Some((p, workload.phases.get(p.seq as usize)?))) {
        for repetition in &phase.repetitions {
            let figures = figures(&asked.groups, repetition, Format::V1_5);
            text += "Per-Operation Breakdown\n";
            text += &rows(&figures, Format::V1_5, false);
            text += &summary(&figures, Format::V1_5);
            text.push('\n');
        }
    }
    if text.is_empty() { Err(FilebenchReplayError::Empty(run.id.clone())) } else { Ok(text) }
}
