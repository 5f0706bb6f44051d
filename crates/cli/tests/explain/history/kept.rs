//! The outputs: a page, Markdown, a picture, rows, and JSON that matches the published schema.

use super::{RATES, nights, with};
use crate::compare::json_schema::check;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../../docs/formats/history.schema.json");

#[test]
fn the_ending_says_what_is_written() {
    let fathom = with(&nights());
    let write = |file: &str| {
        let _ = fathom.run(["history", "cold read", "-o", file]).expect_code(0).expect_stderr("wrote");
        std::fs::read_to_string(fathom.work().join(file)).expect("a file")
    };
    let html = write("nightly.html");
    for part in ["<h1>History of cold read</h1>", "<svg", "Slower by 2.6 %", "6.2.0", "Levels", "build 18"] {
        assert!(html.contains(part), "{part} is missing");
    }
    assert!(!html.contains("https://") && !html.contains("http://"), "the page stands alone");
    let csv = write("nightly.csv");
    assert_eq!(csv.lines().count(), 1 + RATES.len());
    assert!(
        csv.contains("\"read, record 128 KiB\",throughput,bytes/s,20261013T020000-000012,build 18,"),
        "{csv}"
    );
    let svg = write("nightly.svg");
    assert!(svg.starts_with("<svg xmlns") && svg.matches("<circle").count() == RATES.len());
    assert!(write("nightly.md").contains("| kernel | 6.1.0 | 6.2.0 |"));
    let again = fathom.run(["history", "cold read", "-o", "nightly.md"]).expect_code(2);
    let _ = again.expect_stderr("nightly.md exists; --force overwrites it");
    let _ = fathom.run(["history", "cold read", "-o", "nightly.md", "--force"]).expect_code(0);
    let several = fathom.run(["history", "cold read", "--figure", "throughput,p50", "-o", "two.svg"]);
    let _ = several.expect_code(0).expect_stderr("wrote two.svg");
    let two = std::fs::read_to_string(fathom.work().join("two.svg")).expect("written");
    assert_eq!((two.matches("<svg").count(), two.matches("<circle").count()), (1, 2 * RATES.len()), "{two}");
    let each = fathom.run(["history", "cold read", "--figure", "throughput,p50", "-o", "each/"]);
    let _ =
        each.expect_code(0).expect_stderr("wrote 2 files, each/history-read-record-128-kib-throughput.svg");
}

#[test]
fn the_json_is_as_published() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let fathom = with(&nights());
    let lines: [&[&str]; 4] = [
        &["history", "--json"],
        &["history", "cold read", "--json", "--gate", "--pelt"],
        &["history", "cold read", "--json", "--last", "4"],
        &["history", "cold read", "--json", "--figure", "p99.9"],
    ];
    for line in lines {
        let printed: Value = serde_json::from_str(&fathom.run(line).stdout).expect("JSON");
        let mut found = Vec::new();
        check(&schema, &printed, "document", &mut found);
        assert!(found.is_empty(), "{found:#?}");
    }
    let printed: Value = serde_json::from_str(&fathom.run(lines[1]).expect_code(1).stdout).expect("JSON");
    let series = &printed["history"]["series"][0];
    assert_eq!(series["changes"][0]["first_new"], 12);
    assert_eq!(series["changes"][0]["verdict"], "worse");
    assert_eq!(series["changes"][0]["differs"][1]["name"], "kernel");
    assert_eq!(series["environment"][0]["name"], "devices.0.scheduler");
    assert_eq!(printed["gate"]["outcome"], "regression");
}
