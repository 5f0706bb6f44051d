//! `fathom sim agree`: a recorded trace followed choice by choice, the table, the JSON, the exit code, and traces that cannot be followed.

use fathom_testkit::{Fathom, golden};
use serde_json::Value;
use std::fmt::Write as _;

/// What a 6.18 did under mq-deadline: see `crates/iopath/tests/agreement.rs`.
const RECORDED: &str = include_str!("../../../iopath/tests/agree/mq-deadline-read.txt");

/// The recording as blkparse prints traces.
fn blkparse() -> String {
    let mut text = String::new();
    let mut now_us = 0u64;
    for (n, line) in RECORDED.lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().expect("a number");
        now_us += number(1);
        let (letter, task) = match words[0] {
            "B" => ("M", "[fio]"),
            "I" => ("D", "[fio]"),
            "C" => ("C", "[0]"),
            other => (other, "[fio]"),
        };
        let (cpu, sector, sectors) = (number(2), number(4) * 8, number(5) * 8);
        let _ = writeln!(
            text,
            "  7,0 {cpu:>4} {:>8} {:>5}.{:09} {:>5}  {letter}   R {sector} + {sectors} {task}",
            n + 1,
            now_us / 1_000_000,
            now_us % 1_000_000 * 1000,
            300
        );
    }
    text
}

fn with(name: &str, text: &str) -> Fathom {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join(name), text).expect("a file of a test");
    fathom
}

#[test]
fn the_kernels_scheduler_is_told_from_the_others() {
    let fathom = with("a.blkparse", &blkparse());
    let table = fathom.run_line("sim agree a.blkparse --show 1").expect_code(0).stdout;
    golden("tests/simulate/golden/agree.txt", &table);
    assert_eq!(fathom.run_line("sim agree a.blkparse --show 1").stdout, table, "the same bytes again");
}

#[test]
fn a_share_that_is_asked_for_decides_the_exit_code() {
    let fathom = with("a.blkparse", &blkparse());
    let _ = fathom.run_line("sim agree a.blkparse --scheduler mq-deadline --at-least 99").expect_code(0);
    let _ = fathom.run_line("sim agree a.blkparse --scheduler mq-deadline --at-least 100").expect_code(1);
    let _ = fathom
        .run_line("sim agree a.blkparse --scheduler mq-deadline,fifo_batch=1 --at-least 99")
        .expect_code(1);
    let told =
        fathom.run_line("sim agree a.blkparse --scheduler mq-deadline --at-least 97 --json").expect_code(0);
    let told: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!((&told["schema"], &told["holds"]), (&"fathom-sim-agree/1".into(), &true.into()));
    let row = &told["rows"][0];
    assert_eq!((&row["issued"], &row["same"], &row["merges_differ"]), (&486.into(), &485.into(), &0.into()));
    assert_eq!(row["disagreements"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_cannot_be_followed_is_an_error_that_says_why() {
    let fathom = with("a.blkparse", &blkparse());
    let issues: String = blkparse()
        .lines()
        .filter(|l| l.contains("  D ") || l.contains("  C "))
        .fold(String::new(), |all, line| all + line + "\n");
    std::fs::write(fathom.work().join("requests.blkparse"), issues).expect("a file of a test");
    let broken = blkparse().replacen(" + 8 [fio]", " - 8 [fio]", 1);
    std::fs::write(fathom.work().join("broken.blkparse"), broken).expect("a file of a test");
    for (line, words) in [
        ("sim agree requests.blkparse", "record with --full"),
        ("sim agree a.blkparse --traced sda", "--traced sda is not in the trace; it has 7,0"),
        ("sim agree a.blkparse --scheduler lottery", "no elevator \"lottery\""),
        ("sim agree a.blkparse --at-least 101", "expected a number from 0 to 100"),
        ("sim agree a.blkparse --limits floppy", "there are ide-2.4"),
        ("sim agree a.blkparse a.blkparse", "one trace at a time, and 2 were named"),
        ("sim agree -", "it cannot come from stdin"),
        ("sim agree broken.blkparse", "broken.blkparse, line 1, column"),
        ("sim agree a.blkparse --no-store", "--no-store belongs to"),
    ] {
        let outcome = fathom.run_line(line).expect_code(2);
        assert!(outcome.stderr.contains(words), "{line}: {}", outcome.stderr);
    }
}
