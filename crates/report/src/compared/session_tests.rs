//! Runs that a comparison made itself: whoever reads them later comes to the same verdict.

use super::super::tests::{SAME, SLOWER, compared, sides_of};
use super::super::{Compared, Design, Word, text};
use super::*;
use fathom_record::Status;

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

/// The quads' runs with the mark of a comparison; the ids say nothing of the order.
fn session(quads: &[(&str, [f64; 4])], plan: &Plan) -> [Vec<Run>; 2] {
    let mut sides = sides_of(quads, 1);
    for (side, letter) in sides.iter_mut().zip(["A", "B"]) {
        for run in side {
            let number: u64 = run.id[13..15].parse().expect("a number");
            let mark = SessionMark {
                id: "S".into(),
                part: Part::Quads,
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

fn headline(found: &Compared) -> &Row {
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
fn what_was_interrupted_has_no_place_in_a_quad() {
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
    // A baseline that differs from itself: nothing may be called slower.
    let loud = Plan { noise: Some(quads(&SLOWER)), ..plan() };
    let row = compared(&session(&SLOWER, &loud));
    assert_eq!(headline(&row).verdict, Word::Inconclusive);
    assert!(
        headline(&row).sentence.starts_with("No verdict: on this machine the baseline differs from itself")
    );
}

#[test]
fn runs_of_two_comparisons_are_no_quads_of_one() {
    let mut sides = session(&SAME, &plan());
    sides[0][0].environment[KEY]["id"] = "other".into();
    assert!(compared(&sides).session.is_none());
}
