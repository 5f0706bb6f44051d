//! One row of a per-operation breakdown of a flow. Workers carry one [`Row`] for each operation of their flow; tables add up
//! rows of the same name ([`Row::merged`], [`Phase::rows`]) and divide them by one common clock ([`Repetition::clock_ns`]).
//! Streams have no rows: their figures are in the statistics by kind.

use crate::{Histogram, OpKind, Phase, Repetition};
use serde::{Deserialize, Serialize};

/// Figures of one operation of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the operation in the workload; inside a sequence it is prefixed with the sequence's name ("use.inner").
    pub name: String,
    /// Decides which totals it enters.
    pub class: RowClass,
    /// Read or write if it counts as such, another kind if the model has one, `None` if it is not a file operation.
    pub kind: Option<OpKind>,
    /// Completed executions.
    pub ops: u64,
    /// File data moved (for a directory listing, the size of its entries).
    pub bytes: u64,
    /// Durations, ns.
    pub latency: Histogram,
    /// The thread's CPU time during the executions, ns, if requested.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cpu_ns: u64,
}

/// Which totals an operation of a flow belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowClass {
    /// Operations on files and directories.
    #[default]
    Io,
    /// Asynchronous I/O.
    Async,
    /// Waiting for other processes or waking them.
    Sync,
    /// Computing, sleeping, limiting, finishing.
    Other,
    /// Not counted: messages, sequences.
    None,
}

impl RowClass {
    /// Every class.
    pub const ALL: [Self; 5] = [Self::Io, Self::Async, Self::Sync, Self::Other, Self::None];

    /// The word in the store and in exports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Async => "async",
            Self::Sync => "sync",
            Self::Other => "other",
            Self::None => "none",
        }
    }

    /// Whether its operations are I/O and enter rates and totals.
    #[must_use]
    pub fn is_io(self) -> bool {
        matches!(self, Self::Io | Self::Async)
    }
}

impl Row {
    /// Adds another worker's figures for the same operation.
    pub fn add(&mut self, other: &Self) {
        self.ops = self.ops.saturating_add(other.ops);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.latency.merge(&other.latency);
    }

    /// Executions per second. `clock_ns` is [`Repetition::clock_ns`] or [`Phase::clock_ns`], matching what the row was merged
    /// over. `None` if nothing was timed.
    #[must_use]
    pub fn ops_per_s(&self, clock_ns: u64) -> Option<f64> {
        per_s(self.ops, clock_ns)
    }

    /// Bytes per second, likewise.
    #[must_use]
    pub fn bytes_per_s(&self, clock_ns: u64) -> Option<f64> {
        per_s(self.bytes, clock_ns)
    }

    /// The rows of all workers, added up by name, in order of first appearance.
    #[must_use]
    pub fn merged<'a>(rows: impl IntoIterator<Item = &'a Self>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut at = std::collections::HashMap::new();
        for row in rows {
            match at.get(row.name.as_str()) {
                Some(&i) => {
                    let first: &mut Self = &mut all[i];
                    first.add(row);
                }
                None => {
                    at.insert(row.name.as_str(), all.len());
                    all.push(row.clone());
                }
            }
        }
        all
    }
}

fn per_s(n: u64, clock_ns: u64) -> Option<f64> {
    (clock_ns > 0).then(|| n as f64 * 1e9 / clock_ns as f64)
}

impl Repetition {
    /// The measured time, ns: the longest of the workers' clocks. All rows of a repetition are divided by it, so that
    /// operations of processes that waited for each other remain comparable.
    #[must_use]
    pub fn clock_ns(&self) -> u64 {
        self.workers.iter().map(|w| w.elapsed_ns).max().unwrap_or(0)
    }

    /// Breakdown by operation over all workers; empty if there were only streams.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        Row::merged(self.workers.iter().flat_map(|w| &w.rows))
    }
}

impl Phase {
    /// The measured time of all repetitions, ns.
    #[must_use]
    pub fn clock_ns(&self) -> u64 {
        self.repetitions.iter().fold(0, |sum, r| sum.saturating_add(r.clock_ns()))
    }

    /// Breakdown by operation over all workers and repetitions.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        Row::merged(self.repetitions.iter().flat_map(|r| &r.workers).flat_map(|w| &w.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Worker;

    #[test]
    fn rows_of_one_name_are_added_up_in_order_of_appearance() {
        let row = |name: &str, ops| Row { name: name.into(), ops, bytes: ops * 2, ..Row::default() };
        let merged = Row::merged(&[row("b", 1), row("a", 2), row("b", 3)]);
        let seen: Vec<_> = merged.iter().map(|r| (r.name.as_str(), r.ops, r.bytes)).collect();
        assert_eq!(seen, [("b", 4, 8), ("a", 2, 4)]);
    }

    #[test]
    fn rates_are_of_one_clock_for_all_workers_and_of_all_repetitions() {
        let row = |ops| Row { name: "op".into(), ops, bytes: ops * 10, ..Row::default() };
        let worker = |elapsed_ns, ops| Worker { elapsed_ns, rows: vec![row(ops)], ..Worker::default() };
        let repetition = Repetition {
            workers: vec![worker(1_000_000_000, 30), worker(2_000_000_000, 10)],
            ..Repetition::default()
        };
        let clock_ns = repetition.clock_ns();
        assert_eq!(repetition.rows()[0].ops_per_s(clock_ns), Some(20.0));
        let mut phase =
            Phase { repetitions: vec![repetition.clone(), repetition], ..crate::headline::tests::nothing() };
        assert_eq!(phase.rows()[0].bytes_per_s(phase.clock_ns()), Some(200.0));
        phase.repetitions.clear();
        assert_eq!((phase.rows().len(), row(1).ops_per_s(phase.clock_ns())), (0, None));
    }

    #[test]
    fn huge_values_in_a_text_do_not_overflow() {
        let mut row = Row { ops: u64::MAX, bytes: u64::MAX, cpu_ns: u64::MAX, ..Row::default() };
        row.add(&row.clone());
        assert_eq!((row.ops, row.bytes, row.cpu_ns), (u64::MAX, u64::MAX, u64::MAX));
    }
}
