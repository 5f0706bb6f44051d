//! Latency percentiles, one row per phase and kind of operation, read from the merged histograms of its workers.

use crate::section::full_title;
use fathom_record::{Histogram, OpKind, Phase, Regime};

/// Percentiles of one kind of operation in one phase, ns.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The phase, with its sizes.
    pub title: String,
    /// The kind of operation.
    pub op: OpKind,
    /// How many were timed.
    pub ops: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90 %.
    pub p90_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p999_ns: u64,
    /// The slowest.
    pub max_ns: u64,
    /// Where the phase's data came from or went to.
    pub origin: Regime,
}

impl Row {
    /// Names of the percentiles, in the order of [`Row::values_ns`].
    pub const HEADS: [&str; 5] = ["p50", "p90", "p99", "p99.9", "max"];

    /// The percentiles, ascending.
    #[must_use]
    pub fn values_ns(&self) -> [u64; 5] {
        [self.p50_ns, self.p90_ns, self.p99_ns, self.p999_ns, self.max_ns]
    }

    fn of(phase: &Phase, op: OpKind, latency: &Histogram, origin: Regime) -> Option<Self> {
        Some(Self {
            title: full_title(phase),
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

/// The kinds whose latency is a result; open, close and the like are housekeeping of most workloads.
const SHOWN: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Sync];

/// One row per phase and kind of operation that has a histogram.
#[must_use]
pub fn rows(phases: &[&Phase]) -> Vec<Row> {
    phases.iter().flat_map(|phase| rows_of(phase)).collect()
}

fn rows_of(phase: &Phase) -> Vec<Row> {
    let origin = phase.origin().regime;
    let merged = |op: OpKind| {
        let mut all = Histogram::default();
        for repetition in &phase.repetitions {
            all.merge(&repetition.latency(op));
        }
        all
    };
    SHOWN.iter().filter_map(|&op| Row::of(phase, op, &merged(op), origin)).collect()
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
}
