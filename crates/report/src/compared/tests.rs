//! Records with known figures, from the examples of the specification, through the whole comparison.

use super::*;
use fathom_record::imported::names;
use fathom_record::{Axes, Figure, Histogram, OpKind, OpStat, Phase, Repetition, Source, Status, Worker};
use serde_json::json;

/// Throughput in MB/s of five quads, in the order of the runs.
pub(super) const SLOWER: [(&str, [f64; 4]); 5] = [
    ("ABBA", [512.4, 498.1, 495.6, 508.9]),
    ("BAAB", [499.9, 515.2, 511.0, 497.2]),
    ("ABAB", [509.7, 470.3, 513.8, 498.8]),
    ("BBAA", [496.9, 494.2, 510.5, 507.6]),
    ("BABA", [500.3, 514.1, 497.7, 511.9]),
];
/// The same without a change.
pub(super) const SAME: [(&str, [f64; 4]); 5] = [
    ("ABBA", [512.4, 509.1, 513.0, 508.9]),
    ("BAAB", [511.9, 515.2, 511.0, 508.4]),
    ("ABAB", [509.7, 507.3, 513.8, 512.8]),
    ("BBAA", [510.9, 508.2, 510.5, 507.6]),
    ("BABA", [513.3, 514.1, 509.7, 511.9]),
];

/// A phase with the given throughput.
fn phase(seq: u32, name: &str, record: u64, mb_per_s: f64) -> Phase {
    let latency = Histogram::from_values((0..2000).map(|n| 100_000 + n % 100));
    let stat = OpStat { op: OpKind::Read, ops: 2000, bytes: 0, latency };
    let worker = Worker {
        bytes: (mb_per_s * 1e6).round() as u64,
        ops: 2000,
        elapsed_ns: 1_000_000_000,
        stats: vec![stat],
        ..Worker::default()
    };
    Phase {
        seq,
        name: name.into(),
        axes: Axes { record_bytes: Some(record), ..Axes::default() },
        reads: true,
        writes: false,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![Repetition { workers: vec![worker], ..Repetition::default() }],
    }
}

fn run(number: usize, phases: Vec<Phase>) -> Run {
    Run {
        id: format!("20261122T1200{number:02}-000000"),
        label: "made".into(),
        dialect: "native".into(),
        version: "0.1.0".into(),
        status: Status::Completed,
        environment: json!({"kernel": "6.1"}),
        phases,
        ..Run::default()
    }
}

/// Runs of both sides in the order of the quads.
pub(super) fn sides_of(quads: &[(&str, [f64; 4])], cells: usize) -> [Vec<Run>; 2] {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (number, (letter, rate)) in
        quads.iter().flat_map(|(order, rates)| order.chars().zip(rates)).enumerate()
    {
        let phases =
            (0..cells).map(|c| phase(c as u32, "read", 4096 << c, rate * (1.0 + c as f64))).collect();
        let side = if letter == 'A' { &mut a } else { &mut b };
        side.push(run(number, phases));
    }
    [a, b]
}

fn marked(mut sides: [Vec<Run>; 2]) -> [Vec<Run>; 2] {
    for (side, scheduler) in sides.iter_mut().zip(["none", "bfq"]) {
        for run in side {
            let number: u64 = run.id[13..15].parse().expect("a number");
            run.environment["sweep"] = json!({
                "id": "S", "run": number + 1, "block": number / 4 + 1, "settings": {"scheduler": scheduler},
            });
        }
    }
    sides
}

pub(super) fn compared_with(sides: &[Vec<Run>; 2], asked: &CompareOptions) -> Compared {
    let [a, b] = sides;
    let a = Side { name: "old".into(), runs: a.iter().collect() };
    let b = Side { name: "new".into(), runs: b.iter().collect() };
    Compared::of(&a, &b, asked)
}

pub(super) fn compared(sides: &[Vec<Run>; 2]) -> Compared {
    compared_with(sides, &CompareOptions::default())
}

fn headline(found: &Compared) -> &ComparedRow {
    found.rows.iter().find(|r| r.headline).expect("a figure")
}

#[test]
fn an_interrupted_run_of_a_sweep_has_no_place_in_a_quad() {
    let mut sides = marked(sides_of(&SLOWER, 1));
    sides[0].last_mut().expect("runs").status = fathom_record::Status::Interrupted;
    let found = compared(&sides);
    assert_eq!(found.design, Design::Quads { random: true, left_out: 4 });
    assert_eq!(headline(&found).quads, 4);
}

#[test]
fn figures_on_too_few_operations_do_not_make_it_single_runs() {
    let asked = CompareOptions { metrics: vec![Metric::of_word("p99.9")], ..CompareOptions::default() };
    let found = compared_with(&marked(sides_of(&SLOWER, 1)), &asked);
    assert!(found.rows.iter().all(ComparedRow::has_too_few), "the example has few");
    assert_eq!(found.design, Design::Quads { random: true, left_out: 0 });
}

#[test]
fn a_sweep_of_example_one_gives_the_golden_sentence() {
    let found = compared(&marked(sides_of(&SLOWER, 1)));
    assert_eq!(found.design, Design::Quads { random: true, left_out: 0 });
    let row = headline(&found);
    assert_eq!(
        (row.metric.as_str(), row.method, row.quads, row.verdict),
        (names::THROUGHPUT, Method::Quads, 5, Word::Worse)
    );
    assert_eq!(
        row.sentence,
        "B is 2.7 % slower than A (ratio 0.9726, 94.6 % interval 0.9681 to 0.9773; \
         10 + 10 runs in 5 random quads; exact p = 0.0003)."
    );
    assert!(found.design_words.contains("ABBA BAAB ABAB BBAA BABA"), "{}", found.design_words);
    let gate = Gate::of(&found, &[]);
    assert_eq!(
        (gate.outcome, gate.sentence.as_str()),
        (Outcome::Regression, "Regression: 1 of 1 figure worse by 1 % or more.")
    );
    // The example's outlier is named with its run, and kept.
    let outlier = found.notices.iter().find(|n| n.code == "outlier").expect("470.3");
    assert!(outlier.sentence.contains("20261122T120009-000000 has 449 MiB/s"), "{}", outlier.sentence);
    assert_eq!(row.b.len(), 10);
    // The varied setting is the difference.
    let differs: Vec<&str> = found.environment.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(differs, ["scheduler"]);
}

#[test]
fn quads_that_are_found_in_the_order_of_the_runs_are_not_called_random() {
    let found = compared(&sides_of(&SAME, 1));
    assert_eq!(found.design, Design::Quads { random: false, left_out: 0 });
    assert_eq!(
        headline(&found).sentence,
        "No change seen; any difference is below 2 % (ratio 0.9982, 94.6 % interval 0.9936 to 1.0018)."
    );
    assert_eq!(Gate::of(&found, &[]).outcome, Outcome::Passed);
    assert!(found.notices.iter().any(|n| n.code == "order" && n.sentence.contains("not known")));
    let slower = compared(&sides_of(&SLOWER, 1));
    assert!(
        headline(&slower).sentence.contains("10 + 10 runs in 5 quads; exact"),
        "{}",
        headline(&slower).sentence
    );
    let fixed: Vec<(&str, [f64; 4])> = SAME.iter().map(|(_, v)| ("ABAB", *v)).collect();
    let fixed = compared(&sides_of(&fixed, 1));
    assert!(fixed.notices.iter().any(|n| n.code == "order" && n.sentence.contains("order ABAB")));
}

#[test]
fn one_side_after_the_other_is_said_to_be_that() {
    let [mut a, mut b] = sides_of(&SLOWER, 1);
    for (number, run) in a.iter_mut().chain(&mut b).enumerate() {
        run.id = format!("20261122T1300{number:02}-000000");
    }
    let found = compared(&[a, b]);
    assert_eq!(found.design, Design::Groups { mixed: false, repetitions: false });
    let row = headline(&found);
    assert_eq!((row.method, row.verdict), (Method::Groups, Word::Worse));
    assert!(
        row.sentence.ends_with(
            "; 10 + 10 runs; exact p < 0.0001). Runs were not interleaved; drift between the sessions cannot be distinguished from a change."
        ),
        "{}",
        row.sentence
    );
}

#[test]
fn few_runs_are_not_enough_for_a_gate() {
    let found = compared(&sides_of(&SLOWER[..2], 1));
    let row = headline(&found);
    assert_eq!((row.method, row.quads, row.verdict), (Method::Quads, 2, Word::Inconclusive));
    let gate = Gate::of(&found, &[]);
    assert_eq!(gate.outcome, Outcome::NotEnoughData);
    assert_eq!(gate.sentence, "Not enough data: 1 of 1 figure cannot be decided.");
}

#[test]
fn single_runs_have_a_ratio_and_controls_show_how_far_runs_differ() {
    // Throughput of children in KB/s, published on the kernel's mailing list in 2008, for 1, 2 and 3 processes; the last three
    // with O_DIRECT.
    let rc8 = [55_847.39, 9461.15, 16_572.10, 86_304.83, 79_399.89, 85_558.32];
    let star = [90_735.91, 87_352.61, 85_182.48, 86_219.96, 85_696.29, 85_836.74];
    let of = |rates: [f64; 6]| {
        let phase = |(i, rate): (usize, &f64)| {
            let mut phase = phase(i as u32, "write", 1 << 20, 1.0);
            phase.direct = i > 2;
            phase.axes.streams = Some(i as u64 % 3 + 1);
            let figure = Figure {
                name: names::THROUGHPUT.into(),
                value: rate * 1024.0,
                unit: "bytes/s".into(),
                higher_is_better: Some(true),
                ..Figure::default()
            };
            phase.repetitions = vec![Repetition { figures: vec![figure], ..Repetition::default() }];
            phase
        };
        let mut run = run(0, rates.iter().enumerate().map(phase).collect());
        run.id = String::new();
        run.source = Some(Source { file: "mail".into(), program: "IOzone".into(), ..Source::default() });
        vec![run]
    };
    let found = compared(&[of(rc8), of(star)]);
    assert_eq!(found.design, Design::Single);
    assert_eq!(
        found.rows[1].sentence,
        "Single runs: B/A = 9.23. No interval can be given. Control cells (direct I/O) differ by at most 7.9 %. \
         Beyond the variation of the control cells: every cell moved by 62.5 % or more, controls by at most 7.9 %; \
         one run each, so no confidence level."
    );
    assert_eq!(found.rows[4].sentence, "B is 1.08× faster than A (one run each; not a verdict).");
    assert!(found.rows.iter().all(|r| r.verdict == Word::Single && r.p.is_none()));
    assert_eq!(Gate::of(&found, &[]).outcome, Outcome::NotEnoughData);
}

#[test]
fn repetitions_of_single_runs_count_and_share_their_start() {
    let repeated = |rates: [f64; 6]| {
        let mut phase = phase(0, "read", 4096, 1.0);
        let worker = phase.repetitions[0].workers[0].clone();
        phase.repetitions = (0..)
            .zip(rates)
            .map(|(n, rate)| {
                let worker = Worker { bytes: (rate * 1e6) as u64, ..worker.clone() };
                Repetition { n, workers: vec![worker], ..Repetition::default() }
            })
            .collect();
        vec![run(0, vec![phase])]
    };
    let (a, mut b) =
        (repeated([100.0, 101.0, 102.0, 99.0, 98.0, 103.0]), repeated([80.0, 81.0, 82.0, 83.0, 84.0, 79.0]));
    b[0].id = "20261122T120100-000000".into();
    let found = compared(&[a, b]);
    assert_eq!(found.design, Design::Groups { mixed: false, repetitions: true });
    assert_eq!((headline(&found).a.len(), headline(&found).verdict), (6, Word::Worse));
    assert!(found.design_words.contains("share one start"), "{}", found.design_words);
}

#[test]
fn percentiles_need_ten_operations_beyond_them_in_every_run() {
    let found = compared(&sides_of(&SAME, 1));
    let of = |metric: &str| found.rows.iter().find(|r| r.metric == metric).expect("a percentile");
    assert_eq!(of("read p99").verdict, Word::Same);
    assert_eq!(of("read p99.9").verdict, Word::TooFewOperations);
    assert_eq!(
        of("read p99.9").sentence,
        "Too few operations: read p99.9 needs 10000 in every run, and one has 2000."
    );
    let asked = CompareOptions { metrics: vec![Metric::of_word("p99")], ..CompareOptions::default() };
    let only = compared_with(&sides_of(&SAME, 1), &asked);
    assert_eq!(only.rows.iter().map(|r| r.metric.as_str()).collect::<Vec<_>>(), ["read p99"]);
}

#[test]
fn of_many_cells_chance_alone_is_a_suspect() {
    let mut sides = sides_of(&SAME[..3], 8);
    // One cell of eight is below in all three quads: p = 0.0093, which is likely for one of eight.
    for run in &mut sides[1] {
        run.phases[3] = phase(3, "read", 4096 << 3, 1900.0);
    }
    let found = compared(&sides);
    let suspects: Vec<usize> = (0..8)
        .filter(|i| {
            found.rows.iter().filter(|r| r.headline).nth(*i).is_some_and(|r| r.verdict == Word::Suspect)
        })
        .collect();
    assert_eq!(suspects, [3]);
    let family = found.families.iter().find(|f| f.metric == names::THROUGHPUT).expect("eight cells");
    assert_eq!((family.cells, family.quads, family.suspects.len()), (8, 24, 1));
    assert_eq!(Gate::of(&found, &[]).outcome, Outcome::NotEnoughData);
    assert!(text(&found).contains("All 8 cells together: "), "{}", text(&found));
}

#[test]
fn cells_of_one_side_only_are_listed() {
    let [a, mut b] = sides_of(&SAME, 2);
    for run in &mut b {
        run.phases.truncate(1);
    }
    let found = compared(&[a, b]);
    assert_eq!(found.only_a[0], "read, record 8 KiB");
    assert_eq!(Gate::of(&found, &[]).outcome, Outcome::NotEnoughData);
}

#[test]
fn a_figure_that_no_cell_is_quoted_by_may_be_missing() {
    let [mut a, b] = sides_of(&SAME, 1);
    for run in &mut a {
        let latency = Histogram::from_values((0..2000).map(|n| 100_000 + n % 100));
        let stat = OpStat { op: OpKind::Sync, ops: 2000, bytes: 0, latency };
        run.phases[0].repetitions[0].workers[0].stats.push(stat);
    }
    let found = compared(&[a, b]);
    assert!(found.only_a.iter().any(|name| name.contains("sync p99")), "{:?}", found.only_a);
    assert_eq!(Gate::of(&found, &[]).outcome, Outcome::Passed);
}

#[test]
fn a_gate_by_a_percentile_looks_at_the_operations_of_which_there_are_enough() {
    let mut sides = sides_of(&SAME, 1);
    for run in sides.iter_mut().flatten() {
        let latency = Histogram::from_values([50_000]);
        let stat = OpStat { op: OpKind::Open, ops: 1, bytes: 0, latency };
        run.phases[0].repetitions[0].workers[0].stats.push(stat);
    }
    let asked =
        |word: &str| CompareOptions { metrics: vec![Metric::of_word(word)], ..CompareOptions::default() };
    let by_word = compared_with(&sides, &asked("p99"));
    assert_eq!(Gate::of(&by_word, &[Metric::of_word("p99")]).outcome, Outcome::Passed);
    let by_name = compared_with(&sides, &asked("open p99"));
    assert_eq!(Gate::of(&by_name, &[Metric::of_word("open p99")]).outcome, Outcome::NotEnoughData);
}

#[test]
fn an_operation_that_only_b_hardly_does_any_more_is_not_passed_over() {
    let mut sides = sides_of(&SAME, 1);
    for (side, runs) in sides.iter_mut().enumerate() {
        for run in runs {
            let count = if side == 0 { 2000 } else { 3 };
            let latency = Histogram::from_values((0..count).map(|n| 50_000 + n));
            let stat = OpStat { op: OpKind::Write, ops: count, bytes: 0, latency };
            run.phases[0].repetitions[0].workers[0].stats.push(stat);
        }
    }
    let metrics = vec![Metric::of_word("p99")];
    let found =
        compared_with(&sides, &CompareOptions { metrics: metrics.clone(), ..CompareOptions::default() });
    assert_eq!(Gate::of(&found, &metrics).outcome, Outcome::NotEnoughData);
    // With the sides swapped, the baseline says nothing about it.
    sides.swap(0, 1);
    let found =
        compared_with(&sides, &CompareOptions { metrics: metrics.clone(), ..CompareOptions::default() });
    assert_eq!(Gate::of(&found, &metrics).outcome, Outcome::Passed);
    // A user who names the figure gets an error, whatever else is named.
    let metrics = vec![Metric::of_word("read p99"), Metric::of_word("write p99")];
    let found =
        compared_with(&sides, &CompareOptions { metrics: metrics.clone(), ..CompareOptions::default() });
    assert_eq!(Gate::of(&found, &metrics).outcome, Outcome::NotEnoughData);
}

#[test]
fn a_cell_quoted_by_operations_that_b_lacks_is_missing() {
    let mut sides = sides_of(&SAME, 2);
    for runs in &mut sides {
        for run in runs {
            // Only a count: the cell is quoted by operations per second.
            run.phases[1].repetitions[0].workers[0].bytes = 0;
        }
    }
    for run in &mut sides[1] {
        run.phases.truncate(1);
    }
    let found = compared(&sides);
    assert_eq!(found.only_a.len(), 1, "{:?}", found.only_a);
    assert_eq!(Gate::of(&found, &[]).outcome, Outcome::NotEnoughData);
}

#[test]
fn the_text_is_as_it_was() {
    insta::assert_snapshot!(text(&compared(&marked(sides_of(&SLOWER, 1)))));
}

#[test]
fn what_only_the_sides_differ_in_is_no_coordinate() {
    let [a, mut b] = sides_of(&SLOWER, 1);
    for run in &mut b {
        run.phases[0].axes.record_bytes = Some(65536);
        run.phases[0].direct = true;
    }
    let found = compared(&[a, b]);
    assert_eq!((headline(&found).cell.as_str(), headline(&found).verdict), ("read", Word::Worse));
    let told: Vec<(&str, &str, &str)> =
        found.workload.iter().map(|d| (d.name.as_str(), d.a.as_str(), d.b.as_str())).collect();
    assert_eq!(told, [("record size", "4 KiB", "64 KiB"), ("O_DIRECT", "no", "yes")]);
    assert!(found.only_a.is_empty() && found.only_b.is_empty());
}

#[test]
fn cells_meet_by_what_was_done_and_not_by_the_names_of_jobs() {
    let named = |names: [&str; 2]| {
        let mut run = run(1, vec![phase(0, "read", 4096, 100.0), phase(1, "read", 65536, 200.0)]);
        for (phase, name) in run.phases.iter_mut().zip(names) {
            phase.axes.tags.insert("job".into(), name.into());
        }
        vec![run]
    };
    let found = compared(&[named(["small", "large"]), named(["one", "two"])]);
    assert!(found.only_a.is_empty() && found.only_b.is_empty(), "{:?}", found.only_a);
    let cells: Vec<&str> =
        found.rows.iter().filter(|r| r.metric == "throughput").map(|r| r.cell.as_str()).collect();
    assert_eq!(cells, ["read, record 4 KiB", "read, record 64 KiB"]);
    assert_eq!((found.workload[0].a.as_str(), found.workload[0].b.as_str()), ("large, small", "one, two"));
    // Names common to both sides are kept.
    let found = compared(&[named(["a", "b"]), named(["a", "b"])]);
    assert_eq!((found.workload.len(), headline(&found).cell.contains("job")), (0, true));
}

#[test]
fn three_of_many_percentiles_are_shown() {
    let mut one = run(1, vec![phase(0, "read", 4096, 100.0)]);
    let percentiles = ["1", "50", "90", "99", "99.9", "99.99"];
    let r = &mut one.phases[0].repetitions[0];
    r.figures = std::iter::once(("throughput".to_owned(), "bytes/s", 1e6))
        .chain(percentiles.map(|p| (format!("completion latency p{p}"), "ns", 1e5)))
        .map(|(name, unit, value)| Figure {
            name,
            value,
            unit: unit.into(),
            printed: String::new(),
            higher_is_better: Some(unit != "ns"),
            line: 1,
        })
        .collect();
    let found = compared(&[vec![one.clone()], vec![one]]);
    let told: Vec<&str> = found.rows.iter().map(|r| r.metric.as_str()).collect();
    assert_eq!(
        told,
        ["throughput", "completion latency p50", "completion latency p99", "completion latency p99.9"]
    );
}

#[test]
fn the_page_draws_the_ratio_over_file_and_record_size() {
    let mut sides = sides_of(&SLOWER, 8);
    for run in sides.iter_mut().flatten() {
        for (i, phase) in run.phases.iter_mut().enumerate() {
            phase.axes.file_bytes = Some(1 << (20 + i / 4));
            phase.axes.record_bytes = Some(4096 << (i % 4));
        }
    }
    let found = compared(&sides);
    let gate = Gate::of(&found, &[]);
    let page =
        crate::html::document(&crate::documents::comparison(std::slice::from_ref(&found), Some(&[gate])));
    for part in [
        "new against old",
        "read: throughput, B over A",
        "<svg",
        "B is 2.7 % slower than A",
        "plotly-gz",
        "Regression: 8 of 8",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
}
