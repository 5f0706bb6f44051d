//! Comparisons that a gate must not pass, and what CI sees of them; each was passed once.

use super::super::mark::{Noise, NoiseOf, Plan, SessionMark, SessionPart, Stopping};
use super::super::tests::{SAME, compared, compared_with, sides_of};
use super::super::{CompareOptions, Compared, ENDED_EARLY, KEY, junit};
use super::*;
use fathom_record::imported::names;
use fathom_record::{Doubt, Figure, Histogram, OpKind, OpStat, Run, Status};
use std::collections::BTreeMap;

fn gate(sides: &[Vec<Run>; 2]) -> Gate {
    Gate::of(&compared(sides), &[])
}

fn by(words: &[&str], sides: &[Vec<Run>; 2]) -> Gate {
    let metrics: Vec<Metric> = words.iter().map(|w| Metric::of_word(w)).collect();
    let found =
        compared_with(sides, &CompareOptions { metrics: metrics.clone(), ..CompareOptions::default() });
    Gate::of(&found, &metrics)
}

/// Runs of unknown order: two groups.
fn groups(a: usize, b: usize, change: f64) -> [Vec<Run>; 2] {
    let rates = |from: usize, scale: f64| -> Vec<Run> {
        let quads: Vec<(&str, [f64; 4])> = (0..20)
            .map(|q| ("AABB", [0, 1, 2, 3].map(|i| scale * (500.0 + ((q * 4 + i + from) % 7) as f64))))
            .collect();
        let [mut all, more] = sides_of(&quads, 1);
        all.extend(more);
        all
    };
    let (mut one, mut two) = (rates(0, 1.0), rates(3, change));
    one.truncate(a);
    two.truncate(b);
    for run in one.iter_mut().chain(&mut two) {
        run.id.clear();
    }
    [one, two]
}

fn with_writes(run: &mut Run, count: u64) {
    let latency = Histogram::from_values((0..count).map(|n| 50_000 + n));
    let stat = OpStat { op: OpKind::Write, ops: count, bytes: 0, latency };
    run.phases[0].repetitions[0].workers[0].stats.push(stat);
}

#[test]
fn groups_that_could_not_fail_do_not_pass() {
    for (a, b) in [(3, 3), (4, 4), (20, 1), (20, 2)] {
        let found = gate(&groups(a, b, 1.0));
        assert_eq!(found.outcome, Outcome::NotEnoughData, "{a} + {b}: {}", found.sentence);
    }
    assert_eq!(gate(&groups(10, 10, 1.0)).outcome, Outcome::Passed);
    assert_eq!(gate(&groups(10, 10, 0.8)).outcome, Outcome::Regression);
}

#[test]
fn a_cell_that_most_runs_of_b_lack_is_missing() {
    let mut sides = sides_of(&SAME, 2);
    for run in sides[1].iter_mut().skip(2) {
        run.phases.truncate(1);
    }
    let found = gate(&sides);
    assert_eq!(found.outcome, Outcome::NotEnoughData);
    assert!(
        found.sentence.contains(
            "1 figure of A missing in B (read, record 8 KiB: throughput, which 2 of 10 runs of B have)"
        ),
        "{}",
        found.sentence
    );
    // Both sides lack it equally often, as if each run held one cell.
    for run in sides[0].iter_mut().skip(2) {
        run.phases.truncate(1);
    }
    assert!(!gate(&sides).sentence.contains("missing"));
}

/// Runs of one cell each, in this order: "Ar" is a read of A.
fn one_cell_each(order: &[&str], slower: f64) -> [Vec<Run>; 2] {
    let [mut a, mut b] = [Vec::new(), Vec::new()];
    let [whole, _] = sides_of(&SAME, 2);
    for (number, what) in order.iter().enumerate() {
        let mut run = whole[number % whole.len()].clone();
        run.id = format!("20261122T13{number:02}00-000000");
        let write = what.ends_with('w');
        run.phases = vec![run.phases[usize::from(write)].clone()];
        run.workload = format!("record = \"{what}\"").replace(['A', 'B'], "");
        let worker = &mut run.phases[0].repetitions[0].workers[0];
        if what.starts_with('B') {
            worker.bytes = (worker.bytes as f64 * slower) as u64;
        }
        if what.starts_with('A') { a.push(run) } else { b.push(run) }
    }
    [a, b]
}

#[test]
fn a_loop_over_two_workloads_is_compared_cell_by_cell() {
    for once in [["Ar", "Aw", "Br", "Bw"], ["Ar", "Br", "Aw", "Bw"]] {
        let order = once.repeat(10);
        let slower = gate(&one_cell_each(&order, 0.8));
        assert_eq!(slower.outcome, Outcome::Regression, "{once:?}: {}", slower.sentence);
        let same = gate(&one_cell_each(&order, 1.0));
        assert_eq!(same.outcome, Outcome::Passed, "{once:?}: {}", same.sentence);
    }
}

#[test]
fn a_side_may_have_run_a_workload_less_often() {
    let mut order = ["Ar", "Aw", "Br", "Bw"].repeat(8);
    order.extend(["Ar", "Aw", "Br", "Ar", "Aw", "Br"]);
    let found = gate(&one_cell_each(&order, 1.0));
    assert_eq!(found.outcome, Outcome::Passed, "{}", found.sentence);
}

#[test]
fn texts_that_are_new_with_every_run_hide_no_lost_cell() {
    for lacking in [3, 8] {
        let mut sides = sides_of(&SAME, 2);
        for (number, run) in sides.iter_mut().flatten().enumerate() {
            run.workload = format!("file = \"out{number}\"");
        }
        for run in sides[1].iter_mut().take(lacking) {
            run.phases.truncate(1);
        }
        let found = gate(&sides);
        assert!(
            found.sentence.contains(&format!("which {} of 10 runs of B have", 10 - lacking)),
            "{}",
            found.sentence
        );
    }
}

#[test]
fn texts_that_tell_no_work_do_not_make_cells_lost() {
    let mut order = ["Ar", "Aw", "Br", "Bw"].repeat(6);
    order.extend(["Bw"; 4]);
    let mut sides = one_cell_each(&order, 1.0);
    for run in sides.iter_mut().flatten() {
        run.workload.clear();
    }
    assert_eq!(gate(&sides).outcome, Outcome::Passed);
}

#[test]
fn a_cell_whose_own_runs_are_not_mixed_says_so() {
    let order = [["Ar", "Ar", "Bw", "Bw"].repeat(6), ["Aw", "Aw", "Br", "Br"].repeat(6)].concat();
    let found = compared(&one_cell_each(&order, 0.94));
    let quoted: Vec<&ComparedRow> = found.rows.iter().filter(|r| r.headline).collect();
    assert_eq!(quoted.len(), 2);
    assert!(quoted.iter().all(|r| r.sentence.contains("not interleaved")), "{quoted:#?}");
}

#[test]
fn more_runs_do_not_make_up_for_a_cell_that_they_lack() {
    let [a, mut b] = sides_of(&SAME, 2);
    let lacking: Vec<Run> = (0..3)
        .flat_map(|turn| b.clone().into_iter().map(move |run| (turn, run)))
        .map(|(turn, mut run)| {
            run.id = format!("{}{turn}", run.id);
            run.phases.truncate(1);
            run
        })
        .collect();
    b.extend(lacking);
    let found = gate(&[a, b]);
    assert!(found.sentence.contains("which 10 of 40 runs of B have"), "{}", found.sentence);
}

#[test]
fn a_named_figure_found_nowhere_is_reported() {
    let sides = sides_of(&SAME, 1);
    assert_eq!(by(&["throughput"], &sides).outcome, Outcome::Passed);
    let found = by(&["throughput", "wirte p99"], &sides);
    assert_eq!(
        (found.outcome, found.sentence.as_str()),
        (Outcome::NotEnoughData, "Not enough data: no cell of both sides has wirte p99.")
    );
}

#[test]
fn one_short_run_of_the_baseline_does_not_hide_an_operation() {
    let mut sides = sides_of(&SAME, 1);
    for (number, run) in sides[0].iter_mut().enumerate() {
        with_writes(run, if number == 0 { 999 } else { 2000 });
    }
    for run in &mut sides[1] {
        with_writes(run, 3);
    }
    assert_eq!(by(&["p99"], &sides).outcome, Outcome::NotEnoughData);
}

#[test]
fn a_word_for_percentiles_does_not_miss_what_the_baseline_hardly_does() {
    let mut sides = sides_of(&SAME, 1);
    for run in &mut sides[0] {
        with_writes(run, 1);
    }
    assert_eq!(by(&["p99"], &sides).outcome, Outcome::Passed);
    assert_eq!(by(&["read p99", "write p99"], &sides).outcome, Outcome::NotEnoughData);
}

#[test]
fn operations_without_throughput_are_missed() {
    let mut sides = sides_of(&SAME, 1);
    for (side, runs) in sides.iter_mut().enumerate() {
        for (number, run) in runs.iter_mut().enumerate() {
            let of = |name: &str, value: f64, unit: &str, higher| Figure {
                name: name.into(),
                value,
                unit: unit.into(),
                higher_is_better: Some(higher),
                ..Figure::default()
            };
            let repetition = &mut run.phases[0].repetitions[0];
            repetition.workers.clear();
            repetition.figures.push(of("elapsed", 5.0 + 0.001 * number as f64, "s", false));
            if side == 0 {
                repetition.figures.push(of(names::OPERATIONS, 1000.0 + number as f64, "operations/s", true));
            }
        }
    }
    let found = gate(&sides);
    assert_eq!(found.outcome, Outcome::NotEnoughData, "{}", found.sentence);
    assert!(found.sentence.contains(names::OPERATIONS), "{}", found.sentence);
}

#[test]
fn a_named_figure_that_moved_is_not_let_pass_because_nobody_knows_which_way_is_better() {
    let mut sides = sides_of(&SAME, 1);
    for (side, runs) in sides.iter_mut().enumerate() {
        for (number, run) in runs.iter_mut().enumerate() {
            let value = 100.0 * (1 + side) as f64 + number as f64;
            let figure =
                Figure { name: "context switches".into(), value, unit: "count".into(), ..Figure::default() };
            run.phases[0].repetitions[0].figures.push(figure);
        }
    }
    assert_eq!(by(&["context switches"], &sides).outcome, Outcome::NotEnoughData);
    // Choosing all figures does not choose this one in particular.
    assert_eq!(by(&["all"], &sides).outcome, Outcome::Passed);
}

#[test]
fn runs_that_failed_forbid_to_pass() {
    let mut sides = sides_of(&SAME, 1);
    for run in sides[1].iter_mut().skip(1) {
        run.status = Status::Failed;
    }
    let found = gate(&sides);
    assert_eq!(
        (found.outcome, found.sentence.as_str()),
        (Outcome::NotEnoughData, "Not enough data: 9 of 10 runs of B did not end well.")
    );
}

fn plan(noise: Option<Noise>) -> Plan {
    let stopping = Stopping::Spending { most_quads: 10, early: 0.001, last: 0.0095 };
    Plan {
        sides: ["none".into(), "bfq".into()],
        figure: None,
        effect: 0.03,
        threshold: 0.01,
        stopping,
        noise,
    }
}

/// Five quads of runs made by a comparison itself, with the given number of cells.
fn session(cells: usize, plan: &Plan) -> [Vec<Run>; 2] {
    let mut sides = sides_of(&SAME, cells);
    for (side, letter) in sides.iter_mut().zip(["A", "B"]) {
        for run in side {
            let number: u64 = run.id[13..15].parse().expect("a number");
            let mark = SessionMark {
                id: "S".into(),
                part: SessionPart::Quads,
                side: letter.into(),
                run: number + 1,
                quad: number / 4 + 1,
                place: number % 4 + 1,
                order: SAME[number as usize / 4].0.into(),
                seed: 7,
                settings: BTreeMap::new(),
                read_back: serde_json::Value::Null,
                plan: plan.clone(),
            };
            run.environment[KEY] = serde_json::to_value(mark).expect("JSON");
        }
    }
    sides
}

#[test]
fn a_comparison_that_ended_early_does_not_pass() {
    let mut sides = session(1, &plan(None));
    assert_eq!(gate(&sides).outcome, Outcome::Passed);
    let sentence = "The comparison ended before its plan did: no space left on device.".into();
    sides[1][4].doubts.push(Doubt { code: ENDED_EARLY.into(), phases: Vec::new(), sentence });
    let found = gate(&sides);
    assert_eq!(
        (found.outcome, found.sentence.as_str()),
        (
            Outcome::NotEnoughData,
            "Not enough data: the comparison ended before its plan did: no space left on device."
        )
    );
    assert!(compared(&sides).notices.iter().any(|n| n.sentence.contains("ended before its plan did")));
    // The same runs on their own are not a comparison that ended early.
    for run in sides.iter_mut().flatten() {
        run.environment = serde_json::json!({});
    }
    assert_eq!(gate(&sides).outcome, Outcome::Passed);
}

#[test]
fn a_comparison_that_was_killed_in_a_run_does_not_pass() {
    let mut sides = session(1, &plan(None));
    sides[0].last_mut().expect("runs").status = Status::Running;
    let found = gate(&sides);
    assert_eq!(found.sentence, "Not enough data: 1 of 10 runs of A did not end well.");
    let told = compared(&sides).notices;
    assert!(told.iter().any(|n| n.sentence.ends_with("or was killed; it is left out.")), "{told:?}");
}

/// A against itself, on two levels in all cells but the first.
fn noisy(cells: usize) -> Noise {
    let of = |cell: usize| {
        let name = format!("read, record {} KiB", 4 << cell);
        let levels =
            (0..20).map(|n| if cell > 0 && (n / 2) % 2 == 0 { 100.0 } else { 150.0 + 0.1 * n as f64 });
        NoiseOf {
            cell: name,
            operation: "read".into(),
            metric: "throughput".into(),
            values: levels.collect(),
        }
    };
    let orders = SAME.iter().map(|q| q.0.to_owned()).collect();
    Noise { orders, most_quads: 10, figures: (0..cells).map(of).collect() }
}

#[test]
fn a_verdict_that_noise_forbids_is_not_settled_by_the_other_cells() {
    let found = compared(&session(6, &plan(Some(noisy(6)))));
    let quoted: Vec<&ComparedRow> = found.rows.iter().filter(|r| r.headline).collect();
    assert_eq!(quoted.iter().filter(|r| r.withheld).count(), 5, "{quoted:#?}");
    let gate = Gate::of(&found, &[]);
    assert_eq!(
        (gate.outcome, gate.sentence.as_str()),
        (Outcome::NotEnoughData, "Not enough data: 5 of 6 figures cannot be decided.")
    );
}

fn junit_of(found: &Compared) -> String {
    junit(std::slice::from_ref(found), &[Gate::of(found, &[])])
}

#[test]
fn junit_is_red_where_the_gate_has_no_answer_and_green_where_it_passes() {
    let mut sides = sides_of(&SAME, 2);
    for run in &mut sides[1] {
        run.phases.truncate(1);
    }
    let text = junit_of(&compared(&sides));
    assert!(text.contains("tests=\"2\" failures=\"0\" errors=\"1\""), "{text}");
    assert!(text.contains("<error type=\"not-enough-data\" message=\"Not enough data: 1 figure of A missing in B (read, record 8 KiB"));
    let text = junit_of(&compared(&sides_of(&SAME, 2)));
    assert!(text.contains("failures=\"0\" errors=\"0\"") && !text.contains("<skipped"), "{text}");
}
