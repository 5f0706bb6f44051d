//! Carry-over from one run to the next: dirty pages, or a drive still collecting garbage. Random order does not remove it, so runs after
//! an A are compared with runs after a B.

use super::Side;
use crate::numbers::mean;
use crate::unpaired::mann_whitney::mann_whitney;
use crate::unusable::{Unusable, enough, positive};

/// A difference that chance produces more often than this is not flagged.
const CHANCE: f64 = 0.01;

/// Runs grouped by the side of the run before them, each relative to the mean of that side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarryOver {
    /// Geometric mean of the runs after an A; 1 is their sides' mean.
    pub after_a: f64,
    /// Geometric mean of the runs after a B.
    pub after_b: f64,
    /// Whether the two differ by at least the threshold, and not by chance.
    pub flagged: bool,
}

/// `runs` in run order with their sides; `threshold` such as 0.01.
pub fn carry_over(runs: &[f64], sides: &[Side], threshold: f64) -> Result<CarryOver, Unusable> {
    if runs.len() != sides.len() {
        return Err(Unusable::Unequal { what: "carry-over", first: runs.len(), second: sides.len() });
    }
    enough("carry-over", 4, runs.len())?;
    positive(runs)?;
    let usual = |side: Side| {
        let mine: Vec<f64> =
            runs.iter().zip(sides).filter(|(_, s)| **s == side).map(|(v, _)| v.ln()).collect();
        mean(&mine)
    };
    let (usual_a, usual_b) = (usual(Side::A), usual(Side::B));
    let rest = |i: usize| runs[i].ln() - if sides[i] == Side::A { usual_a } else { usual_b };
    let after = |side: Side| -> Result<Vec<f64>, Unusable> {
        let found: Vec<f64> = (1..runs.len()).filter(|i| sides[i - 1] == side).map(rest).collect();
        enough("carry-over, after either side,", 1, found.len())?;
        Ok(found)
    };
    let (rests_a, rests_b) = (after(Side::A)?, after(Side::B)?);
    let (after_a, after_b) = (mean(&rests_a), mean(&rests_b));
    let chance = mann_whitney(&rests_a, &rests_b)?.p;
    let flagged = (after_a - after_b).abs() >= threshold.ln_1p() && chance <= CHANCE;
    Ok(CarryOver { after_a: after_a.exp(), after_b: after_b.exp(), flagged })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{FIVE, SAME};
    use super::*;

    #[test]
    fn a_carry_over_effect_of_a_slow_writer_is_detected() {
        let sides: Vec<Side> = FIVE.concat();
        let clean = carry_over(&SAME.concat(), &sides, 0.01).expect("runs");
        assert!(!clean.flagged, "{clean:?}");
        let mut spoiled = SAME.concat();
        for i in 1..spoiled.len() {
            if sides[i - 1] == Side::B {
                spoiled[i] *= 0.97;
            }
        }
        let found = carry_over(&spoiled, &sides, 0.01).expect("runs");
        assert!(found.flagged && found.after_b < found.after_a, "{found:?}");
    }

    #[test]
    fn scatter_is_not_taken_for_carry_over() {
        let sides: Vec<Side> = FIVE.concat();
        // 8 % up and down, whichever side ran before.
        let runs: Vec<f64> =
            (0..sides.len()).map(|i| 100.0 + [8.0, -7.0, 3.0, -8.0, 5.0, -2.0, 7.0][i * 5 % 7]).collect();
        let found = carry_over(&runs, &sides, 0.01).expect("runs");
        assert!((found.after_a - found.after_b).abs() > 0.01 && !found.flagged, "{found:?}");
    }

    #[test]
    fn one_side_alone_carries_nothing_over() {
        assert!(carry_over(&[1.0; 4], &[Side::A; 4], 0.01).is_err());
        assert!(carry_over(&[1.0; 4], &[Side::A; 3], 0.01).is_err());
    }
}
