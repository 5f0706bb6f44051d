//! Latency percentiles, one row per phase and kind of operation, from the merged histograms of its workers.

use crate::section::{brief, full_title};
use fathom_record::{Histogram, OpKind, Phase, Regime};

/// Percentiles of one kind of operation in one phase, ns.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyRow {
    /// The phase, with its sizes.
    pub title: String,
    /// The phase without its sizes.
    pub brief: String,
    /// The kind of operation.
    pub op: OpKind,
    /// Number of timed operations.
    pub ops: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90 %.
    pub p90_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p999_ns: u64,
    /// The maximum.
    pub max_ns: u64,
    /// Where the phase's data came from or went to.
    pub origin: Regime,
}

impl LatencyRow {
    /// Names of the percentiles, in the order of [`LatencyRow::values_ns`].
    pub const HEADS: [&str; 5] = ["p50", "p90", "p99", "p99.9", "max"];

    /// The percentiles, ascending.
    #[must_use]
    pub fn values_ns(&self) -> [u64; 5] {
        [self.p50_ns, self.p90_ns, self.p99_ns, self.p999_ns, self.max_ns]
    }

    /// The timed part of the operation: "service" and "response" for a stream with a rate, "submission" and "completion" for an
    /// asynchronous one; else the kind of operation.
    #[must_use]
    pub fn part(&self, paced: bool) -> &'static str {
        match self.op {
            OpKind::Read if paced => "service time",
            OpKind::Write if paced => "write service",
            OpKind::Response => "response time",
            OpKind::ReadSubmission => "submission",
            OpKind::ReadCompletion => "completion",
            OpKind::WriteSubmission => "write submission",
            OpKind::WriteCompletion => "write completion",
            OpKind::FinalSync => "sync at the end",
            op => op.word(),
        }
    }

    fn of(phase: &Phase, op: OpKind, latency: &Histogram, origin: Regime) -> Option<Self> {
        Some(Self {
            title: full_title(phase),
            brief: brief(phase),
            op,
            ops: latency.count(),
            p50_ns: latency.percentile_ns(50.0)?,
            p90_ns: latency.percentile_ns(90.0)?,
            p99_ns: latency.percentile_ns(99.0)?,
            p999_ns: latency.percentile_ns(99.9)?,
            max_ns: latency.max_ns(),
            origin,
        })
    }
}

/// Kinds that are housekeeping in most workloads. They are results in flows and where nothing else is done.
const HOUSEKEEPING: [OpKind; 4] = [OpKind::Open, OpKind::Close, OpKind::Stat, OpKind::Delete];

/// Kinds whose latency is a result in every workload.
const SHOWN: [OpKind; 10] = [
    OpKind::Read,
    OpKind::Write,
    OpKind::Sync,
    OpKind::Response,
    OpKind::ReadSubmission,
    OpKind::ReadCompletion,
    OpKind::WriteSubmission,
    OpKind::WriteCompletion,
    OpKind::FinalSync,
    OpKind::Trim,
];

/// One row per phase and kind of operation with a histogram.
#[must_use]
pub fn rows(phases: &[&Phase]) -> Vec<LatencyRow> {
    phases.iter().flat_map(|phase| rows_of(phase)).collect()
}

/// Rows of phases whose latencies have parts: service and response, or submission and completion.
#[must_use]
pub fn in_parts(phases: &[&Phase]) -> Vec<LatencyRow> {
    let parts = |r: &LatencyRow| r.op.is_part();
    let of_each = phases.iter().map(|phase| rows_of(phase));
    of_each
        .filter(|rows| rows.iter().any(parts))
        .flatten()
        .filter(|r| r.op.is_part() || matches!(r.op, OpKind::Read | OpKind::Write))
        .collect()
}

/// Whether a row's phase has a rate, so that its service times are shown beside response times.
#[must_use]
pub fn paced(rows: &[LatencyRow], row: &LatencyRow) -> bool {
    rows.iter().any(|r| r.op == OpKind::Response && r.title == row.title)
}

fn rows_of(phase: &Phase) -> Vec<LatencyRow> {
    let origin = phase.origin().regime;
    let flow = phase.repetitions.iter().flat_map(|r| &r.workers).any(|w| !w.rows.is_empty());
    let more: &[OpKind] = if flow || phase.is_metadata_only() { &HOUSEKEEPING } else { &[] };
    SHOWN
        .iter()
        .chain(more)
        .filter_map(|&op| LatencyRow::of(phase, op, &phase.latency_of(op), origin))
        .collect()
}

/// The most telling latency of a phase, and whether it is that of fsync, which it is if every write was followed by one.
#[must_use]
pub fn representative(phase: &Phase) -> (Histogram, bool) {
    if phase.is_metadata_only() {
        // Of several kinds of operation, none represents the others.
        return (Histogram::default(), false);
    }
    let latency = phase.latency();
    let mut syncs = Histogram::default();
    for repetition in &phase.repetitions {
        syncs.merge(&repetition.latency(OpKind::Sync));
    }
    if phase.writes && !phase.reads && syncs.count() * 2 > latency.count() {
        (syncs, true)
    } else {
        (latency, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn percentiles_ascend_and_count_the_operations() {
        let run = samples::throughput_run();
        let phases: Vec<&Phase> = run.phases.iter().collect();
        let rows = rows(&phases);
        assert!(rows.len() >= phases.len());
        for row in rows {
            assert!(row.values_ns().is_sorted(), "{row:?}");
            assert!(row.ops > 0);
        }
    }

    #[test]
    fn parts_of_a_latency_have_rows_of_their_own() {
        let run = samples::engine_run();
        let phases: Vec<&Phase> = run.phases.iter().collect();
        let rows = in_parts(&phases);
        let parts: Vec<&str> = rows.iter().map(|r| r.part(paced(&rows, r))).collect();
        assert_eq!(parts, ["read", "submission", "completion", "service time", "response time"]);
        let plain = samples::throughput_run();
        assert!(in_parts(&plain.phases.iter().collect::<Vec<_>>()).is_empty());
    }
}
