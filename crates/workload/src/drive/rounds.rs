//! The stop rule "steady state": the figure of a round, and when rounds are steady or waiting is given up. The executor decides when a
//! round begins and ends.

use crate::{Steady, SteadyFigure};

/// Totals of operations: of a round, or so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Number of operations.
    pub ops: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of their latencies, ns.
    pub latency_ns: u64,
}

impl Sums {
    /// Adds operations to the totals.
    pub fn add(&mut self, ops: u64, bytes: u64, latency_ns: u64) {
        self.ops += ops;
        self.bytes += bytes;
        self.latency_ns = self.latency_ns.saturating_add(latency_ns);
    }

    /// The difference from earlier totals.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            ops: self.ops.saturating_sub(before.ops),
            bytes: self.bytes.saturating_sub(before.bytes),
            latency_ns: self.latency_ns.saturating_sub(before.latency_ns),
        }
    }

    /// The figure of a round lasting `ns`. `None` for the latency if nothing completed.
    #[must_use]
    pub fn figure(self, of: SteadyFigure, ns: u64) -> Option<f64> {
        let per_second = |gained: u64| Some(gained as f64 * 1e9 / ns as f64);
        match of {
            SteadyFigure::Operations => per_second(self.ops),
            SteadyFigure::Bytes => per_second(self.bytes),
            SteadyFigure::Latency => (self.ops > 0).then(|| self.latency_ns as f64 / self.ops as f64),
        }
    }
}

impl Steady {
    /// Whether a window with this range and slope, in percent of its mean, is steady. `figure` returns its slope (first argument true) or
    /// largest deviation from the mean, in percent if the second argument is true.
    pub fn holds(
        &self,
        range_percent: f64,
        slope_percent: f64,
        figure: impl FnOnce(bool, bool) -> f64,
    ) -> bool {
        match self.criterion {
            None => range_percent <= self.range_percent && slope_percent <= self.slope_percent,
            Some(how) => figure(how.is_slope(), how.limit().is_percent()).abs() < how.limit().number(),
        }
    }

    /// Whether to give up after this number of rounds.
    #[must_use]
    pub fn is_given_up_after(&self, rounds: usize) -> bool {
        self.most_rounds > 0 && rounds >= self.most_rounds as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Criterion, Limit};

    #[test]
    fn a_round_holds_the_difference_to_the_last() {
        let mut sums = Sums::default();
        sums.add(1, 10, 5);
        let before = sums;
        sums.add(2, 20, u64::MAX);
        assert_eq!(sums.since(before), Sums { ops: 2, bytes: 20, latency_ns: u64::MAX - 5 });
        let round = Sums { ops: 2, bytes: 20, latency_ns: 30 };
        let of = |of| round.figure(of, 500_000_000);
        assert_eq!(of(SteadyFigure::Operations), Some(4.0));
        assert_eq!(of(SteadyFigure::Bytes), Some(40.0));
        assert_eq!(of(SteadyFigure::Latency), Some(15.0));
        assert_eq!(Sums::default().figure(SteadyFigure::Latency, 1), None);
    }

    #[test]
    fn both_criteria_hold_or_one_takes_their_place() {
        let both = Steady { range_percent: 20.0, slope_percent: 10.0, ..Steady::default() };
        let unasked = |_, _| unreachable!("no criterion");
        assert!(both.holds(20.0, 10.0, unasked));
        assert!(!both.holds(20.1, 10.0, unasked) && !both.holds(20.0, 10.1, unasked));
        let slope = Steady { criterion: Some(Criterion::Slope(Limit::Absolute(5.0))), ..both };
        let figure = |number: f64| {
            move |slope, percent| {
                assert_eq!((slope, percent), (true, false));
                number
            }
        };
        assert!(slope.holds(99.0, 99.0, figure(-4.9)) && !slope.holds(0.0, 0.0, figure(-5.0)));
    }

    #[test]
    fn no_rounds_are_never_too_many() {
        let after = |most_rounds| Steady { most_rounds, ..Steady::default() }.is_given_up_after(5);
        assert_eq!([5, 6, 0].map(after), [true, false, false]);
    }
}
