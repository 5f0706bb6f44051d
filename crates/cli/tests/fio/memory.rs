//! Memory that jobs lock (`lockmem`), beside fio where it is installed.

use crate::fio::support::{FIO, fio_is_here, run};
use fathom_testkit::{Fathom, TestDir, family};
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
    let ours = Fathom::new().working_in(dir.path()).spawn(format!("fio {LINE}").split_whitespace());
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
