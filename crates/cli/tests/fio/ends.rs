//! Ends before anything runs: help, checks, errors.

use crate::fio::support::run;
use fathom_testkit::{Fathom, TestDir};
use fathom_workload::Workload;

#[test]
fn check_prints_a_workload_that_runs() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let text = run(&fathom, "--check --name=a --rw=randrw --size=64k --bs=4k").expect_code(0).stdout;
    assert!(Workload::from_toml(&text).unwrap().check().is_ok());
    std::fs::write(dir.path().join("a.toml"), text).unwrap();
    fathom.run_line("run a.toml").expect_code(0);
    // Nothing was made by the check itself.
    let again = TestDir::new();
    run(&Fathom::new().working_in(again.path()), "--check --name=a --size=64k").expect_code(0);
    assert_eq!(std::fs::read_dir(again.path()).unwrap().count(), 0);
}

#[test]
fn explain_names_origins_and_traps() {
    let dir = TestDir::new();
    std::fs::write(dir.path().join("j.fio"), "[global]\nbs=8k\n[a]\nrw=randread\nsize=1m\n").unwrap();
    let fathom = Fathom::new().working_in(dir.path());
    let text = run(&fathom, "--explain j.fio").expect_code(0).stdout;
    assert!(text.contains("j.fio:2, global") && text.contains("j.fio:5"), "{text}");
    assert!(text.contains("! invalidate=1"), "{text}");
}

#[test]
fn parse_only_and_showcmd_run_nothing() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    assert_eq!(run(&fathom, "--parse-only --name=a --size=1m --rw=write").expect_code(0).stdout, "");
    let shown = run(&fathom, "--warnings-fatal --showcmd --name=a --directory=none --rw=read --iodepth=16");
    assert_eq!(shown.expect_code(0).stdout, "fio --name=a --directory=none --rw=read --iodepth=16\n");
    // Neither directories nor sizes are looked for.
    run(&fathom, "--parse-only --name=a --directory=none --filename=b --rw=randrw --offset=10%")
        .expect_code(0);
    run(&fathom, "--check --name=a --filename=b").expect_code(1);
    let line = run(&fathom, "--showcmd --name=a --size=1m --time_based").expect_code(0).stdout;
    assert_eq!(line, "fio --name=a --size=1m --time_based\n");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn scripts_are_told_no_notes_unless_they_ask() {
    let dir = TestDir::new();
    let line = "--output-format=json --max-jobs=4 --name=a --ioengine=null --size=64k";
    let fathom = Fathom::new().working_in(dir.path());
    let quiet = run(&fathom, line).expect_code(0);
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.contains("--max-jobs has no effect here"), "{}", quiet.stdout);
    run(&fathom, "--name=a --ioengine=null --size=64k --rww=read").expect_code(1).expect_stderr("Bad option");
    let told = fathom.env("FATHOM_QUIET", "0");
    run(&told, line).expect_code(0).expect_stderr("note: ");
}

#[test]
fn a_link_named_fio_is_fio() {
    let dir = TestDir::new();
    let link = dir.path().join("fio");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fathom"), &link).unwrap();
    let output = std::process::Command::new(&link).arg("--version").output().unwrap();
    assert_eq!(output.stdout, b"fio-3.42\n");
}

#[test]
fn mistakes_point_at_their_column() {
    let dir = TestDir::new();
    std::fs::write(dir.path().join("j.fio"), "[a]\nsize=1m\nrww=read\n").unwrap();
    let fathom = Fathom::new().working_in(dir.path());
    let outcome = run(&fathom, "j.fio").expect_code(1);
    assert_eq!(
        outcome.stderr,
        "Bad option <rww=read>\nDid you mean rw?\nfio: job a dropped\nfio: j.fio:3:1: \"rww\" is no option of a job\n  rww=read\n  ^^^^^^^^\nhint: did you mean rw?\n"
    );
    run(&fathom, "--name=a --rw=randtrim --size=1m --zonemode=zbd")
        .expect_code(1)
        .expect_stderr("trims of zones are not supported");
}

/// A pod has any user id, and a home that is not writable.
#[test]
fn a_home_that_cannot_be_written_stops_nobody() {
    let dir = TestDir::new();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(["fio", "--name=h", "--rw=write", "--size=1m"]).current_dir(dir.path());
    let output = command.env_clear().env("HOME", "/proc/none").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*stderr), (Some(0), ""));
    assert!(dir.path().join("h.0.0").exists());
}
