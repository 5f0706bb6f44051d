//! The worked example of eight differences, the SysBench table of 2004, and the exact tests against brute force.

use super::*;
use crate::numbers::logs;
use proptest::prelude::*;

const EIGHT: [f64; 8] = [-1.9, 0.4, -2.2, -1.1, -3.0, 0.7, -1.6, -2.7];

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 5e-7, "{found} instead of {expected}");
}

#[test]
fn eight_differences() {
    near(walsh_median(&EIGHT).expect("8"), -1.55);
    let wilcoxon = signed_rank(&EIGHT).expect("8");
    assert_eq!((wilcoxon.statistic, wilcoxon.p, wilcoxon.exact), (3.0, 0.0390625, true));
    assert_eq!(sign_flip(&EIGHT, 1).expect("8").p, 0.0390625);
    let student = t_test(&EIGHT).expect("8");
    near(student.statistic, -2.967301);
    near(student.p, 0.020888);
}

#[test]
fn two_and_a_half_cancel() {
    let r = ratios(&[1.0, 2.0], &[2.0, 1.0]).expect("pairs");
    assert_eq!(r, [2.0, 0.5]);
    near(geometric_mean(&r).expect("2"), 1.0);
    assert!(ratios(&[1.0], &[]).is_err() && ratios(&[0.0], &[1.0]).is_err() && geometric_mean(&[]).is_err());
}

/// Seconds, one run each: noop, anticipatory, deadline, CFQ.
const BK2: [f64; 4] = [165.3393, 118.7450, 130.3254, 146.4286];
const RC3: [f64; 4] = [164.9486, 125.1776, 131.8903, 152.9280];
const PATCHED: [f64; 4] = [94.0064, 86.5459, 92.8340, 95.7213];

#[test]
fn the_sysbench_table_of_2004() {
    let patched = ratios(&RC3, &PATCHED).expect("pairs");
    for (found, expected) in patched.iter().zip([0.569913, 0.691385, 0.703873, 0.625924]) {
        near(*found, expected);
    }
    near(geometric_mean(&patched).expect("4"), 0.645485);
    let against_24 = ratios(&[77.5377; 4], &PATCHED).expect("pairs");
    for (found, expected) in against_24.iter().zip([1.212396, 1.116178, 1.197276, 1.234513]) {
        near(*found, expected);
    }
    assert!((geometric_mean(&against_24).expect("4") - 1.189).abs() < 5e-4);
    let student = t_test(&logs(&patched)).expect("4");
    near(student.statistic, -8.955928);
    near(student.p, 0.002938);
    near(sign_test(&logs(&patched)).expect("4").p, 0.125);

    let unpatched = ratios(&BK2, &RC3).expect("pairs");
    for (found, expected) in unpatched.iter().zip([0.997637, 1.054172, 1.012008, 1.044386]) {
        near(*found, expected);
    }
    assert!((geometric_mean(&unpatched).expect("4") - 1.027).abs() < 5e-4);
    let [low, high] = t_interval(&logs(&unpatched), 0.95).expect("4");
    near(low.exp(), 0.985246);
    near(high.exp(), 1.070089);
}

#[test]
fn the_smallest_p_of_ten_pairs() {
    let down: Vec<f64> = (1..=10).map(|i| -f64::from(i)).collect();
    assert_eq!(signed_rank(&down).expect("10").p, 2.0 / 1024.0);
    assert_eq!(sign_flip(&down, 1).expect("10").p, 2.0 / 1024.0);
    near(sign_test(&down).expect("10").p, 2.0 / 1024.0);
}

#[test]
fn many_pairs_are_flipped_by_seed() {
    let values: Vec<f64> = (0..30).map(|i| (f64::from(i) * 1.3).sin() + 0.35).collect();
    let (one, two) = (sign_flip(&values, 4).expect("30"), sign_flip(&values, 4).expect("30"));
    assert_eq!(one, two);
    assert!(!one.exact && (one.p - t_test(&values).expect("30").p).abs() < 0.01, "{one:?}");
    let more: Vec<f64> = (0..130).map(|i| (f64::from(i) * 1.3).sin() + 0.1).collect();
    let by_shares = signed_rank(&more).expect("130").p;
    assert!((by_shares - t_test(&more).expect("130").p).abs() < 0.05, "{by_shares}");
}

#[test]
fn differences_without_a_sign_or_spread_are_refused() {
    assert!(signed_rank(&[0.0; 5]).is_err() && sign_test(&[]).is_err());
    assert_eq!(t_test(&[2.0; 5]), Err(Unusable::NoSpread { what: "the t-test" }));
    assert!(t_interval(&[1.0], 0.95).is_err());
}

/// Enumerates all sign patterns.
fn signed_rank_by_force(values: &[f64]) -> f64 {
    let sizes: Vec<f64> = values.iter().map(|d| d.abs()).collect();
    let ranks = ranks(&sizes).0;
    let all: f64 = ranks.iter().sum();
    let small = |sum: f64| sum.min(all - sum);
    let observed = small(ranks.iter().zip(values).filter(|(_, d)| **d > 0.0).map(|(r, _)| r).sum());
    let sum_of = |code: u32| -> f64 {
        ranks.iter().enumerate().filter(|(i, _)| code >> i & 1 == 1).map(|(_, r)| r).sum()
    };
    let codes = 1u32 << values.len();
    (0..codes).filter(|code| small(sum_of(*code)) <= observed).count() as f64 / f64::from(codes)
}

proptest! {
    #[test]
    fn exact_signed_rank_is_the_enumeration(values in prop::collection::vec(-6i32..7, 1..10)) {
        let values: Vec<f64> = values.into_iter().filter(|v| *v != 0).map(f64::from).collect();
        prop_assume!(!values.is_empty());
        let found = signed_rank(&values).expect("not empty");
        prop_assert!((found.p - signed_rank_by_force(&values)).abs() < 1e-12);
    }

    #[test]
    fn flipped_signs_mirror_the_result_and_scale_does_not_matter(values in prop::collection::vec(-6.0..7.0f64, 2..12), by in 0.1..9.0f64) {
        let turned: Vec<f64> = values.iter().map(|v| -v * by).collect();
        for test in [signed_rank, sign_test, t_test, |d: &[f64]| sign_flip(d, 3)] {
            let (one, two) = (test(&values).expect("values"), test(&turned).expect("values"));
            prop_assert!((one.p - two.p).abs() < 1e-9);
            prop_assert!(one.p > 0.0 && one.p <= 1.0);
        }
        let (one, two) = (walsh_median(&values).expect("values"), walsh_median(&turned).expect("values"));
        prop_assert!((one * by + two).abs() < 1e-9);
    }
}
