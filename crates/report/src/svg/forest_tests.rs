//! The picture of intervals over known figures.

use super::*;
use crate::compared::tests_of_examples::{single, slower_in_cells};

#[test]
fn every_figure_has_its_point_its_interval_and_its_word() {
    let compared = slower_in_cells(1);
    let picture = forest(&compared).expect("figures");
    let svg = picture.standalone();
    assert_eq!(svg.matches("<circle").count(), 3, "throughput, p50, p99; p99.9 has no figure");
    assert!(
        svg.contains("0.9726 (0.9681 to 0.9773)") && svg.contains(">slower<") && svg.contains(">same<"),
        "{svg}"
    );
    assert!(svg.contains("class=\"within\"") && svg.contains(">read, record 4 KiB<"), "{svg}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    assert!(picture.description.contains("1 worse, 2 the same"), "{}", picture.description);
    assert!(forest_caption(&compared).contains("threshold of 1 %"));
}

#[test]
fn the_axis_is_even_around_no_change_and_holds_every_interval() {
    let compared = slower_in_cells(1);
    let rows = shown(&compared);
    let axis = RatioAxis::over(&rows, 0.01);
    assert_eq!(axis.x(1.0), (LEFT + RIGHT) / 2.0);
    assert!((axis.x(1.02) + axis.x(1.0 / 1.02) - LEFT - RIGHT).abs() < 1e-9);
    assert!(axis.holds(0.9681) && axis.holds(1.02) && !axis.holds(0.5));
    let ticks = axis.ticks();
    assert!(ticks.len() >= 3 && ticks.windows(2).all(|w| w[0] < w[1]), "{ticks:?}");
}

#[test]
fn outliers_become_arrows_at_the_edge_and_single_runs_have_no_interval() {
    let compared = single(100.0, 10_000.0);
    let svg = forest(&compared).expect("a ratio").standalone();
    assert!(svg.contains("<polygon") && svg.contains("100.0000, no interval"), "{svg}");
}

#[test]
fn of_very_many_figures_those_are_drawn_that_cells_are_quoted_by() {
    let compared = slower_in_cells(20);
    let svg = forest(&compared).expect("figures").standalone();
    assert_eq!(svg.matches("<circle").count(), 20, "{svg}");
    assert!(forest_caption(&compared).contains("40 more figures are in the table"));
}
