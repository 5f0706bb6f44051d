//! The sentence for two unpaired groups. The caller adds whether they were measured in one session or in two.

use super::Names;
use super::figures::{p_value, percent, short};
use super::{estimate, interval, size};
use crate::quads::effect::Scale;
use crate::unpaired::groups::{FEWEST_RUNS, Groups};
use crate::verdict::Verdict;

/// The result of a comparison of groups.
#[must_use]
pub fn groups(found: &Groups, names: Names) -> String {
    let Names { a, b, better, worse } = names;
    let effect = &found.effect;
    let [runs_a, runs_b] = found.runs;
    let how = if found.test.exact { "exact " } else { "" };
    let p = p_value(found.test.p);
    let evidence = format!("({}; {runs_a} + {runs_b} runs; {how}{p})", interval(effect));
    match &found.verdict {
        Verdict::Faster => format!("{b} is {} {better} than {a} {evidence}.", size(effect)),
        Verdict::Slower => format!("{b} is {} {worse} than {a} {evidence}.", size(effect)),
        Verdict::ChangedBelowThreshold => {
            let threshold = match effect.scale {
                Scale::Ratio => percent(found.rules.threshold),
                Scale::Difference => short(found.rules.difference_threshold),
            };
            format!(
                "{b} differs from {a} by {}, less than the threshold of {threshold} {evidence}.",
                size(effect)
            )
        }
        Verdict::SameWithin(margin) => {
            let margin = match effect.scale {
                Scale::Ratio => format!("below {}", percent(*margin)),
                Scale::Difference => format!("at most {}", short(*margin)),
            };
            format!("No change seen; any difference is {margin} ({}).", interval(effect))
        }
        Verdict::Inconclusive(_) | Verdict::Withheld(_) => {
            let why = match found.needed {
                Some(needed) => format!(" A verdict needs at least {needed} runs of each side."),
                None if found.runs.iter().any(|n| *n < FEWEST_RUNS) => {
                    format!(" Calling two sides the same takes at least {FEWEST_RUNS} runs of each.")
                }
                None => String::new(),
            };
            format!("Inconclusive: {} after {runs_a} + {runs_b} runs ({how}{p}).{why}", estimate(effect))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unpaired::examples::{A, B, pooled};
    use crate::unpaired::groups::compare;
    use crate::verdict::Rules;

    fn said(a: &[f64], b: &[f64], rules: &Rules) -> String {
        groups(&compare(a, b, rules).expect("groups"), Names::of_speed("A", "B"))
    }

    #[test]
    fn the_sentences_of_groups() {
        let (a, b) = pooled();
        let rules = Rules::default();
        let slower = said(&a, &b, &rules);
        assert!(slower.starts_with("B is 2.8 % slower than A (ratio 0.9723"), "{slower}");
        assert!(slower.ends_with("; 10 + 10 runs; exact p < 0.0001)."), "{slower}");
        assert_eq!(
            said(&[100.0, 101.0], &[103.0, 104.0], &rules),
            "Inconclusive: ratio 1.0299 after 2 + 2 runs (exact p = 0.3333). A verdict needs at least 5 runs of each side."
        );
        let wide = Rules { threshold: 0.1, ..rules };
        assert!(said(&a, &b, &wide).contains("by 2.8 %, less than the threshold of 10 % (ratio"));
        assert!(said(&A, &B, &wide).starts_with("No change seen; any difference is below 20 % (ratio 1.0"));
        assert!(
            said(&A, &B, &rules)
                .starts_with("Inconclusive: ratio 1.0285 after 6 + 6 runs (exact p = 0.3095).")
        );
    }
}
