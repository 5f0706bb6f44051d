//! Stopping early without deceiving oneself. Two rules are allowed, both looked at once per finished quad: stop when the interval is narrow
//! enough and test once; or spend a little of the error on early looks. Testing at the full level after each quad is not: its rate of
//! false alarms, computed here exactly, is several times what it claims.

use crate::quads::effect::Effect;
use crate::quads::rank_test::Null;

/// The first look that can tell anything.
const FIRST_LOOK: usize = 3;

/// What to do after a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run another quad.
    Continue,
    /// Stop. The verdict may be given at the usual level.
    Test,
    /// Stop: the change is established.
    Changed,
    /// Stop: the budget is spent and no change was established.
    NotChanged,
}

/// Stop when the interval is narrow enough, then test once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Half-width of the interval, as in [`Effect::half_width`].
    pub half_width: f64,
    /// Quads at most.
    pub budget: usize,
}

impl Precision {
    /// One percent, ten quads.
    pub const DEFAULT: Self = Self { half_width: 0.01, budget: 10 };

    /// After so many quads with this effect.
    #[must_use]
    pub fn decide(&self, quads: usize, effect: &Effect) -> Decision {
        let narrow = quads >= FIRST_LOOK && effect.half_width() <= self.half_width;
        if narrow || quads >= self.budget { Decision::Test } else { Decision::Continue }
    }
}

/// Stop early for a very small p; at the last look test at nearly the full level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spending {
    /// Level of the early looks.
    pub early: f64,
    /// Level of the last look.
    pub last: f64,
    /// Quads at most.
    pub budget: usize,
}

impl Spending {
    /// The levels whose rate of false alarms stays below 1 % for any budget, 0.001 and 0.0095.
    #[must_use]
    pub const fn within(budget: usize) -> Self {
        Self { early: 0.001, last: 0.0095, budget }
    }

    /// After so many quads with this p.
    #[must_use]
    pub fn decide(&self, quads: usize, p: f64) -> Decision {
        match quads >= self.budget {
            true if p <= self.last => Decision::Changed,
            true => Decision::NotChanged,
            false if quads >= FIRST_LOOK && p <= self.early => Decision::Changed,
            false => Decision::Continue,
        }
    }

    /// Its exact rate of false alarms.
    #[must_use]
    pub fn false_alarms(&self) -> f64 {
        let level = |quads: usize| if quads == self.budget { self.last } else { self.early };
        false_alarms(self.budget, level)
    }
}

/// The exact rate of false alarms of testing after each quad from the third on, at the levels given, up to a budget of quads. Dynamic
/// programming over U: what a look rejects leaves, the rest gets one quad more.
#[must_use]
pub fn false_alarms(budget: usize, level: impl Fn(usize) -> f64) -> f64 {
    let one_quad: Vec<f64> = (0..=4).map(|u| Null::untied(1).exactly(2 * u)).collect();
    let mut going_on = vec![1.0];
    let mut alarmed = 0.0;
    for quads in 1..=budget {
        let mut next = vec![0.0; 4 * quads + 1];
        for (u, share) in going_on.iter().enumerate() {
            for (step, chance) in one_quad.iter().enumerate() {
                next[u + step] += share * chance;
            }
        }
        if quads >= FIRST_LOOK {
            let null = Null::untied(quads);
            let limit = level(quads);
            for (u, share) in next.iter_mut().enumerate() {
                if null.two_sided(2 * u) <= limit {
                    alarmed += std::mem::take(share);
                }
            }
        }
        going_on = next;
    }
    alarmed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quads::effect::effect;
    use crate::quads::examples::{SLOWER, quads};

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-7, "{found} instead of {expected}");
    }

    #[test]
    fn the_exact_rates() {
        for (budget, rate) in [
            (5, 0.006687),
            (6, 0.005187),
            (8, 0.007787),
            (10, 0.009193),
            (15, 0.007488),
            (20, 0.008672),
            (25, 0.008847),
        ] {
            near(Spending::within(budget).false_alarms(), rate);
        }
        for (budget, rate) in [(5, 0.016975), (10, 0.028048), (25, 0.047206)] {
            near(false_alarms(budget, |_| 0.01), rate);
        }
    }

    #[test]
    fn spending_stops_early_only_for_a_small_p() {
        let rule = Spending::within(10);
        assert_eq!(rule.decide(2, 0.0), Decision::Continue);
        assert_eq!(rule.decide(4, 0.0015), Decision::Continue);
        assert_eq!(rule.decide(5, 0.0003), Decision::Changed);
        assert_eq!(rule.decide(10, 0.0088), Decision::Changed);
        assert_eq!(rule.decide(10, 0.0099), Decision::NotChanged);
    }

    #[test]
    fn precision_stops_at_the_width_or_the_budget() {
        let effect = effect(&quads(&SLOWER), 0.95).expect("quads");
        assert!((effect.half_width() - 0.0048).abs() < 1e-4);
        assert_eq!(Precision::DEFAULT.decide(5, &effect), Decision::Test);
        assert_eq!(Precision::DEFAULT.decide(2, &effect), Decision::Continue);
        let narrow = Precision { half_width: 0.001, budget: 6 };
        assert_eq!(
            (narrow.decide(5, &effect), narrow.decide(6, &effect)),
            (Decision::Continue, Decision::Test)
        );
    }
}
