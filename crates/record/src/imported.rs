//! Figures that another program printed: an imported run has no operations, counters or clock behind it, only a text. Each
//! figure keeps the printed value and its line, so that it can be looked up, and the same value in base units, so that it can
//! be compared.
//!
//! The cell a figure belongs to (operation, sizes, streams, further words) is the phase's name and [`Axes`](crate::Axes), as in
//! a measured run; the run's [`Source`] says which text it was.

use crate::Repetition;
use serde::{Deserialize, Serialize};

/// Names with the same meaning for every program. Programs add their own.
pub mod names {
    /// File data per second as the program quotes it; for several streams, the sum of their rates.
    pub const THROUGHPUT: &str = "throughput";
    /// The same by the clock of the parent, which waits for all streams.
    pub const PARENT: &str = "throughput by the parent's clock";
    /// Operations per second.
    pub const OPERATIONS: &str = "operations per second";
    /// Duration of the whole.
    pub const TIME: &str = "time";
}

/// Units of [`Figure::value`]. Everything is converted to these.
pub mod units {
    /// Bytes per second.
    pub const BYTES_PER_S: &str = "bytes/s";
    /// Operations per second.
    pub const OPS_PER_S: &str = "ops/s";
    /// Nanoseconds.
    pub const NS: &str = "ns";
    /// Bytes.
    pub const BYTES: &str = "bytes";
    /// A plain number.
    pub const COUNT: &str = "count";
    /// Percent.
    pub const PERCENT: &str = "%";
    /// The text gives no unit.
    pub const UNKNOWN: &str = "";
}

/// One figure read from a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// One of [`names`], or the program's own word.
    pub name: String,
    /// The value in base units.
    pub value: f64,
    /// One of [`units`].
    pub unit: String,
    /// The value and its unit as printed: "55847.39 KB/sec".
    pub printed: String,
    /// Whether higher is better; `None` for neither (a size, a count).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub higher_is_better: Option<bool>,
    /// Line of the text, from 1; in a worksheet, the row.
    pub line: u64,
}

/// The text a run was imported from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file's name as given; "-" for standard input.
    pub file: String,
    /// The program that printed it, with its version if known.
    pub program: String,
    /// First line of the output in the text, from 1.
    pub first_line: u64,
    /// Last line of the output.
    pub last_line: u64,
    /// Lines in between that look like figures but were not understood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<u64>,
}

impl Repetition {
    /// The imported figure of this name, if there is one.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|f| f.name == name)
    }

    pub(crate) fn imported(&self, name: &str) -> Option<f64> {
        self.figure(name).map(|f| f.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &str, value: f64) -> Figure {
        Figure { name: name.into(), value, ..Figure::default() }
    }

    #[test]
    fn a_rate_that_was_printed_is_the_repetitions_rate() {
        let figures = vec![
            figure(names::THROUGHPUT, 4096.0),
            figure(names::PARENT, 2048.0),
            figure(names::OPERATIONS, 2.0),
        ];
        let r = Repetition { figures, ..Repetition::default() };
        assert_eq!(r.bytes_per_s(), Some(4096.0));
        assert_eq!(r.parent_bytes_per_s(), Some(2048.0));
        assert_eq!(r.ops_per_s(), Some(2.0));
        assert_eq!(Repetition::default().bytes_per_s(), None);
    }
}
