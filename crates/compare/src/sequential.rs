//! Valid early stopping. Two rules are allowed, each checked once per finished quad: stop when the interval is narrow enough and test
//! once; or spend a little of the error on early looks. Testing at the full level after each quad is not valid: its rate of false alarms,
//! computed here exactly, is several times the nominal one.

use crate::quads::rank_test::NullDistribution;

/// The first look that can decide anything.
pub const FIRST_LOOK: usize = 3;

/// The allowed rate of false alarms.
const FALSE_ALARMS: f64 = 0.01;
/// Candidate levels of early looks; the first that is strict enough is used.
const EARLY: [f64; 4] = [0.001, 0.0005, 0.0002, 0.0001];

/// Action after a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run another quad.
    Continue,
    /// Stop and test at the usual level.
    Test,
    /// Stop: a change is established.
    Changed,
    /// Stop: the budget is spent and no change is established.
    NotChanged,
}

/// Stop when the interval is narrow enough, then test once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Half-width of the interval, as in [`half_width`](crate::quads::effect::half_width).
    pub half_width: f64,
    /// Maximum number of quads.
    pub budget: usize,
}

impl Precision {
    /// One percent, ten quads.
    pub const DEFAULT: Self = Self { half_width: 0.01, budget: 10 };

    /// Decides after `quads` quads with an interval of this half-width; without one it does not count as narrow.
    #[must_use]
    pub fn decide(&self, quads: usize, half_width: Option<f64>) -> Decision {
        let narrow = quads >= FIRST_LOOK && half_width.is_some_and(|h| h <= self.half_width);
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
    /// Maximum number of quads.
    pub budget: usize,
}

impl Spending {
    /// Levels whose rate of false alarms is at most 1 %, even if a look before the budget turns out to be the last (time may be over):
    /// 0.001 and 0.0095 up to 18 quads; a larger budget has more early looks and a lower final level.
    #[must_use]
    pub fn within(budget: usize) -> Self {
        // Built from integers, so that a level equals its printed value.
        let last_levels = || (10..=19).rev().map(|n| f64::from(5 * n) / 10_000.0);
        let levels = EARLY.into_iter().flat_map(|early| last_levels().map(move |last| (early, last)));
        let kept = |&(early, last): &(f64, f64)| {
            if_last(budget, early, last).iter().all(|rate| *rate <= FALSE_ALARMS)
        };
        // The strictest if none suffices, which only affects budgets beyond any practical size.
        let (early, last) = levels.clone().find(kept).or_else(|| levels.last()).unwrap_or((EARLY[0], 0.005));
        Self { early, last, budget }
    }

    /// Decides after `quads` quads with this p; without one nothing is established.
    #[must_use]
    pub fn decide(&self, quads: usize, p: Option<f64>) -> Decision {
        let within = |level: f64| p.is_some_and(|p| p <= level);
        match quads >= self.budget {
            true if within(self.last) => Decision::Changed,
            true => Decision::NotChanged,
            false if quads >= FIRST_LOOK && within(self.early) => Decision::Changed,
            false => Decision::Continue,
        }
    }

    /// The exact rate of false alarms of this rule.
    #[must_use]
    pub fn false_alarms(&self) -> f64 {
        let level = |quads: usize| if quads == self.budget { self.last } else { self.early };
        false_alarms(self.budget, level)
    }
}

/// The exact rate of false alarms if a look is the last, for each look from the third quad up to the budget.
fn if_last(budget: usize, early: f64, last: f64) -> Vec<f64> {
    let mut rates = Vec::new();
    let _ = walk(budget, |null, going_on, alarmed| {
        let rejected = |limit: f64| move |u: &usize| null.two_sided(2 * u) <= limit;
        let at_last: f64 = (0..going_on.len()).filter(rejected(last)).map(|u| going_on[u]).sum();
        rates.push(alarmed + at_last);
        early
    });
    rates
}

/// The exact rate of false alarms of testing after each quad from the third up to the budget, at the given levels. Dynamic programming
/// over U: rejected outcomes drop out, the rest gets another quad.
#[must_use]
pub fn false_alarms(budget: usize, level: impl Fn(usize) -> f64) -> f64 {
    let mut quads = FIRST_LOOK - 1;
    walk(budget, |_, _, _| {
        quads += 1;
        level(quads)
    })
}

/// Steps from quad to quad. At each look `level` receives the null distribution of U, the share still running, and the share rejected
/// before, and returns the level of the look. Returns the total share rejected.
fn walk(budget: usize, mut level: impl FnMut(&NullDistribution, &[f64], f64) -> f64) -> f64 {
    let one_quad: Vec<f64> = (0..=4).map(|u| NullDistribution::untied(1).exactly(2 * u)).collect();
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
            let null = NullDistribution::untied(quads);
            let limit = level(&null, &next, alarmed);
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
            near(Spending { early: 0.001, last: 0.0095, budget }.false_alarms(), rate);
        }
        for (budget, rate) in [(5, 0.016975), (10, 0.028048), (25, 0.047206)] {
            near(false_alarms(budget, |_| 0.01), rate);
        }
    }

    /// Computed independently: with 0.0095 throughout, 19, 21, 24, 27 and nearly all larger budgets would exceed 1 %.
    #[test]
    fn the_last_level_keeps_one_percent_for_every_budget() {
        near(Spending { early: 0.001, last: 0.0095, budget: 19 }.false_alarms(), 0.010982);
        let levels = [3, 18, 19, 21, 29, 35, 41, 44, 51].map(|budget| Spending::within(budget).last);
        let expected = [0.0095, 0.0095, 0.009, 0.008, 0.007, 0.0065, 0.006, 0.0055, 0.005];
        assert_eq!(levels, expected, "to the last digit, for they are printed");
        for budget in (FIRST_LOOK..=30).chain([58, 80, 100]) {
            let rule = Spending::within(budget);
            assert!(rule.false_alarms() <= FALSE_ALARMS, "{rule:?}");
            let soonest = if_last(budget, rule.early, rule.last);
            assert!(soonest.iter().all(|rate| *rate <= FALSE_ALARMS), "{rule:?}");
        }
    }

    #[test]
    fn spending_stops_early_only_for_a_small_p() {
        let rule = Spending::within(10);
        assert_eq!(rule.decide(2, Some(0.0)), Decision::Continue);
        assert_eq!(rule.decide(4, Some(0.0015)), Decision::Continue);
        assert_eq!(rule.decide(5, Some(0.0003)), Decision::Changed);
        assert_eq!(rule.decide(10, Some(0.0088)), Decision::Changed);
        assert_eq!(rule.decide(10, Some(0.0099)), Decision::NotChanged);
        assert_eq!((rule.decide(5, None), rule.decide(10, None)), (Decision::Continue, Decision::NotChanged));
    }

    #[test]
    fn precision_stops_at_the_width_or_the_budget() {
        let effect = effect(&quads(&SLOWER), 0.95).expect("quads");
        assert!((effect.half_width() - 0.0048).abs() < 1e-4);
        let width = Some(effect.half_width());
        assert_eq!(Precision::DEFAULT.decide(5, width), Decision::Test);
        assert_eq!(Precision::DEFAULT.decide(2, width), Decision::Continue);
        assert_eq!(Precision::DEFAULT.decide(5, None), Decision::Continue);
        let narrow = Precision { half_width: 0.001, budget: 6 };
        assert_eq!((narrow.decide(5, width), narrow.decide(6, width)), (Decision::Continue, Decision::Test));
    }
}
