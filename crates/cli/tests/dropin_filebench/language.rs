//! Language errors: all are reported with their positions, and nothing runs before.

use crate::dropin_filebench::script::{READER, run, run_with};
use fathom_testkit::Fathom;

#[test]
fn nothing_is_executed_before_the_whole_file_is_understood() {
    let fathom = Fathom::new();
    let text = format!("{READER}system \"touch $DIR/touched\"\ncreate files\nrun 1\nset $xx=\nflowop\n");
    let outcome = run(&fathom, &text).expect_code(2);
    assert!(outcome.stderr.contains("script.f:") && outcome.stderr.contains("error:"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("Nothing was executed"), "{}", outcome.stderr);
    assert!(!fathom.work().join("touched").exists() && !fathom.work().join("fs").exists());
}

#[test]
fn what_is_found_in_planning_has_a_place_and_a_remedy_too() {
    let fathom = Fathom::new();
    let text = READER.replace("filesetname=fs,iosize=4k", "filesetname=sf,iosize=4k") + "run 1\n";
    let outcome = run(&fathom, &text).expect_code(2);
    assert!(
        outcome.stderr.contains("script.f:3:1: error: flowop rd: file sf not found")
            || outcome.stderr.contains("file sf not found"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("^^^") && outcome.stderr.contains("hint: fs is defined"),
        "{}",
        outcome.stderr
    );
    let refused = run(&fathom, "enable multi master=h1,client=h2\n").expect_code(2);
    assert!(refused.stderr.contains("enable multi is not supported"), "{}", refused.stderr);
}

#[test]
fn an_older_file_is_noted_once_and_the_switch_silences_the_note() {
    let fathom = Fathom::new();
    let text = READER.replace("size=16k", "size=16k,cached=true") + "run 1\n";
    let outcome = run(&fathom, &text).expect_code(0);
    assert_eq!(outcome.stderr.matches("language before 1.5 (cached)").count(), 1, "{}", outcome.stderr);
    let outcome = run_with(&fathom, &text, "--wml 1.4").expect_code(0);
    assert!(!outcome.stderr.contains("language before 1.5"), "{}", outcome.stderr);
}

#[test]
fn system_lines_and_echo_come_in_their_order() {
    let fathom = Fathom::new();
    let text = format!(
        "set $who=me\necho \"one $who\"\nsystem \"echo two $who\"\n{READER}create files\nsystem \"ls -d $DIR/fs\"\n"
    );
    let outcome = run(&fathom, &text).expect_code(0);
    let places: Vec<usize> = [": one me\n", "\ntwo me\n", "completed\n", "/fs\n"]
        .iter()
        .map(|part| outcome.stdout.find(part).unwrap_or_else(|| panic!("{part:?}: {}", outcome.stdout)))
        .collect();
    assert!(places.is_sorted(), "{}", outcome.stdout);
    assert!(fathom.work().join("fs").is_dir(), "what is created stays");
}
