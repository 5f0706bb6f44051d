//! Steady state by the two criteria of SNIA's Solid State Storage Performance Test Specification: over a window of rounds, the
//! range (largest minus smallest figure) stays within a percentage of the mean, and the least-squares line through the rounds
//! changes by at most a percentage of the mean from the first round to the last.
//!
//! Pure arithmetic: the engine uses it to end a phase, reports use it to judge a finished one.

use crate::SteadyState;

/// How steady the last rounds were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Mean of the window.
    pub mean: f64,
    /// Largest minus smallest, in percent of the mean.
    pub range_percent: f64,
    /// Absolute change of the fitted line from the first round to the last, in percent of the mean.
    pub slope_percent: f64,
    /// The largest distance of a round from the mean.
    pub deviation: f64,
    /// Change of the fitted line from one round to the next.
    pub slope: f64,
}

impl Steadiness {
    /// Judges the last `window` rounds; `None` if there are fewer, or if their mean is not above 0.
    #[must_use]
    pub fn of(rounds: &[f64], window: usize) -> Option<Self> {
        let last = rounds.len().checked_sub(window).map(|from| &rounds[from..]).filter(|w| w.len() >= 2)?;
        let n = last.len() as f64;
        let mean = last.iter().sum::<f64>() / n;
        if !(mean > 0.0 && mean.is_finite()) {
            return None;
        }
        let (least, most) =
            last.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        let middle = (n - 1.0) / 2.0;
        let (mut products, mut squares) = (0.0, 0.0);
        for (i, v) in last.iter().enumerate() {
            let x = i as f64 - middle;
            products += x * (v - mean);
            squares += x * x;
        }
        let slope = products / squares;
        let change = slope * (n - 1.0);
        Some(Self {
            deviation: (most - mean).max(mean - least),
            slope,
            mean,
            range_percent: (most - least) / mean * 100.0,
            slope_percent: change.abs() / mean * 100.0,
        })
    }

    /// Whether both criteria hold.
    #[must_use]
    pub fn within(&self, range_percent: f64, slope_percent: f64) -> bool {
        self.range_percent <= range_percent && self.slope_percent <= slope_percent
    }

    /// The slope, or else the largest distance from the mean; absolute, or in percent of the mean. A slope keeps its sign.
    #[must_use]
    pub fn figure(&self, slope: bool, percent: bool) -> f64 {
        let figure = if slope { self.slope } else { self.deviation };
        if percent { figure / self.mean * 100.0 } else { figure }
    }
}

impl SteadyState {
    /// Adds a round and judges the window that it ends; `holds` is the steadiness criterion. A round without a figure, in which
    /// nothing finished, is not added, but the previous window is judged again.
    pub fn add(&mut self, figure: Option<f64>, holds: impl FnOnce(&Steadiness) -> bool) {
        self.rounds.extend(figure);
        if let Some(steadiness) = Steadiness::of(&self.rounds, self.window as usize) {
            self.mean = steadiness.mean;
            self.range_percent = steadiness.range_percent;
            self.slope_percent = steadiness.slope_percent;
            self.reached = holds(&steadiness);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_judged_as_soon_as_there_are_enough_of_them() {
        let mut state = SteadyState { window: 3, ..SteadyState::default() };
        let holds = |found: &Steadiness| found.within(20.0, 10.0);
        for (figure, reached) in
            [(50.0, false), (100.0, false), (100.0, false), (101.0, true), (300.0, false)]
        {
            state.add(Some(figure), holds);
            assert_eq!(state.reached, reached, "{figure}");
        }
        state.add(None, holds);
        assert_eq!((state.rounds.len(), state.mean), (5, 167.0));
    }

    #[test]
    fn both_criteria_are_needed() {
        // Spread without a trend.
        let spread = Steadiness::of(&[100.0, 119.0, 100.0, 119.0, 100.0], 5).unwrap();
        assert!(spread.within(20.0, 10.0), "{spread:?}");
        assert!(!spread.within(17.0, 10.0));
        // A trend inside the allowed range: 90 to 105 is 15.4 % of 97.5.
        let trend = Steadiness::of(&[90.0, 93.75, 97.5, 101.25, 105.0], 5).unwrap();
        assert!((trend.range_percent - 15.384_615).abs() < 1e-5, "{trend:?}");
        assert!((trend.slope_percent - 15.384_615).abs() < 1e-5, "{trend:?}");
        assert!(!trend.within(20.0, 10.0));
    }

    #[test]
    fn one_figure_alone_may_be_asked_for() {
        let falling = Steadiness::of(&[110.0, 105.0, 100.0, 95.0, 90.0], 5).unwrap();
        assert_eq!((falling.deviation, falling.slope), (10.0, -5.0));
        assert_eq!((falling.figure(true, true), falling.figure(false, true)), (-5.0, 10.0));
    }

    #[test]
    fn only_the_last_window_counts() {
        let falling = [900.0, 500.0, 300.0, 200.0, 200.0, 201.0, 199.0, 200.0];
        assert!(Steadiness::of(&falling, 5).unwrap().within(20.0, 10.0));
        assert!(!Steadiness::of(&falling[..7], 5).unwrap().within(20.0, 10.0));
        assert_eq!(Steadiness::of(&falling[..4], 5), None);
    }

    #[test]
    fn nothing_moved_is_not_steady() {
        assert_eq!(Steadiness::of(&[0.0; 5], 5), None);
        assert_eq!(Steadiness::of(&[f64::NAN; 5], 5), None);
        assert_eq!(Steadiness::of(&[], 0), None);
        assert_eq!(Steadiness::of(&[1.0], 1), None);
    }
}
