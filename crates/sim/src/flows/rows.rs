//! Figures of the operations of a flow, as rows of a record.

use crate::threads::LatencyTally;
use fathom_record::{OpKind, OpStat, Row, RowClass};
use fathom_workload::flow::{Class, FlatOp, Kind};
use std::cell::RefCell;

/// Statistics of one operation of one worker.
#[derive(Default)]
pub(super) struct RowStat {
    /// `None` while it was never done.
    times: Option<Box<LatencyTally>>,
    cpu_ns: u64,
}

impl RowStat {
    /// Records one execution.
    pub fn record(&mut self, latency_ns: u64, bytes: u64, cpu_ns: u64) {
        self.times.get_or_insert_default().record(latency_ns, bytes);
        self.cpu_ns += cpu_ns;
    }

    /// Number of executions, and bytes moved.
    pub fn counts(&self) -> (u64, u64) {
        self.times.as_ref().map_or((0, 0), |s| (s.ops(), s.bytes()))
    }
}

/// The rows of a record.
pub(super) fn to_rows(ops: &[FlatOp], stats: &[RefCell<RowStat>]) -> Vec<Row> {
    let row = |(op, stat): (&FlatOp, &RefCell<RowStat>)| {
        let stat = stat.borrow();
        let (done, bytes) = stat.counts();
        Row {
            name: op.name.clone(),
            class: class(op.class),
            kind: op.kind.map(kind),
            ops: done,
            bytes,
            latency: stat.times.as_ref().map_or_else(Default::default, |s| s.histogram()),
            cpu_ns: stat.cpu_ns,
        }
    };
    ops.iter().zip(stats).map(row).collect()
}

/// Statistics of the kinds that are counted in rows only.
pub(super) fn of_kinds(rows: &[Row]) -> Vec<OpStat> {
    let mut stats = Vec::new();
    for op in [OpKind::Open, OpKind::Close, OpKind::Stat, OpKind::Delete] {
        let mut sum = OpStat { op, ops: 0, bytes: 0, latency: fathom_record::Histogram::default() };
        for row in rows.iter().filter(|r| r.kind == Some(op)) {
            sum.ops += row.ops;
            sum.latency.merge(&row.latency);
        }
        if sum.ops > 0 {
            stats.push(sum);
        }
    }
    stats
}

fn class(class: Class) -> RowClass {
    match class {
        Class::Io => RowClass::Io,
        Class::Async => RowClass::Async,
        Class::Sync => RowClass::Sync,
        Class::Other => RowClass::Other,
        Class::None => RowClass::None,
    }
}

/// The record's name for a kind.
pub(super) fn kind(kind: Kind) -> OpKind {
    match kind {
        Kind::Read => OpKind::Read,
        Kind::Write => OpKind::Write,
        Kind::Open => OpKind::Open,
        Kind::Close => OpKind::Close,
        Kind::Delete => OpKind::Delete,
        Kind::Stat => OpKind::Stat,
        Kind::Sync => OpKind::Sync,
    }
}
