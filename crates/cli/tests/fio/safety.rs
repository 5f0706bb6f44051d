//! What is written, and what is not: files that fathom did not make are changed only when they are named with the option that allows it.

use crate::support::run;
use fathom_testkit::{Fathom, TestDir};

#[test]
fn a_file_of_somebody_else_is_written_only_when_it_is_named() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let path = dir.path().join("theirs");
    std::fs::write(&path, vec![7u8; 65536]).unwrap();
    let line = "--name=a --filename=theirs --size=64k --rw=write";
    let refused = run(&fathom, line).expect_code(1);
    assert!(refused.stderr.contains("--allow-write=theirs allows it"), "{}", refused.stderr);
    assert!(std::fs::read(&path).unwrap() == vec![7u8; 65536], "it is left as it is");
    run(&fathom, &format!("{line} --allow-write=theirs")).expect_code(0);
    assert!(std::fs::read(&path).unwrap() != vec![7u8; 65536]);
    // Reading needs no permission, and a file that is too short is not extended.
    run(&fathom, "--name=b --filename=theirs --size=64k --rw=read").expect_code(0);
    run(&fathom, "--name=b --filename=theirs --size=1m --rw=read").expect_code(1);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 65536);
}

#[test]
fn the_permission_of_one_clones_file_is_none_for_anothers() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let theirs = dir.path().join("a.1.0");
    std::fs::write(&theirs, vec![7u8; 65536]).unwrap();
    run(&fathom, "--name=a --numjobs=2 --rw=write --size=64k --allow-write=a.0.0").expect_code(1);
    assert!(std::fs::read(&theirs).unwrap() == vec![7u8; 65536], "it is left as it is");
}

#[test]
fn readonly_lays_out_and_removes_nothing() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let refused = run(&fathom, "--readonly --name=a --rw=read --size=64k").expect_code(1);
    assert!(refused.stderr.contains("lays out nothing"), "{}", refused.stderr);
    assert!(!dir.path().join("a.0.0").exists());
    std::fs::write(dir.path().join("a.0.0"), vec![7u8; 65536]).unwrap();
    run(&fathom, "--readonly --name=a --rw=read --size=64k --unlink=1").expect_code(1);
    run(&fathom, "--readonly --name=a --rw=read --size=64k").expect_code(0);
    assert!(std::fs::read(dir.path().join("a.0.0")).unwrap() == vec![7u8; 65536]);
}

#[test]
fn files_stay_for_the_next_run_or_go() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, "--name=a --size=64k --rw=write").expect_code(0);
    assert!(dir.path().join("a.0.0").exists());
    run(&fathom, "--name=a --size=64k --rw=randwrite").expect_code(0);
    run(&fathom, "--name=u --size=64k --rw=write --unlink=1").expect_code(0);
    assert!(!dir.path().join("u.0.0").exists());
}

#[test]
fn what_was_corrupted_is_found() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, "--name=v --size=64k --bs=4k --rw=write --verify=crc32c").expect_code(0);
    let path = dir.path().join("v.0.0");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8192..8196].copy_from_slice(b"oops");
    std::fs::write(&path, bytes).unwrap();
    let found = run(&fathom, "--name=v --size=64k --bs=4k --rw=read --verify=crc32c").expect_code(1);
    assert!(found.stderr.contains("8192"), "{}", found.stderr);
}
