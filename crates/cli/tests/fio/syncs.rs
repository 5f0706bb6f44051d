//! Parts of a file that are written back on the way (`sync_file_range`), and file systems that are synced at the end (`end_syncfs`):
//! which calls are made, and how they are counted, beside fio where it is installed.

use crate::fio::support::{fio_is_here, json, run, their_json, theirs};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;

/// Calls that are counted as syncs, and writes.
fn counted(document: &Value) -> [u64; 2] {
    let job = &document["jobs"][0];
    // fio 3.33 times them, and leaves them out of total_ios.
    [&job["sync"]["lat_ns"]["N"], &job["write"]["total_ios"]].map(|count| count.as_u64().unwrap())
}

#[test]
fn they_are_counted_as_in_fio() {
    let beside = fio_is_here("they_are_counted_as_in_fio");
    for (more, syncs) in [
        ("--rw=write --sync_file_range=write:8", 7),
        ("--rw=randwrite --sync_file_range=wait_before,write,wait_after:3 --ioengine=sync", 21),
        ("--rw=write --sync_file_range=wait_after --ioengine=pvsync2", 63),
        ("--rw=write --sync_file_range=write:8 --nrfiles=2", 7),
        ("--rw=write --sync_file_range=write:8 --ioengine=splice", 7),
        ("--rw=write --sync_file_range=write:8 --ioengine=libaio --iodepth=4", 7),
        ("--rw=write --sync_file_range=write:8 --ioengine=posixaio", 7),
        ("--rw=write --sync_file_range=write:8 --ioengine=mmap", 7),
        ("--rw=write --sync_file_range=write:0", 0),
    ] {
        let line = format!("--name=a --bs=4k --size=256k {more}");
        let dir = TestDir::new();
        let ours = json(&Fathom::new().working_in(dir.path()), &line);
        assert_eq!(counted(&ours), [syncs, 64], "{more}");
        assert_eq!(ours["jobs"][0]["sync"]["total_ios"], syncs, "{more}");
        if beside {
            assert_eq!(counted(&their_json(TestDir::new().path(), &line)), [syncs, 64], "{more}");
        }
    }
}

#[test]
fn the_kernel_is_asked_for_what_was_written_since() {
    let test = "the_kernel_is_asked_for_what_was_written_since";
    let line = "fio --name=a --rw=write --bs=4k --size=64k --sync_file_range=wait_before,write:3";
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let Some(trace) = fathom.strace(test, line.split(' ')) else { return };
    let ranges: Vec<(Option<u64>, Option<u64>)> = trace
        .on_file(&dir.path().join("a.0.0"))
        .iter()
        .filter(|call| call.name == "sync_file_range")
        .inspect(|call| assert!(call.args.ends_with("SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE")))
        .map(|call| (call.offset, call.bytes))
        .collect();
    let expected = [0, 3, 6, 9, 12].map(|block| (Some(block * 4096), Some(3 * 4096)));
    assert_eq!(ranges, expected);
}

#[test]
fn what_is_no_range_is_an_error_as_in_fio() {
    let beside = fio_is_here("what_is_no_range_is_an_error_as_in_fio");
    for value in ["foo:8", ":8", "8"] {
        let line = format!("--name=a --rw=write --size=64k --sync_file_range={value}");
        let dir = TestDir::new();
        let fathom = Fathom::new().working_in(dir.path());
        run(&fathom, &line).expect_code(1).expect_stderr("sync_file_range");
        if beside {
            assert_eq!(theirs(dir.path(), &line).status.code(), Some(1), "{value}");
        }
    }
}

#[test]
fn a_file_system_is_synced_at_the_end() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    // As in fio 3.42; fio 3.33 has no such option.
    for (more, on_the_way) in [
        ("--rw=write --end_syncfs=1", 0),
        ("--rw=write --end_syncfs=1 --end_fsync=1 --nrfiles=2", 0),
        ("--rw=write --end_syncfs=1 --fsync=8 --ioengine=libaio", 1),
        ("--rw=write --end_syncfs=1 --ioengine=mmap", 0),
        ("--rw=read --end_syncfs=1", 0),
    ] {
        let ours = json(&fathom, &format!("--name=a --bs=4k --size=64k {more}"));
        assert_eq!(ours["jobs"][0]["sync"]["total_ios"], on_the_way, "{more}");
    }
    let line = "fio --name=a --bs=4k --size=64k --rw=write --end_syncfs=1";
    let Some(trace) = fathom.strace("a_file_system_is_synced_at_the_end", line.split(' ')) else { return };
    let calls = trace.on_file(&dir.path().join("a.0.0"));
    let syncs: Vec<&str> =
        calls.iter().map(|call| call.name.as_str()).filter(|n| n.contains("sync")).collect();
    assert!(syncs.last() == Some(&"syncfs") && !syncs.contains(&"fsync"), "{syncs:?}");
}
