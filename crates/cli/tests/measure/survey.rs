//! `fathom survey` from end to end: what it prints, writes and keeps, on file systems large and tiny.

use crate::compare::json_schema::check;
use crate::measure::workloads::{journals, last_run, lines_with, phase_names, runs};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, LoopFs, TmpFs};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn a_survey_prints_a_summary_writes_a_page_and_keeps_the_run() {
    let fathom = Fathom::new();
    let outcome = fathom.run(["survey", "--quick"]).expect_code(0);
    let wide: Vec<&str> = outcome.stdout.lines().filter(|l| l.chars().count() > 80).collect();
    assert_eq!(wide, [""; 0], "80 columns where there is no terminal");
    assert!(outcome.stdout.lines().count() <= 22, "a terminal of 24 lines: {}", outcome.stdout);
    for told in ["database log", "media streaming", "VM images", "served by", "Doubts"] {
        assert!(outcome.stdout.contains(told), "{told} is missing: {}", outcome.stdout);
    }
    assert!(!outcome.stdout.contains('\u{1b}'), "no colours where there is no terminal");
    assert!(outcome.stdout.contains(fathom.work().to_str().expect("UTF-8")), "{}", outcome.stdout);
    assert_eq!(lines_with(&outcome.stderr, "error:"), [""; 0]);
    let before = lines_with(&outcome.stderr, "note:");
    assert!(before[0].contains("takes about 15 seconds; writes at most 1 GiB"), "{before:?}");

    let listed = runs(&fathom);
    assert_eq!(listed.len(), 1);
    let id = listed[0]["id"].as_str().expect("a run has an id");
    assert_eq!(names_in(fathom.work()), [format!("fathom-{id}.html")], "the page and nothing else");
    assert_eq!(journals(&fathom), [""; 0]);
    assert!(outcome.stdout.contains(&format!("Report fathom-{id}.html")), "{}", outcome.stdout);
    assert!(
        outcome.stdout.contains(&format!("More: fathom why {} (causes)", &id[..15])),
        "{}",
        outcome.stdout
    );
    assert!(!outcome.stdout.contains("Changes"), "there is no survey before: {}", outcome.stdout);

    let page = std::fs::read_to_string(fathom.work().join(format!("fathom-{id}.html"))).expect("the page");
    self_contained(&page);
    let run = last_run(&fathom);
    assert_eq!((&run["status"], &run["dialect"]), (&"completed".into(), &"survey".into()));
    complete(&run);

    let again = fathom.run(["survey", "--quick"]).expect_code(0);
    let since = again.stdout.lines().find(|line| line.starts_with(" Changes "));
    assert!(since.is_some_and(|line| line.contains("fsyncs ")), "{}", again.stdout);
    let longer = fathom.run(["show", id]).expect_code(0);
    assert!(longer.stdout.lines().count() > again.stdout.lines().count(), "{}", longer.stdout);
}

/// Nothing in the page asks for anything outside it.
fn self_contained(page: &str) {
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"), "{}", &page[..60]);
    for asks in [
        "<script src",
        "<link rel=\"stylesheet\"",
        "<iframe",
        "src=\"http",
        "href=\"http://fonts",
        "@import",
        "url(http",
    ] {
        assert!(!page.contains(asks), "the page asks for something outside itself: {asks}");
    }
}

/// Every phase belongs to a part, the phases that even a busy machine has time for exist, and every repetition has figures, an origin, and the
/// counters that show it.
fn complete(run: &Value) {
    let phases = run["phases"].as_array().expect("phases");
    let stages: BTreeSet<&str> = phases.iter().filter_map(|p| p["axes"]["tags"]["stage"].as_str()).collect();
    let known = ["ladder", "depth", "small files", "scaling", "mix", "surface", "sustained"];
    assert!(stages.iter().all(|s| known.contains(s)), "{stages:?}");
    assert!(stages.contains("ladder") && stages.contains("sustained"), "{stages:?}");
    // What was decided while it ran is in the workload that is kept.
    let kept = run["workload"].as_str().expect("a workload");
    assert_eq!(kept.matches("[[phase]]").count(), phases.len(), "{kept}");
    for phase in phases {
        let repetitions = phase["repetitions"].as_array().expect("repetitions");
        assert!(!repetitions.is_empty(), "{} was not measured", phase["name"]);
        for repetition in repetitions {
            assert!(repetition["physical"]["method"].as_str().is_some_and(|m| m != "none"), "{phase}");
            for worker in repetition["workers"].as_array().expect("workers") {
                assert!(worker["bytes"].as_u64() > Some(0), "{} moved nothing", phase["name"]);
                assert!(worker["elapsed_ns"].as_u64() > Some(0), "{} took no time", phase["name"]);
            }
        }
    }
}

#[test]
fn a_survey_on_one_line_is_all_that_it_prints() {
    let fathom = Fathom::new();
    let outcome = fathom.run(["survey", "--quick", "--line"]).expect_code(0);
    assert_eq!(outcome.stdout.lines().count(), 1, "{}", outcome.stdout);
    assert_eq!(names_in(fathom.work()), [""; 0], "no page");
    assert_eq!(runs(&fathom).len(), 1);
    for figure in ["fsync ", "read ", "write "] {
        assert!(outcome.stdout.contains(figure), "{figure} is missing: {}", outcome.stdout);
    }
    // A busy machine has no time for some parts.
    let measured = phase_names(&last_run(&fathom));
    let long = fathom.run(["show"]).expect_code(0).stdout;
    let long = long.split_whitespace().collect::<Vec<_>>().join(" ");
    for (phase, figure) in [("parallel commits", "| fsync x8 "), ("cold read", "| cold read ")] {
        let there = measured.iter().any(|name| name == phase);
        assert_eq!(outcome.stdout.contains(figure), there, "{figure}: {}", outcome.stdout);
        assert!(there || long.contains("ran out before these parts"), "{long}");
    }
}

#[test]
fn a_survey_of_a_tmpfs_says_memory() {
    let Some(fs) = TmpFs::mount("a_survey_of_a_tmpfs_says_memory", 64 << 20) else { return };
    let fathom = Fathom::new();
    let dir = fs.path().to_str().expect("UTF-8");
    let outcome = fathom.run(["survey", "--quick", dir, "-o", "page.html", "--no-store"]).expect_code(0);
    assert!(outcome.stdout.contains("This is a file system in memory"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("nothing in memory outlives a power cut"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains(" the device's own"), "{}", outcome.stdout);
    assert_eq!(names_in(fs.path()), [""; 0]);
    let page = std::fs::read_to_string(fathom.work().join("page.html")).expect("the page");
    assert!(page.contains("memory file system"));
    assert!(!fathom.store().exists(), "--no-store keeps nothing");
}

#[test]
fn a_tiny_file_system_is_one_clear_error() {
    let Some(fs) = TmpFs::mount("a_tiny_file_system_is_one_clear_error", 256 << 10) else { return };
    let fathom = Fathom::new();
    let outcome = fathom.run(["survey", "--quick", fs.path().to_str().expect("UTF-8")]).expect_code(2);
    let errors = lines_with(&outcome.stderr, "error:");
    assert_eq!(errors.len(), 1, "{}", outcome.stderr);
    assert!(errors[0].contains("256 KiB are free") && errors[0].contains("needs 2 MiB"), "{}", errors[0]);
    assert_eq!(outcome.stdout, "");
    assert_eq!(names_in(fs.path()), [""; 0]);
    assert_eq!(names_in(fathom.work()), [""; 0], "no page of nothing");
}

#[test]
fn a_small_file_system_gets_a_small_survey_and_json_is_its_record() {
    let name = "a_small_file_system_gets_a_small_survey_and_json_is_its_record";
    let Some(fs) = TmpFs::mount(name, 4 << 20) else { return };
    let fathom = Fathom::new();
    let dir = fs.path().to_str().expect("UTF-8");
    let args = ["survey", "--quick", "--json", "--seed", "77", dir, "-o", "page.html"];
    let outcome = fathom.run(args).expect_code(0);
    let document: Value = serde_json::from_str(&outcome.stdout).expect("JSON on stdout");
    as_published(&document);
    let run = document["record"].clone();
    assert_eq!((&run["schema"], &run["seed"]), (&"fathom-record/1".into(), &77.into()));
    assert_eq!(run, last_run(&fathom), "what is printed is what is kept");
    assert!(phase_names(&run).len() > 10);
}

#[test]
fn no_directory_is_a_usage_error() {
    let fathom = Fathom::new();
    let outcome = fathom.run(["survey", "nowhere"]).expect_code(2);
    assert!(outcome.stderr.contains("nowhere is not a directory"), "{}", outcome.stderr);
    let outcome = fathom.run(["survey", "--quick", "-o", "page.doc"]).expect_code(2);
    assert!(outcome.stderr.contains(".html, .xlsx"), "the endings are named: {}", outcome.stderr);
    let outcome = fathom.run(["survey", "--quick", "-o", "missing/page.html"]).expect_code(2);
    assert!(
        outcome.stderr.contains("there is no directory missing"),
        "before it is measured: {}",
        outcome.stderr
    );
    assert!(!fathom.store().exists(), "nothing was measured");
}

#[test]
fn where_its_page_cannot_be_written_nothing_is_measured() {
    let test = "where_its_page_cannot_be_written_nothing_is_measured";
    let Some(output) = crate::doctor::as_nobody(test, &["survey", "--quick", "/tmp"]) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(said.starts_with("error: /fathom-ID.html cannot be written: you may not write in /;"), "{said}");
    assert!(said.contains("-o FILE names another"), "{said}");
    assert!(output.stdout.is_empty() && said.lines().count() == 1, "{output:?}");
}

/// As docs/formats/survey.schema.json says it.
fn as_published(document: &Value) {
    let schema = include_str!("../../../../docs/formats/survey.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let errors = |document: &Value| {
        let mut found = Vec::new();
        check(&schema, document, "", &mut found);
        found
    };
    assert_eq!(errors(document), [""; 0]);
    let mut other = document.clone();
    other["verdicts"][0]["unheard"] = 1.into();
    other["schema"] = "fathom-survey/2".into();
    assert_eq!(errors(&other).len(), 2, "a wrong version, an unknown field");
    for part in ["figures", "findings", "verdicts"] {
        assert!(document[part].as_array().is_some_and(|all| !all.is_empty()), "{part}");
    }
}

#[test]
fn a_device_is_read_and_never_written() {
    let Some(fs) = LoopFs::ext4("a_device_is_read_and_never_written").mount() else { return };
    std::fs::write(fs.path().join("theirs"), vec![7u8; 1 << 20]).expect("room");
    // From now on nothing but the survey touches it.
    fs.remount_read_only();
    let before = std::fs::read(fs.device()).expect("the device");
    let fathom = Fathom::new();
    let device = fs.device().to_str().expect("UTF-8");
    let outcome = fathom.run(["survey", "--quick", device, "-o", "page.html"]).expect_code(0);
    assert!(outcome.stdout.contains("random read"), "{}", outcome.stdout);
    let run = last_run(&fathom);
    assert!(run["phases"].as_array().expect("phases").iter().all(|p| p["writes"] == false));
    assert!(before == std::fs::read(fs.device()).expect("the device"), "it is as it was");
    let both = fathom.run(["survey", "--quick", "--thorough"]).expect_code(2);
    assert!(both.stderr.contains("--thorough"), "{}", both.stderr);
}
