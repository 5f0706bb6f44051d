//! The golden sentences, verbatim, from the figures of the worked examples.

use super::*;
use crate::noise::{GateRules, noise_gate as gate_of};
use crate::quads::examples::{SAME, SLOWER, quads, three};
use crate::quads::{Quad, quads_of};
use crate::single::ThroughputCell;
use crate::verdict::{Rules, compare, compare_behind_gate};

const AB: Names = Names::of_speed("A", "B");

fn said(quads: &[Quad], rules: &Rules) -> String {
    comparison(&compare(quads, rules).expect("usable"), AB)
}

fn gate() -> NoiseGate {
    gate_of(&quads(&SAME), &SAME.concat(), &GateRules::default()).expect("20 runs")
}

#[test]
fn slower() {
    assert_eq!(
        said(&quads(&SLOWER), &Rules::default()),
        "B is 2.7 % slower than A (ratio 0.9726, 94.6 % interval 0.9681 to 0.9773; 10 + 10 runs in 5 random quads; exact p = 0.0003)."
    );
}

#[test]
fn the_same() {
    assert_eq!(
        said(&quads(&SAME), &Rules::default()),
        "No change seen; any difference is below 2 % (ratio 0.9982, 94.6 % interval 0.9936 to 1.0018)."
    );
}

#[test]
fn inconclusive() {
    // A machine whose single runs scatter by 1.25 % needs six quads for 3 %.
    let gate = NoiseGate { cv: 0.0125, ..gate() };
    let found = compare_behind_gate(&three(), &Rules::default(), &gate).expect("usable");
    assert_eq!(
        comparison(&found, AB),
        "Inconclusive: ratio 0.9698 after 3 quads (p = 0.037). About 3 more quads would settle a 3 % change on this machine."
    );
}

#[test]
fn single_runs_and_controls() {
    assert_eq!(
        single_runs(AB, 9.232769, ("direct I/O", 0.079300)),
        "Single runs: B/A = 9.23. No interval can be given. Control cells (direct I/O) differ by at most 7.9 %."
    );
    let names = Names::of_speed("old", "new");
    assert_eq!(
        one_run_each(names, 0.569913, Some(true)),
        "new is 1.75× slower than old (one run each; not a verdict)."
    );
    assert_eq!(times(names, 0.5, Some(false)).as_deref(), Some("2× faster"), "of a latency");
    assert_eq!(times(names, 123.456, None).as_deref(), Some("123× faster"));
    assert_eq!(times(names, 1.0012, Some(false)), None);
    assert_eq!(times_than(names, 0.9988, Some(true)), "new and old differ by less than 0.5 %");
    let found =
        crate::single::against_controls(&[1.624712, 9.232769, 5.140114], &[0.999017, 1.079300, 1.003254]);
    assert_eq!(
        against_controls(&found.expect("positive")),
        "Beyond the variation of the control cells: every cell moved by 62.5 % or more, controls by at most 7.9 %; one run each, so no \
         confidence level."
    );
}

#[test]
fn a_contradicted_headline() {
    let cell =
        ThroughputCell { children: 79.39989, parent: 48.56916, smallest: 1_050_624.0, expected: 1_536_000.0 };
    assert_eq!(
        headline(&cell.check(), "MB/s", "written").as_deref(),
        Some(
            "Children saw 79.4 MB/s, the parent 48.6 MB/s: the slowest process had written 68 % of its file when the clock stopped. \
             Both are shown."
        )
    );
    let agrees = ThroughputCell { parent: 79.0, smallest: 1_536_000.0, ..cell };
    assert_eq!(headline(&agrees.check(), "MB/s", "written"), None);
}

#[test]
fn a_change_below_the_threshold_and_counts() {
    let coarse = Rules { threshold: 0.03, ..Rules::default() };
    assert_eq!(
        said(&quads(&SLOWER), &coarse),
        "B differs from A by 2.7 %, less than the threshold of 3 % (ratio 0.9726, 94.6 % interval 0.9681 to 0.9773; 10 + 10 runs in 5 \
         random quads; exact p = 0.0003)."
    );
    let errors = Rules { higher_is_better: false, ..Rules::default() };
    let quads = quads_of(&[0.0, 1.0, 0.0, 0.0, 1.0, 0.0], &[9.0, 8.0, 9.0, 7.0, 8.0, 9.0]).expect("3 quads");
    assert_eq!(
        comparison(&compare(&quads, &errors).expect("usable"), Names::of_count("v1", "v2")),
        "v2 is 8 worse than v1 (difference 8, 96.3 % interval 7 to 9; 6 + 6 runs in 3 random quads; exact p = 0.0093)."
    );
    let one = quads_of(&[0.0, 1.0], &[3.0, 0.0]).expect("a quad");
    assert_eq!(said(&one, &errors), "Inconclusive: difference 1 after 1 quad (p = 1).");
}

#[test]
fn the_noise_gate() {
    assert_eq!(noise_gate(&gate()), "This machine can detect changes of 0.9 % or more with 20 runs.");
    let failed =
        gate_of(&quads(&SLOWER), &SLOWER.concat(), &GateRules { budget_quads: 3, ..GateRules::default() });
    let failed = failed.expect("20 runs");
    assert!(
        noise_gate(&failed).contains(
            "Verdicts are withheld: on this machine the baseline differs from itself (p = 0.0003)."
        ),
        "{}",
        noise_gate(&failed)
    );
    let found = compare_behind_gate(
        &quads(&SAME),
        &Rules::default(),
        &NoiseGate { failures: vec![GateFailure::TooNoisy { needed: Some(9), budget: 5 }], ..gate() },
    );
    assert_eq!(
        comparison(&found.expect("usable"), AB),
        "No verdict: the noise of this machine needs 9 quads and the budget is 5 (ratio 0.9982, 94.6 % interval 0.9936 to 1.0018; p = \
         0.8647)."
    );
    let levels =
        crate::levels::two_levels(&[58444.0, 88184.0, 58753.0, 87618.0, 57463.0, 88536.0, 89942.0, 90438.0]);
    assert_eq!(
        gate_failure(&GateFailure::TwoLevels(levels.expect("positive").expect("eight"))),
        "the baseline's runs show two levels or strong skew (58217 and 88937, 63 % of runs on the upper)"
    );
}
