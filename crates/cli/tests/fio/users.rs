//! Jobs that change their user and group (`uid`, `gid`), beside fio where it is installed.

use crate::fio::support::{fio_is_here, run, theirs};
use fathom_testkit::{Fathom, TestDir, skip};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

const NOBODY: u32 = 65534;

/// A directory that everybody may go through to `F`, which has a mode and a group.
fn file(mode: u32, group: u32) -> TestDir {
    let dir = TestDir::new();
    let set =
        |path: &Path, mode: u32| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    let file = dir.path().join("F");
    std::fs::write(&file, vec![7; 64 << 10]).unwrap();
    chown(&file, None, Some(group)).unwrap();
    set(&file, mode);
    set(dir.path(), 0o755);
    dir
}

/// Whether these tests can be run here; if not, they are noted as skipped.
fn can_be_run(test: &str) -> bool {
    let open = |dir: &Path| std::fs::metadata(dir).is_ok_and(|m| m.permissions().mode() & 1 == 1);
    let dir = TestDir::new();
    let (root, reached) = (rustix::process::geteuid().is_root(), dir.path().ancestors().skip(1).all(open));
    if !root {
        skip(test, "only root changes its user");
    } else if !reached {
        skip(test, "other users do not reach the tests' directory");
    }
    root && reached
}

#[test]
fn a_job_may_do_what_its_user_may() {
    let test = "a_job_may_do_what_its_user_may";
    if !can_be_run(test) {
        return;
    }
    let beside = fio_is_here(test);
    for (mode, group, more, code) in [
        (0o644, 0, "--uid=65534", 0),
        (0o600, 0, "--uid=65534", 1),
        (0o600, 0, "--uid=65534 --thread", 1),
        (0o600, 0, "--uid=65534 --ioengine=mmap", 1),
        (0o600, 0, "--uid=65534 --ioengine=libaio --numjobs=2", 1),
        (0o640, NOBODY, "--uid=65534 --gid=65534", 0),
        // Root may read it all the same.
        (0o600, 0, "--gid=65534", 0),
        (0o600, 0, "--uid=0", 0),
    ] {
        let dir = file(mode, group);
        let line = format!("--name=a --filename=F --rw=read --size=64k {more}");
        let seen = if beside { theirs(dir.path(), &line).status.code() } else { Some(code) };
        assert_eq!(seen, Some(code), "{more}, fio");
        let ours = run(&Fathom::new().working_in(dir.path()), &line).expect_code(code);
        assert!(code == 0 || ours.stderr.contains("Permission denied"), "{more}: {}", ours.stderr);
    }
}

#[test]
fn files_are_laid_out_and_removed_as_before() {
    if !can_be_run("files_are_laid_out_and_removed_as_before") {
        return;
    }
    let dir = file(0o600, 0);
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, "--name=a --rw=read --size=64k --uid=65534 --unlink=1").expect_code(0);
    // The file is that of root, and not to be written by others.
    run(&fathom, "--name=b --rw=write --size=64k --uid=65534 --unlink=1")
        .expect_code(1)
        .expect_stderr("Permission denied");
    // It is known to be ours, and used again.
    run(&fathom, "--name=b --rw=write --size=64k").expect_code(0);
    assert!(!dir.path().join("a.0.0").exists());
    run(&fathom, "--name=a --rw=read --size=64k --uid=4294967296").expect_code(1).expect_stderr("uid");
    run(&fathom, "--name=a --rw=read --size=64k --uid=nobody").expect_code(1).expect_stderr("uid");
}
