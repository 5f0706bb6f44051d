//! The verdict on two sides measured in quads: faster, slower, changed by less than the threshold, the same within a margin, or
//! inconclusive, with what would settle it.
//!
//! A change requires the exact test (p at most alpha); it is "faster" or "slower" only from the threshold on. "The same" is a claim too,
//! and requires the whole interval to be inside the margin, twice the threshold. Below three quads no verdict is possible.

use crate::noise::{GateFailure, NoiseGate, quads_needed, within_shifted};
use crate::quads::effect::{Effect, Scale, effect};
use crate::quads::rank_test::{RankTest, rank_test};
use crate::quads::{Quad, checked};
use crate::unusable::Unusable;

/// The smallest number of quads whose exact test can reach 1 %.
pub const FEWEST_QUADS: usize = 3;

/// Criteria of a verdict. The manual's rates were measured with the defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Level of the test, two-sided.
    pub alpha: f64,
    /// Changes of a ratio below this are too small to matter; 0.01 is 1 %.
    pub threshold: f64,
    /// Threshold for figures compared by difference because they are zero or negative, in their unit.
    pub difference_threshold: f64,
    /// Target confidence of the interval; the number of quads determines how close it gets.
    pub confidence: f64,
    /// True for throughput, false for latency and times.
    pub higher_is_better: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            alpha: 0.01,
            threshold: 0.01,
            difference_threshold: 0.0,
            confidence: 0.95,
            higher_is_better: true,
        }
    }
}

/// The verdict of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// B is better than A by at least the threshold.
    Faster,
    /// B is worse than A by at least the threshold: a regression.
    Slower,
    /// There is a change, but smaller than the threshold.
    ChangedBelowThreshold,
    /// The interval lies within this margin (0.02 is 2 %) of "no change".
    SameWithin(f64),
    /// Neither a change nor sameness can be claimed.
    Inconclusive(SettlingEffort),
    /// Faster, slower or the same was found, but the machine's noise gate failed.
    Withheld(Vec<GateFailure>),
}

impl Verdict {}

/// What would settle an inconclusive comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettlingEffort {
    /// The change that would be detected: the observed one, but at least twice the threshold. `None` for differences.
    pub change: Option<f64>,
    /// Additional quads needed, at least 1; `None` if unknown.
    pub more_quads: Option<u32>,
}

/// A comparison of two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of quads; there are twice as many runs per side.
    pub quads: usize,
    /// The exact rank test.
    pub test: RankTest,
    /// The effect with its interval.
    pub effect: Effect,
    /// Coefficient of variation of single runs within quads, with the effect removed; `None` for differences.
    pub cv: Option<f64>,
    /// The rules that were applied.
    pub rules: Rules,
    /// The verdict.
    pub verdict: Verdict,
}

impl Comparison {
    /// Whether the observed change reaches the threshold, in either direction.
    #[must_use]
    pub fn reaches_threshold(&self) -> bool {
        self.effect.shift().abs() >= threshold_of(&self.effect, &self.rules)
    }
}

/// Compares the two sides of the quads.
pub fn compare(quads: &[Quad], rules: &Rules) -> Result<Comparison, Unusable> {
    checked(quads)?;
    let test = rank_test(quads);
    let effect = effect(quads, rules.confidence).ok_or(Unusable::NotQuads { a: 0, b: 0 })?;
    let cv = (effect.scale == Scale::Ratio).then(|| within_shifted(quads, effect.shift()));
    let verdict = verdict_of(&test, &effect, cv, rules);
    Ok(Comparison { quads: quads.len(), test, effect, cv, rules: *rules, verdict })
}

/// Compares on a machine with measured noise. If the gate failed, "faster", "slower" and "the same" are withheld; if it passed, its noise
/// (measured longer than the comparison's own) determines how many more quads would settle an open question.
pub fn compare_behind_gate(quads: &[Quad], rules: &Rules, gate: &NoiseGate) -> Result<Comparison, Unusable> {
    let mut found = compare(quads, rules)?;
    found.verdict = match found.verdict {
        Verdict::Faster | Verdict::Slower | Verdict::SameWithin(_) if !gate.passed() => {
            Verdict::Withheld(gate.failures.clone())
        }
        Verdict::Inconclusive(_) if found.cv.is_some() => {
            Verdict::Inconclusive(settle(found.quads, &found.effect, Some(gate.cv), rules))
        }
        other => other,
    };
    Ok(found)
}

/// The threshold in the scale of [`Effect::shift`].
pub(crate) fn threshold_of(effect: &Effect, rules: &Rules) -> f64 {
    match effect.scale {
        Scale::Ratio => rules.threshold.ln_1p(),
        Scale::Difference => rules.difference_threshold,
    }
}

fn verdict_of(test: &RankTest, effect: &Effect, cv: Option<f64>, rules: &Rules) -> Verdict {
    let threshold = threshold_of(effect, rules);
    let inconclusive = || Verdict::Inconclusive(settle(test.quads, effect, cv, rules));
    if test.quads < FEWEST_QUADS {
        return inconclusive();
    }
    let shift = effect.shift();
    if test.p <= rules.alpha {
        return match (shift.abs() >= threshold, (shift > 0.0) == rules.higher_is_better) {
            (false, _) => Verdict::ChangedBelowThreshold,
            (true, true) => Verdict::Faster,
            (true, false) => Verdict::Slower,
        };
    }
    match margin_kept(effect, rules) {
        Some(margin) => Verdict::SameWithin(margin),
        None => inconclusive(),
    }
}

/// Twice the threshold, if the interval stays inside it.
pub(crate) fn margin_kept(effect: &Effect, rules: &Rules) -> Option<f64> {
    let (margin, inside) = match effect.scale {
        Scale::Ratio => {
            let margin = 2.0 * rules.threshold;
            (margin, effect.low >= 1.0 / (1.0 + margin) && effect.high <= 1.0 + margin)
        }
        Scale::Difference => {
            let margin = 2.0 * rules.difference_threshold;
            (margin, effect.low >= -margin && effect.high <= margin)
        }
    };
    inside.then_some(margin)
}

fn settle(quads: usize, effect: &Effect, cv: Option<f64>, rules: &Rules) -> SettlingEffort {
    let Some(cv) = cv else { return SettlingEffort { change: None, more_quads: None } };
    let change = (effect.estimate - 1.0).abs().max(2.0 * rules.threshold);
    let needed = quads_needed(cv, change, rules.threshold);
    let more_quads = needed.map(|n| n.saturating_sub(quads as u32).max(1));
    SettlingEffort { change: Some(change), more_quads }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
