//! Replay of telemetry files (-X, -Y): sizes and order come from the file, and errors in it name the line.

use crate::dropin::layout::{assert_order, figures, golden, iozone, rows};
use fathom_testkit::Fathom;
use fathom_testkit::dir::names_in;
use std::fs;

const LIST: &str = "# offset length\n\n0 4096\n8192 8192\n4096 4096\n";

fn with_list(text: &str) -> Fathom {
    let fathom = Fathom::new();
    fs::write(fathom.work().join("list"), text).unwrap();
    fathom
}

#[test]
fn the_file_decides_size_and_record() {
    let fathom = with_list(LIST);
    let out = fathom.run_line("iozone -X list -Y list").expect_code(0).stdout;
    golden("telemetry", &out);
    assert_order(
        &out,
        &["\tUsing write telemetry file \"list\"\n", "\tUsing read telemetry file \"list\"\n"],
    );
    let rows = rows(&out);
    assert_eq!((rows.len(), rows[0].file_kb, rows[0].record_kb), (1, 16, 0));
    assert_eq!(rows[0].columns(), ["write", "rewrite", "read", "reread"]);
    assert_eq!(names_in(fathom.work()), ["list"]);
}

#[test]
fn operations_come_in_the_files_order() {
    let test = "operations_come_in_the_files_order";
    let fathom = with_list(LIST);
    let Some(trace) = fathom.strace(test, ["iozone", "-X", "list", "-Y", "list"]) else { return };
    assert_eq!(trace.code, Some(0), "{}", trace.stderr);
    let transfers = trace.transfers(&fathom.work().join("iozone.tmp"));
    let once = [0, 8192, 4096];
    let offsets: Vec<u64> = transfers.iter().map(|t| t.1).collect();
    assert_eq!(offsets, once.repeat(4));
    assert!(transfers[..6].iter().all(|t| t.0.contains("write")));
    assert!(transfers[6..].iter().all(|t| t.0.contains("read")));
}

#[test]
fn a_third_column_is_computing_time() {
    let fathom = with_list("0 4096 50\n4096 4096 50\n");
    let outcome = fathom.run_line("iozone -X list").expect_code(0);
    assert!(
        outcome.stdout.contains("\tCompute time from telemetry files for writes.\n"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.elapsed.as_millis() >= 200, "two passes of 100 ms each");
    assert!(rows(&outcome.stdout)[0].values[0] > 8 * 1000 / 100, "it is not counted: {}", outcome.stdout);
}

#[test]
fn a_broken_line_is_named() {
    for (text, place) in [
        ("0 4096\n4096 x\n", "list:2:6"),
        ("0 4096\n\n# note\n4096\n", "list:4:5"),
        ("0 4096\n-5 4096\n", "list:2:1"),
        ("0 0\n", "list:1:3"),
    ] {
        for option in ["-X", "-Y"] {
            let fathom = with_list(text);
            let outcome = fathom.run_line(&format!("iozone {option} list -i 0 -i 1"));
            assert!(outcome.code.is_some_and(|c| c != 0), "{text:?}");
            assert!(outcome.stderr.contains(place), "{text:?}: {}", outcome.stderr);
            assert!(!outcome.stdout.contains("kB  reclen"), "{text:?}: {}", outcome.stdout);
            assert_eq!(names_in(fathom.work()), ["list"]);
        }
    }
}

#[test]
fn a_missing_or_empty_file_is_named() {
    let (_fathom, outcome) = iozone("-X nowhere");
    assert!(outcome.code.is_some_and(|c| c != 0));
    assert!(
        outcome.stderr.contains("nowhere") && outcome.stderr.contains("No such file"),
        "{}",
        outcome.stderr
    );
    let fathom = with_list("# nothing\n");
    let outcome = fathom.run_line("iozone -X list");
    assert!(outcome.code.is_some_and(|c| c != 0), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("list"), "{}", outcome.stderr);
}

#[test]
fn sizes_and_lists_exclude_each_other() {
    for options in ["-a", "-j 5", "-K", "-V 7", "-s 1m", "-r 4k"] {
        let fathom = with_list(LIST);
        let outcome = fathom.run_line(&format!("iozone -X list {options}"));
        assert_eq!(outcome.code, Some(17), "{options}: {}", outcome.stdout);
    }
    let fathom = with_list(LIST);
    let outcome = fathom.run_line("iozone -X list -Y list -i 0 -i 1 -t 2").expect_code(0);
    assert!(outcome.stdout.contains("kByte file in telemetry controlled records\n"), "{}", outcome.stdout);
    assert_eq!(figures(&outcome.stdout, "\tChildren see").len(), 4);
}
