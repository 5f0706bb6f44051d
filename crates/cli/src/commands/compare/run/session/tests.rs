//! When a comparison ends, and the order in which its figures were measured.

use super::letters;
use super::noise::in_order;
use super::stopping::{Watched, enough};
use fathom_report::compared::Stopping;

fn seen(p: f64, half_width: f64) -> Watched {
    Watched { p: Some(p), half_width: Some(half_width) }
}

#[test]
fn spending_ends_when_every_figure_is_beyond_doubt() {
    let rule = Stopping::Spending { most_quads: 10, early: 0.001, last: 0.0095 };
    let (sure, unsure) = (seen(0.0003, 0.1), seen(0.004, 0.001));
    assert!(enough(&rule, &[sure], 5, 3).is_some_and(|w| w.contains("after 5 quads")));
    assert_eq!(enough(&rule, &[sure], 2, 3), None, "no look before the third");
    assert_eq!(enough(&rule, &[sure, unsure], 5, 3), None);
    assert_eq!(enough(&rule, &[sure], 10, 3), None, "the last look ends nothing: the quads are spent");
    assert_eq!(enough(&rule, &[sure], 5, 8), None, "many cells need eight quads");
    assert_eq!(enough(&rule, &[Watched { p: None, half_width: None }], 5, 3), None);
}

#[test]
fn precision_ends_when_every_interval_is_narrow_whatever_it_says() {
    let rule = Stopping::Precision { most_quads: 10, half_width: 0.01, level: 0.01 };
    let (narrow, wide) = (seen(0.8, 0.005), seen(0.0001, 0.03));
    assert!(enough(&rule, &[narrow], 3, 3).is_some());
    assert_eq!(enough(&rule, &[narrow, wide], 3, 3), None);
}

#[test]
fn figures_are_put_back_into_the_order_they_were_measured_in() {
    let orders = ["ABBA".to_owned(), "BAAB".to_owned()];
    let found = in_order(&[1.0, 4.0, 6.0, 7.0], &[2.0, 3.0, 5.0, 8.0], &orders);
    assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(letters(&[0, 1, 1, 0]), "ABBA");
}
