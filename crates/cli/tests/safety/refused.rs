//! Places that must not be written: read-only mounts, directories of other users, file size limits. Nothing is
//! measured, and one sentence says why.

use crate::measure::workloads::{Text, last_run, lines_with, phase_names};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, LoopFs, Outcome, need_root, need_tool};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The program started by a script, for what only a shell can set up before.
fn through(test_directory: &Fathom, script: &str) -> Fathom {
    let path = test_directory.dir().path().join("started-by");
    let text = format!("#!/bin/bash\n{script} {:?} \"$@\"\n", env!("CARGO_BIN_EXE_fathom"));
    fathom_testkit::script(&path, &text);
    Fathom::with_binary(path)
}

#[track_caller]
fn one_error(outcome: &Outcome, words: &[&str]) {
    let errors = lines_with(&outcome.stderr, "error:");
    assert_eq!(errors.len(), 1, "one error, not\n{}", outcome.stderr);
    for word in words {
        assert!(errors[0].contains(word), "{word:?} is missing in {}", errors[0]);
    }
}

#[test]
fn a_read_only_mount_is_one_clear_error() {
    let name = "a_read_only_mount_is_one_clear_error";
    let Some(fs) = LoopFs::ext4(name).mebibytes(8).read_only().mount() else { return };
    let fathom = Fathom::new();
    let dir = fs.path().to_str().expect("UTF-8");
    let words = [dir, "mounted read-only: choose another directory"];
    one_error(&fathom.run(["survey", "--quick", dir]).expect_code(3), &words);
    let workload = Text::new("w").quick_write(fs.path()).save(&fathom);
    one_error(&fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(3), &words);
    let inside = Fathom::new().working_in(fs.path());
    let outcome = inside.run_line("iozone -s 64k -r 4k -i 0").expect_code(44);
    one_error(&outcome, &["iozone.tmp", "read-only"]);
    assert!(outcome.stdout.contains("Can not open temp file"), "{}", outcome.stdout);
}

#[test]
fn a_mount_that_turns_read_only_keeps_what_was_measured() {
    let name = "a_mount_that_turns_read_only_keeps_what_was_measured";
    let Some(fs) = LoopFs::ext4(name).mebibytes(8).mount() else { return };
    let fathom = Fathom::new();
    // Between two phases: the kernel refuses a remount while a file is open for writing.
    let text = Text::new("w")
        .quick_write(fs.path())
        .file("second", &fs.path().join("second.dat"), "64KiB", "")
        .phase(
            "after the remount",
            "second",
            "write",
            &format!(
                "before = [{{ command = [\"mount\", \"-o\", \"remount,ro\", {:?}] }}]",
                fs.path().to_str().expect("UTF-8")
            ),
            "record = { fixed = \"4KiB\" }\nopen = { create = true }",
        );
    let workload = text.save(&fathom);
    let outcome = fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(3);
    one_error(&outcome, &["second.dat", "read-only"]);
    assert!(outcome.stderr.contains("first.dat could not be removed; the next run"), "{}", outcome.stderr);
    assert_eq!(phase_names(&last_run(&fathom)), ["quick write"]);
    fs.remount_writable();
    // The file that could not be made was planned in the journal; one that the user makes there later is not ours.
    let theirs = fs.path().join("second.dat");
    fs::write(&theirs, "").expect("an empty file of the user");
    let elsewhere = Text::new("next").quick_write(fathom.work()).save(&fathom);
    let next = fathom.run(["run", elsewhere.to_str().expect("UTF-8")]).expect_code(0);
    assert!(next.stderr.contains("first.dat, left behind"), "{}", next.stderr);
    assert_eq!(names_in(fs.path()), ["lost+found", "second.dat"]);
}

#[test]
fn a_directory_of_somebody_else_is_one_clear_error() {
    let name = "a_directory_of_somebody_else_is_one_clear_error";
    if !need_root(name) || !need_tool(name, "runuser") {
        return;
    }
    let scripts = Fathom::new();
    give_to_nobody(scripts.dir().path());
    let fathom = through(&scripts, "exec runuser -u nobody --");
    give_to_nobody(fathom.dir().path());
    let theirs = fathom.dir().subdir("theirs");
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o755)).expect("our own directory");
    let dir = theirs.to_str().expect("UTF-8");
    let probe = fathom.run(["--version"]);
    if probe.code != Some(0) {
        fathom_testkit::skip(name, &format!("the user nobody cannot run the program: {}", probe.stderr));
        return;
    }
    let words = [dir, "Permission denied", "Choose a directory that you can write to"];
    one_error(&fathom.run(["survey", "--quick", dir]).expect_code(3), &words);
    let workload = Text::new("w").quick_write(&theirs).save(&fathom);
    fs::set_permissions(&workload, fs::Permissions::from_mode(0o644)).expect("our own file");
    one_error(&fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(3), &words);
    let file = theirs.join("f");
    let args = ["iozone", "-s", "64k", "-r", "4k", "-i", "0", "-f", file.to_str().expect("UTF-8")];
    one_error(&fathom.run(args).expect_code(44), &words);
    assert_eq!(names_in(&theirs), [""; 0]);
}

#[test]
fn without_a_place_for_the_journal_nothing_is_made_and_its_variable_is_named() {
    let fathom = Fathom::new();
    let file = fathom.dir().path().join("plain");
    fs::write(&file, "").expect("our own directory");
    let fathom = fathom.env("XDG_STATE_HOME", file.to_str().expect("UTF-8"));
    let workload = Text::new("w").quick_write(fathom.work()).save(&fathom);
    let words = ["journal", "Set XDG_STATE_HOME to a directory"];
    one_error(&fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(3), &words);
    let prepare = ["sysbench", "fileio", "--file-num=1", "--file-total-size=16k", "prepare"];
    let refused = fathom.run(prepare).expect_code(1).expect_stdout("errno = 20 (Not a directory)");
    assert!(refused.stderr.contains(words[1]), "{}", refused.stderr);
    let left: Vec<_> = names_in(fathom.work()).into_iter().filter(|n| !n.ends_with(".toml")).collect();
    assert_eq!(left, [""; 0]);
}

/// The user `nobody` has its home there: what everybody may write to is used for no journal and no store.
fn give_to_nobody(dir: &Path) {
    for path in [dir, &dir.join("work")] {
        std::os::unix::fs::chown(path, Some(65534), None).expect("root may");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("our own directory");
    }
}

/// bash counts in KiB. The store and the pages are below it as well, so the limit leaves them room.
const LIMIT: &str = "ulimit -f 4096; exec";

#[test]
fn a_file_size_limit_is_one_clear_error() {
    let scripts = Fathom::new();
    for stream in ["", "backend = { stdio = {} }"] {
        let fathom = through(&scripts, LIMIT);
        let work = fathom.work().to_path_buf();
        // 60 KiB do not divide the limit, so the last write before it is a short one.
        let text =
            Text::new("limit").quick_write(&work).file("large", &work.join("large.dat"), "8MiB", "").phase(
                "large write",
                "large",
                "write",
                "",
                &format!("record = {{ fixed = \"60KiB\" }}\nopen = {{ create = true }}\n{stream}"),
            );
        let outcome = fathom.run(["run", text.save(&fathom).to_str().expect("UTF-8")]).expect_code(3);
        one_error(&outcome, &["large.dat", "ulimit -f"]);
        assert!(outcome.stdout.contains("quick write"), "{}", outcome.stdout);
        let run = last_run(&fathom);
        assert_eq!(run["status"], "failed");
        assert_eq!(names_in(&work), [""; 0]);
        let worker = &run["phases"][1]["repetitions"][0]["workers"][0];
        let bytes = worker["bytes"].as_u64().unwrap_or(u64::MAX);
        assert!(bytes <= 4 << 20, "no rate for bytes that were not moved: {bytes}");
    }
}

#[test]
fn a_file_size_limit_ends_laying_out_with_one_clear_error() {
    let scripts = Fathom::new();
    let fathom = through(&scripts, LIMIT);
    let work = fathom.work().to_path_buf();
    let text = Text::new("limit")
        .quick_write(&work)
        .file("large", &work.join("large.dat"), "8MiB", "existing = \"reuse\"")
        .phase(
            "read",
            "large",
            "read",
            "before = [{ prepare = \"large\" }]",
            "record = { fixed = \"64KiB\" }",
        );
    let outcome = fathom.run(["run", text.save(&fathom).to_str().expect("UTF-8")]).expect_code(3);
    one_error(&outcome, &["large.dat", "ulimit -f"]);
    assert_eq!(names_in(&work), [""; 0]);
    assert_eq!(phase_names(&last_run(&fathom)), ["quick write"]);
}

#[test]
fn a_file_size_limit_ends_iozone_with_its_code() {
    let scripts = Fathom::new();
    let fathom = through(&scripts, LIMIT);
    let outcome = fathom.run_line("iozone -s 8m -r 60k -i 0").expect_code(74);
    one_error(&outcome, &["iozone.tmp", "ulimit -f"]);
    assert!(outcome.stdout.contains("Error writing block"), "{}", outcome.stdout);
    assert_eq!(names_in(fathom.work()), [""; 0]);
}
