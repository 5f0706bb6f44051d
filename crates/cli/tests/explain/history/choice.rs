//! Which workload a word means: its id, a label, its name, a file, a run; an ambiguous word lists the candidates.

use super::{night, nights, with};
use fathom_record::{Run, Simulation};

/// The nights, two other workloads, and one night elsewhere.
fn several() -> Vec<Run> {
    let mut all = nights();
    let other = |n: usize, name: &str, place: &str| {
        let mut run = night(n, 100.0);
        run.id = format!("202611{:02}T120000-00000{n}", n + 1);
        run.workload =
            run.workload.replace("cold read", name).replace("name = \"data\"", &format!("name = \"{name}\""));
        run.argv = ["fathom", "run", "other.toml"].map(str::to_owned).to_vec();
        run.label = name.into();
        run.environment["filesystem"]["mount_point"] = place.into();
        run
    };
    all.extend([
        other(0, "log append", "/data"),
        other(1, "log append", "/data"),
        other(2, "log append", "/fast"),
    ]);
    all
}

#[test]
fn without_a_word_the_workloads_are_listed() {
    let fathom = with(&several());
    let list = fathom.run(["history"]).expect_code(0);
    let list = list.expect_stdout(
        "24 (+2)  2026-10-01 02:00  2026-10-24 02:00  499 MiB/s  cold read (native), host db1",
    );
    let list = list.expect_stdout("log append (native), host db1, /fast");
    assert_eq!(list.stdout.lines().count(), 5, "heads, three workloads, a note: {}", list.stdout);
    let json = fathom.run(["history", "--json"]).expect_code(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let runs: Vec<u64> =
        json["workloads"].as_array().into_iter().flatten().filter_map(|w| w["runs"].as_u64()).collect();
    assert_eq!(runs, [24, 2, 1]);
    assert!(json["history"].is_null());
    let empty = fathom_testkit::Fathom::new().run(["history"]).expect_code(0);
    let _ = empty.expect_stderr("no runs in").expect_stdout("");
}

#[test]
fn a_workload_goes_by_many_names() {
    let fathom = with(&several());
    let list = fathom.run(["history"]).stdout;
    let id = list.lines().nth(1).and_then(|l| l.split_whitespace().next()).expect("an id").to_owned();
    for word in [id.as_str(), "cold read", "build 17", "nightly.toml", "20261003T0200", "Cold"] {
        let _ = fathom.run(["history", word]).expect_code(0).expect_stdout("Slower by 2.6 %");
    }
    let _ = fathom.run(["history", "last"]).expect_code(0).expect_stdout("1 run, 20261103T120000-000002");
}

#[test]
fn several_that_are_meant_are_listed_and_none_is_an_error() {
    let fathom = with(&several());
    for word in ["log append", "other.toml"] {
        let outcome = fathom.run(["history", word]).expect_code(2);
        let outcome = outcome.expect_stderr("may be 2 workloads; type the id of one:");
        let _ = outcome.expect_stderr("  1 runs  log append, host db1, /fast");
    }
    let _ = fathom
        .run(["history", "nothing"])
        .expect_code(2)
        .expect_stderr("\"nothing\" is no workload of the store");
    let _ =
        fathom_testkit::Fathom::new().run(["history", "last"]).expect_code(2).expect_stderr("no runs yet");
}

/// A night marked as made by a sweep or a comparison.
fn marked(n: usize, key: &str, mark: serde_json::Value) -> Run {
    let mut run = night(n % 24, if n.is_multiple_of(2) { 100.0 } else { 900.0 });
    run.id = format!("20261201T{:02}0000-0000{n:02}", n % 24);
    run.environment[key] = mark;
    run
}

fn setting(n: usize) -> serde_json::Value {
    serde_json::json!({"scheduler": if n.is_multiple_of(2) { "none" } else { "bfq" }})
}

#[test]
fn a_file_means_its_own_runs_after_a_sweep_or_a_comparison_of_it() {
    let mut all = nights();
    all.extend((0..4).map(|n| marked(n, "sweep", serde_json::json!({"id": "s", "settings": setting(n)}))));
    // `compare --run --vary scheduler=none,bfq nightly.toml`: warm-up and noise, then five quads.
    all.extend((4..30).map(|n| {
        let part = if n < 6 {
            "warm-up"
        } else if n < 10 {
            "noise"
        } else {
            "quads"
        };
        marked(n, "comparison", serde_json::json!({"id": "c", "part": part, "settings": setting(n)}))
    }));
    let fathom = with(&all);
    for word in ["nightly.toml", "cold read", "Cold"] {
        let _ = fathom.run(["history", word, "--gate"]).expect_code(1).expect_stdout("\n24 runs, ");
    }
    // Both have the same settings and workloads: the counted runs of the comparison join those of the sweep.
    let list = fathom.run(["history"]).expect_code(0);
    let list =
        list.expect_stdout(", host db1, /data, with scheduler=none").expect_stdout("12 (+3)  2026-10-");
    assert_eq!(list.stdout.lines().count(), 5, "heads, three workloads, a note: {}", list.stdout);
    let last = fathom.run(["history", "last"]).expect_code(0);
    let _ = last.expect_stdout("with scheduler=bfq").expect_stdout("3 runs left out: 1 warm-up, 2 noise.");
}

#[test]
fn without_a_run_as_it_stands_a_file_is_ambiguous() {
    let all: Vec<Run> =
        (0..4).map(|n| marked(n, "sweep", serde_json::json!({"id": "s", "settings": setting(n)}))).collect();
    let _ = with(&all).run(["history", "nightly.toml"]).expect_code(2).expect_stderr("may be 2 workloads");
}

#[test]
fn a_simulated_run_is_the_last_of_nothing() {
    let mut all = nights();
    all.push(Run {
        id: "20270101T000000-000000".into(),
        simulation: Some(Simulation::default()),
        ..night(0, 1.0)
    });
    let fathom = with(&all);
    let last = fathom.run(["history", "last"]).expect_code(0).expect_stdout("24 runs, ");
    let _ = last.expect_stderr("the newest run, 20270101T000000-000000, is simulated");
    let named = fathom.run(["history", "cold read"]).expect_code(0);
    assert!(!named.stderr.contains("simulated"), "{}", named.stderr);
    let simulated = with(&all[all.len() - 1..]);
    let _ = simulated
        .run(["history", "last"])
        .expect_code(2)
        .expect_stderr("all runs of the store are simulated");
}
