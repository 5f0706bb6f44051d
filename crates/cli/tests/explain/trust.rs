//! What a result is worth: every run ends with the full list of checks, on the screen, in the record, on the page.

use crate::measure::workloads::{Text, last_run};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;

const CODES: [&str; 13] = [
    "device",
    "cache",
    "extents",
    "sync",
    "latency",
    "clock",
    "machine",
    "neighbours",
    "data",
    "steady",
    "repeats",
    "overload",
    "start",
];

/// A buffered write of a MiB, and reads of it for half a second, twice each.
fn workload(fathom: &Fathom, data: &str) -> String {
    let text = Text::new("worth")
        .head("repetitions = 2")
        .file("data", &fathom.work().join("data"), "1MiB", "")
        .phase(
            "write",
            "data",
            "write",
            "",
            &format!("record = {{ fixed = \"64KiB\" }}\nopen = {{ create = true }}\n{data}"),
        )
        .phase(
            "random read",
            "data",
            "read",
            "stop = { time = \"600ms\" }\ninterval = \"20ms\"",
            "record = { fixed = \"4KiB\" }\namount = \"endless\"",
        );
    text.save(fathom).to_str().expect("UTF-8").to_owned()
}

#[track_caller]
fn check(run: &Value, code: &str) -> (String, String) {
    let list = run["trust"].as_array().expect("a list");
    let found = list.iter().find(|t| t["code"] == code).unwrap_or_else(|| panic!("no {code} in {list:?}"));
    let word = |key: &str| found[key].as_str().expect("a text").to_owned();
    (word("verdict"), word("sentence"))
}

#[test]
fn every_run_is_told_with_all_checks() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "");
    let outcome = fathom.run(["run", &file, "--json"]).expect_code(0);
    let run: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let codes: Vec<&str> =
        run["trust"].as_array().expect("a list").iter().filter_map(|t| t["code"].as_str()).collect();
    assert_eq!(codes, CODES);
    assert_eq!(run["trust"], last_run(&fathom)["trust"], "the store keeps it");
    for code in CODES {
        let (verdict, sentence) = check(&run, code);
        assert!(["good", "doubtful", "unknown"].contains(&verdict.as_str()), "{code}: {verdict}");
        assert!(sentence.ends_with('.'), "{sentence}");
    }
    assert_eq!(check(&run, "data").0, "good");
    assert!(check(&run, "data").1.contains("100 % by zstd (a sample), to 100 % by its rule"), "{run}");
    assert!(check(&run, "repeats").1.contains("2 repetitions"), "{run}");
    assert!(check(&run, "latency").1.contains("service time p50"), "{run}");
    // Whether it was steady depends on the machine; that it was judged does not.
    assert!(run["phases"][1]["repetitions"][0]["steady"]["rounds"].as_array().is_some_and(|r| r.len() == 5));

    let shown = fathom.run(["show", "last"]).expect_code(0).stdout;
    let list = &shown[shown.find("Trust: ").unwrap_or_else(|| panic!("no list: {shown}"))..];
    for code in CODES {
        assert!(list.contains(code), "{code} is missing in {shown}");
    }
    assert!(shown.lines().all(|l| l.chars().count() <= 80), "{shown}");
    let _ = fathom.run(["report", "last", "-o", "page.html"]).expect_code(0);
    let _ = fathom.run(["report", "last", "--full", "-o", "page.md"]).expect_code(0);
    let read = |name: &str| std::fs::read_to_string(fathom.work().join(name)).expect("written");
    let (page, markdown) = (read("page.html"), read("page.md"));
    for code in CODES {
        assert!(page.contains(&format!("<th scope=\"row\">{code}</th>")), "{code}");
        assert!(markdown.contains(&format!("| {code} |")), "{code}");
    }
}

#[test]
fn written_data_is_measured_and_not_only_believed() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "data = { reducible = { duplicate_percent = 100, within_percent = 100 } }");
    let run: Value =
        serde_json::from_str(&fathom.run(["run", &file, "--json"]).expect_code(0).stdout).expect("JSON");
    let (verdict, sentence) = check(&run, "data");
    assert_eq!(verdict, "unknown", "{sentence}");
    assert!(sentence.ends_with("whether the device compresses is not known."), "{sentence}");
}

#[test]
fn what_fails_has_a_reason_for_doubt() {
    if TestDir::new().in_memory() {
        return fathom_testkit::skip("what_fails_has_a_reason_for_doubt", "needs a directory on a disk");
    }
    let fathom = Fathom::new();
    let file = workload(&fathom, "");
    let run: Value =
        serde_json::from_str(&fathom.run(["run", &file, "--json"]).expect_code(0).stdout).expect("JSON");
    // Read just after it was written: from memory.
    let (verdict, sentence) = check(&run, "device");
    assert!(verdict == "doubtful" && sentence.contains("random read: 0 B of "), "{sentence}");
    let doubts = run["doubts"].as_array().expect("doubts");
    assert!(doubts.iter().any(|d| d["code"] == "page-cache"), "{doubts:?}");
}

#[test]
fn cold_is_judged_where_counting_begins() {
    let fathom = Fathom::new();
    let text = Text::new("warm-up").file("data", &fathom.work().join("data"), "1MiB", "").phase(
        "random read",
        "data",
        "read",
        "before = [{ prepare = \"data\" }]\ncache = \"cold\"\nramp = \"200ms\"\nstop = { time = \"200ms\" }",
        "record = { fixed = \"4KiB\" }\naccess = \"uniform\"\namount = \"endless\"",
    );
    let file = text.save(&fathom);
    let outcome = fathom.run(["run", file.to_str().expect("UTF-8"), "--json"]).expect_code(0);
    let run: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let before = &run["phases"][0]["repetitions"][0]["resident_before"];
    if before.is_null() {
        return fathom_testkit::skip(
            "cold_is_judged_where_counting_begins",
            "the kernel does not tell of the cache",
        );
    }
    // A warm-up of thousands of random reads leaves little of a MiB uncached.
    assert!(before["cached_pages"].as_u64() > Some(2), "{before}");
    let (verdict, sentence) = check(&run, "cache");
    assert!(verdict == "doubtful" && sentence.contains("cached at the end of the warm-up"), "{sentence}");
}

#[test]
fn iozone_prints_what_iozone_prints_and_the_store_keeps_the_list() {
    let fathom = Fathom::new();
    let outcome = fathom.run_line("iozone -s 1m -r 64k -i 0 -i 1").expect_code(0);
    assert!(!outcome.stdout.contains("Trust") && !outcome.stderr.contains("Trust"), "{}", outcome.stderr);
    let run = last_run(&fathom);
    assert_eq!(run["trust"].as_array().map(Vec::len), Some(CODES.len()));
    let (verdict, sentence) = check(&run, "data");
    assert!(verdict != "good" && sentence.starts_with("Written data shrinks to 0."), "{sentence}");
    assert!(fathom.run(["show", "last"]).expect_code(0).stdout.contains("Trust: "));
}
