//! The verdict on two unpaired groups: Mann-Whitney's test and the Hodges-Lehmann ratio, with the rules of the verdict on quads. It is
//! the weaker method: drift between the two sessions looks like a change, and its sentence says so.

use super::mann_whitney::{MannWhitney, critical, mann_whitney};
use super::shift::{Shift, shift};
use crate::quads::effect::{Effect, Scale};
use crate::unusable::Unusable;
use crate::verdict::{Rules, SettlingEffort, Verdict, margin_kept, threshold_of};

/// Below this confidence an interval cannot show that nothing changed.
const LEAST_CONFIDENCE: f64 = 0.9;
/// Upper limit when looking for the number of runs that the test needs.
const MOST_RUNS: usize = 50;
/// Fewer runs per side never give the verdict "the same": the interval of 3 + 3 runs is arbitrary.
pub const FEWEST_RUNS: usize = 5;

/// A comparison of two groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// Number of values of A and of B.
    pub runs: [usize; 2],
    /// The Mann-Whitney test.
    pub test: MannWhitney,
    /// The effect with its interval.
    pub effect: Effect,
    /// The rules that were applied.
    pub rules: Rules,
    /// The verdict; for an inconclusive comparison of groups it is unknown what would settle it.
    pub verdict: Verdict,
    /// Runs per side that the test needs to reach its level at all, if there are fewer.
    pub needed: Option<usize>,
}

/// Compares two groups.
pub fn compare(a: &[f64], b: &[f64], rules: &Rules) -> Result<Groups, Unusable> {
    let test = mann_whitney(a, b)?;
    let scale = if a.iter().chain(b).all(|v| *v > 0.0) { Scale::Ratio } else { Scale::Difference };
    let effect = effect(scale, a, b, rules.confidence)?;
    let reachable = a.len() + b.len() > 2 * MOST_RUNS || critical(a.len(), b.len(), rules.alpha).is_some();
    let enough = reachable && a.len().min(b.len()) >= FEWEST_RUNS;
    let needed = (!reachable).then(|| needed(rules.alpha)).flatten();
    let shift = effect.shift();
    let open = Verdict::Inconclusive(SettlingEffort { change: None, more_quads: None });
    let verdict = if test.p <= rules.alpha {
        match (shift.abs() >= threshold_of(&effect, rules), (shift > 0.0) == rules.higher_is_better) {
            (false, _) => Verdict::ChangedBelowThreshold,
            (true, true) => Verdict::Faster,
            (true, false) => Verdict::Slower,
        }
    } else if enough && effect.confidence >= LEAST_CONFIDENCE {
        margin_kept(&effect, rules).map_or(open, Verdict::SameWithin)
    } else {
        open
    };
    Ok(Groups { runs: [a.len(), b.len()], test, effect, rules: *rules, verdict, needed })
}

/// The smallest groups of equal size whose exact test reaches `alpha`.
fn needed(alpha: f64) -> Option<usize> {
    (1..=MOST_RUNS).find(|n| critical(*n, *n, alpha).is_some())
}

fn effect(scale: Scale, a: &[f64], b: &[f64], confidence: f64) -> Result<Effect, Unusable> {
    let logs = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<f64>>();
    let Shift { estimate, low, high, confidence } = match scale {
        Scale::Ratio => shift(&logs(a), &logs(b), confidence)?,
        Scale::Difference => shift(a, b, confidence)?,
    };
    let back = |v: f64| if scale == Scale::Ratio { v.exp() } else { v };
    Ok(Effect { scale, estimate: back(estimate), low: back(low), high: back(high), confidence })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{A, B, pooled};
    use super::*;

    #[test]
    fn the_pooled_runs_of_the_first_example_are_slower() {
        let (a, b) = pooled();
        let found = compare(&a, &b, &Rules::default()).expect("groups");
        assert_eq!((found.verdict.clone(), found.runs, found.needed), (Verdict::Slower, [10, 10], None));
        assert!((found.test.p - 1.082509e-5).abs() < 5e-11 && found.test.exact, "{found:?}");
        assert!(found.effect.low < found.effect.estimate && found.effect.estimate < found.effect.high);
        let swapped = compare(&b, &a, &Rules::default()).expect("groups");
        assert_eq!(swapped.verdict, Verdict::Faster);
        let latency = Rules { higher_is_better: false, ..Rules::default() };
        assert_eq!(compare(&b, &a, &latency).expect("groups").verdict, Verdict::Slower);
        let wide = Rules { threshold: 0.05, ..Rules::default() };
        assert_eq!(compare(&a, &b, &wide).expect("groups").verdict, Verdict::ChangedBelowThreshold);
    }

    #[test]
    fn too_few_runs_are_reported_and_never_called_the_same() {
        let found = compare(&[100.0, 100.1], &[100.0, 100.05], &Rules::default()).expect("groups");
        assert_eq!((found.needed, matches!(found.verdict, Verdict::Inconclusive(_))), (Some(5), true));
        let found = compare(&A, &B, &Rules::default()).expect("groups");
        assert_eq!((found.needed, matches!(found.verdict, Verdict::Inconclusive(_))), (None, true));
        let same: Vec<f64> = (0..8).map(|i| 100.0 + f64::from(i) / 100.0).collect();
        let other: Vec<f64> = same.iter().map(|v| v + 0.005).collect();
        let found = compare(&same, &other, &Rules::default()).expect("groups");
        assert_eq!(found.verdict, Verdict::SameWithin(0.02));
    }

    #[test]
    fn figures_with_a_zero_are_compared_by_difference() {
        let rules = Rules { difference_threshold: 0.5, higher_is_better: false, ..Rules::default() };
        let a = [0.0, 1.0, 2.0, 3.0, 4.0];
        let found = compare(&a, &a.map(|v| v + 10.0), &rules).expect("groups");
        assert_eq!((found.effect.scale, found.verdict), (Scale::Difference, Verdict::Slower));
        assert!(compare(&[], &a, &rules).is_err());
    }
}
