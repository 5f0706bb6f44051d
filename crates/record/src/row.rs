//! What one operation of a flow did: a row of a per-operation breakdown. Workers carry one [`Row`] for each operation of their flow;
//! tables add up those of one name ([`Row::merged`]). Streams have no rows: their figures are in the statistics by kind.

use crate::{Histogram, OpKind};
use serde::{Deserialize, Serialize};

/// Figures of one operation of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The operation's name in the workload; operations inside a sequence have its name before theirs ("use.inner").
    pub name: String,
    /// Which totals it belongs to.
    pub class: RowClass,
    /// Read or write if it counts as such, another kind if the model knows one, `None` for what is no file operation.
    pub kind: Option<OpKind>,
    /// Completed executions.
    pub ops: u64,
    /// File data moved (a listed directory: the size of its entries).
    pub bytes: u64,
    /// Durations, ns.
    pub latency: Histogram,
    /// CPU time of the thread during the executions, ns, where it was asked for.
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
    /// Waiting for, and waking, others.
    Sync,
    /// Computing, sleeping, limiting, finishing.
    Other,
    /// What counts nothing: messages, sequences.
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

    /// Whether its operations are I/O: those enter rates and totals.
    #[must_use]
    pub fn is_io(self) -> bool {
        matches!(self, Self::Io | Self::Async)
    }
}

impl Row {
    /// Adds what another worker's operation of the same name did.
    pub fn add(&mut self, other: &Self) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.cpu_ns += other.cpu_ns;
        self.latency.merge(&other.latency);
    }

    /// The rows of all workers, those of one name added up, in order of first appearance.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_name_are_added_up_in_order_of_appearance() {
        let row = |name: &str, ops| Row { name: name.into(), ops, bytes: ops * 2, ..Row::default() };
        let merged = Row::merged(&[row("b", 1), row("a", 2), row("b", 3)]);
        let seen: Vec<_> = merged.iter().map(|r| (r.name.as_str(), r.ops, r.bytes)).collect();
        assert_eq!(seen, [("b", 4, 8), ("a", 2, 4)]);
    }
}
