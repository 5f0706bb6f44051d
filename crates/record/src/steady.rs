//! Steady state by the two criteria of SNIA's Solid State Storage Performance Test Specification: over a
//! window of rounds the largest figure lies at most so many percent of the mean above the least, and the least-squares line through
//! the rounds changes by at most so many percent of the mean from the first round of the window to the last.
//!
//! Pure arithmetic: the engine uses it to end a phase, reports use it to judge one that is over.

/// How steady the last rounds were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Mean of the window.
    pub mean: f64,
    /// Largest minus least, in percent of the mean.
    pub range_percent: f64,
    /// Change of the fitted line from the first round to the last, in percent of the mean, without its sign.
    pub slope_percent: f64,
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
        let change = products / squares * (n - 1.0);
        Some(Self {
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
