//! Breakdown of a phase by operation: the operations of a flow by name, or the kinds of operation of a phase that mixes them.
//! Formats only lay it out; merging and rates are done in `fathom_record::row`.

use crate::{
    section::{brief, full_title},
    surface::on_surfaces,
    units,
};
use fathom_record::{OpKind, Phase, Row, RowClass};

/// One phase, broken down.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// The phase with its sizes.
    pub title: String,
    /// The phase without its sizes.
    pub brief: String,
    /// Index of the phase in its run.
    pub seq: u32,
    /// Whether the rows are operations of a flow; else they are kinds of operation.
    pub of_flow: bool,
    /// Time that rates are relative to, ns.
    pub clock_ns: u64,
    /// One row per operation, in the flow's order.
    pub rows: Vec<Row>,
}

/// Kinds listed separately if a phase is not a flow.
const KINDS: [OpKind; 5] = [OpKind::Read, OpKind::Write, OpKind::Trim, OpKind::Sync, OpKind::FinalSync];

impl Breakdown {
    /// Names of the columns after the operation's name, in the order of [`Breakdown::cells`].
    pub const HEADS: [&str; 10] =
        ["Class", "Count", "Per second", "Data", "Mean", "p50", "p95", "p99", "p99.9", "Max"];

    /// `None` if the phase is neither a flow nor a mix of reads, writes and trims.
    #[must_use]
    pub fn of(phase: &Phase) -> Option<Self> {
        let flow = phase.rows();
        let of_flow = !flow.is_empty();
        let rows = if of_flow { flow } else { kinds(phase)? };
        Some(Self {
            title: full_title(phase),
            brief: brief(phase),
            seq: phase.seq,
            of_flow,
            clock_ns: phase.clock_ns(),
            rows,
        })
    }

    /// Breakdowns of the phases that are not part of a surface.
    #[must_use]
    pub fn of_phases(phases: &[&Phase]) -> Vec<Self> {
        on_surfaces(phases).1.into_iter().filter_map(Self::of).collect()
    }

    /// The percentiles of the columns, in per cent.
    pub const PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

    /// The cells of one row; a dash if a value has no meaning.
    #[must_use]
    pub fn cells(&self, row: &Row) -> Vec<String> {
        let none = || "–".to_string();
        let time = |ns: Option<f64>| ns.map_or_else(none, units::time_ns);
        let latency = &row.latency;
        let mut cells = vec![
            class_word(row).to_string(),
            units::count(row.ops),
            self.ops_per_s(row).map_or_else(none, units::ops_rate),
            self.bytes_per_s(row).map_or_else(none, units::rate),
            time(latency.mean_ns()),
        ];
        let percentiles = Self::PERCENTILES.map(|p| time(latency.percentile_ns(p).map(|ns| ns as f64)));
        cells.extend(percentiles);
        cells.push(time((latency.count() > 0).then(|| latency.max_ns() as f64)));
        cells
    }

    /// Executions per second of the phase's clock.
    #[must_use]
    pub fn ops_per_s(&self, row: &Row) -> Option<f64> {
        row.ops_per_s(self.clock_ns)
    }

    /// Data per second of the phase's clock; `None` for an operation that moved none.
    #[must_use]
    pub fn bytes_per_s(&self, row: &Row) -> Option<f64> {
        row.bytes_per_s(self.clock_ns).filter(|_| row.bytes > 0)
    }

    /// What rates are relative to, in words.
    #[must_use]
    pub fn clock_words(&self) -> String {
        format!("rates over {}", units::time_ns(self.clock_ns as f64))
    }
}

/// The reader's word for the class of an operation, or its kind if that says more.
fn class_word(row: &Row) -> &'static str {
    match (row.class, row.kind) {
        (RowClass::Io, Some(kind)) => kind.word(),
        (RowClass::Io, None) => "file",
        (RowClass::Async, _) => "asynchronous",
        (RowClass::Sync, _) => "waiting",
        (RowClass::Other, _) => "other",
        (RowClass::None, _) => "uncounted",
    }
}

/// Reads, writes and trims of one phase, and its fsyncs; `None` unless there are at least two of the three.
fn kinds(phase: &Phase) -> Option<Vec<Row>> {
    let stats = || phase.repetitions.iter().flat_map(|r| &r.workers).flat_map(|w| &w.stats);
    let has = |op: OpKind| stats().any(|s| s.op == op && s.ops > 0);
    if [OpKind::Read, OpKind::Write, OpKind::Trim].into_iter().filter(|op| has(*op)).count() < 2 {
        return None;
    }
    let row = |op: OpKind| {
        let sum = |figure: fn(&fathom_record::OpStat) -> u64| {
            stats().filter(|s| s.op == op).fold(0u64, |sum, s| sum.saturating_add(figure(s)))
        };
        Row {
            name: if op == OpKind::FinalSync { "sync at the end" } else { op.word() }.into(),
            kind: Some(op),
            ops: sum(|s| s.ops),
            bytes: sum(|s| s.bytes),
            latency: phase.latency_of(op),
            ..Row::default()
        }
    };
    Some(KINDS.into_iter().filter(|&op| has(op)).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_flow_is_taken_apart_by_name() {
        let run = samples::filebench_run();
        let all = Breakdown::of_phases(&run.phases.iter().collect::<Vec<_>>());
        assert_eq!(all.len(), 2);
        let names: Vec<&str> = all[0].rows.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["deletefile1", "createfile1", "append1", "fsync1", "read1", "wait1", "limit1"]);
        let read = all[0].cells(&all[0].rows[4]);
        assert_eq!((read[0].as_str(), read[1].as_str()), ("read", "32 000"));
        assert_eq!((read[2].as_str(), read[3].as_str()), ("3.20 k/s", "50.0 MiB/s"));
        let limit = all[0].cells(&all[0].rows[6]);
        assert_eq!((limit[0].as_str(), limit[3].as_str(), limit[5].as_str()), ("other", "–", "–"));
    }

    #[test]
    fn reads_writes_and_fsyncs_are_told_apart_where_a_phase_has_all() {
        let run = samples::sysbench_run();
        let one = Breakdown::of(&run.phases[0]).expect("taken apart");
        let names: Vec<&str> = one.rows.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["read", "write", "sync"]);
        assert!(!one.of_flow && one.rows.iter().all(|r| r.latency.count() > 0));
        assert!(
            Breakdown::of_phases(&samples::throughput_run().phases.iter().collect::<Vec<_>>()).is_empty()
        );
    }
}
