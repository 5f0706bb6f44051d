//! Errors that jobs go on after (`continue_on_error`, `ignore_error`), beside those of fio itself: on a file system that is full, with calls
//! that strace has fail, and with blocks that are wrong.

use crate::fio::support::{DEBIANS, FIO, fio_is_here, run, theirs};
use fathom_testkit::{Fathom, TestDir, TmpFs, need_tool, sqlite3};
use serde_json::Value;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Output};

/// The document in what was printed; fio puts notes before it.
#[track_caller]
fn document(text: &str) -> Value {
    let from = text.find('{').unwrap_or(0);
    serde_json::from_str(&text[from..]).unwrap_or_else(|e| panic!("{e}:\n{text}"))
}

/// Error, number of errors and the first one of the first job; and what it did, if it came to its end.
fn told(document: &Value, code: Option<i32>) -> String {
    let job = &document["jobs"][0];
    let side = |name: &str| format!("{}/{}", job[name]["total_ios"], job[name]["io_bytes"]);
    let errors = format!("exit {code:?} e{} {}/{}", job["error"], job["total_err"], job["first_error"]);
    // Where an error ends a job, fio counts the operation that failed.
    if code == Some(0) { format!("{errors} r{} w{}", side("read"), side("write")) } else { errors }
}

fn ours_told(fathom: &Fathom, line: &str) -> String {
    let outcome = run(fathom, &format!("--output-format=json {line}"));
    told(&document(&outcome.stdout), outcome.code)
}

fn theirs_told(directory: &Path, line: &str) -> String {
    let output = theirs(directory, &format!("--output-format=json {line}"));
    told(&document(&String::from_utf8_lossy(&output.stdout)), output.status.code())
}

fn empty(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let _ = std::fs::remove_file(entry.path());
    }
}

const FULL: &str = "--name=f --filename=f --rw=write --size=2m --bs=64k --fallocate=none";

#[test]
fn a_full_file_system_is_gone_over_as_with_fio() {
    let test = "a_full_file_system_is_gone_over_as_with_fio";
    let Some(small) = TmpFs::mount(test, 1 << 20) else { return };
    let fathom = Fathom::new().working_in(small.path());
    let here = fio_is_here(test);
    let ended = |errors: &str| format!("exit Some(1) e28 {errors}");
    let went_on = |reads: &str| format!("exit Some(0) e28 16/28 r{reads} w32/1048576");
    for (options, expected) in [
        ("", ended("null/null")),
        ("--continue_on_error=none", ended("null/null")),
        // Without a list it is EIO that jobs go on after.
        ("--continue_on_error=write", ended("1/28")),
        ("--continue_on_error=all", ended("1/28")),
        ("--continue_on_error=read", ended("0/0")),
        ("--continue_on_error=write --ignore_error=,EIO", ended("1/28")),
        ("--ignore_error=ENOSPC", ended("0/0")),
        ("--ignore_error=,ENOSPC", went_on("0/0")),
        ("--ignore_error=,28 --ioengine=libaio --iodepth=4", went_on("0/0")),
        ("--ignore_error=EIO,EIO:ENOSPC --ioengine=io_uring --iodepth=4", went_on("0/0")),
        ("--continue_on_error=write --ignore_error=,ENOSPC --rw=randwrite", went_on("0/0")),
        ("--ignore_error=,ENOSPC --ioengine=posixaio --iodepth=2 --thread", went_on("0/0")),
        // What was not written is not read back.
        ("--ignore_error=,ENOSPC --verify=crc32c", went_on("16/1048576")),
    ] {
        let line = format!("{FULL} {options}");
        empty(small.path());
        assert_eq!(ours_told(&fathom, &line), expected, "{line}");
        if here {
            empty(small.path());
            assert_eq!(theirs_told(small.path(), &line), expected, "{line}: fio");
        }
    }
}

#[test]
fn errors_are_told_in_every_format_and_kept() {
    let test = "errors_are_told_in_every_format_and_kept";
    let Some(small) = TmpFs::mount(test, 1 << 20) else { return };
    let fathom = Fathom::new().working_in(small.path()).env("FATHOM_QUIET", "0");
    let line = format!("{FULL} --ignore_error=,ENOSPC");
    let text = run(&fathom, &line).expect_code(0);
    for told in [
        "f: (groupid=0, jobs=1): err=28 (file:f, func=write, error=",
        "     issued rwts: total=0,32,0,0 short",
        "     errors    : total=16, first_error=28/<No space left on device>\n",
    ] {
        assert!(text.stdout.contains(told), "{told}: {}", text.stdout);
    }
    assert!(text.stderr.contains("16 errors were passed over, the first: cannot write f"), "{}", text.stderr);
    let shown = fathom.run_line("show last").expect_code(0).stdout;
    assert!(shown.contains("16 errors were passed over"), "{shown}");
    if need_tool(test, "sqlite3") {
        let kept = sqlite3(&fathom.store(), "SELECT passed FROM worker").unwrap_or_default();
        assert!(kept.contains("\"errors\":16") && kept.contains("\"errno\":28"), "{kept}");
    }
    empty(small.path());
    let terse =
        run(&fathom, &format!("--minimal --disk_util=0 --description=d {line}")).expect_code(0).stdout;
    assert!(terse.trim_end().ends_with(";16;28;d"), "{terse}");
    empty(small.path());
    // Who goes on after errors and meets none says so.
    let none =
        run(&fathom, "--name=f --filename=f --rw=write --size=64k --continue_on_error=all").expect_code(0);
    assert!(none.stdout.contains("     errors    : total=0, first_error=0/<Success>\n"), "{}", none.stdout);
    assert!(!none.stderr.contains("passed over"), "{}", none.stderr);
}

/// A program of which calls on `file` fail, the third to the fifth.
fn failing(command: &Command, call: &str, error: &str, file: &Path) -> Output {
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-P"]).arg(file);
    traced.args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:error={error}:when=3..5")]);
    traced.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        traced.current_dir(directory);
    }
    traced.output().expect("strace")
}

#[test]
fn operations_that_fail_are_gone_over_as_with_fio() {
    let test = "operations_that_fail_are_gone_over_as_with_fio";
    if !need_tool(test, "strace") {
        return;
    }
    let here = fio_is_here(test);
    let dir = TestDir::new();
    let file = dir.path().join("f");
    std::fs::write(&file, vec![7; 512 << 10]).unwrap();
    let fathom = Fathom::new().working_in(dir.path());
    let allow = format!("--allow-write={}", file.display());
    let ended = |errno: i32, errors: &str| format!("exit Some(1) e{errno} {errors}");
    let read_on = |errno: i32| format!("exit Some(0) e{errno} 3/{errno} r8/327680 w0/0");
    let written_on = |errno: i32| format!("exit Some(0) e{errno} 3/{errno} r0/0 w8/327680");
    for (rw, error, options, expected) in [
        ("read", "EIO", "", ended(5, "null/null")),
        ("read", "EIO", "--continue_on_error=read", read_on(5)),
        ("read", "EIO", "--continue_on_error=io", read_on(5)),
        ("read", "EIO", "--continue_on_error=all", read_on(5)),
        ("read", "EIO", "--continue_on_error=1", read_on(5)),
        ("read", "EIO", "--continue_on_error=write", ended(5, "0/0")),
        ("read", "EIO", "--continue_on_error=verify", ended(5, "0/0")),
        ("read", "EIO", "--ignore_error=ENOSPC --continue_on_error=read", ended(5, "1/5")),
        ("read", "ENXIO", "--ignore_error=EIO:6", read_on(6)),
        ("write", "EIO", "--continue_on_error=write", written_on(5)),
        ("write", "EIO", "--continue_on_error=read", ended(5, "0/0")),
        ("write", "EROFS", "--ignore_error=,EROFS", written_on(30)),
        // This many operations must succeed, over all loops, as long as the file has blocks.
        (
            "read",
            "EIO",
            "--continue_on_error=read --number_ios=2",
            "exit Some(0) e0 0/0 r2/131072 w0/0".into(),
        ),
        (
            "read",
            "EIO",
            "--continue_on_error=read --number_ios=3",
            "exit Some(0) e5 3/5 r6/196608 w0/0".into(),
        ),
        ("read", "EIO", "--continue_on_error=read --number_ios=6", read_on(5)),
        (
            "read",
            "EIO",
            "--continue_on_error=read --number_ios=6 --loops=2",
            "exit Some(0) e5 3/5 r15/786432 w0/0".into(),
        ),
        ("write", "EIO", "--ignore_error=,EIO --number_ios=3", "exit Some(0) e5 3/5 r0/0 w6/196608".into()),
    ] {
        let call = if rw == "read" { "pread64" } else { "pwrite64" };
        let line = format!("--name=a --filename=f --rw={rw} --bs=64k --size=512k --thread {options}");
        let words = || ["--output-format=json"].into_iter().chain(line.split_whitespace());
        let command = fathom.command(["fio", allow.as_str()].into_iter().chain(words()));
        let told_of = |output: Output| {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            told(&document(&text), output.status.code())
        };
        assert_eq!(told_of(failing(&command, call, error, &file)), expected, "{line} {error}");
        if here {
            let mut fio = Command::new(FIO);
            fio.args(words()).current_dir(dir.path());
            assert_eq!(told_of(failing(&fio, call, error, &file)), expected, "{line} {error}: fio");
        }
    }
    // All that was written is read back; fio 3.42 reads back what was written before the first error.
    let line = "--name=a --filename=f --rw=write --bs=64k --size=512k --number_ios=3 --verify=crc32c --thread --continue_on_error=io";
    let words = ["fio", allow.as_str(), "--output-format=json"].into_iter().chain(line.split_whitespace());
    let output = failing(&fathom.command(words), "pwrite64", "EIO", &file);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = "exit Some(0) e5 3/5 r3/196608 w6/196608";
    assert_eq!(told(&document(&text), output.status.code()), expected);
}

#[test]
fn wrong_blocks_are_gone_over_as_with_fio() {
    let here = fio_is_here("wrong_blocks_are_gone_over_as_with_fio");
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path()).env("FATHOM_FIO_VERSION", DEBIANS);
    let _ = run(&fathom, "--name=a --filename=f --rw=write --bs=4k --size=64k --verify=crc32c --do_verify=0")
        .expect_code(0);
    let file = std::fs::OpenOptions::new().write(true).open(dir.path().join("f")).unwrap();
    for at in [8500, 20500] {
        file.write_all_at(b"XX", at).unwrap();
    }
    for (options, expected) in [
        ("", "exit Some(1) e84 null/null"),
        ("--continue_on_error=verify", "exit Some(0) e84 2/84 r16/65536 w0/0"),
        ("--continue_on_error=all", "exit Some(0) e84 2/84 r16/65536 w0/0"),
        ("--continue_on_error=verify --ioengine=libaio --iodepth=4", "exit Some(0) e84 2/84 r16/65536 w0/0"),
        ("--ignore_error=,,84", "exit Some(0) e84 2/84 r16/65536 w0/0"),
    ] {
        let line = format!("--name=a --filename=f --rw=read --bs=4k --size=64k --verify=crc32c {options}");
        assert_eq!(ours_told(&fathom, &line), expected, "{line}");
        if here {
            assert_eq!(theirs_told(dir.path(), &line), expected, "{line}: fio");
        }
    }
    // Where a wrong block ends the job all the same, fio 3.42 gives 0.
    for options in ["--continue_on_error=all --verify_fatal=1", "--ignore_error=,,84 --verify_fatal=1"] {
        let line = format!("--name=a --filename=f --rw=read --bs=4k --size=64k --verify=crc32c {options}");
        assert_eq!(ours_told(&fathom, &line), "exit Some(1) e84 1/84", "{line}");
    }
}

#[test]
fn lists_that_cannot_be_read_and_what_does_not_go_together_are_refused() {
    let fathom = Fathom::new();
    let here = fio_is_here("lists_that_cannot_be_read_and_what_does_not_go_together_are_refused");
    for (options, fio_says) in [
        ("--ignore_error=,EFOO", "Unknown error EFOO, please use number value"),
        ("--ignore_error=,0", "Unknown error 0, please use number value"),
        ("--ignore_error=,einval", "Unknown error einval, please use number value"),
        ("--ignore_error=,,,EIO", "Illegal error type"),
        ("--continue_on_error=foo", ""),
    ] {
        let line = format!("--name=a --rw=write --size=64k {options}");
        let ours = run(&fathom, &line).expect_code(1);
        assert!(ours.stderr.contains(fio_says), "{line}: {}", ours.stderr);
        if here {
            let theirs = theirs(fathom.work(), &line);
            assert_eq!(theirs.status.code(), Some(1), "{line}");
            assert!(String::from_utf8_lossy(&theirs.stderr).contains(fio_says), "{line}: fio");
        }
    }
    for (options, words) in [
        ("--continue_on_error=io --ioengine=splice", "nothing goes on behind an error"),
        ("--continue_on_error=io --error_dump=1", "only the number and the first"),
        ("--ignore_error=,ENOSPC --fill_device=1", "fill_device"),
    ] {
        let ours = run(&fathom, &format!("--name=a --rw=write --size=64k {options}")).expect_code(1);
        assert!(ours.stderr.contains(words), "{options}: {}", ours.stderr);
    }
}

#[test]
fn the_plan_says_what_a_job_goes_on_after() {
    let fathom = Fathom::new();
    let line =
        "--name=a --rw=write --size=64k --verify=md5 --ignore_error=,ENOSPC:5 --continue_on_error=verify";
    let said = run(&fathom, &format!("--explain {line}")).expect_code(0).stdout;
    assert!(said.contains("; it goes on after ENOSPC, EIO of writes, wrong data"), "{said}");
    let checked = run(&fathom, &format!("--check {line}")).expect_code(0).stdout;
    assert!(checked.contains("pass_over") && checked.contains("\"ENOSPC\""), "{checked}");
    assert!(checked.contains("keep_written") && checked.contains("wrong_data = true"), "{checked}");
}
