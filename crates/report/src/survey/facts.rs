//! Figures of a survey, taken from its phases by stage.

use crate::Kind;
use crate::section::stage;
use fathom_compare::summary::median;
use fathom_record::{Histogram, OpKind, Phase, Repetition, Run};

/// The first stage of every survey.
pub const LADDER: &str = "ladder";

/// From this ratio of the long write's rates without and with its fsync, both are shown.
pub(crate) const FSYNC_MATTERS: f64 = 1.1;

/// Whether a run is a survey with the stages that findings and verdicts need.
#[must_use]
pub fn is_survey(run: &Run) -> bool {
    run.dialect == "survey" && run.phases.iter().any(|p| stage(p) == Some(LADDER))
}

pub(crate) fn of_stage<'r>(run: &'r Run, wanted: &str) -> Vec<&'r Phase> {
    let measured = |p: &&Phase| stage(p) == Some(wanted) && !p.failed() && !p.repetitions.is_empty();
    run.phases.iter().filter(measured).collect()
}

pub(crate) fn named<'r>(run: &'r Run, wanted: &str, name: &str) -> Option<&'r Phase> {
    of_stage(run, wanted).into_iter().find(|p| p.name == name)
}

/// A percentile of the latency of a phase's main operation, ns.
pub(crate) fn latency(phase: &Phase, percentile: f64) -> Option<f64> {
    latency_of(phase, phase.main_op(), percentile)
}

/// A percentile of the fsync that follows each write, ns. The write itself is not included, because the
/// percentiles of two operations do not add up.
pub(crate) fn synced(phase: &Phase, percentile: f64) -> Option<f64> {
    latency_of(phase, OpKind::Sync, percentile)
}

/// A percentile over the repetitions. One that was many times as fast as the median is left out: its operations would
/// outnumber those of the repetitions behind the phase's rate.
pub(crate) fn latency_of(phase: &Phase, op: OpKind, percentile: f64) -> Option<f64> {
    const FACTOR: f64 = 10.0;
    let most = phase.ops_per_s().filter(|median| *median > 0.0).map_or(f64::INFINITY, |m| m * FACTOR);
    let mut all = Histogram::default();
    for repetition in phase.repetitions.iter().filter(|r| r.ops_per_s().is_none_or(|rate| rate <= most)) {
        all.merge(&repetition.latency(op));
    }
    all.percentile_ns(percentile).map(|ns| ns as f64)
}

/// Files a second through a flow: the rate of its first operation.
pub(crate) fn files_per_s(phase: &Phase) -> Option<f64> {
    let of_one = |r: &Repetition| {
        let worker = r.workers.first().filter(|w| w.elapsed_ns > 0)?;
        Some(worker.rows.first()?.ops as f64 * 1e9 / worker.elapsed_ns as f64)
    };
    median(&phase.repetitions.iter().filter_map(of_one).collect::<Vec<f64>>())
}

/// A throttled device (by a control group, a cache being emptied) works in bursts: over less than this it did all or nothing.
const WINDOW_NS: u64 = 100_000_000;

/// Bytes a second in each tenth of a second, or longer interval, of the last repetition with intervals, until the last
/// operation returned: an fsync after it moves no bytes that are counted. A partial interval at the end is left out.
pub(crate) fn course(phase: &Phase) -> Vec<(f64, f64)> {
    let Some(last) = phase.repetitions.iter().rev().find(|r| r.intervals.len() > 4) else {
        return Vec::new();
    };
    let all: Vec<_> = last.operating_intervals().collect();
    let whole = all.iter().take(all.len().saturating_sub(1)).filter(|i| i.width_ns > 0);
    let mut points = Vec::new();
    let (mut bytes, mut width_ns) = (0_u64, 0_u64);
    for interval in whole {
        bytes = bytes.saturating_add(interval.bytes);
        width_ns = width_ns.saturating_add(interval.width_ns);
        if width_ns >= WINDOW_NS {
            points.push((interval.end_ns as f64 / 1e9, bytes as f64 * 1e9 / width_ns as f64));
            (bytes, width_ns) = (0, 0);
        }
    }
    points
}

/// Whether a phase says something of the storage: the page cache did not serve all of it. Where the source is not known, nothing
/// is held against the figure.
pub(crate) fn by_storage(phase: &Phase) -> bool {
    !matches!(Kind::from(phase.origin().regime), Kind::PageCache | Kind::CpuCache | Kind::Holes)
}

/// As [`by_storage`], and nothing was in the page cache.
pub(crate) fn by_storage_alone(phase: &Phase) -> bool {
    by_storage(phase) && Kind::from(phase.origin().regime) != Kind::Mixed
}

/// Phases of a stage that say something of the storage; all of them if none does.
pub(crate) fn of_storage<'r>(run: &'r Run, stage: &str) -> Vec<&'r Phase> {
    let all = of_stage(run, stage);
    let own: Vec<&Phase> = all.iter().copied().filter(|p| by_storage(p)).collect();
    if own.is_empty() { all } else { own }
}

/// How syncs fail to make data durable, if they do.
pub(crate) fn without_durable_syncs(run: &Run) -> Option<&'static str> {
    let has = |code| run.doubts.iter().any(|doubt| doubt.code == code);
    if has("impossible-sync") {
        Some("fsync returns before the data is written")
    } else {
        has("unflushed-sync").then_some("fsync does not flush the device's write cache")
    }
}

/// Whether the survey ran on a file system in memory.
pub(crate) fn in_memory(run: &Run) -> bool {
    run.phases.iter().flat_map(|p| &p.repetitions).any(|r| r.physical.is_memory())
}
