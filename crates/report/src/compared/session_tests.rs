//! Runs that a comparison made itself: a later reader reaches the same verdict.

use super::super::KEY;
use super::super::tests::{SAME, SLOWER, compared, sides_of};
use super::super::{Compared, Design, Word, text};
use super::*;
use fathom_record::{Run, Status};
use std::collections::BTreeMap;

fn plan() -> Plan {
    Plan {
        sides: ["none".into(), "bfq".into()],
        figure: None,
        effect: 0.03,
        threshold: 0.01,
        stopping: Stopping::Spending { most_quads: 10, early: 0.001, last: 0.0095 },
        noise: None,
    }
}

/// The quads' runs with the mark of a comparison; their ids do not reflect the order.
fn session(quads: &[(&str, [f64; 4])], plan: &Plan) -> [Vec<Run>; 2] {
    let mut sides = sides_of(quads, 1);
    for (side, letter) in sides.iter_mut().zip(["A", "B"]) {
        for run in side {
            let number: u64 = run.id[13..15].parse().expect("a number");
            let mark = SessionMark {
                id: "S".into(),
                part: SessionPart::Quads,
                side: letter.into(),
                run: number + 3,
                quad: number / 4 + 1,
                place: number % 4 + 1,
                order: quads[number as usize / 4].0.into(),
                seed: 7,
                settings: BTreeMap::from([(
                    "scheduler".into(),
                    if letter == "A" { "none" } else { "bfq" }.into(),
                )]),
                read_back: serde_json::Value::Null,
                plan: plan.clone(),
            };
            run.id = format!("x{number:02}");
            run.environment[KEY] = serde_json::to_value(mark).expect("JSON");
        }
    }
    sides
}

fn headline(found: &Compared) -> &ComparedRow {
    found.rows.iter().find(|r| r.headline).expect("a figure")
}

#[test]
fn the_quads_are_those_that_stand_on_the_runs() {
    let mut sides = session(&SLOWER, &plan());
    sides[1].reverse();
    let found = compared(&sides);
    assert_eq!(found.design, Design::Quads { random: true, left_out: 0 });
    assert_eq!(found.alpha, 0.0095);
    assert_eq!(headline(&found).verdict, Word::Worse);
    assert!(headline(&found).sentence.contains("10 + 10 runs in 5 random quads"));
    let told = found.session.as_ref().expect("a session");
    assert_eq!((told.seed, told.orders.join(" ").as_str()), (7, "ABBA BAAB ABAB BBAA BABA"));
    let text = text(&found);
    for part in [
        "random quads, drawn from seed 7 (ABBA BAAB",
        "planned: at most 10 quads; a look after each from the third on",
        "CV within quads",
        "one of 3 % takes about",
        "  scheduler: none | bfq",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn the_level_of_the_last_look_decides() {
    // Three quads can reach p = 0.00926, which is above a level of 0.009.
    let slower = [
        ("ABBA", [100.0, 90.0, 91.0, 101.0]),
        ("BAAB", [92.0, 99.0, 98.0, 93.0]),
        ("ABAB", [97.0, 89.0, 96.0, 88.0]),
    ];
    let with = |last: f64| {
        let plan = Plan { stopping: Stopping::Spending { most_quads: 3, early: 0.001, last }, ..plan() };
        headline(&compared(&session(&slower, &plan))).verdict
    };
    assert_eq!((with(0.0095), with(0.009)), (Word::Worse, Word::Inconclusive));
}

#[test]
fn interrupted_runs_are_not_part_of_a_quad() {
    let mut sides = session(&SAME, &plan());
    let last = sides[1].last_mut().expect("runs");
    last.status = Status::Interrupted;
    let found = compared(&sides);
    assert_eq!(found.design, Design::Quads { random: true, left_out: 4 });
    assert_eq!(headline(&found).quads, 4);
}

#[test]
fn noise_found_beforehand_withholds_or_sharpens() {
    let quads = |rates: &[(&str, [f64; 4])]| Noise {
        orders: rates.iter().map(|q| q.0.to_owned()).collect(),
        most_quads: 10,
        figures: vec![NoiseOf {
            cell: "read, record 4 KiB".into(),
            operation: "read".into(),
            metric: "throughput".into(),
            values: rates.iter().flat_map(|q| q.1).collect(),
        }],
    };
    let quiet = Plan { noise: Some(quads(&SAME)), ..plan() };
    let gate = quiet.gate(headline(&compared(&session(&SLOWER, &quiet)))).expect("a gate");
    assert!(gate.passed() && (gate.cv - 0.004609).abs() < 1e-6, "{gate:?}");
    assert_eq!(headline(&compared(&session(&SLOWER, &quiet))).verdict, Word::Worse);
    // The baseline differs from itself, so nothing may be called slower.
    let loud = Plan { noise: Some(quads(&SLOWER)), ..plan() };
    let row = compared(&session(&SLOWER, &loud));
    assert_eq!(headline(&row).verdict, Word::Inconclusive);
    assert!(
        headline(&row).sentence.starts_with("No verdict: on this machine the baseline differs from itself")
    );
}

/// A script of two stages: each run measures two records in identical cells. The second stage is `slower` times as slow on B.
fn stages(slower: f64) -> [Vec<Run>; 2] {
    let mut sides = session(&SAME, &plan());
    for (letter, side) in ["A", "B"].iter().zip(&mut sides) {
        let mut both = Vec::new();
        for run in side.drain(..) {
            let mut second = run.clone();
            second.id += "-2";
            let bytes = &mut second.phases[0].repetitions[0].workers[0].bytes;
            *bytes = (*bytes as f64 / if *letter == "B" { slower } else { 1.0 } / 2.0) as u64;
            both.extend([run, second]);
        }
        *side = both;
    }
    sides
}

#[test]
fn the_second_stage_of_a_script_is_quoted_and_gated_too() {
    let found = compared(&stages(10.0));
    let quoted: Vec<(&str, Word, Option<&str>)> = found
        .rows
        .iter()
        .filter(|r| r.headline)
        .map(|r| (r.cell.as_str(), r.verdict, r.tags.get("pass").map(String::as_str)))
        .collect();
    assert_eq!(
        quoted,
        [("read, record 4 KiB", Word::Same, None), ("read, record 4 KiB; pass 2", Word::Worse, Some("2")),]
    );
    let gate = super::super::Gate::of(&found, &[]);
    assert_eq!(gate.sentence, "Regression: 1 of 2 figures worse by 1 % or more.");
    assert_eq!(super::super::Gate::of(&compared(&stages(1.0)), &[]).sentence, "No regression in 2 figures.");
    // A stage that B lacks is missing, and is not replaced by another.
    let mut lacking = stages(1.0);
    lacking[1].retain(|r| !r.id.ends_with("-2"));
    assert_eq!(compared(&lacking).only_a, ["read, record 4 KiB; pass 2"]);
}

#[test]
fn each_stage_has_its_own_noise() {
    let of = |cell: &str, rates: &[(&str, [f64; 4])]| NoiseOf {
        cell: cell.into(),
        operation: "read".into(),
        metric: "throughput".into(),
        values: rates.iter().flat_map(|q| q.1).collect(),
    };
    let noise = Noise {
        orders: SAME.iter().map(|q| q.0.to_owned()).collect(),
        most_quads: 10,
        figures: vec![of("read, record 4 KiB", &SAME), of("read, record 4 KiB; pass 2", &SLOWER)],
    };
    let plan = Plan { noise: Some(noise), ..plan() };
    let mut sides = stages(10.0);
    for run in sides.iter_mut().flatten() {
        run.environment[KEY]["plan"] = serde_json::to_value(&plan).expect("JSON");
    }
    let found = compared(&sides);
    let verdicts: Vec<(Word, bool)> = found
        .rows
        .iter()
        .filter(|r| r.headline)
        .map(|r| (r.verdict, plan.gate(r).is_some_and(|g| g.passed())))
        .collect();
    // The second stage differs from itself on A, so it gets no verdict; the first has its verdict all the same.
    assert_eq!(verdicts, [(Word::Same, true), (Word::Inconclusive, false)]);
}

#[test]
fn warm_up_runs_stand_for_whole_runs_also_with_repetitions() {
    let mut sides = session(&SAME, &plan());
    for run in sides.iter_mut().flatten() {
        run.environment[KEY]["part"] = serde_json::to_value(SessionPart::WarmUp).expect("JSON");
        let phase = &mut run.phases[0];
        let mut one = phase.repetitions.remove(0);
        one.workers[0].stats[0].latency = fathom_record::Histogram::from_values(1000..1300);
        phase.repetitions = (0..5).map(|n| fathom_record::Repetition { n, ..one.clone() }).collect();
    }
    sides.iter_mut().for_each(|side| side.truncate(1));
    let found = compared(&sides);
    let p99 = found.rows.iter().find(|r| r.metric == "read p99").expect("1500 reads a run");
    // One repetition has 300 reads, too few.
    assert!(!p99.has_too_few() && p99.a.len() == 1, "{p99:?}");
}

/// Every run opens its file once; "p99" still selects only that of its reads.
#[test]
fn a_percentile_of_few_operations_beside_one_of_many_is_not_watched() {
    let with = |figure: &str| {
        let plan = Plan { figure: Some(figure.into()), ..plan() };
        let mut sides = session(&SAME, &plan);
        for run in sides.iter_mut().flatten() {
            let stats = &mut run.phases[0].repetitions[0].workers[0].stats;
            let latency = fathom_record::Histogram::from_values([5000]);
            stats.push(fathom_record::OpStat {
                op: fathom_record::OpKind::Open,
                ops: 1,
                latency,
                ..stats[0].clone()
            });
        }
        let found = compared(&sides);
        let watched = found.rows.iter().filter(|r| plan.watches(r)).map(|r| r.metric.clone());
        (watched.collect::<Vec<_>>(), super::super::Gate::of(&found, &[]).outcome)
    };
    use super::super::Outcome;
    assert_eq!(with("p99"), (vec!["read p99".into()], Outcome::Passed));
    // 2000 reads give no p99.9, and a user who asks for that of opens gets an error, too.
    assert_eq!(with("p99.9").1, Outcome::NotEnoughData);
    assert_eq!(with("open p99"), (vec!["open p99".into()], Outcome::NotEnoughData));
}

#[test]
fn the_plan_says_after_which_quad_is_first_looked() {
    assert_eq!((first_look(1), first_look(MANY - 1), first_look(MANY)), (3, 3, 8));
    let stopping = Stopping::Precision { most_quads: 10, half_width: 0.01, level: 0.01 };
    for words in [plan().stopping.words(), stopping.words()] {
        assert!(
            words.contains("a look after each from the third on, of 6 cells or more from the 8th on, ending"),
            "{words}"
        );
    }
}

#[test]
fn runs_of_two_comparisons_are_no_quads_of_one() {
    let mut sides = session(&SAME, &plan());
    sides[0][0].environment[KEY]["id"] = "other".into();
    assert!(compared(&sides).session.is_none());
}
