//! Order effects in a sweep of cells. The first reader of a file reads the disk, all later ones the cache; a cell far off both neighbours
//! is a sign of that.

use crate::unusable::{Unusable, enough, positive};

/// Factor off both neighbours from which a cell is flagged.
const FAR: f64 = 3.0;

/// A cell that differs from its neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OffNeighbours {
    /// Its index in run order, from 0.
    pub index: usize,
    /// The nearer neighbour divided by the cell: 17.4 means that the neighbour is 17.4 times as fast, 0.1 a tenth.
    pub ratio: f64,
}

/// The cells more than three times above or below both neighbours (at either end, the one neighbour), in run order.
pub fn off_neighbours(figures: &[f64]) -> Result<Vec<OffNeighbours>, Unusable> {
    enough("the test for order effects", 3, figures.len())?;
    positive(figures)?;
    let judge = |index: usize| {
        let before = index.checked_sub(1).map(|i| figures[i] / figures[index]);
        let after = figures.get(index + 1).map(|v| v / figures[index]);
        let (low, high) = match (before, after) {
            (Some(b), Some(a)) => (b.min(a), b.max(a)),
            (Some(one), None) | (None, Some(one)) => (one, one),
            (None, None) => return None,
        };
        let ratio = if low > 1.0 { low } else { high.min(1.0) };
        (!(1.0 / FAR..=FAR).contains(&ratio)).then_some(OffNeighbours { index, ratio })
    };
    Ok((0..figures.len()).filter_map(judge).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_record_size_read_the_disk() {
        for (first, next, ratio) in [(65_268.0, 1_135_412.0, 17.396151), (250_881.0, 1_097_150.0, 4.373189)] {
            let found = off_neighbours(&[first, next, next * 1.02, next * 0.99]).expect("4 cells");
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].index == 0 && (found[0].ratio - ratio).abs() < 5e-7, "{found:?}");
        }
    }

    #[test]
    fn a_hole_and_a_spike_are_found_and_a_step_is_not() {
        let at = |figures: &[f64]| {
            off_neighbours(figures).expect("cells").iter().map(|o| o.index).collect::<Vec<_>>()
        };
        assert_eq!(at(&[9.0, 9.0, 1.0, 9.0, 9.0]), [2]);
        assert_eq!(at(&[1.0, 1.0, 9.0, 1.0, 1.0]), [2]);
        assert!(at(&[1.0, 1.0, 9.0, 9.0]).is_empty());
        assert!(off_neighbours(&[1.0, 2.0]).is_err());
    }
}
