//! Existing files are never overwritten or removed, and this is reported before anything is measured.

use crate::measure::workloads::{Text, lines_with, runs};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, Outcome};
use std::fs;
use std::path::{Path, PathBuf};

const THESIS: &str = "seven years of work";

fn users_file(path: PathBuf) -> PathBuf {
    fs::write(&path, THESIS).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    path
}

#[track_caller]
fn untouched(path: &Path) {
    assert_eq!(fs::read_to_string(path).expect("still there"), THESIS);
}

#[track_caller]
fn refused(outcome: Outcome, code: i32, name: &str) {
    let outcome = outcome.expect_code(code);
    let errors = lines_with(&outcome.stderr, "error:");
    assert_eq!(errors.len(), 1, "{}", outcome.stderr);
    assert!(errors[0].contains(name), "{}", errors[0]);
}

#[test]
fn a_workload_does_not_touch_a_file_that_is_not_ours() {
    for before in ["", "before = [{ recreate = \"theirs\" }]", "before = [{ prepare = \"theirs\" }]"] {
        let fathom = Fathom::new();
        let theirs = users_file(fathom.work().join("thesis.tex"));
        let workload = Text::new("careless")
            .file("theirs", &theirs, "1MiB", "")
            .phase(
                "write",
                "theirs",
                "write",
                before,
                "record = { fixed = \"64KiB\" }\nopen = { create = true, truncate = true }",
            )
            .save(&fathom);
        let outcome = fathom.run(["run", workload.to_str().expect("UTF-8")]);
        refused(outcome, 3, "thesis.tex exists and was not made by fathom");
        untouched(&theirs);
    }
}

#[test]
fn a_reused_file_is_read_and_stays() {
    let fathom = Fathom::new();
    let theirs = users_file(fathom.work().join("thesis.tex"));
    let workload = Text::new("reader")
        .file("theirs", &theirs, "16", "existing = \"reuse\"")
        .phase("read", "theirs", "read", "before = [{ prepare = \"theirs\" }]", "record = { fixed = \"16\" }")
        .save(&fathom);
    let _ = fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(0);
    untouched(&theirs);
}

#[test]
fn a_workload_writes_through_no_link_and_to_no_device() {
    let fathom = Fathom::new();
    let theirs = users_file(fathom.dir().path().join("thesis.tex"));
    let link = fathom.work().join("link");
    std::os::unix::fs::symlink(&theirs, &link).expect("a link of the user");
    for existing in ["refuse", "replace"] {
        let workload = Text::new("careless")
            .file("set", &link, "1MiB", &format!("existing = {existing:?}"))
            .phase(
                "write",
                "set",
                "write",
                "before = [{ recreate = \"set\" }]",
                "record = { fixed = \"64KiB\" }",
            )
            .save(&fathom);
        refused(fathom.run(["run", workload.to_str().expect("UTF-8")]), 3, "symbolic link");
        untouched(&theirs);
        assert!(link.is_symlink());
    }
}

#[test]
fn iozone_does_not_overwrite_a_file_of_the_default_name() {
    let fathom = Fathom::new();
    let theirs = users_file(fathom.work().join("iozone.tmp"));
    refused(fathom.run_line("iozone -s 64k -r 4k -i 0"), 44, "iozone.tmp exists and was not made by fathom");
    untouched(&theirs);
    let theirs = users_file(fathom.work().join("iozone.DUMMY.1"));
    let outcome = fathom.run_line("iozone -t 2 -s 64k -r 4k -i 0");
    assert!(outcome.code.is_some_and(|c| c != 0), "{outcome:?}");
    untouched(&theirs);
    assert_eq!(names_in(fathom.work()), ["iozone.DUMMY.1", "iozone.tmp"], "and left none of its files");
}

#[test]
fn a_page_does_not_take_the_place_of_another_file() {
    let fathom = Fathom::new();
    let page = users_file(fathom.work().join("page.html"));
    refused(fathom.run(["survey", "--quick", "-o", "page.html"]), 2, "page.html exists");
    untouched(&page);
    assert!(!fathom.store().exists() || runs(&fathom).is_empty(), "said before anything is measured");
    let workload = Text::new("quick").quick_write(fathom.work()).save(&fathom);
    let workload = workload.to_str().expect("UTF-8");
    refused(fathom.run(["run", workload, "-o", "page.html"]), 2, "page.html exists");
    untouched(&page);
    assert!(!fathom.store().exists() || runs(&fathom).is_empty(), "said before anything is measured");
}

#[test]
fn a_report_overwrites_only_with_force() {
    let fathom = Fathom::new();
    let workload = Text::new("quick").quick_write(fathom.work()).save(&fathom);
    let _ = fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(0);
    for ending in ["html", "xlsx", "md", "json", "csv"] {
        let name = format!("out.{ending}");
        let path = users_file(fathom.work().join(&name));
        refused(fathom.run(["report", "last", "-o", &name]), 2, "--force overwrites it");
        untouched(&path);
        let _ = fathom.run(["report", "last", "-o", &name, "--force"]).expect_code(0);
        assert_ne!(fs::read(&path).expect("written"), THESIS.as_bytes());
    }
}

#[test]
fn a_worksheet_leaves_a_strangers_xlsx_alone() {
    let fathom = Fathom::new();
    let theirs = users_file(fathom.work().join("out.xlsx"));
    let outcome = fathom.run_line("iozone -a -g 64k -i 0 -b out.wks").expect_code(0);
    untouched(&theirs);
    assert!(outcome.stderr.contains("out.xlsx exists and was not made by fathom"), "{}", outcome.stderr);
    assert_eq!(names_in(fathom.work()), ["out.wks", "out.xlsx"]);
}
