//! `fathom import`: what was found is reported by line, and list, show, report, export and rm accept the runs like any
//! other.

use crate::import::{MAIL, ids, with_mail};
use fathom_testkit::sqlite3;

#[test]
fn a_mail_becomes_runs_and_every_line_is_accounted_for() {
    let fathom = with_mail();
    let outcome = fathom.run(["import", "--verbose", "mail.txt"]).expect_code(0);
    let ids = ids(&fathom);
    assert_eq!(ids.len(), 2);
    for line in [
        format!("  lines 5-12: dd under a shell, 8 figures -> run {}", ids[0]),
        format!("  lines 16-21: IOzone sheet, 1 report, 4 figures -> run {}", ids[1]),
        "  4 lines of prose".to_owned(),
        "  prose: lines 1, 3, 14, 24".to_owned(),
    ] {
        assert!(outcome.stdout.lines().any(|l| l == line), "{line:?} in\n{}", outcome.stdout);
    }
    let _ =
        outcome.expect_stderr("line 23 looks like figures and was not understood: score 12.5 99 1e7 42 43");
}

#[test]
fn a_single_line_of_prose_is_counted_in_the_singular() {
    let fathom = with_mail();
    let text = "Hello\n1024+0 records in\n1024+0 records out\n1048576 bytes copied, 0.5 s, 2.1 MB/s\n";
    std::fs::write(fathom.work().join("short.txt"), text).expect("a mail");
    let found = fathom.run(["import", "--dry-run", "--verbose", "short.txt"]).expect_code(0);
    let _ = found.expect_stdout("  1 line of prose\n  prose: line 1\n");
}

#[test]
fn the_other_commands_take_imported_runs() {
    let fathom = with_mail();
    let _ = fathom.run(["import", "--label", "new disk", "mail.txt"]).expect_code(0);
    let ids = ids(&fathom);
    let shown = fathom.run(["show", &ids[0]]).expect_code(0);
    let _ = shown
        .expect_stdout("new disk (completed)")
        .expect_stdout("printed by dd, imported from mail.txt, lines 5 to 12")
        .expect_stdout("single runs, no interval possible; repeat >= 3 quads for a verdict")
        .expect_stdout("102 MB/s")
        .expect_stdout("line 8");
    let _ =
        fathom.run(["show", "last"]).expect_code(0).expect_stdout("write, kB/s, file size by record size");
    let _ =
        fathom.run(["show", "--original", "last"]).expect_code(2).expect_stderr("mail.txt, lines 16 to 21");
    let table = fathom.run(["export", "--format", "figures", &ids[0], &ids[1]]).expect_code(0).stdout;
    assert_eq!(table.lines().count(), 1 + 8 + 4, "{table}");
    for (file, part) in [
        ("page.html", "Throughput over file and record size"),
        ("page.md", "printed by dd"),
        ("table.csv", "new disk"),
        ("run.json", "\"first_line\": 16"),
    ] {
        let _ = fathom.run(["report", &ids[0], &ids[1], "-o", file]).expect_code(0);
        let text = std::fs::read_to_string(fathom.work().join(file)).expect(file);
        assert!(text.contains(part), "{part:?} in {file}");
    }
    let _ = fathom.run(["report", &ids[0], &ids[1], "-o", "book.xlsx"]).expect_code(0);
    let _ = fathom.run(["report", &ids[1], "-o", "map.svg"]).expect_code(0);
    let rows = sqlite3(&fathom.store(), "SELECT count(*), max(line) FROM imported_result");
    assert!(rows.is_none_or(|r| r.trim() == "12|21"));
    let _ = fathom.run(["rm", &ids[0], &ids[1]]).expect_code(0);
    assert!(crate::import::ids(&fathom).is_empty());
}

#[test]
fn a_dry_run_keeps_nothing_and_one_program_can_be_asked_for() {
    let fathom = with_mail();
    let outcome = fathom.run(["import", "--dry-run", "--as", "dd", "mail.txt"]).expect_code(0);
    assert!(outcome.stdout.contains("dd under a shell, 8 figures\n"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("IOzone"), "{}", outcome.stdout);
    assert!(ids(&fathom).is_empty());
}

#[test]
fn the_standard_input_is_a_file_too() {
    let fathom = with_mail();
    let mut command = fathom.command(["import", "-"]);
    let mail = std::fs::File::open(fathom.work().join("mail.txt")).expect("the mail");
    let out = command.stdin(mail).output().expect("runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(String::from_utf8_lossy(&out.stdout).starts_with("-:\n"), "{MAIL}");
    assert_eq!(ids(&fathom).len(), 2);
}
