//! Figures that another program printed: a run that was imported has no operations, counters or clock behind it, only what stood in a
//! text. Each figure keeps the value as it was printed and the line it was printed on, so that it can be looked up, beside the same
//! value in base units, so that it can be compared.
//!
//! The cell a figure belongs to (operation, sizes, streams, further words) is the phase's name and [`Axes`](crate::Axes), as of a
//! measured run; which text it was is the run's [`Source`].

use crate::Repetition;
use serde::{Deserialize, Serialize};

/// The names that mean the same whichever program printed the figure. Programs have others beside these.
pub mod names {
    /// File data per second as the program quotes it; of several streams the sum of their own rates.
    pub const THROUGHPUT: &str = "throughput";
    /// The same by the clock of the parent, who waits for all of them.
    pub const PARENT: &str = "throughput by the parent's clock";
    /// Operations per second.
    pub const OPERATIONS: &str = "operations per second";
    /// How long the whole took.
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
    /// A number of things.
    pub const COUNT: &str = "count";
    /// Hundredths.
    pub const PERCENT: &str = "%";
    /// A number whose unit the text does not tell.
    pub const UNKNOWN: &str = "";
}

/// One figure of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is: one of [`names`], or the program's own word.
    pub name: String,
    /// The value in base units.
    pub value: f64,
    /// One of [`units`].
    pub unit: String,
    /// The value and its unit as printed: "55847.39 KB/sec".
    pub printed: String,
    /// Whether more of it is better; `None` where it is neither (a size, a count).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub higher_is_better: Option<bool>,
    /// The line of the text it was printed on, from 1; of a worksheet the row.
    pub line: u64,
}

/// The text a run was imported from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file's name as it was given; "-" for the standard input.
    pub file: String,
    /// The program whose output it is, with its version where that was told.
    pub program: String,
    /// First line of the output in the text, from 1.
    pub first_line: u64,
    /// Last line of it.
    pub last_line: u64,
    /// Lines between them that look like figures and were not understood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<u64>,
}

impl Repetition {
    /// A figure of this name that another program printed.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|f| f.name == name)
    }

    /// The value of such a figure in base units.
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
