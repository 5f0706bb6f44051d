//! "It got slower. When, and what did we change?"

use super::{RATES, night, nights, with};
use fathom_record::Run;
use fathom_testkit::golden;

#[test]
fn the_night_it_got_slower_is_named_with_what_changed() {
    let fathom = with(&nights());
    let outcome = fathom.run(["history", "cold read"]).expect_code(0);
    golden("tests/explain/golden/history.txt", &outcome.stdout.replace(&id(&outcome.stdout), "WORKLOAD"));
    let said = outcome
        .expect_stdout(
            "Slower by 2.6 % from 20261013T020000-000012 (2026-10-13 02:00, build 18) on (ratio 0.9742, ",
        )
        .expect_stdout(
            "between 20261012T020000-000011 (2026-10-12 02:00, build 17) and 20261013T020000-000012",
        )
        .expect_stdout("kernel: 6.1.0 -> 6.2.0")
        .expect_stdout("label: build 17 -> build 18")
        .expect_stdout("devices.0.scheduler: none -> mq-deadline, from 20261006T020000-000005")
        .expect_stdout("Far from the others of their level, and kept: 20261009T020000-000008 430 MiB/s.")
        .expect_stdout("2 runs left out: 1 interrupted, 1 failed.");
    // Values that always change, and the output file of a run, are not reported.
    for passing in ["free_bytes", "uptime", "captured_at", "command line"] {
        assert!(!said.stdout.contains(passing), "{passing}: {}", said.stdout);
    }
}

/// "cold read (ID), native": the id of the workload.
fn id(text: &str) -> String {
    text.split(['(', ')']).nth(1).unwrap_or_default().to_owned()
}

#[test]
fn a_step_without_a_recorded_cause_says_so() {
    let calm: Vec<Run> = RATES
        .iter()
        .enumerate()
        .map(|(n, rate)| {
            let mut run = night(n, *rate);
            run.label = "nightly".into();
            run.environment = serde_json::json!({"kernel": "6.1.0"});
            run
        })
        .collect();
    let outcome = with(&calm).run(["history", "last"]).expect_code(0);
    let said = outcome.expect_stdout("Slower by 2.6 %").expect_stdout("nothing recorded changed");
    assert!(!said.stdout.contains("The environment changed"), "{}", said.stdout);
}

#[test]
fn few_runs_and_no_change_are_said_without_certainty() {
    let fathom = with(&nights());
    let _ = fathom.run(["history", "cold read", "--last", "7"]).expect_code(0).expect_stdout(
        "7 runs are too few: a change can be shown from 10 runs on (segments of 3 or more, level 1 %).",
    );
    let _ = fathom
        .run(["history", "cold read", "--last", "12"])
        .expect_code(0)
        .expect_stdout(
            "No change found in 12 runs; the level is 497 MiB/s, and single runs scatter by 0.4 %.",
        )
        .expect_stdout("A step of less than about 1.2 %, or one in the last 2 runs, may be missed.");
}

#[test]
fn the_gate_answers_with_its_exit_code() {
    let fathom = with(&nights());
    let gate = |more: &[&str], code: i32, words: &str| {
        let line = ["history", "cold read", "--gate"].iter().chain(more);
        let _ = fathom.run(line).expect_code(code).expect_stdout(words);
    };
    gate(
        &[],
        1,
        "Regression: the latest level of 1 of 1 figure is worse than the one before by 1 % or more.",
    );
    gate(
        &["--threshold", "5%"],
        0,
        "No regression: the latest level of 1 figure is not found to be worse by 5 % or more",
    );
    gate(&["--last", "12"], 0, "No regression");
    gate(&["--last", "5"], 3, "Not enough data: no figure has runs enough.");
    // Latencies did not change; and without --gate nothing fails.
    gate(&["--figure", "p50,p99"], 0, "No regression: the latest level of 2 figures");
    // Reversed it gets faster.
    let reversed: Vec<Run> = RATES.iter().rev().enumerate().map(|(n, rate)| night(n, *rate)).collect();
    let _ =
        with(&reversed).run(["history", "last", "--gate"]).expect_code(0).expect_stdout("Faster by 2.6 %");
}

/// Nights that swing slowly by 1 % around a level, which is halved from run `from` on.
fn swinging(runs: usize, from: usize) -> Vec<Run> {
    let rate = |n: usize| (500.0 + 5.0 * (n as f64 * 0.7).sin()) / if n < from { 1.0 } else { 2.0 };
    (0..runs).map(|n| night(n, rate(n))).collect()
}

#[test]
fn a_step_in_a_short_history_that_drifts_is_no_pass() {
    for (runs, from) in [(20, 16), (24, 12)] {
        let outcome = with(&swinging(runs, from)).run(["history", "last", "--gate"]).expect_code(3);
        let _ = outcome
            .expect_stdout("1 change (1 in doubt) in ")
            .expect_stdout("Perhaps slower by ")
            .expect_stdout("In doubt: neighbouring runs resemble each other")
            .expect_stdout("Not enough data: the latest level of 1 of 1 figure may be worse");
    }
    // Drift without a step is none.
    let _ = with(&swinging(24, 24))
        .run(["history", "last", "--gate"])
        .expect_code(0)
        .expect_stdout("This history drifts");
}
