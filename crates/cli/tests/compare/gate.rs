//! The gate's exit codes, and the files a CI reads.

use crate::compare::{SAME, SLOWER, runs, with};

#[test]
fn the_exit_code_is_the_answer() {
    let regression = with(&runs(&SLOWER, true));
    let outcome = regression.run(["compare", "--sweep", "last", "--gate"]).expect_code(1);
    let _ = outcome.expect_stdout("Regression: 1 of 1 figure worse by 1 % or more.");
    let _ = regression.run(["compare", "--sweep", "last"]).expect_code(0);
    // Reversed it is an improvement, and below a threshold of 5 % no change.
    let _ = regression.run(["compare", "--sweep", "last", "--gate", "--base", "bfq"]).expect_code(0);
    let _ = regression.run(["compare", "--sweep", "last", "--gate", "--threshold", "5%"]).expect_code(0);
    // Percentiles did not change.
    let _ = regression.run(["compare", "--sweep", "last", "--gate", "--metric", "p50,p99"]).expect_code(0);
    let few = regression.run(["compare", "--sweep", "last", "--gate", "--metric", "p99.9"]).expect_code(3);
    let _ = few.expect_stdout("read p99.9 needs 10000 in every run, and one has 2000");
    let same = with(&runs(&SAME, true));
    let _ = same
        .run(["compare", "--sweep", "last", "--gate"])
        .expect_code(0)
        .expect_stdout("No regression in 1 figure.");
    let short = with(&runs(&SLOWER[..2], true));
    let outcome = short.run(["compare", "--sweep", "last", "--gate"]).expect_code(3);
    let _ = outcome.expect_stdout("Not enough data: 1 of 1 figure cannot be decided.");
}

#[test]
fn a_ci_is_told_in_its_own_language() {
    let fathom = with(&runs(&SLOWER, true));
    let outcome =
        fathom.run(["compare", "--sweep", "last", "--gate", "--github", "--junit", "out.xml"]).expect_code(1);
    let _ =
        outcome.expect_stdout("::error title=read%3A throughput::B is 2.7 %25 slower than A (ratio 0.9726");
    let xml = std::fs::read_to_string(fathom.work().join("out.xml")).expect("a file");
    assert!(
        xml.contains("<testsuite name=\"scheduler=bfq against scheduler=none\" tests=\"1\" failures=\"1\""),
        "{xml}"
    );
    assert!(xml.contains("<failure type=\"regression\" message=\"B is 2.7 % slower than A"), "{xml}");
    let again = fathom.run(["compare", "--sweep", "last", "--gate", "--junit", "out.xml"]).expect_code(2);
    let _ = again.expect_stderr("out.xml exists; --force overwrites it");
    let _ =
        fathom.run(["compare", "--sweep", "last", "--gate", "--junit", "out.xml", "--force"]).expect_code(1);
}
