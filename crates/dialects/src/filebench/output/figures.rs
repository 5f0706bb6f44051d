//! The figures of a breakdown: the rows, their order, and operations that share a name.

use super::BUCKETS;
use crate::filebench::plan::Format;
use crate::filebench::plan::rows as operations;
use fathom_record::{Histogram, OpKind, Row, histogram};
use fathom_workload::Group;
use std::collections::BTreeMap;

/// One row of the breakdown.
#[derive(Clone, Debug)]
pub struct FiguresRow {
    /// The operation's name.
    pub name: String,
    /// Completed executions.
    pub ops: u64,
    /// File data moved, bytes.
    pub bytes: u64,
    /// Sum of durations, ns.
    pub total_ns: f64,
    /// Shortest duration, ns.
    pub min_ns: u64,
    /// Longest duration, ns.
    pub max_ns: u64,
    /// CPU time of the threads during the operation, ns.
    pub cpu_ns: u64,
    /// Histogram of durations.
    pub latency: Histogram,
    /// Bucket i: durations of 2^(i-1) to 2^i - 1 ns; the first: 0.
    pub buckets: [u64; BUCKETS],
}

/// Totals over I/O operations.
#[derive(Clone, Debug, Default)]
pub struct FiguresIo {
    /// Completed operations.
    pub ops: u64,
    /// Operations counted as reads.
    pub reads: u64,
    /// Operations counted as writes.
    pub writes: u64,
    /// File data moved, bytes.
    pub bytes: u64,
    /// Sum of durations, ns.
    pub total_ns: f64,
    /// CPU time of the threads during I/O, ns.
    pub cpu_ns: u64,
}

/// Everything a breakdown prints.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Measured time in seconds.
    pub seconds: f64,
    /// Rows, newest definition first.
    pub rows: Vec<FiguresRow>,
    /// The I/O summary.
    pub io: FiguresIo,
    /// CPU time spent on I/O, ns: that of the whole machine, if known, minus what the benchmark used outside of operations.
    pub cpu_ns: f64,
}

/// CPU times of a run other than its operations' own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// All processes of the machine, ns.
    pub machine_ns: Option<u64>,
    /// The benchmark's threads, ns.
    pub own_ns: u64,
}

impl Figures {
    /// The figures of a run. `rows` are those of all workers. Operations that share a name are attributed to the newest in 1.5, to the
    /// oldest before 1.4, following the name lookup of the original.
    #[must_use]
    pub fn new(groups: &[Group], rows: &[Row], seconds: f64, cpu: CpuTimes, format: Format) -> Self {
        let merged = Row::merged(rows);
        let found: BTreeMap<&str, &Row> = merged.iter().map(|r| (r.name.as_str(), r)).collect();
        let names = newest_first(groups);
        let holder = |name: &str| match format {
            Format::V1_5 | Format::V1_4 => names.iter().position(|n| n == name),
            Format::V1_1 | Format::Dump => names.iter().rposition(|n| n == name),
        };
        let lines = names.iter().enumerate().map(|(i, name)| {
            let row = found.get(name.as_str()).filter(|_| holder(name) == Some(i));
            row.map_or_else(|| FiguresRow::empty(name), |row| FiguresRow::of(row))
        });
        let mut io = FiguresIo::default();
        // Operations of the same name may differ in kind; each counts as its own kind.
        for row in rows.iter().filter(|r| r.class.is_io()) {
            io.ops += row.ops;
            io.bytes += row.bytes;
            io.total_ns += row.latency.sum_ns() as f64;
            io.cpu_ns += row.cpu_ns;
            match row.kind {
                Some(OpKind::Read) => io.reads += row.ops,
                Some(OpKind::Write) => io.writes += row.ops,
                _ => {}
            }
        }
        let overhead = cpu.own_ns.saturating_sub(io.cpu_ns);
        let cpu_ns = cpu.machine_ns.map_or(io.cpu_ns, |all| all.saturating_sub(overhead)) as f64;
        Self { seconds, rows: lines.collect(), io, cpu_ns }
    }

    /// The figures since `before`, when the counters were zeroed.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let (io, then) = (&self.io, &before.io);
        Self {
            seconds: self.seconds - before.seconds,
            rows: self.rows.iter().zip(&before.rows).map(|(now, then)| now.since(then)).collect(),
            io: FiguresIo {
                ops: io.ops.saturating_sub(then.ops),
                reads: io.reads.saturating_sub(then.reads),
                writes: io.writes.saturating_sub(then.writes),
                bytes: io.bytes.saturating_sub(then.bytes),
                total_ns: io.total_ns - then.total_ns,
                cpu_ns: io.cpu_ns.saturating_sub(then.cpu_ns),
            },
            cpu_ns: (self.cpu_ns - before.cpu_ns).max(0.0),
        }
    }

    /// Rate per second of an amount.
    #[must_use]
    pub fn per_second(&self, amount: f64) -> f64 {
        if self.seconds > 0.0 { amount / self.seconds } else { 0.0 }
    }
}

/// The names of all rows. Groups and threads are in reverse order of definition, operations in order.
fn newest_first(groups: &[Group]) -> Vec<String> {
    let mut names = Vec::new();
    for group in groups {
        for thread in &group.threads {
            let one = Group { threads: vec![thread.clone()], ..group.clone() };
            let mut of_thread: Vec<String> =
                operations(std::slice::from_ref(&one)).into_iter().map(|r| r.0).collect();
            of_thread.reverse();
            names.append(&mut of_thread);
        }
    }
    names
}

impl FiguresRow {
    fn empty(name: &str) -> Self {
        Self {
            name: name.into(),
            ops: 0,
            bytes: 0,
            total_ns: 0.0,
            min_ns: 0,
            max_ns: 0,
            cpu_ns: 0,
            latency: Histogram::default(),
            buckets: [0; BUCKETS],
        }
    }

    fn of(row: &Row) -> Self {
        Self {
            name: row.name.clone(),
            ops: row.ops,
            bytes: row.bytes,
            total_ns: row.latency.sum_ns() as f64,
            min_ns: row.latency.min_ns(),
            max_ns: row.latency.max_ns(),
            cpu_ns: row.cpu_ns,
            buckets: powers(&row.latency),
            latency: row.latency.clone(),
        }
    }

    /// The figures since `before`. Sums are exact; the smallest and largest durations are as exact as the histogram buckets.
    fn since(&self, before: &Self) -> Self {
        let latency = difference(&self.latency, &before.latency);
        let (ops, total_ns) = (self.ops.saturating_sub(before.ops), self.total_ns - before.total_ns);
        // The sum gives the duration of a single operation exactly.
        let single_ns = (ops == 1).then_some(total_ns as u64);
        Self {
            name: self.name.clone(),
            ops,
            bytes: self.bytes.saturating_sub(before.bytes),
            total_ns,
            min_ns: single_ns.unwrap_or_else(|| latency.min_ns().max(self.min_ns)),
            max_ns: single_ns.unwrap_or_else(|| latency.max_ns().min(self.max_ns)),
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            buckets: powers(&latency),
            latency,
        }
    }
}

/// Counts by powers of two; histogram buckets never straddle one.
fn powers(latency: &Histogram) -> [u64; BUCKETS] {
    let mut buckets = [0; BUCKETS];
    for (low, _, count) in latency.buckets() {
        let bucket = (u64::BITS - low.leading_zeros()) as usize;
        buckets[bucket.min(BUCKETS - 1)] += count;
    }
    buckets
}

fn difference(now: &Histogram, before: &Histogram) -> Histogram {
    let dense = |h: &Histogram| {
        let mut counts = vec![0; histogram::BUCKETS];
        for (low, _, count) in h.buckets() {
            counts[histogram::bucket_of(low)] += count;
        }
        counts
    };
    Histogram::from_dense_difference(&dense(now), &dense(before))
}
