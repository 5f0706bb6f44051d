//! Unchanged matrices, drawn from the exact distribution of the test, through the decision rule; and what the rule can still find.

use super::super::metric::Metric;
use super::super::tests::{SAME, compared, sides_of};
use super::super::{Side, judge, samples};
use super::*;
use fathom_compare::quads::rank_test::NullDistribution;
use fathom_record::Run;

const CELLS: usize = 66;
const MATRICES: usize = 1000;

/// SplitMix64, sufficient for drawing labels.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    /// U of the given number of quads if the sides do not differ: each quad has one of six orders.
    fn u(&mut self, quads: usize) -> usize {
        (0..quads).map(|_| [0, 1, 2, 2, 3, 4][self.below(6) as usize]).sum()
    }
}

/// Runs with the given numbers of quads and cells; no two runs are alike.
fn matrix(quads: usize, cells: usize) -> [Vec<Run>; 2] {
    let rates: Vec<(&str, [f64; 4])> =
        (0..quads).map(|q| ("ABBA", [0.0, 1.0, 3.0, 2.0].map(|r| 500.0 + r + 0.1 * q as f64))).collect();
    let mut sides = sides_of(&rates, 1);
    for run in sides.iter_mut().flatten() {
        let one = run.phases.remove(0);
        run.phases = (0..cells as u32)
            .map(|c| {
                let mut phase = one.clone();
                phase.seq = c;
                phase.axes.record_bytes = Some(4096 * (1 + u64::from(c)));
                phase
            })
            .collect();
    }
    sides
}

fn side(runs: &[Run]) -> Side<'_> {
    Side { name: String::new(), runs: runs.iter().collect() }
}

/// The number of unchanged matrices in which a cell is called changed.
fn alarms(quads: usize) -> usize {
    let sides = matrix(quads, CELLS);
    let [a, b] = &sides;
    let (a, b) = (side(a), side(b));
    let layout = Layout::of(&a, &b);
    let samples = samples::take(&a, &b, &layout, (&[Metric::of_word("throughput")], None)).samples;
    let rules = Rules::default();
    let mut rows: Vec<ComparedRow> = samples.iter().map(|s| judge::judge(s, &layout, &rules)).collect();
    assert_eq!((rows.len(), rows[0].quads, rows[0].method), (CELLS, quads, Method::Quads));
    let null = NullDistribution::untied(quads);
    let p_of: Vec<f64> = (0..=4 * quads).map(|u| null.two_sided(2 * u)).collect();
    let mut draws = Draws(quads as u64);
    let mut alarmed = 0;
    for _ in 0..MATRICES {
        for row in &mut rows {
            let p = p_of[draws.u(quads)];
            row.p = Some(p);
            // As if every change reached the threshold, so that no false alarm is hidden by it.
            row.verdict = if p <= rules.alpha { Word::Worse } else { Word::Same };
        }
        let _ = look(&mut rows, &samples, &layout, &rules);
        alarmed += usize::from(rows.iter().any(|r| is_change(r.verdict)));
    }
    alarmed
}

// At most one in a hundred. Of 200 000 matrices 0.01, 0.29 and 0.35 % alarm; at a false discovery rate of 5 %, 1.66, 2.27 and 2.18 %.

#[test]
fn five_quads_of_many_cells_raise_few_alarms() {
    assert!(alarms(5) <= MATRICES / 100);
}

#[test]
fn six_quads_of_many_cells_raise_few_alarms() {
    let found = alarms(6);
    assert!((1..=MATRICES / 100).contains(&found), "a lone cell can alarm by chance: {found}");
}

#[test]
fn seven_quads_of_many_cells_raise_few_alarms() {
    let found = alarms(7);
    assert!((1..=MATRICES / 100).contains(&found), "a lone cell can alarm by chance: {found}");
}

/// One cell of many changed by 3 % in all quads.
fn with_a_lone_change(quads: usize) -> super::super::Compared {
    let mut sides = matrix(quads, 20);
    for run in &mut sides[1] {
        run.phases[7].repetitions[0].workers[0].bytes -= 15_000_000;
    }
    compared(&sides)
}

#[test]
fn too_few_quads_to_show_a_single_change_are_reported() {
    let few = with_a_lone_change(3);
    let told = few.notices.iter().filter(|n| n.code == "few-quads").collect::<Vec<_>>();
    assert_eq!(told.len(), 1, "of the figure that cells are quoted by: {told:?}");
    assert_eq!(
        told[0].sentence,
        "throughput: 3 quads of 20 cells each are too few to find a change of one cell alone: the smallest p they can give is 0.00926, and \
         one cell among 20 needs 0.0005. A change of one cell alone can only be a suspect here; with 8 quads the first 3 screen and the others \
         decide."
    );
    assert!(super::super::text(&few).contains("too few to find a change of one cell"));
    let verdict = |found: &super::super::Compared| {
        let cell = found.rows.iter().filter(|r| r.headline).nth(7).expect("20 cells").clone();
        (cell.verdict, found.notices.iter().any(|n| n.code == "few-quads"))
    };
    assert_eq!(verdict(&few), (Word::Suspect, true));
    assert_eq!(verdict(&with_a_lone_change(6)), (Word::Worse, false));
    assert_eq!(verdict(&with_a_lone_change(8)), (Word::Worse, false));
    // Few cells are not corrected for.
    assert!(compared(&sides_of(&SAME[..3], 5)).notices.iter().all(|n| n.code != "few-quads"));
}

#[test]
fn a_withheld_verdict_that_looks_changed_is_a_suspect() {
    let found = with_a_lone_change(8);
    let rules = Rules::default();
    let mut row = found.rows.iter().find(|r| r.verdict == Word::Worse).expect("a change").clone();
    assert!(!withheld(&row, &rules));
    (row.verdict, row.withheld) = (Word::Inconclusive, true);
    assert!(withheld(&row, &rules));
    // Then it is open, and the gate must not settle it.
    row.p = Some(0.2);
    assert!(!withheld(&row, &rules));
}

#[test]
fn four_quads_that_just_suffice_are_told_all_the_same() {
    let few = |cells: usize| {
        let found = compared(&matrix(4, cells));
        found.notices.into_iter().filter(|n| n.code == "few-quads").map(|n| n.sentence).collect::<Vec<_>>()
    };
    assert_eq!(
        few(6),
        [
            "throughput: 4 quads of 6 cells each are few: a change of one cell alone counts only if all its runs agree. 5 or more are advised."
        ]
    );
    assert!(few(7)[0].contains("A change of one cell alone can only be a suspect here"));
}
