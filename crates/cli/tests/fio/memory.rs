//! Memory that jobs lock (`lockmem`), and pages of mapped files (`thp`), beside fio where it is installed.

use crate::fio::support::{FIO, fio_is_here, run};
use fathom_testkit::{Fathom, TestDir, family, skip, strace_command};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LINE: &str = "--name=a --rw=read --size=64k --lockmem=300k --numjobs=2 --time_based --runtime=20";

/// What a process and its children have locked, KiB.
fn locked_kib(pid: u32) -> u64 {
    let of = |pid: u32| -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("VmLck:"))?.split_whitespace().next()?.parse().ok()
    };
    family(pid).into_iter().filter_map(of).sum()
}

/// Waits for what both clones lock.
#[track_caller]
fn both_lock(pid: u32) {
    let begun = Instant::now();
    while locked_kib(pid) != 600 {
        assert!(begun.elapsed() < Duration::from_secs(15), "{} KiB are locked", locked_kib(pid));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn every_clone_locks_so_much() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let ours = fathom.spawn(format!("fio {LINE}").split_whitespace());
    both_lock(ours.pid());
    if fio_is_here("every_clone_locks_so_much") {
        let dir = TestDir::new();
        let mut theirs = Command::new(FIO)
            .args(LINE.split_whitespace())
            .current_dir(dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let pid = theirs.id();
        let same = std::panic::catch_unwind(|| both_lock(pid));
        // SAFETY: a signal to a child that was not waited for; fio then ends its own.
        unsafe { libc::kill(pid.cast_signed(), libc::SIGINT) };
        theirs.wait().unwrap();
        same.unwrap();
    }
}

#[test]
fn what_is_not_there_is_not_locked() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, "--name=a --rw=read --size=64k --lockmem=900t")
        .expect_code(1)
        .expect_stderr("lock 943718400 MiB of memory");
    run(&fathom, "--name=a --rw=read --size=64k --lockmem=much").expect_code(1).expect_stderr("lockmem");
    run(&fathom, "--name=a --rw=read --size=64k --lockmem=0").expect_code(0);
}

#[test]
fn a_mapped_file_asks_for_huge_pages_first() {
    let test = "a_mapped_file_asks_for_huge_pages_first";
    if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        return skip(test, "this kernel has no transparent huge pages");
    }
    for (more, expected) in [
        ("--rw=read --thp=1", vec!["MADV_HUGEPAGE", "MADV_SEQUENTIAL"]),
        ("--rw=randread --thp=2", vec!["MADV_HUGEPAGE", "MADV_RANDOM"]),
        ("--rw=read --thp=1 --fadvise_hint=0", vec!["MADV_HUGEPAGE"]),
        ("--rw=read --thp=0", vec!["MADV_SEQUENTIAL"]),
    ] {
        let line = format!("--name=a --ioengine=mmap --size=92k --bs=4k {more}");
        let (ours, fio) = (TestDir::new(), TestDir::new());
        let fathom = Fathom::new().working_in(ours.path());
        let mut traces = vec![fathom.strace(test, format!("fio {line}").split(' '))];
        if fio_is_here(test) {
            let mut command = Command::new(FIO);
            traces.push(strace_command(test, command.args(line.split(' ')).current_dir(fio.path())));
        }
        for trace in traces {
            let Some(trace) = trace else { return };
            // Nothing else is as long as the file.
            let advised = trace.calls.iter().filter(|c| c.name == "madvise" && c.arguments()[1] == "94208");
            let advised: Vec<&str> = advised.map(|c| c.arguments()[2]).collect();
            assert_eq!(advised, expected, "{more}");
        }
    }
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, "--name=a --ioengine=mmap --rw=write --size=64k --thp=1")
        .expect_code(1)
        .expect_stderr("fio writes to private memory, and nothing to the file");
}
