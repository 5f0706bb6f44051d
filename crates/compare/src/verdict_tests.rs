//! Each verdict on the worked examples, orientation, withholding, and that swapping the sides mirrors the result.

use super::*;
use crate::noise::{GateRules, noise_gate};
use crate::quads::examples::{SAME, SLOWER, quads, three};
use crate::quads::quads_of;
use proptest::prelude::*;

fn verdict(quads: &[Quad], rules: &Rules) -> Verdict {
    compare(quads, rules).expect("usable").verdict
}

#[test]
fn the_three_examples() {
    let rules = Rules::default();
    let slower = verdict(&quads(&SLOWER), &rules);
    assert_eq!(slower, Verdict::Slower);
    assert_eq!(verdict(&quads(&SAME), &rules), Verdict::SameWithin(0.02));
    let Verdict::Inconclusive(settle) = verdict(&three(), &rules) else { panic!("p is 0.037") };
    // The example's own noise asks for nine quads; the gate of a quieter machine may ask for fewer.
    assert!(settle.change.is_some_and(|c| (c - 0.030152).abs() < 5e-7), "{settle:?}");
    assert_eq!(settle.more_quads, Some(6));
}

#[test]
fn where_less_is_better_more_is_slower() {
    let latency = Rules { higher_is_better: false, ..Rules::default() };
    assert_eq!(verdict(&quads(&SLOWER), &latency), Verdict::Faster);
    let swapped: Vec<Quad> = quads(&SLOWER).iter().map(Quad::swapped).collect();
    assert_eq!(verdict(&swapped, &latency), Verdict::Slower);
}

#[test]
fn a_change_below_the_threshold_is_called_that() {
    let coarse = Rules { threshold: 0.03, ..Rules::default() };
    assert_eq!(verdict(&quads(&SLOWER), &coarse), Verdict::ChangedBelowThreshold);
}

#[test]
fn two_quads_give_no_verdict() {
    let same = quads_of(&[5.0; 4], &[5.0; 4]).expect("2 quads");
    assert!(matches!(verdict(&same, &Rules::default()), Verdict::Inconclusive(_)));
    let same = quads_of(&[5.0; 6], &[5.0; 6]).expect("3 quads");
    assert_eq!(verdict(&same, &Rules::default()), Verdict::SameWithin(0.02));
    assert!(compare(&[], &Rules::default()).is_err());
}

#[test]
fn zeros_are_compared_by_difference() {
    let a = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0];
    let b = [9.0, 8.0, 9.0, 7.0, 8.0, 9.0];
    let errors = Rules { higher_is_better: false, ..Rules::default() };
    let found = compare(&quads_of(&a, &b).expect("3 quads"), &errors).expect("usable");
    assert_eq!((found.effect.scale, found.cv, &found.verdict), (Scale::Difference, None, &Verdict::Slower));
    let generous = Rules { difference_threshold: 10.0, ..errors };
    assert_eq!(verdict(&quads_of(&a, &b).expect("3 quads"), &generous), Verdict::ChangedBelowThreshold);
    let open = compare(&quads_of(&[0.0, 1.0], &[3.0, 0.0]).expect("a quad"), &errors).expect("usable");
    assert_eq!(open.verdict, Verdict::Inconclusive(SettlingEffort { change: None, more_quads: None }));
}

#[test]
fn a_failed_gate_withholds_and_a_passed_one_lends_its_noise() {
    let gate = noise_gate(&quads(&SAME), &SAME.concat(), &GateRules::default()).expect("20 runs");
    let rules = Rules::default();
    let behind = |q: &[Quad], gate: &NoiseGate| compare_behind_gate(q, &rules, gate).expect("usable").verdict;
    assert_eq!(behind(&quads(&SLOWER), &gate), Verdict::Slower);
    let noisy = NoiseGate { cv: 0.0125, ..gate.clone() };
    let Verdict::Inconclusive(settle) = behind(&three(), &noisy) else { panic!("p is 0.037") };
    assert_eq!(settle.more_quads, Some(3));

    let failed = NoiseGate { failures: vec![GateFailure::DiffersFromItself { p: 0.001 }], ..gate };
    assert_eq!(behind(&quads(&SLOWER), &failed), Verdict::Withheld(failed.failures.clone()));
    assert_eq!(behind(&quads(&SAME), &failed), Verdict::Withheld(failed.failures.clone()));
    assert!(matches!(behind(&three(), &failed), Verdict::Inconclusive(_)));
}

proptest! {
    #[test]
    fn swapping_sides_mirrors_the_verdict(values in prop::collection::vec(0.90..1.10f64, 24), step in 0.9..1.1f64) {
        let b: Vec<f64> = values[12..].iter().map(|v| v * step).collect();
        let quads = quads_of(&values[..12], &b).expect("6 quads");
        let swapped: Vec<Quad> = quads.iter().map(Quad::swapped).collect();
        let mirrored = match verdict(&quads, &Rules::default()) {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        };
        match (verdict(&swapped, &Rules::default()), mirrored) {
            // 3 % less is 3.1 % more, so what would settle it may differ a little.
            (Verdict::Inconclusive(_), Verdict::Inconclusive(_)) => {}
            (found, expected) => prop_assert_eq!(found, expected),
        }
    }

    #[test]
    fn a_constant_factor_changes_nothing(values in prop::collection::vec(0.90..1.10f64, 24), power in -20i32..20) {
        // Powers of two are exact in the figures but not in their logarithms, so only the verdict is compared.
        let by = 2f64.powi(power);
        let scaled: Vec<f64> = values.iter().map(|v| v * by).collect();
        let of = |v: &[f64]| compare(&quads_of(&v[..12], &v[12..]).expect("6 quads"), &Rules::default()).expect("usable");
        let (one, two) = (of(&values), of(&scaled));
        prop_assert_eq!(one.test, two.test);
        prop_assert!((one.effect.estimate / two.effect.estimate - 1.0).abs() < 1e-12);
        prop_assert_eq!(std::mem::discriminant(&one.verdict), std::mem::discriminant(&two.verdict));
    }
}
