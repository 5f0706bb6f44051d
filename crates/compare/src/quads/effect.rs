//! Size of a change: the Hodges-Lehmann estimate over the pairs within quads, and the matching interval of the rank test.
//!
//! Of all 4K values ln b - ln a of pairs within a quad, sorted, the median is the estimate and two others are the bounds. One bad run
//! affects two pairs of one quad, so one or two outliers do not bend the estimate.

use super::Quad;
use super::critical::{IntervalRank, interval_rank};
use crate::numbers::median_of_sorted;

/// Scale of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// B / A; 1 means no change.
    Ratio,
    /// B - A, used when a figure is zero or negative and has no ratio; 0 means no change.
    Difference,
}

/// The effect with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Whether the values are ratios or differences.
    pub scale: Scale,
    /// The estimate.
    pub estimate: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The attained confidence, such as 0.94573 with five quads.
    pub confidence: f64,
}

impl Effect {
    /// Half-width of the interval as a ratio minus one: 0.01 is "to about 1 %". For differences, half of the interval's width.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        match self.scale {
            Scale::Ratio => half_width(self.low, self.high),
            Scale::Difference => (self.high - self.low) / 2.0,
        }
    }

    /// Signed change, positive if B's figures are larger: `ln ratio`, or the difference.
    #[must_use]
    pub fn shift(&self) -> f64 {
        match self.scale {
            Scale::Ratio => self.estimate.ln(),
            Scale::Difference => self.estimate,
        }
    }
}

/// Half-width of a ratio's interval, as a ratio minus one.
#[must_use]
pub fn half_width(low: f64, high: f64) -> f64 {
    ((high / low).ln() / 2.0).exp_m1()
}

/// The effect, with the interval whose confidence is nearest to `level`; `None` without quads.
#[must_use]
pub fn effect(quads: &[Quad], level: f64) -> Option<Effect> {
    effect_at(quads, interval_rank(quads.len(), level)?)
}

/// The effect with the interval of a given rank; `None` if the rank leaves no values.
#[must_use]
pub fn effect_at(quads: &[Quad], rank: IntervalRank) -> Option<Effect> {
    let scale = scale_of(quads);
    let pairs = sorted_pairs(quads, scale);
    let (low, high) = (*pairs.get(rank.c)?, *pairs.get(pairs.len().checked_sub(rank.c + 1)?)?);
    let back = |v: f64| if scale == Scale::Ratio { v.exp() } else { v };
    let (estimate, low, high) = (back(median_of_sorted(&pairs)), back(low), back(high));
    Some(Effect { scale, estimate, low, high, confidence: rank.confidence })
}

/// Ratios if every figure has a logarithm.
fn scale_of(quads: &[Quad]) -> Scale {
    if quads.iter().flat_map(Quad::values).all(|v| v > 0.0) { Scale::Ratio } else { Scale::Difference }
}

/// B relative to A for every pair within a quad, ascending.
fn sorted_pairs(quads: &[Quad], scale: Scale) -> Vec<f64> {
    let of = |v: f64| if scale == Scale::Ratio { v.ln() } else { v };
    let mut pairs: Vec<f64> =
        quads.iter().flat_map(|q| q.a.into_iter().flat_map(|a| q.b.map(|b| of(b) - of(a)))).collect();
    pairs.sort_by(f64::total_cmp);
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::examples::{SAME, SLOWER, quads, three};
    use super::*;
    use crate::quads::quads_of;
    use proptest::prelude::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-7, "{found} instead of {expected}");
    }

    #[test]
    fn examples_one_to_three() {
        let slower = effect(&quads(&SLOWER), 0.95).expect("quads");
        near(slower.estimate, 0.972627);
        near(slower.low, 0.968071);
        near(slower.high, 0.977339);
        near(slower.confidence, 0.945730);
        let wide = effect(&quads(&SLOWER), 0.993313).expect("quads");
        near(wide.low, 0.965062);
        near(wide.high, 0.978615);
        near(wide.confidence, 0.993313);
        let same = effect(&quads(&SAME), 0.95).expect("quads");
        near(same.estimate, 0.998249);
        near(same.low, 0.993595);
        near(same.high, 1.001761);
        near(effect(&three(), 0.95).expect("quads").estimate, 0.969848);
        let all: f64 = quads(&SLOWER).iter().map(|q| q.b[0] + q.b[1]).sum();
        let base: f64 = quads(&SLOWER).iter().map(|q| q.a[0] + q.a[1]).sum();
        near(all / base, 0.967528);
    }

    #[test]
    fn a_zero_among_the_figures_makes_it_a_difference() {
        let quads = quads_of(&[0.0, 1.0], &[3.0, 4.0]).expect("a quad");
        let found = effect(&quads, 0.95).expect("a quad");
        assert_eq!((found.scale, found.estimate, found.low, found.high), (Scale::Difference, 3.0, 2.0, 4.0));
        assert_eq!((found.half_width(), found.shift()), (1.0, 3.0));
        assert_eq!(effect(&[], 0.95), None);
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_estimate_and_mirrors(values in prop::collection::vec(0.1..50.0f64, 4..60), by in 0.01..100.0f64) {
            let half = values.len() / 4 * 2;
            let quads = quads_of(&values[..half], &values[half..2 * half]).expect("even");
            let swapped: Vec<Quad> = quads.iter().map(Quad::swapped).collect();
            let scaled: Vec<Quad> = quads.iter().map(|q| Quad { a: q.a.map(|v| v * by), b: q.b.map(|v| v * by) }).collect();
            let (one, two, three) = (effect(&quads, 0.95), effect(&swapped, 0.95), effect(&scaled, 0.95));
            let (one, two, three) = (one.expect("quads"), two.expect("quads"), three.expect("quads"));
            prop_assert!(one.low <= one.estimate && one.estimate <= one.high);
            for (a, b) in [(one.estimate, 1.0 / two.estimate), (one.low, 1.0 / two.high), (one.high, 1.0 / two.low)] {
                prop_assert!((a / b - 1.0).abs() < 1e-12);
            }
            for (a, b) in [(one.estimate, three.estimate), (one.low, three.low), (one.high, three.high)] {
                prop_assert!((a / b - 1.0).abs() < 1e-12);
            }
        }
    }
}
