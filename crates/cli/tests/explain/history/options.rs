//! Which runs, which figures, and what is refused.

use super::{nights, with};

#[test]
fn runs_are_narrowed_by_label_time_and_number() {
    let fathom = with(&nights());
    let runs = |more: &[&str]| {
        let line = ["history", "cold read", "--json"].iter().chain(more);
        let json: serde_json::Value =
            serde_json::from_str(&fathom.run(line).expect_code(0).stdout).expect("JSON");
        json["history"]["runs"].as_u64().unwrap_or(0)
    };
    assert_eq!((runs(&[]), runs(&["--label", "build 17"]), runs(&["--label", "none"])), (24, 12, 0));
    assert_eq!((runs(&["--since", "2026-10-20"]), runs(&["--since", "2026-10-20T02:00:01"])), (5, 4));
    assert_eq!((runs(&["--last", "3"]), runs(&["--last", "3", "--label", "build 17"])), (3, 3));
}

#[test]
fn figures_are_chosen_by_word_and_by_cell() {
    let fathom = with(&nights());
    let run = |more: &[&str]| fathom.run(["history", "cold read"].iter().chain(more)).expect_code(0);
    let p99 = run(&["--figure", "p99"]).expect_stdout("read, record 128 KiB: read p99\n");
    assert!(!p99.stdout.contains("throughput"), "{}", p99.stdout);
    let _ = run(&["--figure", "p99.9"])
        .expect_stdout("24 runs left out, in which the percentile stands on fewer than ten operations");
    let _ = run(&["--figure", "all"]).expect_stdout("operations per second").expect_stdout("read p50");
    let _ = run(&["--cell", "128 kib"]).expect_stdout("Slower by");
    let _ = run(&["--cell", "random"]).expect_stdout("None of the runs has such a figure.");
    let _ = run(&["--pelt"]).expect_stdout("PELT, the overview without a test, cuts before");
}

#[test]
fn the_search_can_be_set_and_repeats_with_its_seed() {
    let fathom = with(&nights());
    let run = |more: &[&str]| fathom.run(["history", "cold read"].iter().chain(more));
    let one = run(&["--seed", "7", "--permutations", "299", "--min-segment", "5"]).expect_code(0);
    let one = one.expect_stdout("p = 0.0033 by 299 permutations");
    assert_eq!(one.stdout, run(&["--seed", "7", "--permutations", "299", "--min-segment", "5"]).stdout);
    let _ = run(&["--min-segment", "13"])
        .expect_stdout("24 runs are too few: a change can be shown from 26 runs on");
    for (words, said) in [
        (["--min-segment", "1"], "a level of a single run is indistinguishable from an outlier"),
        (["--permutations", "50"], "with fewer than 99 no change can reach the level of 1 %"),
        (["--since", "yesterday"], "a day such as 2026-10-01 is expected"),
        (["--threshold", "0"], "a share above 0 and below 100 % is expected"),
        (["--last", "0"], "at least one run is needed"),
        (["-o", "out.pdf"], "a history is written as .html .md .xlsx .svg"),
    ] {
        let _ = run(&words).expect_code(2).expect_stderr(said);
    }
    let of_a_workload: [&[&str]; 12] = [
        &["--gate"],
        &["--figure", "p99"],
        &["--cell", "read"],
        &["--label", "x"],
        &["--last", "3"],
        &["--since", "2026-10-01"],
        &["--min-segment", "4"],
        &["--seed", "2"],
        &["--permutations", "999"],
        &["--threshold", "2%"],
        &["--pelt"],
        &["-o", "x.html"],
    ];
    for words in of_a_workload {
        let line = ["history"].iter().chain(words);
        let _ = fathom.run(line).expect_code(2).expect_stderr("WORKLOAD");
    }
    let _ = fathom.run(["history", "cold read", "--force"]).expect_code(2).expect_stderr("--output");
}
