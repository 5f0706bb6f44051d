//! A disk that fills up during a measurement: one clear error that names the file and the remedy, earlier results are
//! stored, our files are removed.

use crate::measure::workloads::{Text, journals, last_run, lines_with, phase_names, wait_for_a_stored_phase};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, LoopFs, TmpFs};
use std::path::Path;

/// A quick write that fits, then one of 64 MiB that does not.
fn too_much(dir: &Path, stream: &str) -> Text {
    let stream = format!("record = {{ fixed = \"64KiB\" }}\nopen = {{ create = true }}\n{stream}");
    Text::new("too much").quick_write(dir).file("large", &dir.join("large.dat"), "64MiB", "").phase(
        "large write",
        "large",
        "write",
        "",
        &stream,
    )
}

fn files_in(dir: &Path) -> Vec<String> {
    names_in(dir).into_iter().filter(|n| n != "lost+found").collect()
}

#[track_caller]
fn full_disk_is_one_clear_error(dir: &Path, workload: &Text, words: &[&str]) {
    let fathom = Fathom::new();
    let workload = workload.save(&fathom);
    let outcome = fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(3);
    let outcome = outcome.expect_stdout("quick write");
    let errors = lines_with(&outcome.stderr, "error:");
    assert_eq!(errors.len(), 1, "one error, not\n{}", outcome.stderr);
    for word in words.iter().chain(&["large.dat", "file system is full", "ree space or choose smaller files"])
    {
        assert!(errors[0].contains(word), "{word:?} is missing in {}", errors[0]);
    }
    let run = last_run(&fathom);
    assert_eq!(run["status"], "failed");
    assert_eq!(phase_names(&run)[0], "quick write");
    assert_eq!(files_in(dir), [""; 0], "our files are left");
    assert_eq!(journals(&fathom), [""; 0]);
}

const BACKENDS: [(&str, &str); 3] = [
    ("psync", "backend = { psync = \"pread\" }"),
    ("stdio", "backend = { stdio = {} }"),
    ("mmap", "backend = { mmap = {} }"),
];

#[test]
fn a_full_ext4_is_one_clear_error_with_every_backend() {
    let Some(fs) = LoopFs::ext4("a_full_ext4_is_one_clear_error_with_every_backend").mebibytes(16).mount()
    else {
        return;
    };
    for (name, backend) in BACKENDS {
        println!("back-end {name}");
        full_disk_is_one_clear_error(fs.path(), &too_much(fs.path(), backend), &[]);
    }
    println!("O_DIRECT");
    let text = Text::new("too much")
        .quick_write(fs.path())
        .file("large", &fs.path().join("large.dat"), "64MiB", "")
        .phase(
            "large write",
            "large",
            "write",
            "",
            "record = { fixed = \"64KiB\" }\nopen = { create = true, direct = true }",
        );
    full_disk_is_one_clear_error(fs.path(), &text, &["cannot write"]);
}

#[test]
fn a_full_tmpfs_is_one_clear_error_with_every_backend() {
    let Some(fs) = TmpFs::mount("a_full_tmpfs_is_one_clear_error_with_every_backend", 8 << 20) else {
        return;
    };
    for (name, backend) in BACKENDS {
        println!("back-end {name}");
        full_disk_is_one_clear_error(fs.path(), &too_much(fs.path(), backend), &[]);
    }
}

#[test]
fn a_disk_that_fills_while_files_are_laid_out_is_one_clear_error() {
    let name = "a_disk_that_fills_while_files_are_laid_out_is_one_clear_error";
    let Some(fs) = TmpFs::mount(name, 8 << 20) else { return };
    let dir = fs.path();
    let text = Text::new("lay out")
        .quick_write(dir)
        .file("large", &dir.join("large.dat"), "64MiB", "existing = \"reuse\"")
        .phase(
            "read",
            "large",
            "read",
            "before = [{ prepare = \"large\" }]",
            "record = { fixed = \"64KiB\" }",
        );
    full_disk_is_one_clear_error(dir, &text, &["cannot write"]);
}

#[test]
fn a_full_disk_ends_iozone_with_its_code_and_keeps_the_rows() {
    let name = "a_full_disk_ends_iozone_with_its_code_and_keeps_the_rows";
    let Some(fs) = LoopFs::ext4(name).mebibytes(16).mount() else { return };
    for (more, words) in [("", "Error writing block"), ("-I", "Error writing block"), ("-B", "full")] {
        println!("option {more:?}");
        let fathom = Fathom::new().working_in(fs.path());
        let line = format!("iozone -a -i 0 -n 1m -g 64m -r 256k -s 1m -s 64m {more}");
        let outcome = fathom.run_line(&line).expect_code(74);
        let row = outcome.stdout.lines().find(|l| l.split_whitespace().take(2).eq(["1024", "256"]));
        let values =
            row.unwrap_or_else(|| panic!("no row in\n{}", outcome.stdout)).split_whitespace().count();
        assert_eq!(values, 4, "sizes, write, rewrite: {row:?}");
        let outcome = outcome.expect_stdout(words).expect_stdout("iozone.tmp");
        assert_eq!(lines_with(&outcome.stderr, "error:").len(), 1, "{}", outcome.stderr);
        assert_eq!(files_in(fs.path()), [""; 0], "iozone.tmp is left");
        let run = last_run(&fathom);
        assert_eq!(run["status"], "failed");
        assert!(phase_names(&run).len() >= 2, "{:?}", phase_names(&run));
    }
}

#[test]
fn a_full_disk_under_a_survey_keeps_what_was_measured() {
    let name = "a_full_disk_under_a_survey_keeps_what_was_measured";
    let Some(fs) = TmpFs::mount(name, 64 << 20) else { return };
    let fathom = Fathom::new();
    let mut running = fathom.spawn(["survey", "--quick", fs.path().to_str().expect("UTF-8")]);
    wait_for_a_stored_phase(&mut running, &fathom);
    // Another program fills the disk.
    let theirs = fs.path().join("theirs");
    let mut file = std::fs::File::create(&theirs).expect("room for a file");
    let chunk = vec![1u8; 1 << 20];
    while std::io::Write::write_all(&mut file, &chunk).is_ok() {}
    let outcome = running.finish().expect_code(3);
    let errors = lines_with(&outcome.stderr, "error:");
    assert_eq!(errors.len(), 1, "{}", outcome.stderr);
    assert!(errors[0].contains("file system is full"), "{}", errors[0]);
    assert!(!phase_names(&last_run(&fathom)).is_empty());
    assert_eq!(names_in(fs.path()), ["theirs"], "ours are gone, theirs stays");
}
