//! Change points in a history of runs. `e_divisive` finds and tests changes, `ceiling` saves it most of the work where a change is clear,
//! `chance` knows which changes cannot be found, and `pelt` gives a fast overview. [`changes`] combines them: E-divisive on logarithms,
//! without changes too small to matter.

mod ceiling;
mod chance;
pub mod e_divisive;
mod energy;
pub mod pelt;

use crate::numbers::logs;
use crate::unpaired::shift::{Shift, shift};
use crate::unusable::{Unusable, positive};
use e_divisive::Search;

/// Smallest shift that is reported; 0.01 is 1 %.
pub const THRESHOLD: f64 = 0.01;

/// A change in a history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first point of the new level, from 0. The cause lies after point `first_new - 1`, up to and including this one.
    pub first_new: usize,
    /// New level over old (Hodges-Lehmann).
    pub ratio: f64,
    /// Lower bound of the ratio. The bounds are slightly too narrow, because the position was chosen from the same figures.
    pub low: f64,
    /// Upper bound of the ratio.
    pub high: f64,
    /// Confidence of the bounds if the position had been known beforehand.
    pub confidence: f64,
    /// p-value of the permutation test.
    pub p: f64,
    /// Number of permutations of that test.
    pub permutations: usize,
    /// Neighbours are correlated, and there are too few blocks here to distinguish a step from drift: `p` is that of single points.
    pub doubtful: bool,
}

/// The changes of a history, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Changes of at least the threshold.
    pub changes: Vec<Change>,
    /// Whether neighbouring points are correlated, so that blocks were permuted: small steps then need more points.
    pub drifts: bool,
}

/// Finds the changes of a history of positive figures.
pub fn changes(points: &[f64], search: &Search, threshold: f64) -> Result<History, Unusable> {
    positive(points)?;
    let logs = logs(points);
    let found = e_divisive::search(&logs, search)?;
    let mut left = found.splits;
    let shift_at = |left: &[e_divisive::Split], i: usize| {
        let from = if i == 0 { 0 } else { left[i - 1].index };
        let to = left.get(i + 1).map_or(logs.len(), |next| next.index);
        shift(&logs[from..left[i].index], &logs[left[i].index..to], 0.95)
    };
    let mut shifts: Vec<Shift> = (0..left.len()).map(|i| shift_at(&left, i)).collect::<Result<_, _>>()?;
    // Smallest first: once its neighbour is dropped, a step that was too small may become part of a larger one.
    loop {
        let size = |s: &Shift| s.estimate.abs();
        let smallest = shifts.iter().enumerate().min_by(|a, b| size(a.1).total_cmp(&size(b.1)));
        match smallest {
            Some((i, shift)) if size(shift) < threshold.ln_1p() => {
                left.remove(i);
                shifts.remove(i);
                // Only the adjacent levels have changed.
                let beside = i.saturating_sub(1)..left.len().min(i + 1);
                for (at, shift) in beside.clone().zip(&mut shifts[beside]) {
                    *shift = shift_at(&left, at)?;
                }
            }
            _ => {
                let changes =
                    left.iter().zip(&shifts).map(|(split, shift)| Change::of(split, shift)).collect();
                return Ok(History { changes, drifts: found.blocks });
            }
        }
    }
}

impl Change {
    fn of(split: &e_divisive::Split, shift: &Shift) -> Self {
        Self {
            first_new: split.index,
            ratio: shift.estimate.exp(),
            low: shift.low.exp(),
            high: shift.high.exp(),
            confidence: shift.confidence,
            p: split.p,
            permutations: split.permutations,
            doubtful: split.doubtful,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_changes_by_three_percent() {
        let points = [100.0, 101.0, 99.0, 100.0, 102.0, 100.0, 97.0, 96.0, 98.0, 97.0, 96.0, 97.0];
        let found = changes(&points, &Search::seeded(1), THRESHOLD).expect("12 points");
        assert_eq!(found.changes.len(), 1);
        assert_eq!((found.changes[0].first_new, found.drifts), (6, false));
        assert!((found.changes[0].ratio - 0.966).abs() < 0.005 && found.changes[0].p <= 0.01, "{found:?}");
        let change = &found.changes[0];
        assert!(change.low <= change.ratio && change.ratio <= change.high && change.high < 1.0, "{change:?}");
        // Ranks 6 to 31 of 36 ratios: 1 - 2 * 19 / 924.
        assert!((change.confidence - 0.958874).abs() < 5e-7 && change.permutations == 999, "{change:?}");
        let coarse = changes(&points, &Search::seeded(1), 0.05).expect("12 points");
        assert!(coarse.changes.is_empty());
    }

    /// Small steps are dropped one by one: the result equals recomputing all levels each time.
    #[test]
    fn levels_beside_a_dropped_step_are_recomputed() {
        let levels = [0.0, 0.004, 0.008, 0.05, 0.054, 0.1, 0.104, 0.09];
        let points: Vec<f64> =
            (0..320).map(|i| (levels[i / 40] + 0.0005 * (i * 7919 % 11) as f64).exp()).collect();
        let found = changes(&points, &Search::seeded(1), THRESHOLD).expect("points").changes;
        let bounds: Vec<usize> =
            std::iter::once(0).chain(found.iter().map(|c| c.first_new)).chain([points.len()]).collect();
        let all = changes(&points, &Search::seeded(1), 1e-9).expect("points").changes;
        assert!(found.len() < all.len() && found.len() > 1, "{} of {}", found.len(), all.len());
        for (b, change) in bounds.windows(3).zip(&found) {
            let anew = shift(&logs(&points[b[0]..b[1]]), &logs(&points[b[1]..b[2]]), 0.95).expect("levels");
            assert_eq!(
                (change.ratio, change.low, change.high),
                (anew.estimate.exp(), anew.low.exp(), anew.high.exp())
            );
        }
    }

    #[test]
    fn only_positive_figures_have_ratios() {
        assert!(changes(&[1.0, -1.0], &Search::seeded(1), THRESHOLD).is_err());
    }
}

#[cfg(test)]
mod rates_tests;
