//! Whether a repetition stood still: the process was stopped (SIGSTOP, a freezer, a debugger), the machine was suspended, or it
//! got no CPU. Detected by late wake-ups and long gaps in the process that watches the workers. The rates are then too low and
//! the longest latencies are not the storage's.

use crate::{Phase, Repetition};

/// Longer than any delay by a scheduler.
const LONG_NS: u64 = 1_000_000_000;
/// A shorter stall counts in a short repetition, if it is a notable part of it.
const NOTABLE_NS: u64 = 250_000_000;
const NOTABLE_PART: f64 = 0.1;

impl Repetition {
    /// Length of its longest stall, ns; `None` if it did not stand still.
    #[must_use]
    pub fn stood_still_ns(&self) -> Option<u64> {
        let jitter = self.jitter.as_ref()?;
        let late = jitter.wakes.max_ns().max(jitter.gaps.max_ns());
        let part = late as f64 / self.elapsed_ns.max(1) as f64;
        (late >= LONG_NS || (late >= NOTABLE_NS && part >= NOTABLE_PART)).then_some(late)
    }
}

impl Phase {
    /// The longest stall of any repetition, ns.
    #[must_use]
    pub fn stood_still_ns(&self) -> Option<u64> {
        self.repetitions.iter().filter_map(Repetition::stood_still_ns).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Histogram, Jitter};

    #[test]
    fn what_changes_the_figure_counts() {
        let still = |late_ns: u64, elapsed_ns: u64| {
            let wakes = Histogram::from_values([late_ns]);
            let jitter = Some(Jitter { wakes, ..Jitter::default() });
            Repetition { jitter, elapsed_ns, ..Repetition::default() }.stood_still_ns().is_some()
        };
        let second = 1_000_000_000;
        assert!(still(5 * second, 3600 * second) && still(second / 2, 3 * second));
        assert!(!still(second / 2, 30 * second) && !still(second / 10, second / 5) && !still(0, 0));
        assert!(Repetition::default().stood_still_ns().is_none());
    }
}
