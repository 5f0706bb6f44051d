//! fio's messages about a job that exceeded a limit.

use super::super::plan::Plan;
use super::verify;
use fathom_record::{OpError, Run};

/// fio's lines for an error about a minimum rate or a maximum latency.
#[must_use]
pub fn lines(plan: &Plan, run: &Run, error: &OpError) -> Option<String> {
    let (asked, found) = error.compared?;
    let (phase, worker) = verify::worker(run, error)?;
    let job = plan.jobs.iter().find(|job| {
        job.places.iter().any(|place| {
            place.phase == phase && worker.checked_sub(place.worker).is_some_and(|n| n < job.clones)
        })
    })?;
    Some(match error.call.as_str() {
        "bandwidth" => format!("{}: rate_min={asked}B/s not met, got {found}B/s\n", job.name),
        "rate" => format!("{}: rate_iops_min={asked} not met, got {found} IOPS\n", job.name),
        "latency" => {
            let what = match (job.rw.reads(), job.rw.writes()) {
                (true, true) => "I/O",
                (_, true) => "write",
                _ => "read",
            };
            format!(
                "fio: latency of {found} nsec exceeds specified max ({asked} nsec): {} {what} {}\n",
                error.path,
                error.offset.unwrap_or(0)
            )
        }
        _ => return None,
    })
}
