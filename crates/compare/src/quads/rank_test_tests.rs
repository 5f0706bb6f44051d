//! The worked examples of the rank test, its counts, and the enumeration of every possible order.

use super::super::examples::{SAME, SLOWER, quads, three};
use super::*;
use crate::quads::{ORDERS, Side, quads_of};
use proptest::prelude::*;

fn whole_units(null: &NullDistribution) -> Vec<u128> {
    let counts = null.counts().expect("few quads");
    assert!(counts.iter().skip(1).step_by(2).all(|n| *n == 0), "half units need ties");
    counts.iter().step_by(2).copied().collect()
}

#[test]
fn the_counts_of_three_and_five_quads() {
    assert_eq!(whole_units(&NullDistribution::untied(3)), [1, 3, 9, 16, 27, 33, 38, 33, 27, 16, 9, 3, 1]);
    let five = [1, 5, 20, 55, 130, 251, 430, 635, 845, 990, 1052, 990, 845, 635, 430, 251, 130, 55, 20, 5, 1];
    assert_eq!(whole_units(&NullDistribution::untied(5)), five);
    assert_eq!(NullDistribution::untied(40).counts().map(|c| c.iter().sum()), Some(6u128.pow(40)));
    assert_eq!(NullDistribution::untied(41).counts(), None);
}

#[test]
fn counts_and_shares_agree_where_both_can_be_had() {
    let quad = [1, 0, 1, 0, 2, 0, 1, 0, 1];
    let (by_counts, by_shares) = (NullDistribution::untied(40), shared(std::iter::repeat_n(quad, 40)));
    for (a, b) in by_counts.shares.iter().zip(&by_shares) {
        assert!((a - b).abs() <= 1e-12 * a.max(1e-30), "{a} {b}");
    }
    let large = NullDistribution::untied(200);
    assert!((large.at_most(1600) - 1.0).abs() < 1e-12);
    assert!((large.two_sided(800) - 1.0).abs() < 1e-12);
}

#[test]
fn examples_one_to_three() {
    let slower = rank_test(&quads(&SLOWER));
    assert_eq!((slower.u, slower.quads), (0.0, 5));
    assert!((slower.p - 2.0 / 7776.0).abs() < 1e-15);
    let same = rank_test(&quads(&SAME));
    assert_eq!(same.u, 9.0);
    assert!((same.p - 0.864712).abs() < 5e-7, "{}", same.p);
    let few = rank_test(&three());
    assert_eq!(few.u, 1.0);
    assert!((few.p - 0.037037).abs() < 5e-7, "{}", few.p);
}

#[test]
fn ties_are_enumerated_in_half_units() {
    let quad = Quad { a: [10.0, 12.0], b: [12.0, 13.0] };
    assert_eq!(half_units(&quad), 7);
    // 3.5 3.5 2.0 2.0 0.5 0.5
    assert_eq!(relabellings(&quad), [0, 2, 0, 0, 2, 0, 0, 2, 0]);
    assert_eq!(relabellings(&Quad { a: [1.0; 2], b: [1.0; 2] }), [0, 0, 0, 0, 6, 0, 0, 0, 0]);
    assert_eq!(rank_test(&[Quad { a: [1.0; 2], b: [1.0; 2] }]).p, 1.0);
}

/// Of all 7776 orders of five quads, 52 give p <= 0.01, whatever the values: here drifting, with an outlier.
#[test]
fn of_all_orders_exactly_52_alarm() {
    let values: Vec<f64> =
        (0..20).map(|i| 500.0 + 1.7 * f64::from(i) + (f64::from(i) * 2.3).sin() * 9.0).collect();
    let drifting: Vec<f64> =
        values.iter().enumerate().map(|(i, v)| if i == 9 { v * 0.8 } else { *v }).collect();
    let runs: Vec<[f64; 4]> = drifting.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
    let labelled = |quad: usize, order: [Side; 4]| Quad::of_runs(runs[quad], order).expect("two of each");
    let mut alarms = 0;
    for code in 0..7776usize {
        let order_of = |quad: usize| ORDERS[code / 6usize.pow(quad as u32) % 6];
        let quads: Vec<Quad> = (0..5).map(|q| labelled(q, order_of(q))).collect();
        alarms += usize::from(rank_test(&quads).p <= 0.01);
    }
    assert_eq!(alarms, 52);
}

proptest! {
    /// Small whole numbers, so that ties are common.
    #[test]
    fn swapping_sides_mirrors_u_and_keeps_p(values in prop::collection::vec(0i32..9, 4..48)) {
        let values: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
        let half = values.len() / 4 * 2;
        let quads = quads_of(&values[..half], &values[half..2 * half]).expect("even");
        let swapped: Vec<Quad> = quads.iter().map(Quad::swapped).collect();
        let (one, two) = (rank_test(&quads), rank_test(&swapped));
        prop_assert_eq!(one.u + two.u, 4.0 * quads.len() as f64);
        prop_assert_eq!(one.p, two.p);
        prop_assert_eq!(one.p, NullDistribution::of(&quads).two_sided((2.0 * one.u) as usize), "kept or computed again");
        prop_assert!(one.p > 0.0 && one.p <= 1.0);
    }

    #[test]
    fn any_increasing_change_of_scale_changes_nothing(values in prop::collection::vec(-5.0..5.0f64, 20), by in 0.1..10.0f64) {
        let scaled: Vec<f64> = values.iter().map(|v| v.exp() * by).collect();
        let test = |v: &[f64]| rank_test(&quads_of(&v[..10], &v[10..]).expect("5 quads"));
        prop_assert_eq!(test(&values), test(&scaled));
    }
}
